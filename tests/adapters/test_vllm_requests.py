"""What the adapters do to a request, and what they take from it."""

from __future__ import annotations

import time
from typing import Any

import pytest
from support.parsing import family_tokenizer
from support.tokenizers import MinimalTokenizer, tokenizer_for

pytest.importorskip("vllm")

from openai.types.responses import CustomTool, FunctionTool
from vllm.entrypoints.openai.responses.protocol import ResponsesRequest
from vllm_driver import chat_request, compose, compose_adapters, fold_messages, parse_whole, stream

from unified_parser import families, get_parser_class
from unified_parser.adapters.vllm import make_adapters
from unified_parser.adapters.vllm.requests import function_tools
from unified_parser.format import FormatError

WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {
            "type": "object",
            "properties": {"days": {"type": "integer"}, "zip": {"type": "string"}},
        },
    },
}
NATIVE = (
    "<think>\nwhy\n</think>\n\n"
    "<tool_call>\n<function=weather>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>"
)
KIMI = (
    "why</think>so<|tool_calls_section_begin|><|tool_call_begin|>functions.weather:0"
    "<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>"
)


@pytest.mark.parametrize("name", ["kimi_k2", "gemma4", "mistral"])
@pytest.mark.parametrize("half", [0, 1], ids=["reasoning", "tool"])
def test_special_tokens_are_kept_where_markers_are_special(name: str, half: int) -> None:
    adapter = make_adapters(get_parser_class(name))[half](family_tokenizer(name))
    for request in (chat_request(), ResponsesRequest(model="m", input="?")):
        assert adapter.adjust_request(request) is request
        assert request.skip_special_tokens is False
        assert getattr(request, "spaces_between_special_tokens", False) is False


def test_special_tokens_are_left_alone_where_no_marker_is_special() -> None:
    request = chat_request()
    before = request.skip_special_tokens
    make_adapters(get_parser_class("pythonic"))[0](family_tokenizer("pythonic")).adjust_request(request)
    assert request.skip_special_tokens == before


@pytest.mark.parametrize("family", families(), ids=lambda family: family.names[0])
def test_construction_needs_no_tools_no_kwargs_and_no_markers(family: Any) -> None:
    """Start-up makes a parser of the tokenizer alone, and stops the server where that raises."""
    bare = tokenizer_for(())
    reasoning, tool = make_adapters(family.parser_class)
    name = family.names[0]
    try:
        family.parser_class(tokenizer=bare)
    except FormatError:  # the format is in the tokenizer's configuration: start-up is the time to say so
        for adapter in (reasoning, tool):
            with pytest.raises(FormatError):
                adapter(bare)
        return
    parser = compose_adapters(name, name)(bare)
    assert parse_whole(parser, chat_request(), "plain", prompt=bare.encode("?")) is not None
    for adapter in (
        reasoning(bare),
        reasoning(tokenizer=bare, chat_template_kwargs={"thinking": True}),
        tool(bare),
    ):
        adapter.adjust_request(chat_request())
    r = reasoning(bare, model_config=None)
    assert isinstance(r.reasoning_start_str, str | None)
    assert isinstance(r.reasoning_end_str, str | None)
    assert isinstance(r.reasoning_end_token_ids, frozenset)
    assert isinstance(r.implicit_reasoning_end_token_ids, frozenset)


def test_vllms_own_start_up_check_passes() -> None:
    compose("kimi_k2", "kimi_k2", tokenizer_for(()))
    compose("kimi_k2", "kimi_k2", family_tokenizer("kimi_k2"))


def test_construction_is_cheap() -> None:
    tokenizer = family_tokenizer("kimi_k2")
    parser_class = compose("kimi_k2", "kimi_k2", tokenizer)
    started = time.process_time()
    for _ in range(1000):
        parser_class(tokenizer, None, chat_template_kwargs={})
    assert time.process_time() - started < 0.5


def test_the_least_of_tokenizers() -> None:
    full = family_tokenizer("kimi_k2")
    parser = compose("kimi_k2", "kimi_k2")(
        MinimalTokenizer(full), None, chat_template_kwargs={"thinking": True}
    )
    deltas = [(full.decode([number]), [number]) for number in full.encode(KIMI)]
    streamed = fold_messages(stream(parser, chat_request([WEATHER]), deltas, full.encode("<think>")))
    assert (streamed.reasoning, streamed.content, streamed.calls) == ("why", "so", [("weather", {}, True)])


