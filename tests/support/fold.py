"""Events folded into what can be compared; shares nothing with the framework's own fold."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any


@dataclass
class Folded:
    """A message: ``calls`` are (name, arguments, complete); the arguments of an incomplete call are raw text.

    Numbers with a fraction or an exponent are ``Decimal``, so that none is compared through a float.
    """

    reasoning: str | None = None
    content: str | None = None
    calls: list[tuple[str, Any, bool]] = field(default_factory=list)

    def complete(self) -> Folded:
        """The message without the calls that were cut off."""
        return Folded(self.reasoning, self.content, [call for call in self.calls if call[2]])

    def spelled(self) -> dict[str, Any]:
        """The message in plain strings, which also tells true from 1, and 1 from 1.0."""
        calls = [f"{name}({spell(arguments)})" for name, arguments, _ in self.calls]
        return {"reasoning": self.reasoning, "content": self.content, "calls": calls}


def spell(value: Any) -> str:
    """A value as canonical JSON-like text: keys sorted, numbers by value, integers apart from others."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{spell(key)}: {spell(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(spell, value)) + "]"
    if isinstance(value, Decimal):
        return f"decimal {value.normalize():E}" if value else "decimal 0"
    return json.dumps(value, ensure_ascii=False)


def loads(text: str) -> Any:
    """JSON text to a value: exact numbers, the first of repeated keys, no NaN or Infinity."""
    return json.loads(text, parse_float=Decimal, parse_constant=_refuse, object_pairs_hook=_first_wins)


def _first_wins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return dict(reversed(pairs))


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def fold(events: Iterable[Any]) -> Folded:
    """Folds the events of one output; events are told apart by the name of their class.

    Raises AssertionError where the events break their own order: a fragment of a call that is not open, an
    index out of turn, a complete call whose arguments are no JSON object.
    """
    reasoning: list[str] = []
    content: list[str] = []
    calls: list[dict[str, Any]] = []
    for event in events:
        match type(event).__name__:
            case "ReasoningText":
                assert event.text, "empty event"
                reasoning.append(event.text)
            case "ContentText":
                assert event.text, "empty event"
                content.append(event.text)
            case "ToolCallStart":
                assert event.index == len(calls), "call announced out of turn"
                assert event.name and event.id, "call without a name or an id"
                calls.append({"name": event.name, "fragments": [], "complete": None})
            case "ToolCallArguments":
                assert calls[event.index]["complete"] is None, "fragment after the end of its call"
                calls[event.index]["fragments"].append(event.fragment)
            case "ToolCallEnd":
                assert calls[event.index]["complete"] is None, "call ended twice"
                calls[event.index]["complete"] = event.complete
            case "ReasoningStart" | "ReasoningEnd" | "Discarded" | "Framing":
                pass
            case other:
                raise AssertionError(f"unknown event {other}")
    return Folded("".join(reasoning) or None, "".join(content) or None, [_call(call) for call in calls])


def _call(call: dict[str, Any]) -> tuple[str, Any, bool]:
    text = "".join(call["fragments"])
    assert call["complete"] is not None, f"call {call['name']} never ended"
    if not call["complete"]:
        return call["name"], text, False
    arguments = loads(text)
    assert isinstance(arguments, dict), f"arguments of {call['name']} are no object: {text!r}"
    return call["name"], arguments, True


def message(parsed: Any) -> Folded:
    """A ``Message`` in the same shape."""
    calls = [
        (call.name, loads(call.arguments) if call.complete else call.arguments, call.complete)
        for call in parsed.tool_calls
    ]
    return Folded(parsed.reasoning, parsed.content, calls)
