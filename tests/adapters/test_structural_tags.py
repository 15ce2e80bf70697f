"""Structural tags on the requests of vLLM, judged by xgrammar's own matcher."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.parsing import family_tokenizer
from support.written import WRITTEN, Call

pytest.importorskip("vllm")

from support.grammars import accepts
from vllm.entrypoints.openai.responses.protocol import ResponsesRequest
from vllm.parser.abstract_parser import DelegatingParser
from vllm_driver import chat_request, compose, parse_whole

from unified_parser.adapters.vllm import make_adapters
from unified_parser.calls.json_calls import JsonObject
from unified_parser.format import Marker, OutputFormat, Tools
from unified_parser.parser import UnifiedParser

REFUSAL = "I am afraid I cannot do that."


def write(family: str, calls: list[Call]) -> str:
    return WRITTEN[family](calls)


try:
    from vllm.tool_parsers.tool_strict_level import ToolStrictLevel

    LEVELS: tuple[Any, Any] = (ToolStrictLevel.FUNCTION, ToolStrictLevel.PARAMETER)
except ImportError:  # vLLM 0.30, which never asks for a level, nor joins the tag with another format
    LEVELS = (1, 2)

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "parameters": {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]},
        },
    }
    for name in ("find", "open")
]
STRICT = [{"type": "function", "function": {**tool["function"], "strict": True}} for tool in TOOLS]
NAMED = {"type": "function", "function": {"name": "open"}}
FIND, OPEN = ("find", {"q": "a"}), ("open", {"q": "b"})
NO_ARGUMENT = ("find", {"p": 1})


def hermes(*calls: Call) -> str:
    return write("hermes", list(calls))


def adjusted(tools: list[dict[str, Any]], name: str = "hermes", **fields: Any) -> tuple[Any, Any]:
    """A parser as the server composes it, and the request as another one adjusted it."""
    tokenizer = family_tokenizer(name)
    parser_class = compose(None, name, tokenizer)
    request = chat_request(tools, **fields)
    request = parser_class(tokenizer, request.tools, chat_template_kwargs={}).adjust_request(request)
    return parser_class(tokenizer, request.tools, chat_template_kwargs={}), request


def installed(request: Any) -> Any:
    """The structural tag on the request, or None."""
    structured = request.structured_outputs
    return json.loads(structured.structural_tag) if structured and structured.structural_tag else None


#: tool_choice, parallel_tool_calls, and what of these is let through: a call, two, one that lacks its
#: argument (if its tool is not strict), text.
REQUESTS = [
    ("required", True, (True, True, True, False)),
    ("required", False, (True, False, True, False)),
    (NAMED, True, (False, False, False, False)),
    ("auto", False, (True, False, True, True)),
]


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize(("choice", "parallel", "expected"), REQUESTS)
def test_a_request_gets_a_tag(choice: Any, parallel: bool, expected: tuple[bool, ...], strict: bool) -> None:
    _, request = adjusted(STRICT if strict else TOOLS, tool_choice=choice, parallel_tool_calls=parallel)
    tag = installed(request)
    outputs = (hermes(FIND), hermes(FIND, OPEN), hermes(NO_ARGUMENT), REFUSAL)
    one, two, loose, text = expected
    assert [accepts(tag, output) for output in outputs] == [one, two, loose and not strict, text]
    assert accepts(tag, hermes(OPEN))
    assert request.response_format is None and not request.skip_special_tokens


def test_auto_is_constrained_where_a_tool_is_strict() -> None:
    assert installed(adjusted(TOOLS)[1]) is None
    tag = installed(adjusted([STRICT[0], TOOLS[1]])[1])
    assert accepts(tag, REFUSAL) and accepts(tag, hermes(FIND, OPEN))
    assert not accepts(tag, hermes(NO_ARGUMENT)) and not accepts(tag, hermes(("close", {})))
    assert accepts(tag, hermes(("open", {"p": 1}))), "the other tool is not strict"
    assert installed(adjusted(STRICT, tool_choice="none")[1]) is None


def test_what_is_constrained_is_read() -> None:
    for choice, calls in (("required", [FIND, OPEN]), (NAMED, [OPEN])):
        parser, request = adjusted(STRICT, tool_choice=choice)
        assert accepts(installed(request), hermes(*calls))
        parsed = parse_whole(parser, request, hermes(*calls), prompt=[])
        assert (parsed.content, parsed.calls) == (None, [(*call, True) for call in calls])


def test_a_response_format_beside_tools_to_choose_from() -> None:
    """vLLM allows either, from 0.32 on; before, the tag takes the format's place."""
    json_format = {"type": "json_object"}
    _, request = adjusted(STRICT, response_format=json_format)
    tag = installed(request)
    assert accepts(tag, hermes(FIND))
    assert accepts(tag, '{"a": 1}')
    assert accepts(tag, REFUSAL) == (type(LEVELS[0]) is int)
    _, request = adjusted(TOOLS, response_format=json_format, parallel_tool_calls=False)
    assert installed(request) is None, "the format stays alone"


