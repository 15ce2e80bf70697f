"""Events and messages as JSON lines on the standard output."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import typer

from ..events import Discarded, Event, ToolCallEnd, ToolCallStart
from ..message import Message, openai_deltas


def print_json(value: Any, *, indent: int | None = None) -> None:
    """Writes JSON as UTF-8 and flushes. Half a surrogate pair stays the escape that it was."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    typer.echo(text.encode("utf-8", "backslashreplace"))


def message_json(message: Message, *, openai: bool = False) -> dict[str, Any]:
    """A message with all its fields, or as OpenAI's chat completions write it."""
    if openai:
        return message.to_openai()
    calls = [
        {"id": call.id, "name": call.name, "arguments": call.arguments, "complete": call.complete}
        for call in message.tool_calls
    ]
    return {
        "reasoning": message.reasoning,
        "content": message.content,
        "tool_calls": calls,
        "discarded": message.discarded,
    }


def event_lines(events: list[Event], *, openai: bool = False) -> list[dict[str, Any]]:
    """Events with their kind and fields, or the OpenAI deltas that they make."""
    if openai:
        return openai_deltas(events)
    return [{"event": type(event).__name__, **event._asdict()} for event in events]


def flaws(events: Iterable[Event]) -> Iterator[str]:
    """What ``--strict`` objects to."""
    names: dict[int, str] = {}
    for event in events:
        if isinstance(event, ToolCallStart):
            names[event.index] = event.name
        elif isinstance(event, ToolCallEnd) and not event.complete:
            yield f"call {event.index} ({names[event.index]}) is incomplete"
        elif isinstance(event, Discarded):
            yield f"{len(event.text)} characters of a call without a name were discarded"
