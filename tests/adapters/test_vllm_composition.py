"""Names and a model type for which vLLM has compositions of its own are ours like any other."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.parsing import family_tokenizer
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.parser import ParserManager
from vllm.parser.abstract_parser import DelegatingParser
from vllm.parser.harmony import HarmonyParser
from vllm.reasoning import ReasoningParserManager

from unified_parser.adapters.vllm import make_adapters, register
from unified_parser.adapters.vllm.direct import DirectParser
from unified_parser.registry import get_parser_class

register()


def compose(name: str, **options: Any) -> Any:
    return ParserManager.get_parser(
        tool_parser_name=name, reasoning_parser_name=name, enable_auto_tools=True, **options
    )


@pytest.mark.parametrize(
    ("name", "prompt", "output", "expected"),
    [
        (
            "cohere_command4",
            "<|CHATBOT_TOKEN|><|START_THINKING|>",
            "hm<|END_THINKING|><|START_ACTION|>"
            '[{"tool_call_id": "0", "tool_name": "f", "parameters": {"a": 1}}]<|END_ACTION|>',
            ("hm", "f", {"a": 1}),
        ),
        (
            "kimi_k3",
            "<|open|>think<|sep|>",
            'hm<|close|>think<|sep|><|open|>tools<|sep|><|open|>call tool="f" index="1"<|sep|>'
            '<|open|>argument key="a" type="number"<|sep|>1<|close|>argument<|sep|><|close|>call<|sep|>'
            "<|close|>tools<|sep|>",
            ("hm", "f", {"a": 1}),
        ),
        (
            "minicpmv",
            "<|im_start|>assistant\n<think>\n",
            "hm\n</think>\n\n<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>",
            ("hm", "f", {"a": "1"}),
        ),
    ],
)
def test_a_name_that_vllm_treats_apart(name: str, prompt: str, output: str, expected: Any) -> None:
    tokenizer = family_tokenizer(name, prompt=prompt)
    parser_class = compose(name)
    assert issubclass(parser_class, DelegatingParser)
    tools = [
        {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
    ]
    request = ChatCompletionRequest(model="m", messages=[{"role": "user", "content": "x"}], tools=tools)
    parser = parser_class(tokenizer, request.tools, chat_template_kwargs={})
    reasoning, _, calls = parser.parse(output, request, enable_auto_tools=True)
    ((call, *_),) = [calls]
    assert (reasoning, call.name, json.loads(call.arguments)) == expected


HARMONY = {
    "tool_parser_name": "openai",
    "reasoning_parser_name": "openai_gptoss",
    "enable_auto_tools": True,
    "is_harmony": True,
}


def test_harmony_models_are_served_directly_by_a_class_that_the_server_accepts() -> None:
    parser_class = ParserManager.get_parser(**HARMONY)
    assert issubclass(parser_class, DirectParser) and issubclass(parser_class, HarmonyParser)
    ours = make_adapters(get_parser_class("openai_gptoss"))
    assert (parser_class.reasoning_parser_cls, parser_class.tool_parser_cls) == ours
    assert HarmonyParser.reasoning_parser_cls not in ours  # vLLM's own class is left alone
    output = (
        "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>commentary to=functions.f "
        '<|constrain|>json<|message|>{"a": 1}<|call|>'
    )
    tools = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
    request = ChatCompletionRequest(model="m", messages=[{"role": "user", "content": "x"}], tools=tools)
    parser = parser_class(family_tokenizer("gpt_oss"), request.tools)
    reasoning, content, (call,) = parser.parse(output, request, enable_auto_tools=True)
    assert (reasoning, content, call.name, json.loads(call.arguments)) == ("hm", None, "f", {"a": 1})


def test_harmony_models_keep_vllms_own_parser_where_the_direct_one_is_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("UNIFIED_PARSER_VLLM_DIRECT", "0")
    parser_class = ParserManager.get_parser(**HARMONY)
    assert parser_class.__module__.startswith("vllm.parser")
    for half in (parser_class.reasoning_parser_cls, parser_class.tool_parser_cls):
        assert half.__module__.startswith("vllm.")
    ours, _ = make_adapters(get_parser_class("openai_gptoss"))
    assert ReasoningParserManager.get_reasoning_parser("openai_gptoss") is ours


def test_installing_twice_wraps_once() -> None:
    before = ParserManager.get_parser
    register()
    assert ParserManager.get_parser is before
