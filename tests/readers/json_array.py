"""A marker and one JSON array of calls (Granite 3, Hunyuan A13B, Cohere Command, Mistral before v11)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from support.fold import Folded

from readers.grammar import NOTHING, Call, Output, Plan, Tool, dump, edged, json_styles, plans, prose, texts
from readers.values import joined, json_at


@dataclass(frozen=True)
class JsonArray:
    """A dialect.

    ``think`` and ``answer`` are what stands around the reasoning and around the text; ``wrap`` stands around
    the array; ``shell`` around text and array together. ``forbidden`` can stand in no text.
    """

    wrap: tuple[str, str]
    think: tuple[str, str] | None = None
    optional_think: bool = True
    answer: tuple[str, str] = ("", "")
    shell: tuple[str, str] = ("", "")
    keys: tuple[str, str] = ("name", "arguments")
    numbered: str | None = None  # the key of an id that the model writes
    either_order: bool = True
    text_behind: bool = False  # text may follow the array
    edges: bool = True  # white space at the ends of a text is part of it
    value_forbidden: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()

    def read(self, raw: str, tools: list[Tool]) -> Folded:
        reasoning, rest = self._thought(raw)
        rest = rest.removeprefix(self.shell[0]).removesuffix(self.shell[1])
        before, opened, array = rest.partition(self.wrap[0])
        calls, after = [], ""
        if opened:
            items, end = json_at(array, 0)
            name, arguments = self.keys
            calls = [(item[name], item[arguments], True) for item in items]
            after = array[end:].lstrip() if self.wrap[1] else array[end:]
            after = after.removeprefix(self.wrap[1])
        pieces = [self._text(before), self._text(after)]
        return Folded(reasoning or None, joined(pieces, beside_calls=bool(calls)), calls)

    def _thought(self, raw: str) -> tuple[str, str]:
        if not self.think or self.think[1] not in raw:
            return "", raw
        reasoning, _, rest = raw.partition(self.think[1])
        return reasoning.removeprefix(self.think[0]), rest

    def _text(self, piece: str) -> str:
        return piece.removeprefix(self.answer[0]).removesuffix(self.answer[1])

    def outputs(self, quoted: tuple[str, ...] = ()) -> SearchStrategy[Output]:
        return _outputs(self, quoted)


@st.composite
def _outputs(draw: DrawFn, dialect: JsonArray, quoted: tuple[str, ...]) -> Output:
    inner = prose(dialect.forbidden, quoted)
    content = edged(inner) if dialect.edges else inner
    plan: Plan = draw(
        plans(
            content=content,
            reasoning=content if dialect.think else NOTHING,
            after=content if dialect.text_behind else NOTHING,
            value_text=texts(dialect.value_forbidden, quoted),
        )
    )
    raw = ""
    if dialect.think and (plan.reasoning or not dialect.optional_think):
        raw = "".join((dialect.think[0], plan.reasoning, dialect.think[1]))
    raw += dialect.shell[0] + _answer(dialect, plan.before)
    if plan.calls:
        raw += dialect.wrap[0] + _array(draw, dialect, plan.calls) + dialect.wrap[1]
    return plan.output(raw + _answer(dialect, plan.after) + dialect.shell[1], quoted)


def _answer(dialect: JsonArray, text: str) -> str:
    return "".join((dialect.answer[0], text, dialect.answer[1])) if text else ""


def _array(draw: DrawFn, dialect: JsonArray, calls: list[Call]) -> str:
    style: dict[str, Any] = draw(json_styles)
    items = []
    for number, call in enumerate(calls):
        members = [
            f"{dump(dialect.keys[0])}: {dump(call.name)}",
            f"{dump(dialect.keys[1])}: {dump(call.arguments, **style)}",
        ]
        if dialect.either_order and draw(st.booleans()):
            members.reverse()
        if dialect.numbered == "tool_call_id":
            members.insert(0, f'"tool_call_id": "{number}"')
        elif dialect.numbered:
            members.append(f'"{dialect.numbered}": "Zt81kPw{number:02}"')
        items.append("{" + ", ".join(members) + "}")
    opening, comma, closing = draw(
        st.sampled_from([("[", ", ", "]"), ("[", ",", "]"), ("[\n    ", ",\n    ", "\n]")])
    )
    return opening + comma.join(items) + closing


_PHRASES = ("my thought process:", "my response:", "Here is", "Here's")
GRANITE = JsonArray(
    wrap=("<|tool_call|>", ""),
    think=("Here is my thought process:", "Here's my response:"),
    text_behind=True,
    forbidden=(*_PHRASES, "<|tool_call|>", "<tool_call>"),
)
HUNYUAN_A13B = JsonArray(
    wrap=("<tool_calls>", "</tool_calls>"),
    think=("<think>\n", "\n</think>\n"),
    optional_think=False,
    shell=("<answer>\n", "\n</answer>"),
    edges=False,
    forbidden=("<think>", "</think>", "<answer>", "</answer>", "<tool_calls>", "</tool_calls>"),
)
_COHERE_TAGS = ("THINKING", "ACTION", "TEXT", "RESPONSE")
COHERE_COMMAND4 = JsonArray(
    wrap=("<|START_ACTION|>", "<|END_ACTION|>"),
    think=("", "<|END_THINKING|>"),
    optional_think=False,
    answer=("<|START_TEXT|>", "<|END_TEXT|>"),
    keys=("tool_name", "parameters"),
    numbered="tool_call_id",
    either_order=False,
    edges=False,
    forbidden=("<co>", "</co", *(f"<|{end}_{tag}|>" for end in ("START", "END") for tag in _COHERE_TAGS)),
)
COHERE_COMMAND3 = replace(COHERE_COMMAND4, answer=("<|START_RESPONSE|>", "<|END_RESPONSE|>"))
_MISTRAL = ("[TOOL_CALLS]", "[ARGS]", "[CALL_ID]", "[THINK]", "[/THINK]", "<think>", "</think>")
MISTRAL_V7 = JsonArray(
    wrap=("[TOOL_CALLS]", ""),
    numbered="id",
    text_behind=True,
    forbidden=_MISTRAL,
    value_forbidden=_MISTRAL,
)
