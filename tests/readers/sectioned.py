"""A section of calls, each with header, JSON arguments and end marker (Kimi K2, DeepSeek V3 and V3.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from support.fold import Folded

from readers.grammar import NOTHING, Call, Output, Plan, Tool, dump, edged, json_styles, plans, prose, texts
from readers.values import joined, json_at, thought


@dataclass(frozen=True)
class Sectioned:
    """A dialect: the markers, and the literals that the header and the arguments are wrapped in."""

    section: tuple[str, str]
    call: tuple[str, str]
    header: str  # behind the call's marker; "NAME" and "NUMBER" stand for the call's
    after_arguments: str = ""
    between: tuple[str, ...] = ("",)  # what may stand between two calls
    think: tuple[str, str] | None = None
    verbatim_reasoning: bool = True  # white space at its end is part of it
    other_markers: tuple[str, ...] = ()

    @property
    def markers(self) -> tuple[str, ...]:
        return (*self.section, *self.call, *self.other_markers, "<think>", "</think>")

    def read(self, raw: str, tools: list[Tool]) -> Folded:
        reasoning, rest = thought(raw, *self.think) if self.think else ("", raw)
        before, opened, rest = rest.partition(self.section[0])
        if not opened:
            return Folded(reasoning or None, before or None, [])
        pattern = re.escape(self.call[0] + self.header).replace("NAME", "(.*?)").replace("NUMBER", r"\d+")
        header = re.compile(r"\s*" + pattern)
        calls, at = [], 0
        while match := header.match(rest, at):
            arguments, end = json_at(rest, match.end())
            calls.append((match[1], arguments, True))
            at = rest.index(self.call[1], end) + len(self.call[1])
        after = rest[rest.index(self.section[1], at) + len(self.section[1]) :]
        return Folded(reasoning or None, joined([before, after], beside_calls=bool(calls)), calls)

    def outputs(self, quoted: tuple[str, ...] = ()) -> SearchStrategy[Output]:
        return _outputs(self, quoted)


@st.composite
def _outputs(draw: DrawFn, dialect: Sectioned, quoted: tuple[str, ...]) -> Output:
    inner = prose(dialect.markers, quoted)
    thinks = dialect.think is not None
    plan: Plan = draw(
        plans(
            content=edged(inner),
            reasoning=edged(inner, right=dialect.verbatim_reasoning) if thinks else NOTHING,
            after=edged(inner),
            value_text=texts((), quoted),
        )
    )
    raw = plan.before
    if dialect.think:
        raw = "".join((dialect.think[0], plan.reasoning, dialect.think[1], plan.before))
    if plan.calls:
        gap = draw(st.sampled_from(list(dialect.between)))
        written = [_call(draw, dialect, number, call) for number, call in enumerate(plan.calls)]
        raw += dialect.section[0] + gap.join(written) + dialect.section[1] + plan.after
    return plan.output(raw, quoted)


def _call(draw: DrawFn, dialect: Sectioned, number: int, call: Call) -> str:
    header = dialect.header.replace("NUMBER", str(number)).replace("NAME", call.name)
    arguments = dump(call.arguments, **draw(json_styles))
    return "".join((dialect.call[0], header, arguments, dialect.after_arguments, dialect.call[1]))


KIMI_K2 = Sectioned(
    section=("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"),
    call=("<|tool_call_begin|>", "<|tool_call_end|>"),
    header="functions.NAME:NUMBER<|tool_call_argument_begin|>",
    between=("", "\n"),
    think=("", "</think>"),
    verbatim_reasoning=False,
    other_markers=("<|tool_call_argument_begin|>",),
)
DEEPSEEK_V31 = Sectioned(
    section=("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"),
    call=("<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>"),
    header="NAME<｜tool▁sep｜>",
    think=("", "</think>"),
    other_markers=("<｜tool▁sep｜>",),
)
DEEPSEEK_V3 = replace(
    DEEPSEEK_V31,
    header="function<｜tool▁sep｜>NAME\n```json\n",
    after_arguments="\n```",
    between=("\n",),
    think=None,
)
