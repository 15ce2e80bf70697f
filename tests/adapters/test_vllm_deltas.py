"""Messages made without validation are the messages that validation would make."""

from __future__ import annotations

from typing import Any

import pytest
from vllm.entrypoints.generate.base.protocol import DeltaFunctionCall, DeltaMessage, DeltaToolCall

from unified_parser.adapters.vllm.deltas import delta_message
from unified_parser.events import ContentText, ReasoningText, ToolCallArguments, ToolCallEnd, ToolCallStart

START = ToolCallStart(0, "call_1", "f", 0, 1)
OPENED = DeltaToolCall(
    index=0, id="call_1", type="function", function=DeltaFunctionCall(name="f", arguments='{"a": 1}')
)


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([ContentText("a", 0, 1)], DeltaMessage(content="a")),
        ([ReasoningText("a", 0, 1)], DeltaMessage(reasoning="a")),
        ([ReasoningText("a", 0, 1), ContentText("b", 1, 2)], DeltaMessage(reasoning="a", content="b")),
        (
            [ToolCallArguments(2, "{}", 0, 2)],
            DeltaMessage(tool_calls=[DeltaToolCall(index=2, function=DeltaFunctionCall(arguments="{}"))]),
        ),
        (
            [START, ToolCallArguments(0, '{"a": ', 1, 7), ToolCallArguments(0, "1}", 7, 9)],
            DeltaMessage(tool_calls=[OPENED]),
        ),
    ],
)
def test_a_message_is_what_validation_would_make(events: list[Any], expected: DeltaMessage) -> None:
    made = delta_message(events)
    assert made == expected
    assert made.model_dump_json(exclude_unset=True) == expected.model_dump_json(exclude_unset=True)
    assert made.model_dump_json() == expected.model_dump_json()
    assert made.model_fields_set == expected.model_fields_set


def test_nothing_to_say_is_no_message() -> None:
    assert delta_message([]) is None
    assert delta_message([ToolCallEnd(0, True, 0, 0)]) is None


def test_messages_share_nothing() -> None:
    one, other = (delta_message([ContentText("a", 0, 1)]) for _ in range(2))
    one.tool_calls.append(OPENED)
    one.content = "b"
    assert (other.content, other.tool_calls) == ("a", [])
    assert delta_message([ReasoningText("x", 0, 1)]).tool_calls == []
