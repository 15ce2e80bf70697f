"""Calls as bare JSON objects in the text: `{"name": ..., "parameters": {...}}; {...}` (Llama 3 and 4)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from support.fold import Folded

from readers.grammar import Call, Output, Plan, Tool, dump, json_styles, plans, prose, texts
from readers.values import joined, json_at

_TAG = "<|python_tag|>"
_SEPARATORS = ("; ", ";", " ;\n", "\n", "")


@dataclass(frozen=True)
class BareJson:
    """The one dialect there is. No text has a brace, so that the first one opens a call."""

    def read(self, raw: str, tools: list[Tool]) -> Folded:
        before, brace, _ = raw.partition("{")
        if not brace:
            return Folded(None, raw or None, [])
        calls, at = [], len(before)
        while match := re.compile(r"[\s;]*(?=\{)").match(raw, at):
            call, at = json_at(raw, match.end())
            calls.append((call["name"], call.get("arguments", call.get("parameters")), True))
        pieces = [before.removesuffix(_TAG), raw[at:]]
        return Folded(None, joined(pieces, beside_calls=True), calls)

    def outputs(self, quoted: tuple[str, ...] = ()) -> SearchStrategy[Output]:
        return _outputs(quoted)


@st.composite
def _outputs(draw: DrawFn, quoted: tuple[str, ...]) -> Output:
    inner = prose(("{", "}", _TAG, "<think>", "</think>"), quoted)
    plan: Plan = draw(
        plans(
            content=inner.map(lambda text: text + "\n"),
            after=inner.filter(lambda text: not text.startswith(";")),
            value_text=texts((), quoted),
        )
    )
    raw = plan.before
    if plan.calls:
        raw += draw(st.sampled_from(["", _TAG]))
        raw += draw(st.sampled_from(_SEPARATORS)).join(_object(draw, call) for call in plan.calls)
    return plan.output(raw + plan.after, quoted)


def _object(draw: DrawFn, call: Call) -> str:
    key = draw(st.sampled_from(["parameters", "arguments"]))
    members = [f'"name": {dump(call.name)}', f'"{key}": {dump(call.arguments, **draw(json_styles))}']
    if draw(st.booleans()):
        members.insert(0, '"type": "function"')
    return "{" + ", ".join(members) + "}"
