"""One JSON object in tags a call: `<tool_call>{"name": ..., "arguments": {...}}</tool_call>`."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from support.fold import Folded

from readers.grammar import NOTHING, Call, Output, Plan, Tool, dump, edged, json_styles, plans, prose, texts
from readers.values import joined, json_at, json_of, thought


@dataclass(frozen=True)
class JsonInTags:
    """A dialect: what stands around the reasoning, and which liberties the model takes with its JSON."""

    think: tuple[str, str] | None = None  # opening, as far as the model writes it, and closing
    verbatim_reasoning: bool = False  # white space at its ends is part of it
    string_arguments: bool = False  # arguments may be a string that holds the object

    def read(self, raw: str, tools: list[Tool]) -> Folded:
        reasoning, rest = thought(raw, *self.think) if self.think else ("", raw)
        pieces, calls, at = [], [], 0
        while (start := rest.find("<tool_call>", at)) >= 0:
            pieces.append(rest[at:start].removesuffix("\n"))
            call, end = json_at(rest, start + len("<tool_call>"))
            arguments = call.get("arguments", {})
            if isinstance(arguments, str):
                arguments = json_of(arguments)
            calls.append((call["name"], arguments, True))
            at = rest.index("</tool_call>", end) + len("</tool_call>")
        pieces.append(rest[at:])
        return Folded(reasoning or None, joined(pieces, beside_calls=bool(calls)), calls)

    def outputs(self, quoted: tuple[str, ...] = ()) -> SearchStrategy[Output]:
        return _outputs(self, quoted)


@st.composite
def _outputs(draw: DrawFn, dialect: JsonInTags, quoted: tuple[str, ...]) -> Output:
    markers = ("<think>", "</think>", "<tool_call>", "</tool_call>")
    inner = prose(markers, quoted)
    thinks = dialect.think is not None
    plan: Plan = draw(
        plans(
            content=edged(inner),
            reasoning=(edged(inner) if dialect.verbatim_reasoning else inner) if thinks else NOTHING,
            between=edged(inner),
            after=edged(inner),
            value_text=texts((), quoted),
        )
    )
    raw = plan.before
    if dialect.think:
        raw = "".join((dialect.think[0], plan.reasoning, dialect.think[1], plan.before))
    texts_behind = [*plan.between, plan.after]
    for number, call in enumerate(plan.calls):
        # The template's newline: between blocks, and after content.
        raw += "\n" if number or plan.before else ""
        raw += f"<tool_call>{_body(draw, dialect, call)}</tool_call>{texts_behind[number]}"
    return plan.output(raw, quoted)


def _body(draw: DrawFn, dialect: JsonInTags, call: Call) -> str:
    white = draw(st.sampled_from(["\n", "\n", "", " \n\t"]))
    style = draw(json_styles)
    arguments = dump(call.arguments, **style)
    if dialect.string_arguments and draw(st.booleans()):
        arguments = dump(arguments)
    name = dump(call.name)
    forms = [f'{{"name": {name}, "arguments": {arguments}}}', f'{{"arguments": {arguments}, "name": {name}}}']
    if not call.arguments:
        forms.append(f'{{"name": {name}}}')
    return white + draw(st.sampled_from(forms)) + white
