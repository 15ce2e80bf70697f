"""DeepSeek's markup: tags that begin with `｜DSML｜`, parameters that say whether they are strings."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from support.fold import Folded

from readers.grammar import Call, Output, Plan, Tool, dump, edged, plans, prose, texts
from readers.values import joined, json_of, thought


@dataclass(frozen=True)
class Dsml:
    """A dialect: the name of the section, and the blank in front of every tag name, if there is one."""

    section: str
    blank: str = ""

    def tag(self, name: str, closing: bool = False) -> str:
        return f"<{'/' if closing else ''}｜DSML｜{self.blank}{name}"

    def read(self, raw: str, tools: list[Tool]) -> Folded:
        reasoning, rest = thought(raw, "", "</think>")
        opening, closing = self.tag(self.section) + ">", self.tag(self.section, True) + ">"
        before, opened, rest = rest.partition(opening)
        if not opened:
            return Folded(reasoning or None, before or None, [])
        body, _, after = rest.partition(closing)
        invoke = re.compile(f'{self.tag("invoke")} name="(.*?)">(.*?){self.tag("invoke", True)}>', re.S)
        calls = [(name, self._arguments(inner), True) for name, inner in invoke.findall(body)]
        pieces = [before.removesuffix("\n\n"), after]
        return Folded(reasoning or None, joined(pieces, beside_calls=True), calls)

    def _arguments(self, inner: str) -> dict[str, object]:
        parameter = re.compile(
            f'{self.tag("parameter")} name="(.*?)" string="(true|false)">(.*?){self.tag("parameter", True)}>',
            re.S,
        )
        return {k: v if string == "true" else json_of(v) for k, string, v in parameter.findall(inner)}

    def outputs(self, quoted: tuple[str, ...] = ()) -> SearchStrategy[Output]:
        return _outputs(self, quoted)


@st.composite
def _outputs(draw: DrawFn, dialect: Dsml, quoted: tuple[str, ...]) -> Output:
    inner = prose(("<think>", "</think>", "｜DSML｜"), quoted)
    plan: Plan = draw(
        plans(
            content=edged(inner),
            reasoning=edged(inner),
            after=edged(inner),
            value_text=texts(("｜DSML｜",), quoted),
            typed=True,
        )
    )
    raw = f"{plan.reasoning}</think>{plan.before}"
    if plan.calls:
        invokes = "\n".join(_invoke(dialect, call) for call in plan.calls)
        section = dialect.tag(dialect.section), dialect.tag(dialect.section, True)
        raw += f"\n\n{section[0]}>\n{invokes}\n{section[1]}>{plan.after}"
    return plan.output(raw, quoted)


def _invoke(dialect: Dsml, call: Call) -> str:
    lines = [f'{dialect.tag("invoke")} name="{call.name}">']
    for key, value in call.arguments.items():
        is_string = isinstance(value, str)
        text = value if is_string else dump(value)
        opening = f'{dialect.tag("parameter")} name="{key}" string="{dump(is_string)}">'
        lines.append(f"{opening}{text}{dialect.tag('parameter', True)}>")
    if not call.arguments:
        lines.append("")
    return "\n".join([*lines, f"{dialect.tag('invoke', True)}>"])
