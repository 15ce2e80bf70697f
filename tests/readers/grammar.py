"""What the generators share: authored values, tools, plans of an output.

A plan says what an output is to contain; a syntax module writes it down as its model would and states what
must be read back. The expected message comes from the plan alone, never from reading.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from support.fold import Folded

Tool = dict[str, Any]
Schema = dict[str, Any]


@dataclass(frozen=True)
class Output:
    """A generated output: what the model wrote, the tools of the request, the message it must give."""

    raw: str
    tools: list[Tool]
    expected: Folded
    literal: tuple[str, ...] = ()  # look-alikes in ``raw`` that are spelled with ordinary tokens


@dataclass(frozen=True)
class Syntax:
    """One line of the table of families: how its outputs are read, generated, and requested.

    ``outputs(quoted)`` generates outputs; the strings of ``quoted``, marker look-alikes in quotation marks,
    may then stand in any text and any string value of them.
    """

    name: str
    read: Callable[[str, list[Tool]], Folded]
    outputs: Callable[[tuple[str, ...]], SearchStrategy[Output]]
    parser: str = ""
    reasoning: str | None = None
    thinking: bool | None = None
    prompt_tail: str = ""

    @property
    def parser_name(self) -> str:
        return self.parser or self.name


@dataclass(frozen=True)
class Call:
    """A planned call."""

    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """What an output is to contain, in this order. Texts may be empty."""

    tools: list[Tool]
    reasoning: str
    before: str
    calls: list[Call]
    between: list[str] = field(default_factory=list)  # behind each call but the last one
    after: str = ""

    def expected(self, *, content: str | None = None) -> Folded:
        """The message; ``content`` where it is not simply the texts of the plan, joined."""
        text = "".join((self.before, *self.between, self.after)) if content is None else content
        calls = [(call.name, call.arguments, True) for call in self.calls]
        return Folded(self.reasoning or None, text or None, calls)

    def output(self, raw: str, quoted: tuple[str, ...] = (), **expected: Any) -> Output:
        return Output(raw, self.tools, self.expected(**expected), tuple(quoted))


# Markup of every family, whole and in pieces, and other texts that parsers have stumbled over.
FRAGMENTS = (
    "<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_calls>", "</tool_calls>", "<answer>",
    "</answer>", "<function=x>", "</function>", "<parameter=k>", "</parameter>", "<arg_key>",
    "</arg_key>", "<arg_value>", "</arg_value>", "<|tool_call|>", "<|tool_call>", "<tool_call|>",
    "<|channel>", "<channel|>", '<|"|>', "[TOOL_CALLS]", "[ARGS]", "[CALL_ID]", "[THINK]", "[/THINK]",
    "<function_call>", "<|python_tag|>", "<｜tool▁calls▁begin｜>", "<｜tool▁call▁end｜>", "<｜tool▁sep｜>",
    "｜DSML｜", '<｜DSML｜invoke name="x">', "</｜DSML｜parameter>", "<|tool_calls_section_begin|>",
    "<|tool_call_begin|>", "<|tool_call_end|>", "<|tool_call_argument_begin|>",
    "<|channel|>final<|message|>", "<|start|>assistant", "<|end|>", "<|call|>", "<|START_ACTION|>",
    "<|END_ACTION|>", "<|START_TEXT|>", "<co>", "</co: 0:[1]>", "<|python_start|>",
    "Here is my response:", "Here is", "functions.x:0", "[ping()]", '{"name": "x", "arguments": {}}',
    "```json\n", "\n```", "</thi", "<tool", "<|", "<", ">", "{", "}", "]", "[", '"', "'", "\\", '\\"',
    "\\n", "\\u00e9", "&lt;", "\n", "\n\n", "\t", "\r\n", "  ", "é", "日本語", "🗼", "🇲🇹", "null", "true",
    "123", ", ", ":", "；", "a b", "the tide",
)  # fmt: skip

WHITE = ("", "", "", " ", "\n", "\n\n", " \t")


@cache
def texts(forbidden: tuple[str, ...] = (), quoted: tuple[str, ...] = ()) -> SearchStrategy[str]:
    """Any text without the ``forbidden`` pieces, made of nasty fragments and random characters."""
    usable = [piece for piece in FRAGMENTS if not any(bad in piece for bad in forbidden)]
    pieces = [st.sampled_from(usable), st.text(st.characters(exclude_categories=("Cs",)), max_size=6)]
    if quoted:
        pieces.append(st.sampled_from(list(quoted)))
    return (
        st.lists(st.one_of(pieces), max_size=6)
        .map("".join)
        .filter(lambda text: not any(bad in _unquoted(text, quoted) for bad in forbidden))
    )


def _unquoted(text: str, quoted: tuple[str, ...]) -> str:
    for piece in quoted:
        text = text.replace(piece, "\0")
    return text


@cache
def prose(forbidden: tuple[str, ...] = (), quoted: tuple[str, ...] = ()) -> SearchStrategy[str]:
    """Visible text: not blank, no white space at its ends."""
    return texts(forbidden, quoted).map(lambda text: text.strip(_BLANKS)).filter(bool)


_BLANKS = "".join(char for char in map(chr, range(0x3001)) if char.isspace())


@cache
def edged(text: SearchStrategy[str], *, left: bool = True, right: bool = True) -> SearchStrategy[str]:
    """The text with some white space at its ends."""
    white = st.sampled_from(WHITE)
    none = st.just("")
    return st.tuples(white if left else none, text, white if right else none).map("".join)


NOTHING = st.just("")


@cache
def maybe(text: SearchStrategy[str]) -> SearchStrategy[str]:
    """The text or nothing."""
    return st.one_of(NOTHING, text)


integers = st.one_of(
    st.integers(-999, 999), st.sampled_from([2**53 + 1, -(2**63) - 1, 10**30, 0]), st.integers()
)
decimals = st.one_of(
    st.decimals(-1000, 1000, places=2, allow_nan=False),
    st.sampled_from(
        [Decimal("2.50"), Decimal("-0.1"), Decimal("1e400"), Decimal("9007199254740993.5"), Decimal("1E-7")]
    ),
)


@cache
def values(text: SearchStrategy[str], *, keys: SearchStrategy[str] | None = None) -> SearchStrategy[Any]:
    """Any JSON value, nested; ``keys`` are those of its objects."""
    scalar = st.one_of(st.none(), st.booleans(), integers, decimals, text)
    names = text if keys is None else keys
    return st.recursive(
        scalar,
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(names, inner, max_size=3)),
        max_leaves=5,
    )


SIMPLE_KEYS = ("city", "from", "größe", "k_1", "name", "arguments_", "a", "date", "line")
NAMES = ("tide_table", "ping", "x", "save_memo2", "Über_name")
DOTTED = ("math.sum", "archive.fetch_page")
HYPHENED = ("save-memo", "x-1")

SCHEMAS: dict[str, Schema] = {
    "string": {"type": "string"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "array": {"type": "array"},
    "object": {"type": "object"},
    "nullable string": {"type": ["string", "null"]},
    "nullable integer": {"type": ["integer", "null"]},
}
KINDS = {str(schema["type"]): kind for kind, schema in SCHEMAS.items()}


@cache
def of_schema(kind: str, text: SearchStrategy[str], keys: SearchStrategy[str]) -> SearchStrategy[Any]:
    """A value that fits the schema of that name."""
    inner = values(text, keys=keys)
    table: dict[str, SearchStrategy[Any]] = {
        "string": text,
        "integer": integers,
        "number": st.one_of(integers, decimals),
        "boolean": st.booleans(),
        "array": st.lists(inner, max_size=3),
        "object": st.dictionaries(keys, inner, max_size=3),
    }
    if kind in table:
        return table[kind]
    # Where null is allowed, the word is null, so it cannot be meant as a string.
    return st.one_of(st.none(), table[kind.removeprefix("nullable ")]).filter(
        lambda value: not isinstance(value, str) or value.strip().lower() not in ("null", "none")
    )


@cache
def any_arguments(text: SearchStrategy[str], keys: SearchStrategy[str]) -> SearchStrategy[dict[str, Any]]:
    """Arguments that are any JSON object, whatever the schema says."""
    return st.dictionaries(st.one_of(keys, text), values(text), max_size=4)


@cache
def _toolsets(names: tuple[str, ...], keys: tuple[str, ...]) -> SearchStrategy[list[Tool]]:
    """One to three tools with some typed parameters each."""
    properties = st.dictionaries(st.sampled_from(keys), st.sampled_from(list(SCHEMAS.values())), max_size=4)
    tools = st.dictionaries(st.sampled_from(names), properties, min_size=1, max_size=3)
    return tools.map(lambda chosen: [_tool(name, parameters) for name, parameters in chosen.items()])


def _tool(name: str, properties: dict[str, Schema]) -> Tool:
    parameters = {"type": "object", "properties": properties}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


@st.composite
def calls(
    draw: DrawFn, tools: list[Tool], text: SearchStrategy[str], keys: SearchStrategy[str], *, typed: bool
) -> Call:
    """A call of one of ``tools``; ``typed`` by its schema."""
    function = draw(st.sampled_from(tools))["function"]
    properties = function["parameters"]["properties"]
    if not draw(st.integers(0, 4)):
        return Call(function["name"], {})
    if not typed:
        return Call(function["name"], draw(any_arguments(text, keys)))
    arguments = {
        key: draw(of_schema(KINDS[str(schema["type"])], text, keys))
        for key, schema in properties.items()
        if draw(st.integers(0, 3))
    }
    return Call(function["name"], arguments)


@st.composite
def plans(
    draw: DrawFn,
    *,
    content: SearchStrategy[str],
    value_text: SearchStrategy[str],
    reasoning: SearchStrategy[str] = NOTHING,
    after: SearchStrategy[str] = NOTHING,
    between: SearchStrategy[str] = NOTHING,
    typed: bool = False,
    names: tuple[str, ...] = (*NAMES, *DOTTED, *HYPHENED),
    keys: tuple[str, ...] = SIMPLE_KEYS,
) -> Plan:
    """A plan; ``after`` and ``between`` are what may stand behind calls and among them."""
    tools = draw(_toolsets(names, keys))
    one = calls(tools, value_text, st.sampled_from(keys), typed=typed)
    planned = [draw(one) for _ in range(draw(st.integers(0, 3)))]
    gaps = [draw(maybe(between)) for _ in planned[1:]]
    behind = draw(maybe(after)) if planned else ""
    return Plan(tools, draw(maybe(reasoning)), draw(maybe(content)), planned, gaps, behind)


def dump(value: Any, *, ascii_only: bool = False, separators: tuple[str, str] = (", ", ": ")) -> str:
    """A value as JSON; ``Decimal`` numbers to their last digit."""
    comma, colon = separators

    def inner(part: Any) -> str:
        return dump(part, ascii_only=ascii_only, separators=separators)

    if isinstance(value, dict):
        return "{" + comma.join(f"{inner(key)}{colon}{inner(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + comma.join(map(inner, value)) + "]"
    if isinstance(value, Decimal):
        return number(value)
    return json.dumps(value, ensure_ascii=ascii_only)


def number(value: Decimal) -> str:
    """A decimal as JSON and Python write it: always with a point or an exponent."""
    text = str(value)
    return text if any(char in text for char in ".eE") else text + ".0"


json_styles = st.sampled_from(
    [
        {},
        {"ascii_only": True},
        {"separators": (",", ":")},
        {"separators": (",\n  ", " : ")},
    ]
)


def lookalikes(markers: Sequence[str]) -> tuple[str, ...]:
    """Markers in quotation marks that stand nowhere else, so that ``literal`` can name them."""
    return tuple(f"«{marker}»" for marker in markers)


def properties_of(tools: list[Tool], name: str) -> dict[str, Schema]:
    """The parameters of a tool."""
    for tool in tools:
        if tool["function"]["name"] == name:
            return dict(tool["function"]["parameters"]["properties"])
    return {}
