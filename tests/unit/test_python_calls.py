"""Calls written as Python, and the literals in them."""

from __future__ import annotations

import ast
import io
import json
import random
import time
import tokenize
import warnings
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from unified_parser import MessageBuilder, UnifiedParser, create_parser
from unified_parser.calls.json_calls import JsonObject
from unified_parser.calls.python_calls import PythonCalls
from unified_parser.events import ContentText, Discarded, Event, ToolCallArguments, ToolCallEnd, ToolCallStart
from unified_parser.format import OutputFormat, Tools, text_marker

NAMES = ("pythonic", "llama4_pythonic")
TOOLS = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in ("ping", "tide.note")]


class LooseParser(UnifiedParser):
    """Calls in tags, with or without brackets, or as JSON objects."""

    names = ("loose",)
    format = OutputFormat(
        tools=(
            Tools(
                open=text_marker("<calls>"),
                close=text_marker("</calls>"),
                calls=(PythonCalls(loose=True, objects=JsonObject()), JsonObject()),
            ),
        )
    )


def parser_of(name: str, **options: Any) -> UnifiedParser:
    return LooseParser(**options) if name == "loose" else create_parser(name, **options)


def cuts(raw: str) -> list[list[str]]:
    """The text whole, by characters, and in pieces of random length."""
    pieces: list[str] = []
    chosen = random.Random(raw)
    at = 0
    while at < len(raw):
        size = chosen.randint(1, 9)
        pieces.append(raw[at : at + size])
        at += size
    return [[raw], list(raw), pieces]


def events_of(parser: UnifiedParser, deltas: Sequence[str]) -> list[Event]:
    events: list[Event] = []
    for delta in deltas:
        events += parser.feed(delta)
    return events + parser.finish()


def tiles(events: Sequence[Event], raw: str) -> bool:
    """Do the spans of the events cover the text, each beginning where the last one ended?"""
    at = 0
    for event in events:
        if event.start != at:
            return False
        at = event.end
    return at == len(raw)


def read(raw: str, name: str = "pythonic", **options: Any) -> tuple[str | None, list[tuple[str, str]]]:
    """The content and the complete calls, with arguments as text: the same however the text is cut."""
    results = []
    for deltas in cuts(raw):
        events = events_of(parser_of(name, trace=True, **options), deltas)
        assert tiles(events, raw)
        builder = MessageBuilder()
        builder.add(events)
        message = builder.build()
        results.append((message.content, [(call.name, call.arguments) for call in message.tool_calls]))
    assert results[0] == results[1] == results[2]
    return results[0]


def value_of(literal: str) -> Any:
    """What a literal says as the only argument of a call."""
    content, calls = read(f"[ping(x={literal})]")
    assert content is None and len(calls) == 1
    return json.loads(calls[0][1])["x"]


# --- Literals -----------------------------------------------------------------------------------------------

floats = st.floats(allow_nan=False, allow_infinity=False)
scalars = st.none() | st.booleans() | st.integers() | floats | st.text()
values = st.recursive(
    scalars | st.sets(scalars, min_size=1, max_size=4),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(scalars, inner, max_size=4)
    ),
    max_leaves=12,
)


