"""Parser events as vLLM's messages."""

from __future__ import annotations

from collections.abc import Sequence

from vllm.entrypoints.generate.base.protocol import (
    DeltaFunctionCall,
    DeltaMessage,
    DeltaToolCall,
    ExtractedToolCallInformation,
    FunctionCall,
    ToolCall,
)

from unified_parser.events import ContentText, Event, ReasoningText, ToolCallArguments, ToolCallStart
from unified_parser.message import Message


def delta_message(events: Sequence[Event]) -> DeltaMessage | None:
    """The events of one step as one message; None where there is nothing to send.

    A call's id, type and name are in its first delta and nowhere else. Text before and after a call in the
    same step becomes one piece of content: the message has room for one.
    """
    if len(events) == 1:  # nearly every step
        (event,) = events
        if isinstance(event, ContentText):
            return DeltaMessage(content=event.text)
        if isinstance(event, ReasoningText):
            return DeltaMessage(reasoning=event.text)
    reasoning: list[str] = []
    content: list[str] = []
    calls: list[DeltaToolCall] = []
    for event in events:
        if isinstance(event, ContentText):
            content.append(event.text)
        elif isinstance(event, ReasoningText):
            reasoning.append(event.text)
        elif isinstance(event, ToolCallArguments):
            _add_arguments(calls, event)
        elif isinstance(event, ToolCallStart):
            function = DeltaFunctionCall(name=event.name, arguments="")
            calls.append(DeltaToolCall(index=event.index, id=event.id, type="function", function=function))
    fields = {"reasoning": "".join(reasoning), "content": "".join(content), "tool_calls": calls}
    said = {name: value for name, value in fields.items() if value}
    return DeltaMessage(**said) if said else None


def _add_arguments(calls: list[DeltaToolCall], event: ToolCallArguments) -> None:
    """Appends a fragment to its call's delta of this step, which it starts if need be."""
    if calls and calls[-1].index == event.index and calls[-1].function is not None:
        calls[-1].function.arguments = (calls[-1].function.arguments or "") + event.fragment
    else:
        calls.append(DeltaToolCall(index=event.index, function=DeltaFunctionCall(arguments=event.fragment)))


def extracted_calls(message: Message) -> ExtractedToolCallInformation:
    """A whole message as the tool half of vLLM's composition wants it."""
    calls = [
        ToolCall(id=call.id, type="function", function=FunctionCall(name=call.name, arguments=call.arguments))
        for call in message.tool_calls
    ]
    return ExtractedToolCallInformation(tools_called=bool(calls), tool_calls=calls, content=message.content)
