"""tool_choice "required" and named: vLLM's JSON schema goes in, calls come out."""

from __future__ import annotations

from typing import Any

import pytest
from support.parsing import family_tokenizer

pytest.importorskip("vllm")

from vllm.entrypoints.openai.responses.protocol import ResponsesRequest
from vllm_driver import chat_request, compose, fold_messages, parse_whole, stream

from unified_parser import get_parser_class
from unified_parser.adapters.vllm import make_adapters

TOOLS = [
    {
        "type": "function",
        "function": {"name": name, "parameters": {"type": "object", "properties": {"q": {}}}},
    }
    for name in ("find", "open")
]
NAMED = {"type": "function", "function": {"name": "open"}}
LIST = (
    '[{"name": "find", "parameters": {"q": "a \\" ]}, {\\\\"}}, '
    '{"name": "open", "parameters": {"q": [{"x": {}}]}} ]'
)
LIST_CALLS = [("find", {"q": 'a " ]}, {\\'}, True), ("open", {"q": [{"x": {}}]}, True)]
OBJECT = ' {"q": {"r": "}"}}\n'
OBJECT_CALLS = [("open", {"q": {"r": "}"}}, True)]
CASES = [
    pytest.param("required", LIST, LIST_CALLS, id="required"),
    pytest.param(NAMED, OBJECT, OBJECT_CALLS, id="named"),
]


@pytest.fixture(autouse=True)
def no_structural_tags(monkeypatch: pytest.MonkeyPatch) -> None:
    """The JSON schema is for formats that have no structural tag, and for servers that switch tags off."""
    monkeypatch.setenv("VLLM_ENFORCE_STRICT_TOOL_CALLING", "0")


def _forced(choice: Any, name: str = "hermes", reasoning: str | None = None, **more: Any) -> tuple[Any, Any]:
    """A function that makes the composed parser, and the request as another one adjusted it."""
    tokenizer = family_tokenizer(name)
    parser_class = compose(reasoning, name, tokenizer)
    request = chat_request(TOOLS, tool_choice=choice, **more)
    request = parser_class(tokenizer, request.tools).adjust_request(request)
    return (lambda: parser_class(tokenizer, request.tools, chat_template_kwargs={})), request


def _pieces(text: str, size: int) -> list[tuple[str, list[int]]]:
    return [(text[at : at + size], []) for at in range(0, len(text), size)]


@pytest.mark.parametrize(("choice", "output", "calls"), CASES)
def test_the_schema_is_installed(choice: Any, output: str, calls: Any) -> None:
    _, request = _forced(choice)
    schema = request.structured_outputs.json
    assert request.response_format is None
    assert (
        (schema["type"] == "array")
        if choice == "required"
        else (schema == TOOLS[1]["function"]["parameters"])
    )


@pytest.mark.parametrize(("choice", "output", "calls"), CASES)
def test_whole(choice: Any, output: str, calls: Any) -> None:
    make, request = _forced(choice)
    parsed = parse_whole(make(), request, output, prompt=[])
    assert (parsed.content, parsed.calls) == (None, calls)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize(("choice", "output", "calls"), CASES)
def test_streamed(choice: Any, output: str, calls: Any, size: int) -> None:
    make, request = _forced(choice)
    streamed = fold_messages(stream(make(), request, _pieces(output, size)))
    assert (streamed.content, streamed.calls) == (None, calls)


def test_arguments_flow_as_they_come() -> None:
    make, request = _forced("required")
    parser = make()
    head = '[{"name": "find", "parameters": {"q": "ab'
    first = parser.parse_delta(head, [], request, [], finished=False)
    more = parser.parse_delta("cd", [], request, [], finished=False)
    assert first.tool_calls[0].function.arguments == '{"q": "ab'
    assert more.tool_calls[0].function.arguments == "cd"


@pytest.mark.parametrize(("choice", "output", "calls"), CASES)
def test_behind_reasoning(choice: Any, output: str, calls: Any) -> None:
    make, request = _forced(choice, "kimi_k2", "kimi_k2")
    tokenizer = family_tokenizer("kimi_k2")
    prompt = tokenizer.encode("<think>")
    text = "hm</think>" + output
    deltas = [(tokenizer.decode([number]), [number]) for number in tokenizer.encode(text)]
    for parsed in (
        parse_whole(make(), request, text, prompt=prompt),
        fold_messages(stream(make(), request, deltas, prompt)),
    ):
        assert (parsed.reasoning, parsed.content, parsed.calls) == ("hm", None, calls)


@pytest.mark.parametrize("output", ['[{"name": "find", "parameters": {"q": "a', '[{"name": "fi', "[", ""])
def test_cut_off(output: str) -> None:
    make, request = _forced("required")
    assert parse_whole(make(), request, output, prompt=[]).calls == []
    streamed = fold_messages(stream(make(), request, _pieces(output, 1)))
    assert all(not complete for _, _, complete in streamed.calls)
    assert bool(streamed.calls) == ("parameters" in output)


def test_an_output_that_is_no_such_json_is_read_as_the_familys() -> None:
    make, request = _forced("required")
    output = '<tool_call>\n{"name": "find", "arguments": {"q": 1}}\n</tool_call>'
    for parsed in (
        parse_whole(make(), request, output, prompt=[]),
        fold_messages(stream(make(), request, _pieces(output, 1))),
    ):
        assert parsed.calls == [("find", {"q": 1}, True)]


def test_auto_is_never_read_as_forced() -> None:
    make, request = _forced("auto", response_format={"type": "json_object"})
    assert parse_whole(make(), request, OBJECT, prompt=[]).content is not None


def test_responses_request() -> None:
    tokenizer = family_tokenizer("hermes")
    parser_class = compose(None, "hermes", tokenizer)
    tool = {"type": "function", "name": "find", "parameters": {"type": "object", "properties": {}}}
    request = ResponsesRequest(model="m", input="?", tools=[tool], tool_choice="required")
    request = parser_class(tokenizer, request.tools).adjust_request(request)
    parsed = parse_whole(
        parser_class(tokenizer, request.tools), request, '[{"name":"find","parameters":{}}]', prompt=[]
    )
    assert parsed.calls == [("find", {}, True)]


def test_ids_of_kimi_models_count_on_from_the_history() -> None:
    class Config:
        hf_config = type("HF", (), {"model_type": "kimi_k2"})()

    past = [{"id": "functions.find:0", "type": "function", "function": {"name": "find", "arguments": "{}"}}]
    _, request = _forced("required", "kimi_k2")
    request.messages = [
        {"role": "assistant", "content": None, "tool_calls": past},
        {"role": "user", "content": "?"},
    ]
    tool = make_adapters(get_parser_class("kimi_k2"))[1]
    found = tool(family_tokenizer("kimi_k2"), request.tools, model_config=Config()).extract_tool_calls(
        LIST, request
    )
    assert [call.id for call in found.tool_calls] == ["functions.find:1", "functions.open:2"]