def plain(value: Any) -> Any:
    """The value as JSON has it."""
    if isinstance(value, (set, tuple, list)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        value = {key: plain(item) for key, item in value.items()}
    return json.loads(json.dumps(value))


@given(values)
def test_python_literals_become_json(value: Any) -> None:
    assert value_of(repr(value)) == plain(value)


@given(values)
def test_json_literals_stay_json(value: Any) -> None:
    assert value_of(json.dumps(plain(value), indent=1)) == plain(value)


FRAGMENTS = (
    *("a", "é", "犬", "]", ")", "[ping()]", "{", "}", "#", " ", "'", '"', "''", '""', "\n", "\t"),
    *("\\n", "\\t", "\\r", "\\a", "\\v", "\\\\", "\\'", '\\"', "\\\n", "\\0", "\\12", "\\101", "\\1018"),
    *("\\x41", "\\u00e9", "\\U0001f600", "\\d", "\\/", "\\ud83d", "\\ude00"),
)


@given(
    st.lists(st.sampled_from(FRAGMENTS), max_size=8).map("".join),
    st.sampled_from(["", "r", "R", "u"]),
    st.sampled_from(["'", '"', "'''", '"""']),
)
def test_strings_are_read_as_python_reads_them(text: str, prefix: str, quotes: str) -> None:
    literal = prefix + quotes + text + quotes
    try:
        with warnings.catch_warnings(action="ignore"):
            value = ast.literal_eval(literal)
        tokens = [token.type for token in tokenize.generate_tokens(io.StringIO(literal).readline)]
    except (SyntaxError, ValueError):
        assume(False)
    assume(tokens.count(tokenize.STRING) == 1)  # Python joins strings that stand side by side
    assert value_of(literal) == json.loads(json.dumps(value))


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        ("'a\nb\x00\tc'", "a\nb\x00\tc"),  # raw control characters, which neither Python nor JSON takes
        (r"'C:\users\xylo'", r"C:\users\xylo"),  # cut escapes, which Python refuses
        ("f'plain'", "plain"),
        ("f'{{x}} and {{'", "{x} and {"),
        ("rf'\\d{{2}}'", "\\d{2}"),
        ("b'bytes'", "bytes"),
        ("''", ""),
        ("'''it's'''", "it's"),
        ("('group')", "group"),
        ("((1))", 1),
        ("(1,)", [1]),
        ("()", []),
        ("{1, 2,}", [1, 2]),
        ("{}", {}),
        ("{'a': (1, {2}), 3: None, True: [],}", {"a": [1, [2]], "3": None, "true": []}),
        ("[ 1 ,\n 2 , ]", [1, 2]),
        ("[true, false, null, True, False, None]", [True, False, None, True, False, None]),
    ],
)
def test_more_literals(literal: str, value: Any) -> None:
    assert value_of(literal) == value


@pytest.mark.parametrize(
    ("literal", "text"),
    [
        ("7", "7"),
        ("07", "7"),
        ("00", "0"),
        ("-007", "-7"),
        ("+5", "5"),
        ("1_000_000", "1000000"),
        ("12345678901234567890123", "12345678901234567890123"),
        ("0.10000000000000000000001", "0.10000000000000000000001"),
        ("-2.50", "-2.50"),
        (".5", "0.5"),
        ("5.", "5.0"),
        ("1e5", "1e5"),
        ("1.E-3", "1.0E-3"),
        ("0x1F", "31"),
        ("-0b101", "-5"),
        ("0o17", "15"),
    ],
)
def test_numbers_keep_their_digits(literal: str, text: str) -> None:
    assert read(f"[ping(x={literal})]") == (None, [("ping", f'{{"x": {text}}}')])


@pytest.mark.parametrize(
    "value",
    ["", "y", "=1", "1j", "--1", "1__0", "nan", "...", "-", "1 + 2", "f()", "(1 2)", "{1 2}", "{(): 2}"],
)
def test_what_is_no_literal_is_no_call(value: str) -> None:
    raw = f"[ping(x={value})] or so"
    assert read(raw) == (raw, [])


@pytest.mark.parametrize(
    "value",
    ["[1 2]", "[,]", "'a' + 'b'", "f'{a}'", "{1: 2", "{1: 2, 3}", "{1, 2: 3}", "[1}", "['a': 1]", "[" * 300],
)
def test_a_value_that_goes_wrong_is_no_complete_call(value: str) -> None:
    content, calls = read(f"[ping(x={value})]\nThe answer.")
    assert calls == []
    assert content is not None and content.endswith("\nThe answer.")


