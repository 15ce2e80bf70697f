"""Parser events as vLLM's messages."""

from __future__ import annotations

from collections.abc import Sequence
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


class Shape:
    """Makes pydantic objects of one class without validating: a stream makes several per token.

    Only for values that are known to be right. Fields that are not given have their defaults and count as
    unset, as after a plain construction.
    """

    __slots__ = ("_class", "_defaults", "_extra", "_fresh", "_private")

    def __init__(self, example: BaseModel) -> None:
        self._class = type(example)
        self._defaults = dict(example.__dict__)
        self._fresh = [name for name, value in self._defaults.items() if isinstance(value, list)]
        self._extra = example.__pydantic_extra__
        self._private = example.__pydantic_private__

    def __call__(self, said: dict[str, Any]) -> Any:
        """An object with these fields; the dictionary is not kept."""
        values = self._defaults | said
        for name in self._fresh:
            if name not in said:
                values[name] = []
        made = self._class.__new__(self._class)
        _set(made, "__dict__", values)
        _set(made, "__pydantic_fields_set__", set(said))
        _set(made, "__pydantic_extra__", None if self._extra is None else dict(self._extra))
        _set(made, "__pydantic_private__", None if self._private is None else dict(self._private))
        return made


_set = object.__setattr__
_message = Shape(DeltaMessage())
_call = Shape(DeltaToolCall(index=0))
_function = Shape(DeltaFunctionCall())


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
            function = _function({"name": event.name, "arguments": ""})
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
        function = _function({"arguments": event.fragment})
        calls.append(_call({"index": event.index, "function": function}))


def extracted_calls(message: Message) -> ExtractedToolCallInformation:
    """A whole message as the tool half of vLLM's composition wants it."""
    calls = [
        ToolCall(id=call.id, type="function", function=FunctionCall(name=call.name, arguments=call.arguments))
        for call in message.tool_calls
    ]
    return ExtractedToolCallInformation(tools_called=bool(calls), tool_calls=calls, content=message.content)