@pytest.mark.parametrize("choice", ["required", NAMED])
def test_vllms_json_where_there_is_no_tag(choice: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Opaque(JsonObject):
        """A call syntax that no grammar describes."""

        def grammar(self, wanted: Any) -> None:
            return None

    block = Tools(open=Marker("<tool_call>"), close=Marker("</tool_call>"), calls=(Opaque(),))
    family = type("OpaqueParser", (UnifiedParser,), {"format": OutputFormat(tools=(block,))})
    composed = type("Composed", (DelegatingParser,), {"tool_parser_cls": make_adapters(family)[1]})
    request = chat_request(STRICT, tool_choice=choice)
    request = composed(family_tokenizer("hermes"), request.tools).adjust_request(request)
    assert installed(request) is None and request.structured_outputs.json is not None
    monkeypatch.setenv("VLLM_ENFORCE_STRICT_TOOL_CALLING", "0")
    _, request = adjusted(STRICT, tool_choice=choice)
    assert installed(request) is None and request.structured_outputs.json is not None


def responses_request(**fields: Any) -> Any:
    functions = [{"type": "function", **tool["function"]} for tool in STRICT]
    return ResponsesRequest(model="m", input="?", **{"tools": functions} | fields)


@pytest.mark.parametrize(
    ("choice", "let_through"), [("required", FIND), ({"type": "function", "name": "open"}, OPEN)]
)
def test_responses(choice: Any, let_through: Call) -> None:
    tokenizer = family_tokenizer("hermes")
    request = responses_request(tool_choice=choice)
    compose(None, "hermes", tokenizer)(tokenizer, request.tools).adjust_request(request)
    tag = installed(request)
    assert (
        accepts(tag, hermes(let_through)) and not accepts(tag, hermes(NO_ARGUMENT)) and request.text is None
    )


def test_headers_are_covered_from_the_output_on() -> None:
    """The grammar has the reasoning in it, so it is in force from the first token; where a request cannot say
    so, it has none."""
    tokenizer = family_tokenizer("inkling")
    parser_class = compose("inkling", "inkling", tokenizer)
    for request in (chat_request(STRICT, tool_choice="required"), responses_request(tool_choice="required")):
        says_so = hasattr(request, "_grammar_from_parser")
        parser_class(tokenizer, request.tools, chat_template_kwargs={}).adjust_request(request)
        assert (installed(request) is not None) == says_so
        if says_so:
            assert request._grammar_from_parser
            thought = f"<|content_thinking|>Hm.<|end_message|><|message_model|>{write('inkling', [FIND])}"
            assert accepts(installed(request), thought)


def test_a_server_may_ask_for_more() -> None:
    """From vLLM 0.32 on an operator may have calls constrained whatever the request says."""
    tool_parser = adjusted(TOOLS)[0].tool_parser
    request = chat_request(TOOLS)
    assert tool_parser.get_structural_tag(request) is None
    function, parameter = (tool_parser.get_structural_tag(request, strict_level=level) for level in LEVELS)
    assert accepts(function, hermes(NO_ARGUMENT)) and not accepts(function, hermes(("close", {})))
    assert not accepts(parameter, hermes(NO_ARGUMENT)) and accepts(parameter, hermes(FIND))