def test_open_strings_flow_and_other_values_come_at_their_close() -> None:
    raw = "[ping(n=12, t='it\\'s \"so\"', s=('a', 'b'), l=['x', {1: 2}])]"
    seen = {}
    text = ""
    parser = create_parser("pythonic")
    for at, char in enumerate(raw):
        text += "".join(e.fragment for e in parser.feed(char) if isinstance(e, ToolCallArguments))
        seen[raw[: at + 1]] = text
    assert text == '{"n": 12, "t": "it\'s \\"so\\"", "s": ["a", "b"], "l": ["x", {"1": 2}]}'
    assert seen["[ping(n=12"] == ""
    assert seen["[ping(n=12,"] == '{"n": 12'
    assert seen["[ping(n=12, t='it"] == '{"n": 12, "t": "it'
    assert seen["[ping(n=12, t='it\\'"] == '{"n": 12, "t": "it\''
    assert seen["[ping(n=12, t='it\\'s \"so\"', s=('a'"].endswith('so\\""')
    assert seen["[ping(n=12, t='it\\'s \"so\"', s=('a',"].endswith('"s": ["a"')


def test_long_strings_take_one_event_a_delta() -> None:
    parser = create_parser("pythonic")
    parser.feed("[ping(text='")
    deltas = ["plain ", "line\n", 'a "quote" ', "end"]
    events = [parser.feed(delta) for delta in deltas]
    assert [[e.fragment for e in few if isinstance(e, ToolCallArguments)] for few in events] == [
        [json.dumps(delta)[1:-1]] for delta in deltas
    ]


# --- Call lists ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("raw", "calls"),
    [
        ("[ping()]", [("ping", "{}")]),
        ("[ ping ( ) , ]", [("ping", "{}")]),
        ("[\n  ping(\n    a = 1,\n    b = 2\n  ), no()\n]\n", [("ping", '{"a": 1, "b": 2}'), ("no", "{}")]),
        ("\n\n[tide.note(from='A', in=None)]", [("tide.note", '{"from": "A", "in": null}')]),
        ("[get-tide(per-day=1)]", [("get-tide", '{"per-day": 1}')]),
        ("[ping(a=1, a=2, b=3, a='x')]", [("ping", '{"a": 1, "b": 3}')]),
        ("[ping()]\n[ping(a=1)]", [("ping", "{}"), ("ping", '{"a": 1}')]),
        ("[ping(a='[ping()]'), ping(a=\")]\")]", [("ping", '{"a": "[ping()]"}'), ("ping", '{"a": ")]"}')]),
    ],
)
def test_call_lists(name: str, raw: str, calls: list[tuple[str, str]]) -> None:
    assert read(raw, name) == (None, calls)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "raw",
    [
        "[]",
        "[ ] to do\n[x] done",
        "[1] A reference\n[2] Another",
        "[link](https://example.org)",
        "[note: x]",
        '["a", "b"]',
        '[{"name": "ping", "arguments": {}}]',
        "[[ping()]]",
        "[ping]",
        "[ping(1)]",
        "[ping(a)]",
        "[ping(**{'a': 1})]",
        "[ping(*a)]",
        "[ping(,)]",
        "[ping(a=1 b=2)]",
        "[a..b()]",
        "[1st()]",
        "An example: [ping()]",
        "Text\n[unknown()]",
    ],
)
def test_what_is_no_call_list_is_text(name: str, raw: str) -> None:
    assert read(raw, name, tools=TOOLS) == (raw, [])


def test_text_is_given_back_at_the_first_disproof() -> None:
    for raw in ("[1", "[]", '["', "[no]", "[no t", "[no(4", "[no(a)", "[no(a=y,"):
        start, wrong = raw[:-1], raw[-1]
        parser = create_parser("pythonic")
        assert parser.feed(start) == []
        events = parser.feed(wrong)
        assert "".join(e.text for e in events if isinstance(e, ContentText)) == start + wrong


@pytest.mark.parametrize("name", NAMES)
def test_text_around_a_list_is_content(name: str) -> None:
    raw = "I look.\n[ping()]\nDone [1]."
    assert read(raw, name, tools=TOOLS) == ("I look.\n\nDone [1].", [("ping", "{}")])
    assert read(raw, name) == ("I look.\n\nDone [1].", [("ping", "{}")])


