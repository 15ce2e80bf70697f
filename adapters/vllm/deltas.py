"""Parser events as vLLM's messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pydantic import BaseModel
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


def unvalidated(example: BaseModel) -> Callable[[dict[str, Any]], Any]:
    """Makes objects of the example's class without validating: a stream makes several per token.

    Only for values that are known to be right. Fields that are not given have their defaults and count as
    unset, as after a plain construction. The dictionary that is given is not kept.
    """
    made_class = type(example)
    defaults = dict(example.__dict__)
    fresh = [name for name, value in defaults.items() if isinstance(value, list)]
    has_extra = example.__pydantic_extra__ is not None

    def make(said: dict[str, Any]) -> Any:
        made = object.__new__(made_class)
        values = made.__dict__
        values.update(defaults)
        for name in fresh:
            values[name] = []
        values.update(said)
        _set_fields(made, set(said))
        _set_extra(made, {} if has_extra else None)
        _set_private(made, None)
        return made

    return make


_set_fields = BaseModel.__dict__["__pydantic_fields_set__"].__set__
_set_extra = BaseModel.__dict__["__pydantic_extra__"].__set__
_set_private = BaseModel.__dict__["__pydantic_private__"].__set__

_message = unvalidated(DeltaMessage())
_call = unvalidated(DeltaToolCall(index=0))


def delta_message(events: Sequence[Event]) -> DeltaMessage | None:
    """The events of one step as one message; None where there is nothing to send.

    A call's id, type and name are in its first delta and nowhere else. Text before and after a call in the
    same step becomes one piece of content: the message has room for one.
    """
    if not events:
        return None
    if len(events) == 1:  # nearly every step
        event = events[0]
        kind = type(event)
        if kind is ContentText:
            return _message({"content": event[0]})  # type: ignore[no-any-return]
        if kind is ReasoningText:
            return _message({"reasoning": event[0]})  # type: ignore[no-any-return]
        if kind is ToolCallArguments:
            call = _call({"index": event[0], "function": DeltaFunctionCall(arguments=event[1])})
            return _message({"tool_calls": [call]})  # type: ignore[no-any-return]
    reasoning: list[str] = []
    content: list[str] = []
    calls: list[DeltaToolCall] = []
    for event in events:
        if isinstance(event, ToolCallArguments):
            _add_arguments(calls, event)
        elif isinstance(event, ContentText):
            content.append(event.text)
        elif isinstance(event, ReasoningText):
            reasoning.append(event.text)
        elif isinstance(event, ToolCallStart):
            function = DeltaFunctionCall(name=event.name, arguments="")
            calls.append(
                _call({"index": event.index, "id": event.id, "type": "function", "function": function})
            )
    fields = {"reasoning": "".join(reasoning), "content": "".join(content), "tool_calls": calls}
    said = {name: value for name, value in fields.items() if value}
    return _message(said) if said else None


def _add_arguments(calls: list[DeltaToolCall], event: ToolCallArguments) -> None:
    """Appends a fragment to its call's delta of this step, which it starts if need be."""
    if calls and calls[-1].index == event.index and calls[-1].function is not None:
        calls[-1].function.arguments = (calls[-1].function.arguments or "") + event.fragment
    else:
        function = DeltaFunctionCall(arguments=event.fragment)
        calls.append(_call({"index": event.index, "function": function}))


def extracted_calls(message: Message) -> ExtractedToolCallInformation:
    """A whole message as the tool half of vLLM's composition wants it."""
    calls = [
        ToolCall(id=call.id, type="function", function=FunctionCall(name=call.name, arguments=call.arguments))
        for call in message.tool_calls
    ]
    return ExtractedToolCallInformation(tools_called=bool(calls), tool_calls=calls, content=message.content)
