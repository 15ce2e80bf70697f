"""The ids of calls for which the model wrote none."""

from __future__ import annotations

import re

from unified_parser import create_parser, get_parser_class, pair


def ids_of(family: str, raw: str) -> list[str]:
    return [call.id for call in create_parser(family).parse(raw).tool_calls]


def test_ids_are_unique() -> None:
    first, second = ids_of("hermes", '<tool_call>{"name": "f", "arguments": {}}</tool_call>' * 2)
    assert first != second and first and second


def test_mistral_takes_back_ids_of_nine_letters_or_digits_only() -> None:
    for raw in ('[TOOL_CALLS][{"name": "f", "arguments": {}}]', "[TOOL_CALLS]f[ARGS]{}", "[TOOL_CALLS]f{}"):
        (identifier,) = ids_of("mistral", raw)
        assert re.fullmatch("[A-Za-z0-9]{9}", identifier)


def test_the_ids_of_a_pair_are_those_of_its_calls() -> None:
    parser = pair(get_parser_class("qwen3"), get_parser_class("mistral"))()
    (call,) = parser.parse("<think>\nwhy\n</think>\n\n[TOOL_CALLS]f[ARGS]{}").tool_calls
    assert re.fullmatch("[A-Za-z0-9]{9}", call.id)