def test_a_list_may_follow_reasoning_at_once() -> None:
    raw = "<think>hm</think>[unknown(a=1)]"
    assert read(raw, "pythonic", reasoning="qwen3", tools=TOOLS) == (None, [("unknown", '{"a": 1}')])


def test_garbage_behind_a_call_is_content() -> None:
    assert read("[ping(), 1] rest") == (" 1] rest", [("ping", "{}")])
    assert read("[ping(), ping(1)] rest") == (" ping(1)] rest", [("ping", "{}")])
    wrapped = "<|python_start|>[ping(), ping(1)]<|python_end|>"
    assert read(wrapped, "llama4_pythonic") == (" ping(1)]", [("ping", "{}")])


@pytest.mark.parametrize(
    ("raw", "fragments"),
    [
        ("[ping(), tide.note(a='half', text=\"half a", '{"a": "half", "text": "half a'),
        ("[ping(), tide.note(n=12, m=3", '{"n": 12'),
        ("[ping(), tide.note(n=1", ""),
        ("[ping(), tide.note(text='cut in an escape \\u00", '{"text": "cut in an escape '),
        ("[ping(), tide.note(text='''cut in its end''", '{"text": "cut in its end'),
    ],
)
def test_a_call_that_is_cut_off_is_incomplete(raw: str, fragments: str) -> None:
    for deltas in cuts(raw):
        events = events_of(create_parser("pythonic", trace=True), deltas)
        assert [e.name for e in events if isinstance(e, ToolCallStart)] == ["ping", "tide.note"]
        assert [e.complete for e in events if isinstance(e, ToolCallEnd)] == [True, False]
        assert "".join(e.fragment for e in events if isinstance(e, ToolCallArguments)) == "{}" + fragments
        assert not any(isinstance(e, ContentText) for e in events)
        assert tiles(events, raw)


def test_a_list_that_is_cut_off_in_a_name_is_no_content() -> None:
    events = events_of(create_parser("pythonic"), ["[ping(), tide.no"])
    assert [e.complete for e in events if isinstance(e, ToolCallEnd)] == [True]
    assert [e.text for e in events if isinstance(e, Discarded)] == [" tide.no"]
    assert not any(isinstance(e, ContentText) for e in events)


def test_atomic_calls_come_whole_or_go_back_to_content() -> None:
    raw = "[ping(a='x'), ping(a='y'), ping(a='z' + '')]\nThe answer."
    content, calls = read(raw, argument_streaming="atomic")
    assert calls == [("ping", '{"a": "x"}'), ("ping", '{"a": "y"}')]
    assert content == " ping(a='z' + '')]\nThe answer."


# --- Llama 4 ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("opening", ["<|python_start|>", ""])
@pytest.mark.parametrize("closing", ["<|python_end|>", ""])
def test_the_wrapper_may_be_missing(opening: str, closing: str) -> None:
    raw = f"{opening}[ping(a='<|python_end|>')]{closing}"
    assert read(raw, "llama4_pythonic") == (None, [("ping", '{"a": "<|python_end|>"}')])


def test_inside_the_wrapper_any_name_is_called() -> None:
    raw = "Text\n<|python_start|>[unknown()]<|python_end|>"
    assert read(raw, "llama4_pythonic", tools=TOOLS) == ("Text\n", [("unknown", "{}")])


@pytest.mark.parametrize("wrapper", [("<|python_start|>", "<|python_end|>"), ("", "")])
@pytest.mark.parametrize("head", ['"name": "ping"', '"type": "function", "name": "ping"'])
def test_json_calls_are_calls_too(wrapper: tuple[str, str], head: str) -> None:
    raw = f'{wrapper[0]}{{{head}, "parameters": {{"a": [1]}}}}{wrapper[1]}'
    assert read(raw, "llama4_pythonic") == (None, [("ping", '{"a": [1]}')])


