"""The recovery rule, point by point. Every output is read whole and one character at a time."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import pytest

from unified_parser import (
    ContentText,
    Discarded,
    MessageBuilder,
    ToolCallEnd,
    ToolCallStart,
    create_parser,
)

SECTION = "<|tool_calls_section_begin|>"
SECTION_END = "<|tool_calls_section_end|>"
NAMED = "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>"
END = "<|tool_call_end|>"
XML = "<tool_call>\n<function=f>\n"
XML_END = "</function>\n</tool_call>"


class Case(NamedTuple):
    """An output of one family, thinking off unless it says otherwise, and what it is."""

    what: str
    family: str
    raw: str
    reasoning: str | None = None
    content: str | None = None
    calls: tuple[tuple[str, Any], ...] = ()
    incomplete: tuple[tuple[str, str], ...] = ()
    discarded: str | None = None
    thinking: bool = False
    reason: str | None = None
    tools: tuple[dict[str, Any], ...] = ()


def tool(name: str, **properties: Any) -> dict[str, Any]:
    """A function tool with these parameters."""
    return {
        "type": "function",
        "function": {"name": name, "parameters": {"type": "object", "properties": properties}},
    }


TYPED = (
    tool(
        "f",
        s={"type": "string"},
        n={"type": "integer"},
        x={"type": "number"},
        b={"type": "boolean"},
        u={"type": ["string", "null"]},
        o={"type": "object"},
    ),
)


def parameter(key: str, value: str) -> str:
    """A parameter in the XML format."""
    return f"<parameter={key}>\n{value}\n</parameter>\n"


CASES = [
    # 1. A marker acts only where its block allows it.
    Case("stray closer in content", "kimi_k2", "a</think>b", "a", "b", thinking=True),
    Case("second closer is dropped", "kimi_k2", "a</think>b</think>c", "a", "bc", thinking=True),
    Case("second opener is dropped", "kimi_k2", "<think>a<think>b</think>c", "ab", "c", thinking=True),
    Case("thinking off: its markers are text", "kimi_k2", "<think>a</think>b", None, "<think>a</think>b"),
    Case("stray end of a section", "kimi_k2", f"a{SECTION_END}b", None, "ab"),
    Case("a tag that is no token is text", "qwen3", "a </parameter> b", None, "a </parameter> b"),
    Case("reasoning opens again", "glm47", "a</think>b<think>c</think>d", "ac", "bd", thinking=True),
    Case("it does not in this family", "qwen3", "a</think>\n\nb<think>c", "a", "b<think>c", thinking=True),
    # 2. What a delimiter closed is kept.
    Case(
        "the second call is cut off",
        "kimi_k2",
        f'{SECTION}{NAMED}{{"a": 1}}{END}{NAMED}{{"a": "b',
        calls=(("f", {"a": 1}),),
        incomplete=(("f", '{"a": "b'),),
    ),
    Case("cut off in the name", "kimi_k2", f"x{SECTION}<|tool_call_begin|>functions.f", None, "x",
         discarded=f"{SECTION}<|tool_call_begin|>functions.f"),
    Case("the section's end is missing", "kimi_k2", f'{SECTION}{NAMED}{{"a": 1}}', calls=(("f", {"a": 1}),)),
    Case("the call's end is missing", "kimi_k2", f'{SECTION}{NAMED}{{"a": 1}}{SECTION_END}x', None, "x",
         calls=(("f", {"a": 1}),)),
    Case(
        "the stop token is cut from the text",
        "gpt_oss",
        '<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a": 1}',
        calls=(("f", {"a": 1}),),
        reason="stop",
    ),
    Case(
        "the server says that the output was cut",
        "gpt_oss",
        '<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a": 1}',
        incomplete=(("f", '{"a": 1}'),),
        reason="length",
    ),
    # 3. A closed call that cannot be one.
    Case("no call, given back", "hermes", "a <tool_call>no json</tool_call> b", None,
         "a <tool_call>no json</tool_call> b"),
    Case("no name, given back", "hermes", '<tool_call>{"x": 1}</tool_call>', None,
         '<tool_call>{"x": 1}</tool_call>'),
    Case("a header without a number", "kimi_k2",
         f"{SECTION}<|tool_call_begin|>f<|tool_call_argument_begin|>{{}}{END}{SECTION_END}", None,
         f"{SECTION}<|tool_call_begin|>f<|tool_call_argument_begin|>{{}}{END}{SECTION_END}"),
    Case("announced, its text as received", "kimi_k2", f"{SECTION}{NAMED}{{a: 1}}{END}{SECTION_END}",
         incomplete=(("f", "{a: 1}"),)),
    Case("a bad call between good ones", "kimi_k2",
         f'{SECTION}{NAMED}{{"a": 1}}{END}{NAMED}{{"a": ]{END}{NAMED}{{"a": 2}}{END}{SECTION_END}',
         calls=(("f", {"a": 1}), ("f", {"a": 2})), incomplete=(("f", '{"a": ]'),)),
    Case("a JSON answer is no call", "llama3_json", '{"high": ["05:12"]}', None, '{"high": ["05:12"]}'),
    Case("a list of references is none", "pythonic", "[1] Ellis, 2011.\n[2] Moreau", None,
         "[1] Ellis, 2011.\n[2] Moreau"),
    # 4. Text around calls is content; only white space is none.
    Case("text before, between and after", "glm47",
         "a <tool_call>f</tool_call> b <tool_call>f</tool_call> c", None, "a  b  c",
         calls=(("f", {}), ("f", {}))),
    Case("white space around a call", "glm47", " \n<tool_call>f</tool_call>\n \n", calls=(("f", {}),)),
    Case("nothing but white space", "glm47", " \n", None, " \n"),
    Case("blank reasoning", "glm47", " \n</think>x", None, "x", thinking=True),
    # 5. Inside a value only its own close is structure.
    Case("markers in a JSON string", "kimi_k2", f'{SECTION}{NAMED}{{"a": "{END}{SECTION_END}</think>"}}{END}',
         calls=(("f", {"a": f"{END}{SECTION_END}</think>"}),)),
    Case("tags in a value", "qwen3", XML + parameter("s", "</function> <function=g> </tool_call>") + XML_END,
         calls=(("f", {"s": "</function> <function=g> </tool_call>"}),), tools=TYPED),
    Case("the close of a value is missing", "qwen3",
         f"{XML}<parameter=s>\na\n<parameter=n>\n1\n</parameter>\n{XML_END}",
         calls=(("f", {"s": "a", "n": 1}),), tools=TYPED),
    Case("a repeated key", "qwen3", XML + parameter("s", "a") + parameter("s", "b") + XML_END,
         calls=(("f", {"s": "a"}),), tools=TYPED),
    # 6. Typing.
    Case("by the schema", "qwen3",
         XML
         + "".join(map(parameter, "snxbuo", ("007", "9007199254740993", "1.50", "True", "None", '{"k": 1}')))
         + XML_END,
         calls=(("f", {"s": "007", "n": 9007199254740993, "x": 1.5, "b": True, "u": None, "o": {"k": 1}}),),
         tools=TYPED),
    Case("what does not convert is a string", "qwen3", XML + parameter("n", "many") + XML_END,
         calls=(("f", {"n": "many"}),), tools=TYPED),
    Case("no schema, string", "qwen3", XML + parameter("q", "1") + XML_END, calls=(("f", {"q": "1"}),)),
    Case("JSON is never typed again", "hermes",
         '<tool_call>{"name": "f", "arguments": {"n": "1", "s": 2}}</tool_call>',
         calls=(("f", {"n": "1", "s": 2}),), tools=TYPED),
]  # fmt: skip


def events(case: Case, deltas: list[str]) -> list[Any]:
    parser = create_parser(case.family, thinking=case.thinking, tools=case.tools)
    return [event for delta in deltas for event in parser.feed(delta)] + parser.finish(case.reason)


@pytest.mark.parametrize("pieces", ["whole", "characters"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.family}: {case.what}")
def test_recovery(case: Case, pieces: str) -> None:
    builder = MessageBuilder(keep_incomplete=True)
    builder.add(events(case, [case.raw] if pieces == "whole" else list(case.raw)))
    message = builder.build()
    assert (message.reasoning, message.content) == (case.reasoning, case.content)
    complete = [(call.name, json.loads(call.arguments)) for call in message.tool_calls if call.complete]
    assert complete == list(case.calls)
    assert [(c.name, c.arguments) for c in message.tool_calls if not c.complete] == list(case.incomplete)
    assert message.discarded == case.discarded


def test_an_incomplete_call_is_left_out_by_default() -> None:
    raw = f'{SECTION}{NAMED}{{"a": '
    assert create_parser("kimi_k2", thinking=False).parse(raw).tool_calls == []
    (call,) = create_parser("kimi_k2", thinking=False).parse(raw, keep_incomplete=True).tool_calls
    assert (call.name, call.arguments, call.complete) == ("f", '{"a": ', False)


def test_ids_of_the_wire_are_kept_and_others_made() -> None:
    raw = f"{SECTION}{NAMED}{{}}{END}{NAMED.replace(':0', ':7')}{{}}{END}{SECTION_END}"
    calls = create_parser("kimi_k2", thinking=False).parse(raw).tool_calls
    assert [(call.index, call.id) for call in calls] == [(0, "functions.f:0"), (1, "functions.f:7")]
    calls = (
        create_parser("glm47").parse("</think><tool_call>f</tool_call><tool_call>f</tool_call>").tool_calls
    )
    assert len({call.id for call in calls}) == 2 and all(call.id for call in calls)


def test_numbers_pass_through_no_float() -> None:
    raw = XML + parameter("x", "0.10000000000000000001") + parameter("n", "1" * 5000) + XML_END
    (call,) = create_parser("qwen3", thinking=False, tools=TYPED).parse(raw).tool_calls
    assert call.arguments == '{"x": 0.10000000000000000001, "n": ' + "1" * 5000 + "}"


class TestAtomic:
    """No client ever sees half a call."""

    def parsed(self, raw: str) -> list[Any]:
        parser = create_parser("kimi_k2", thinking=False, argument_streaming="atomic")
        return [event for char in raw for event in parser.feed(char)] + parser.finish()

    def test_a_call_comes_in_one_piece(self) -> None:
        parser = create_parser("kimi_k2", thinking=False, argument_streaming="atomic")
        raw = f'{SECTION}{NAMED}{{"a": "b"}}'
        assert not any(parser.feed(char) for char in raw[:-1])
        kinds = [type(event) for event in parser.feed(raw[-1])]
        assert kinds[0] is ToolCallStart and kinds[-1] is ToolCallEnd

    def test_a_call_cut_off_is_discarded(self) -> None:
        found = self.parsed(f'x{SECTION}{NAMED}{{"a": "b')
        assert [type(event) for event in found] == [ContentText, Discarded]

    def test_a_bad_call_is_content(self) -> None:
        found = self.parsed(f"{SECTION}{NAMED}{{a}}{END}{SECTION_END}")
        assert "".join(event.text for event in found if isinstance(event, ContentText)).startswith(SECTION)
        assert not any(isinstance(event, ToolCallStart | ToolCallEnd) for event in found)
