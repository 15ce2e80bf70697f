"""Keys and values in tags: `<tool_call>NAME<arg_key>K</arg_key><arg_value>V</arg_value></tool_call>`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from support.fold import Folded

from readers.grammar import Output, Plan, Tool, dump, edged, plans, properties_of, prose, texts
from readers.values import joined, thought, typed

_CALL = re.compile(
    r"<tool_call>([^<\n]*)\n?((?:<arg_key>[^<]*</arg_key>\n?<arg_value>.*?</arg_value>\n?)*)</tool_call>",
    re.S,
)
_PAIR = re.compile(r"<arg_key>([^<]*)</arg_key>\n?<arg_value>(.*?)</arg_value>", re.S)


@dataclass(frozen=True)
class KeyValuePairs:
    """A dialect: the reasoning's frame, and the newline that ends each element, if there is one."""

    think: tuple[str, str]
    newline: str = ""

    def read(self, raw: str, tools: list[Tool]) -> Folded:
        reasoning, rest = thought(raw, *self.think)
        pieces, calls, at = [], [], 0
        for match in _CALL.finditer(rest):
            pieces.append(rest[at : match.start()].removesuffix(self.newline))
            schemas = properties_of(tools, match[1])
            arguments = {key: typed(text, schemas[key]) for key, text in _PAIR.findall(match[2])}
            calls.append((match[1], arguments, True))
            at = match.end()
        pieces.append(rest[at:])
        return Folded(reasoning or None, joined(pieces, beside_calls=bool(calls)), calls)

    def outputs(self, quoted: tuple[str, ...] = ()) -> SearchStrategy[Output]:
        return _outputs(self, quoted)


@st.composite
def _outputs(draw: DrawFn, dialect: KeyValuePairs, quoted: tuple[str, ...]) -> Output:
    inner = prose(("<think>", "</think>", "<tool_call>", "</tool_call>"), quoted)
    plan: Plan = draw(
        plans(
            content=edged(inner),
            reasoning=inner,
            between=edged(inner),
            after=edged(inner),
            value_text=texts(("</arg_value>", "<arg_value>", "<arg_key>"), quoted),
            typed=True,
        )
    )
    newline = dialect.newline
    raw = "".join((dialect.think[0], plan.reasoning, dialect.think[1], plan.before))
    for call, behind in zip(plan.calls, [*plan.between, plan.after], strict=False):
        raw += f"{newline}<tool_call>{call.name}{newline}"
        for key, value in call.arguments.items():
            text = value if isinstance(value, str) else dump(value)
            raw += f"<arg_key>{key}</arg_key>{newline}<arg_value>{text}</arg_value>{newline}"
        raw += f"</tool_call>{behind}"
    return plan.output(raw, quoted)
