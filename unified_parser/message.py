"""Events folded into a message, and the OpenAI shapes of both."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from .events import (
    ContentText,
    Discarded,
    Event,
    ReasoningText,
    ToolCallArguments,
    ToolCallEnd,
    ToolCallStart,
)


@dataclass(slots=True)
class ToolCall:
    """One tool call. ``arguments`` is JSON text, as the model wrote it wherever it wrote JSON."""

    index: int
    id: str
    name: str
    arguments: str = ""
    complete: bool = False

    def to_openai(self) -> dict[str, Any]:
        """The call as OpenAI's chat completions write it."""
        return {
            "id": self.id,
            "type": "function",
            "function": {"name": self.name, "arguments": self.arguments},
        }


@dataclass(slots=True)
class Message:
    """A parsed output. An empty ``reasoning`` or ``content`` is None.

    ``discarded`` is the text of a call that was cut off before its name was known; it is no content.
    """

    reasoning: str | None = None
    content: str | None = None
    tool_calls: list[ToolCall] = field(default_factory=list)
    discarded: str | None = None

    def to_openai(self, *, reasoning_key: str = "reasoning") -> dict[str, Any]:
        """The message as OpenAI's chat completions write it.

        ``reasoning_key`` is the field that carries the reasoning: clients of before vLLM 0.16 want
        ``"reasoning_content"``.
        """
        message: dict[str, Any] = {"role": "assistant", "content": self.content}
        if self.reasoning is not None:
            message[reasoning_key] = self.reasoning
        if self.tool_calls:
            message["tool_calls"] = [call.to_openai() for call in self.tool_calls]
        return message


class MessageBuilder:
    """Folds events into a ``Message``; ``keep_incomplete`` keeps the calls that ended incomplete."""

    __slots__ = ("_calls", "_content", "_discarded", "_fragments", "_keep", "_reasoning")

    def __init__(self, *, keep_incomplete: bool = False) -> None:
        self._keep = keep_incomplete
        self._reasoning: list[str] = []
        self._content: list[str] = []
        self._discarded: list[str] = []
        self._calls: list[ToolCall] = []
        self._fragments: list[list[str]] = []

    def add(self, events: Iterable[Event]) -> None:
        """Takes the next events, in their order."""
        for event in events:
            kind = type(event)
            if kind is ContentText:
                self._content.append(event[0])  # type: ignore[arg-type]
            elif kind is ReasoningText:
                self._reasoning.append(event[0])  # type: ignore[arg-type]
            elif kind is ToolCallArguments:
                self._fragments[event[0]].append(event[1])  # type: ignore[index,arg-type]
            elif isinstance(event, ToolCallStart):
                self._calls.append(ToolCall(event.index, event.id, event.name))
                self._fragments.append([])
            elif isinstance(event, ToolCallEnd):
                self._calls[event.index].complete = event.complete
            elif isinstance(event, Discarded):
                self._discarded.append(event.text)

    def build(self) -> Message:
        """The message so far."""
        for call, fragments in zip(self._calls, self._fragments, strict=True):
            call.arguments = "".join(fragments)
        return Message(
            reasoning="".join(self._reasoning) or None,
            content="".join(self._content) or None,
            tool_calls=[call for call in self._calls if call.complete or self._keep],
            discarded="".join(self._discarded) or None,
        )


def openai_deltas(events: Iterable[Event], *, reasoning_key: str = "reasoning") -> list[dict[str, Any]]:
    """Events as OpenAI-shaped deltas (``choices[].delta``), neighbours of one kind merged.

    A call's first delta has its id, type and name; later ones its index and an arguments fragment.
    """
    deltas: list[dict[str, Any]] = []
    for event in events:
        delta = _delta(event, reasoning_key)
        if delta is None:
            continue
        if not (deltas and _merge(deltas[-1], delta)):
            deltas.append(delta)
    return deltas


def _delta(event: Event, reasoning_key: str) -> dict[str, Any] | None:
    if isinstance(event, ContentText):
        return {"content": event.text}
    if isinstance(event, ReasoningText):
        return {reasoning_key: event.text}
    if isinstance(event, ToolCallStart):
        function = {"name": event.name, "arguments": ""}
        return {
            "tool_calls": [{"index": event.index, "id": event.id, "type": "function", "function": function}]
        }
    if isinstance(event, ToolCallArguments):
        return {"tool_calls": [{"index": event.index, "function": {"arguments": event.fragment}}]}
    return None


def _merge(last: dict[str, Any], delta: dict[str, Any]) -> bool:
    """Adds ``delta`` to ``last`` where both are of one kind and, for calls, of one call."""
    ((key, value),) = delta.items()
    if key not in last:
        return False
    if key != "tool_calls":
        last[key] += value
        return True
    call, more = last[key][-1], value[0]
    if call["index"] != more["index"] or "id" in more:
        return False
    call["function"]["arguments"] += more["function"]["arguments"]
    return True
