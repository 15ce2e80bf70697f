"""Gemma's notation: `<|tool_call>call:NAME{key:<|"|>text<|"|>,other:12}<tool_call|>`."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from support.fold import Folded

from readers.grammar import Output, Plan, Tool, dump, edged, plans, prose, texts
from readers.values import joined, json_of, thought

_QUOTE = '<|"|>'
_MARKERS = ("<|channel>", "<channel|>", "<|tool_call>", "<tool_call|>", _QUOTE)


def _value(text: str, at: int) -> tuple[Any, int]:
    """The value at ``at`` and where it ends."""
    if text.startswith(_QUOTE, at):
        end = text.index(_QUOTE, at + len(_QUOTE))
        return text[at + len(_QUOTE) : end], end + len(_QUOTE)
    if text[at] == "{":
        return _pairs(text, at + 1)
    if text[at] == "[":
        items, at = [], at + 1
        while text[at] != "]":
            item, at = _value(text, at + (text[at] == ","))
            items.append(item)
        return items, at + 1
    end = min(found for stop in ",]}" if (found := text.find(stop, at)) >= 0)
    return json_of(text[at:end]), end


def _pairs(text: str, at: int) -> tuple[dict[str, Any], int]:
    pairs = {}
    while text[at] != "}":
        at += text[at] == ","
        colon = text.index(":", at)
        pairs[text[at:colon]], at = _value(text, colon + 1)
    return pairs, at + 1


@dataclass(frozen=True)
class GemmaNotation:
    """The one dialect there is."""

    think: tuple[str, str] = ("<|channel>thought\n", "\n<channel|>")

    def read(self, raw: str, tools: list[Tool]) -> Folded:
        reasoning, rest = thought(raw, *self.think)
        pieces, calls, at = [], [], 0
        while (start := rest.find("<|tool_call>call:", at)) >= 0:
            pieces.append(rest[at:start])
            brace = rest.index("{", start)
            arguments, end = _pairs(rest, brace + 1)
            calls.append((rest[start + len("<|tool_call>call:") : brace], arguments, True))
            assert rest.startswith("<tool_call|>", end)
            at = end + len("<tool_call|>")
        pieces.append(rest[at:])
        return Folded(reasoning or None, joined(pieces, beside_calls=bool(calls)), calls)

    def outputs(self, quoted: tuple[str, ...] = ()) -> SearchStrategy[Output]:
        return _outputs(self, quoted)


@st.composite
def _outputs(draw: DrawFn, dialect: GemmaNotation, quoted: tuple[str, ...]) -> Output:
    inner = prose(_MARKERS, quoted)
    plan: Plan = draw(
        plans(
            content=edged(inner),
            reasoning=inner,
            between=edged(inner),
            after=edged(inner),
            value_text=texts(_MARKERS, quoted),
            typed=True,
        )
    )
    raw = f"{dialect.think[0]}{plan.reasoning}{dialect.think[1]}" if plan.reasoning else ""
    raw += plan.before
    for call, behind in zip(plan.calls, [*plan.between, plan.after], strict=False):
        raw += f"<|tool_call>call:{call.name}{_written(call.arguments)}<tool_call|>{behind}"
    return plan.output(raw, quoted)


def _written(value: Any) -> str:
    if isinstance(value, str):
        return f"{_QUOTE}{value}{_QUOTE}"
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{_written(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_written, value)) + "]"
    return dump(value)


assert _written({"a": [1, Decimal("2.50"), "x"]}) == '{a:[1,2.50,<|"|>x<|"|>]}'
