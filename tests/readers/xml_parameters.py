"""Tagged parameters: `<tool_call><function=NAME><parameter=KEY>VALUE</parameter></function></tool_call>`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from support.fold import Folded

from readers.grammar import Output, Plan, Tool, dump, edged, plans, properties_of, prose, texts
from readers.values import joined, thought, typed

_CALL = re.compile(
    r"<tool_call>\n<function=([^>]*)>\n((?:<parameter=.*?\n</parameter>\n)*)</function>\n</tool_call>", re.S
)
_PARAMETER = re.compile(r"<parameter=([^>]*)>\n(.*?)\n</parameter>\n", re.S)


@dataclass(frozen=True)
class XmlParameters:
    """A dialect: what stands around the reasoning."""

    think: tuple[str, str]
    before_first: str = "\n\n"  # framing of the first call behind content

    def read(self, raw: str, tools: list[Tool]) -> Folded:
        reasoning, rest = thought(raw, *self.think)
        pieces, calls, at = [], [], 0
        for match in _CALL.finditer(rest):
            pieces.append(rest[at : match.start()].removesuffix("\n" if calls else self.before_first))
            schemas = properties_of(tools, match[1])
            arguments = {key: typed(text, schemas[key]) for key, text in _PARAMETER.findall(match[2])}
            calls.append((match[1], arguments, True))
            at = match.end()
        pieces.append(rest[at:])
        return Folded(reasoning or None, joined(pieces, beside_calls=bool(calls)), calls)

    def outputs(self, quoted: tuple[str, ...] = ()) -> SearchStrategy[Output]:
        return _outputs(self, quoted)


@st.composite
def _outputs(draw: DrawFn, dialect: XmlParameters, quoted: tuple[str, ...]) -> Output:
    inner = prose(("<think>", "</think>", "<tool_call>", "</tool_call>", "<function="), quoted)
    value = texts(("</parameter>", "<parameter=", "</function>"), quoted)
    plan: Plan = draw(
        plans(content=edged(inner), reasoning=inner, after=edged(inner), value_text=value, typed=True)
    )
    raw = "".join((dialect.think[0], plan.reasoning, dialect.think[1], plan.before))
    for number, call in enumerate(plan.calls):
        raw += "\n" if number else dialect.before_first if plan.before else ""
        raw += f"<tool_call>\n<function={call.name}>\n"
        for key, argument in call.arguments.items():
            raw += f"<parameter={key}>\n{_spelled(draw, argument)}\n</parameter>\n"
        raw += "</function>\n</tool_call>"
    return plan.output(raw + plan.after, quoted)


def _spelled(draw: DrawFn, value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool):  # templates write Python's words too
        return draw(st.sampled_from([str(value), dump(value)]))
    return dump(value)
