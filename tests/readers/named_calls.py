"""Mistral from v11 on: `[TOOL_CALLS]NAME[CALL_ID]id[ARGS]{...}`, again for each call."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from support.fold import Folded

from readers.grammar import Call, Output, Plan, Tool, dump, edged, json_styles, plans, prose, texts
from readers.values import joined, json_at, thought

_MARKERS = ("[TOOL_CALLS]", "[ARGS]", "[CALL_ID]", "[THINK]", "[/THINK]", "<think>", "</think>")
_HEADER = re.compile(r"\[TOOL_CALLS\]([^\[{]*)(?:\[CALL_ID\]\w{9})?(?:\[ARGS\])?\s*(?=\{)")


@dataclass(frozen=True)
class NamedCalls:
    """A dialect: whether calls have ids on the wire, whether the separator may be missing."""

    ids: bool = False
    separator_optional: bool = False

    def read(self, raw: str, tools: list[Tool]) -> Folded:
        reasoning, rest = thought(raw, "[THINK]", "[/THINK]")
        before = rest.partition("[TOOL_CALLS]")[0]
        calls, at = [], len(before)
        while match := _HEADER.match(rest, at):
            arguments, at = json_at(rest, match.end())
            calls.append((match[1], arguments, True))
        pieces = [before, rest[at:]]
        return Folded(reasoning or None, joined(pieces, beside_calls=bool(calls)), calls)

    def outputs(self, quoted: tuple[str, ...] = ()) -> SearchStrategy[Output]:
        return _outputs(self, quoted)


@st.composite
def _outputs(draw: DrawFn, dialect: NamedCalls, quoted: tuple[str, ...]) -> Output:
    inner = prose(_MARKERS, quoted)
    plan: Plan = draw(
        plans(
            content=edged(inner),
            reasoning=edged(inner, right=False),
            after=edged(inner),
            value_text=texts(_MARKERS, quoted),
        )
    )
    raw = f"[THINK]{plan.reasoning}[/THINK]" if plan.reasoning else ""
    raw += plan.before + "".join(_call(draw, dialect, call) for call in plan.calls) + plan.after
    return plan.output(raw, quoted)


def _call(draw: DrawFn, dialect: NamedCalls, call: Call) -> str:
    identity = f"[CALL_ID]k7Qz02Lm{draw(st.integers(0, 9))}" if dialect.ids else ""
    separators = ["[ARGS]", "[ARGS] "] + ([""] if dialect.separator_optional and not identity else [])
    separator = draw(st.sampled_from(separators))
    return f"[TOOL_CALLS]{call.name}{identity}{separator}{dump(call.arguments, **draw(json_styles))}"
