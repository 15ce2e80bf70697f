"""Parsers that do not read tool calls: what the model wrote of them is content."""

from __future__ import annotations

import pytest

from unified_parser import MessageBuilder, create_parser

XML = "<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>"
JSON = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
SECTION = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>"
    "{}<|tool_call_end|><|tool_calls_section_end|>"
)


@pytest.mark.parametrize(
    ("family", "raw", "reasoning", "content"),
    [
        ("kimi_k2", f"why</think>so{SECTION} then", "why", f"so{SECTION} then"),
        ("kimi_k2", f"why{SECTION}", "why", SECTION),  # a section ends reasoning
        ("kimi_k2", f"why{SECTION[:60]}", "why", SECTION[:60]),
        ("qwen3_coder", f"<think>\nwhy\n</think>\n\nso\n\n{XML}", "why", f"so\n\n{XML}"),
        ("hermes", f"{JSON}\n{JSON}", None, f"{JSON}\n{JSON}"),
        ("pythonic", "[f(a=1), g()]", None, "[f(a=1), g()]"),
        ("llama3_json", '{"name": "f", "parameters": {}}', None, '{"name": "f", "parameters": {}}'),
        # wrappers of content are not shown, calls or no calls
        (
            "cohere_command3",
            "<|START_THINKING|>why<|END_THINKING|><|START_RESPONSE|>Hi<|END_RESPONSE|>",
            "why",
            "Hi",
        ),
        (
            "gpt_oss",
            "<|channel|>analysis<|message|>why<|end|><|start|>assistant<|channel|>final<|message|>Hi",
            "why",
            "Hi",
        ),
    ],
)
def test_calls_are_content_as_they_were_written(
    family: str, raw: str, reasoning: str | None, content: str
) -> None:
    whole = create_parser(family, calls=False).parse(raw)
    assert (whole.reasoning, whole.content, whole.tool_calls) == (reasoning, content, [])
    parser, builder = create_parser(family, calls=False), MessageBuilder()
    for character in raw:
        builder.add(parser.feed(character))
    builder.add(parser.finish())
    assert builder.build() == whole