@pytest.mark.parametrize("raw", ['{"name": "Bob", "age": 3}', '{"name": "Bob"}', '{"answer": 42}', "{1, 2}"])
def test_other_json_is_content(raw: str) -> None:
    assert read(raw, "llama4_pythonic") == (raw, [])


# --- Calls without brackets ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        "[ping(a='\n'), tide.note()]",
        "\nping(a='\n')\ntide.note()\n",
        "ping(a='\n'), tide.note()",
        "ping(a='\n'); tide.note();",
        "[ping(a='\n')]\ntide.note()",
        '[{"name": "ping", "arguments": {"a": "\\n"}}, {"name": "tide.note", "arguments": {}}]',
        '{"name": "ping", "arguments": {"a": "\\n"}} tide.note()',
    ],
)
def test_loose_calls(body: str) -> None:
    calls = [("ping", '{"a": "\\n"}'), ("tide.note", "{}")]
    assert read(f"So:\n<calls>{body}</calls>Done.", "loose") == ("So:\nDone.", calls)


@pytest.mark.parametrize("body", ["ping(1)", "[]", "just text", "ping", "ping(x)"])
def test_loose_text_is_given_back(body: str) -> None:
    raw = f"<calls>{body}</calls> rest"
    assert read(raw, "loose") == (raw, [])


# --- Any input ----------------------------------------------------------------------------------------------

PIECES = (
    *("[", "]", "(", ")", "{", "}", ",", "=", ":", ";", "'", '"', "'''", "\\", "\n", " ", "x", "1", "-", "."),
    *("[ping(", "a=", "True", "0x", "r'", "f'", "\\x", "\\u12", "<|python_start|>", "<|python_end|>"),
    *("<calls>", "</calls>", '{"name": "ping", ', '"parameters": {'),
)


@pytest.mark.parametrize("mode", ["incremental", "atomic"])
@pytest.mark.parametrize("name", [*NAMES, "loose"])
@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_any_text_can_be_read(name: str, mode: str, raw: str) -> None:
    _, calls = read(raw, name, argument_streaming=mode, tools=TOOLS)
    for _, arguments in calls:
        assert isinstance(json.loads(arguments), dict)


#: What comes once, and what is repeated behind it.
HOSTILE = {
    "brackets": ("", "["),
    "brackets on lines": ("", "[\n"),
    "open calls": ("", "[ping(a="),
    "open lists in a call": ("[ping(a=", "["),
    "open groups in a call": ("[ping(a=", "("),
    "open braces in a call": ("[ping(a=", "{"),
    "undecided items": ("[ping(a=(", "'x' "),
    "a long list": ("[ping(a=[", "1, "),
    "a long undecided string": ("[ping(a=('", "x\\n"),
    "a long string": ("[ping(a='", "x\\'"),
    "a long triple string": ("[ping(a='''", "''x"),
    "a long template": ("[ping(a=f'", "{{"),
    "a long name": ("[", "a."),
    "a long number": ("[ping(a=", "99"),
    "a long hexadecimal number": ("[ping(a=0x", "ff"),
    "blanks": ("[", " \n"),
    "broken calls": ("", "[ping(a='x' + 1)]\n"),
    "quotes on lines": ("", "[ping(a='\n"),
}


def cost(name: str, raw: str) -> float:
    """The time to read a text, whole and by characters, in seconds of this process."""
    begun = time.process_time()
    for deltas in ([raw], list(raw)):
        events_of(parser_of(name), deltas)
    return time.process_time() - begun


@pytest.mark.parametrize("name", ["pythonic", "loose"])
@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_text_takes_linear_time(name: str, kind: str) -> None:
    once, again = HOSTILE[kind]
    once = "<calls>" * (name == "loose") + once
    short, long = (once + again * (size // len(again)) + ")]" for size in (1_000, 16_000))
    least = [min(cost(name, raw) for _ in range(3)) for raw in (short, long)]
    assert least[1] < 100 * least[0]  # for 16 times the text; quadratic cost is 256 times as much