def test_no_request_at_all() -> None:
    tokenizer = family_tokenizer("kimi_k2")
    reasoning, tool = make_adapters(get_parser_class("kimi_k2"))
    assert reasoning(tokenizer).extract_reasoning("why</think>so", None) == ("why", "so")
    section = KIMI.partition("</think>")[2]
    found = tool(tokenizer).extract_tool_calls(section, None)
    assert found.tools_called and found.content == "so" and found.tool_calls[0].id == "functions.weather:0"
    ids = tokenizer.encode(section)
    delta = tool(tokenizer).extract_tool_calls_streaming("", section, section, [], ids, ids, None)
    assert delta is not None and delta.tool_calls[0].function.name == "weather"


def test_markup_goes_through_the_reasoning_half_untouched() -> None:
    tokenizer = family_tokenizer("kimi_k2")
    adapter = make_adapters(get_parser_class("kimi_k2"))[0](tokenizer)
    assert adapter.extract_reasoning(KIMI, None) == ("why", KIMI.partition("</think>")[2])


def test_an_implicit_end_hands_the_marker_on() -> None:
    tokenizer = family_tokenizer("kimi_k2")
    section = KIMI.partition("so")[2]
    ids = tokenizer.encode("why" + section)
    adapter = make_adapters(get_parser_class("kimi_k2"))[0](tokenizer)
    delta = adapter.extract_reasoning_streaming("", "", "why" + section, [], [], ids)
    rest = adapter.finish_streaming()
    assert delta.reasoning == "why" and adapter.has_engine_confirmed_reasoning_end()
    assert (delta.content or "") + (rest.content or "" if rest else "") == section
    marker = tokenizer.get_vocab()["<|tool_calls_section_begin|>"]
    assert marker in adapter.reasoning_end_token_ids and marker in adapter.implicit_reasoning_end_token_ids
    assert tuple(adapter.find_reasoning_end([5, marker, 7])) == (1, True)
    assert adapter.find_reasoning_end_offset([5, marker, 7]) == 1
    close = tokenizer.get_vocab()["</think>"]
    assert tuple(adapter.find_reasoning_end([5, 6, close])) == (2, False)


def test_finish_is_safe_at_any_time() -> None:
    tokenizer = family_tokenizer("kimi_k2")
    for adapter in (make_adapters(get_parser_class("kimi_k2"))[half](tokenizer) for half in (0, 1)):
        assert adapter.finish_streaming() is None
        assert adapter.finish_streaming() is None
    reasoning = make_adapters(get_parser_class("kimi_k2"))[0](tokenizer)
    reasoning.extract_reasoning_streaming("", "why", "why", [], [], tokenizer.encode("why"))
    assert reasoning.get_streaming_fallback_content("", None) is None
    reasoning.finish_streaming()
    assert reasoning.finish_streaming() is None


def test_questions_leave_the_stream_alone() -> None:
    tokenizer = family_tokenizer("kimi_k2")
    adapter = make_adapters(get_parser_class("kimi_k2"))[0](tokenizer)
    ids = tokenizer.encode("<think>why</think>so")
    said = []
    for number in ids:
        text = tokenizer.decode([number])
        said.append(adapter.extract_reasoning_streaming("", text, text, [], [number], [number]))
        adapter.extract_reasoning("<think>other</think>text", None)
        adapter.count_reasoning_tokens(ids)
        adapter.is_reasoning_end(ids)
        adapter.is_reasoning_end_streaming(ids, [number])
    said.append(adapter.finish_streaming())
    streamed = fold_messages(message for message in said if message is not None)
    assert (streamed.reasoning, streamed.content) == ("why", "so")


def test_arguments_are_typed_by_the_tools_of_the_request() -> None:
    tokenizer = family_tokenizer("qwen3_coder")
    request = chat_request([WEATHER])
    parser_class = compose("qwen3", "qwen3_coder", tokenizer)
    for tools in (request.tools, None):
        parsed = parse_whole(
            parser_class(tokenizer, tools, chat_template_kwargs={}), request, NATIVE, prompt=[]
        )
        assert parsed.calls == [("weather", {"days": 3}, True)]


def test_responses_tools_are_read_as_the_model_was_shown_them() -> None:
    parameters = {"type": "object", "properties": {"days": {"type": "integer"}}}
    namespace = {
        "type": "namespace",
        "name": "geo",
        "description": "",
        "tools": [{"type": "function", "name": "tide", "parameters": parameters}],
    }
    tools = [
        FunctionTool(type="function", name="weather", parameters=parameters, strict=False),
        CustomTool(type="custom", name="shell"),
        namespace,
        {"type": "web_search"},
    ]
    read = {tool["function"]["name"]: tool["function"]["parameters"] for tool in function_tools(tools)}
    assert list(read) == ["weather", "shell", "geo__tide"]
    assert read["weather"] == parameters and read["geo__tide"] == parameters
    assert read["shell"]["properties"]["input"]["type"] == "string"


def test_a_bad_tool_schema_costs_the_types_and_nothing_else() -> None:
    tokenizer = family_tokenizer("qwen3_coder")
    tool = make_adapters(get_parser_class("qwen3_coder"))[1]
    for bad in (
        [{"type": "function", "function": {"name": None}}],
        [{"type": "function", "function": {"name": "weather", "parameters": [1]}}],
    ):
        found = tool(tokenizer, bad).extract_tool_calls(NATIVE.partition("</think>")[2], None)
        assert found.tools_called and found.tool_calls[0].function.name == "weather"


def test_ids_without_text_and_text_without_ids() -> None:
    tokenizer = family_tokenizer("kimi_k2")
    request = chat_request([WEATHER])
    prompt = tokenizer.encode("<think>")
    kwargs = {"chat_template_kwargs": {"thinking": True}}
    text_only = [(character, []) for character in KIMI]
    tokens = [(tokenizer.decode([number]), [number]) for number in tokenizer.encode(KIMI)]
    empty_between = [
        delta for token in tokens for delta in (("", []), token, ("", tokenizer.encode("x")[:0]))
    ]
    for deltas in (text_only, [*empty_between, ("", [len(tokenizer)])]):
        parser = compose("kimi_k2", "kimi_k2")(tokenizer, request.tools, **kwargs)
        streamed = fold_messages(stream(parser, request, deltas, prompt))
        assert (streamed.reasoning, streamed.calls) == ("why", [("weather", {}, True)])


def test_choice_none_strips_the_calls() -> None:
    tokenizer = family_tokenizer("kimi_k2")
    request = chat_request([WEATHER], tool_choice="none")
    parser_class = compose("kimi_k2", "kimi_k2")
    prompt = tokenizer.encode("<think>")
    make = lambda: parser_class(tokenizer, request.tools, chat_template_kwargs={"thinking": True})  # noqa: E731
    whole = parse_whole(make(), request, KIMI, prompt=prompt)
    deltas = [(tokenizer.decode([number]), [number]) for number in tokenizer.encode(KIMI)]
    messages = [
        m for m in stream(make(), request, deltas, prompt) if m.reasoning or m.content or m.tool_calls
    ]
    assert (
        whole.spelled()
        == fold_messages(messages).spelled()
        == {"reasoning": "why", "content": "so", "calls": []}
    )


def test_without_a_reasoning_half_its_markup_is_content() -> None:
    tokenizer = family_tokenizer("kimi_k2")
    request = chat_request([WEATHER])
    parser_class = compose(None, "kimi_k2")
    thought, call = "<think>why</think>so", KIMI.partition("so")[2]
    whole = parse_whole(parser_class(tokenizer, request.tools), request, thought + call, prompt=[])
    deltas = [(tokenizer.decode([number]), [number]) for number in tokenizer.encode(thought + call)]
    streamed = fold_messages(stream(parser_class(tokenizer, request.tools), request, deltas))
    for parsed in (whole, streamed):
        assert (parsed.reasoning, parsed.content, parsed.calls) == (None, thought, [("weather", {}, True)])


def test_a_prompt_that_closed_thinking() -> None:
    tokenizer = family_tokenizer("kimi_k2")
    request = chat_request()
    prompt = tokenizer.encode("<think></think>")
    make = lambda: compose("kimi_k2", "kimi_k2")(tokenizer, None, chat_template_kwargs={})  # noqa: E731
    assert parse_whole(make(), request, "so", prompt=prompt).spelled()["content"] == "so"
    assert fold_messages(stream(make(), request, [("so", tokenizer.encode("so"))], prompt)).content == "so"
    adapter = make_adapters(get_parser_class("kimi_k2"))[0](tokenizer)
    assert adapter.is_reasoning_end(prompt) is True
    assert adapter.is_reasoning_end(tokenizer.encode("<think></think>x<|im_end|><think>")) is False


def test_reasoning_tokens_are_counted_from_an_open_prompt() -> None:
    tokenizer = family_tokenizer("kimi_k2")
    parser = compose("kimi_k2", "kimi_k2")(tokenizer, None, chat_template_kwargs={})
    reasoning = tokenizer.encode("why then")
    ids = [*reasoning, *tokenizer.encode("</think>so")]
    parser.is_reasoning_end(tokenizer.encode("<think>"))
    parser.parse("why then</think>so", chat_request(), enable_auto_tools=True, model_output_token_ids=ids)
    assert parser.count_reasoning_tokens(ids) == len(reasoning)
