"""Outputs written from a family's own format, and damaged ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any

from ..calls.base import CallSyntax
from ..format import Marker, OutputFormat, Tools
from .run import ParserClass
from .writers import Call, Unwritable, holds_many, write_calls, write_header

#: The tools that generated calls are to.
TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "read_tide",
            "parameters": {
                "type": "object",
                "properties": {
                    "harbour": {"type": "string"},
                    "note": {"type": "string"},
                    "days": {"type": "integer"},
                    "metres": {"type": "number"},
                    "exact": {"type": "boolean"},
                    "levels": {"type": "array", "items": {"type": "integer"}},
                    "place": {"type": "object", "properties": {"name": {"type": "string"}}},
                },
            },
        },
    },
    {"type": "function", "function": {"name": "list_harbours"}},
]

_TEXTS = (
    "Oban",
    "The tide table, as it was read.",
    "two lines\nand a third:\n\nthe end",
    "één haven, 🗼 en 港",
    "x",
    "Well - 3 of 4; that is 75 %.",
)
_VALUES: dict[str, tuple[Any, ...]] = {
    "harbour": ("Oban", "Port 'A'", 'the "old" one', "港 🗼", "null", "12", "a\\b", "a < b > c", "{x: [1, 2"),
    "note": ("one\ntwo", " blanks ", "x" * 70, "true", "tab\there", ""),
    "days": (0, 12, -3, 10**20),
    "metres": (0.5, -2.25, 3),
    "exact": (True, False),
    "levels": ([], [1, 2, 3]),
    "place": ({"name": "Oban"}, {"name": "a, b", "deep": {"deeper": [True, None]}}),
}


@dataclass(frozen=True)
class Output:
    """An output in pieces (markers, texts, parts of calls), and the calls that are written in it.

    ``options``: what its request says, as options of the parser class.
    """

    pieces: tuple[str, ...]
    calls: tuple[Call, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The whole output."""
        return "".join(self.pieces)


def why_unwritable(parser_class: ParserClass) -> str | None:
    """What the kit lacks to write this family's outputs; None if it can. Such a family needs samples.

    Of several ways to write a call, one that the kit knows is enough.
    """
    form = parser_class.format
    lacks = [lack for block in form.tools for syntax in block.calls if (lack := _lack(syntax))]
    if form.tools and not any(_writable(block) for block in form.tools):
        return lacks[0]
    try:
        for channel in ("reasoning", "content", "call") if form.header else ():
            assert form.header
            route = write_header(form.header, channel, "list_harbours", Random(0))[1]
            lack = _lack(route.call) if route.call else None
            if lack:
                return lack
    except Unwritable as unknown:
        return str(unknown)
    return None


def _lack(syntax: CallSyntax) -> str | None:
    try:
        write_calls(syntax, [Call("list_harbours", {})], Random(0))
    except Unwritable as unknown:
        return str(unknown)
    return None


def _writable(block: Tools) -> list[CallSyntax]:
    return [syntax for syntax in block.calls if not _lack(syntax)]


def write_output(parser_class: ParserClass, rng: Random) -> Output:
    """An output of the family in which every call is written as the format says. Raises Unwritable."""
    writer = _Writer(parser_class.format, rng)
    writer.write()
    return Output(tuple(piece for piece in writer.pieces if piece), tuple(writer.calls), writer.options)


class _Writer:
    def __init__(self, form: OutputFormat, rng: Random) -> None:
        self.form = form
        self.rng = rng
        self.pieces: list[str] = []
        self.calls: list[Call] = []
        self.options: dict[str, Any] = {"tools": TOOLS}

    def write(self) -> None:
        sections = [self._content] if not self.form.tools and not self.form.header else []
        if self.form.header:
            self._messages()
            return
        self._first_reasoning()
        sections += [
            self._content,
            *(partial(self._block, block) for block in self.form.tools if _writable(block)),
        ]
        if self.form.reasoning and self.form.reasoning.reopens:
            sections.append(self._reasoning)
        for _ in range(self.rng.randint(1, 4)):
            self.rng.choice(sections)()

    def _first_reasoning(self) -> None:
        reasoning = self.form.reasoning
        if reasoning is None:
            return
        turn = self.form.start.boundaries[0] if self.form.start.boundaries else "\n"
        at = self.rng.choice(("silent", "turn", "open", "closed"))
        if at != "silent":
            marks = {
                "turn": "",
                "open": reasoning.open.text,
                "closed": reasoning.open.text + reasoning.close.text,
            }
            self.options["prompt_text"] = turn + marks[at]
        if at == "open":
            self.pieces += [self._text(), *self._marker(reasoning.close)]
        elif at != "closed":
            self._reasoning()

    def _reasoning(self) -> None:
        reasoning = self.form.reasoning
        assert reasoning is not None
        self.pieces += [*self._marker(reasoning.open), self._text(), *self._marker(reasoning.close)]

    def _text(self) -> str:
        return self.rng.choice(_TEXTS)

    def _content(self) -> None:
        self.pieces.append(self._text())

    def _marker(self, marker: Marker) -> list[str]:
        """A marker in one of its framings, or none."""
        before, after = self.rng.choice(("", *marker.before)), self.rng.choice(("", *marker.after))
        return [before, self.rng.choice(marker.spellings), after]

    def _call(self) -> Call:
        if self.rng.random() < 0.2:
            return Call("list_harbours", {})
        keys = self.rng.sample(list(_VALUES), self.rng.randint(0, 3))
        return Call("read_tide", {key: self.rng.choice(_VALUES[key]) for key in keys})

    def _block(self, block: Tools) -> None:
        syntax = self.rng.choice(_writable(block))
        many = holds_many(syntax) and (block.close is not None or not syntax.begins)
        calls = [self._call() for _ in range(self.rng.randint(1, 3) if many else 1)]
        if any(marker.behind for marker in syntax.begins):
            self.pieces.append("\n")
        wrapped = block.open is not None and not (block.bare and syntax.begins and self.rng.random() < 0.3)
        if wrapped and block.open:
            self.pieces += self._marker(block.open)
        elif syntax.begins and self.pieces:
            self.pieces.append(self.rng.choice(("", *syntax.begins[0].before)))
        newline = self.rng.choice(("", "\n")) if block.close else ""
        self.pieces += [newline * wrapped, *write_calls(syntax, calls, self.rng), newline]
        if block.close:
            self.pieces += self._marker(block.close)
        self.calls += calls

    def _messages(self) -> None:
        """Bodies behind headers; the first header's opener stands in the prompt."""
        header = self.form.header
        assert header is not None
        for number in range(self.rng.randint(1, 4)):
            channel = self.rng.choice(("reasoning", "content", "call", "call"))
            call = self._call()
            text, route = write_header(header, channel, call.name, self.rng)
            fitting = [e.text for e in header.ends if header.classify(text, e.text).channel == channel]
            self.pieces += [header.open.text] if number else []
            self.pieces += [text, self.rng.choice(fitting)]
            if route.call:
                self.pieces += write_calls(route.call, [call], self.rng)
                self.calls.append(call)
            else:
                self.pieces.append(self._text())
            self.pieces.append(self.rng.choice(header.close).text)


_DEBRIS = (
    "{",
    "}",
    "[",
    "]",
    '"',
    "'",
    "\\",
    "\n",
    "\n\n",
    " ",
    "\t",
    "<",
    ">",
    "</",
    "(",
    ")",
    "=",
    ":",
    ",",
)


def literals(form: OutputFormat) -> tuple[str, ...]:
    """Every spelling of every marker, and the framing around them."""
    found: dict[str, None] = {}
    for marker in form.markers():
        found |= dict.fromkeys((*marker.spellings, *marker.before, *marker.after))
    if form.header:
        found |= dict.fromkeys(spelling for marker in form.header.inner for spelling in marker.spellings)
    return tuple(found)


def mutate(pieces: Sequence[str], form: OutputFormat, rng: Random) -> tuple[str, ...]:
    """The pieces with one to four damages: some lost, doubled, swapped, cut, or strangers among them."""
    damaged = list(pieces)
    for _ in range(rng.randint(1, 4)):
        at = rng.randint(0, max(len(damaged) - 1, 0))
        piece = damaged[at] if damaged else ""
        inside = rng.randint(0, len(piece))
        match rng.randint(0, 7):
            case 0:
                damaged[at : at + 1] = []
            case 1:
                damaged[at:at] = [piece]
            case 2:
                other = rng.randint(0, max(len(damaged) - 1, 0))
                if damaged:
                    damaged[at], damaged[other] = damaged[other], damaged[at]
            case 3:
                damaged[at:] = [piece[:inside]]
            case 4 | 5:
                damaged[at : at + 1] = [piece[:inside], rng.choice(literals(form) or _DEBRIS), piece[inside:]]
            case 6:
                noise = bytes(rng.randint(0, 255) for _ in range(rng.randint(1, 8))).decode(errors="replace")
                damaged[at : at + 1] = [piece[:inside], noise, piece[inside:]]
            case 7:
                debris = rng.choice(_DEBRIS) * rng.choice((1, 1, 2, 9))
                damaged[at : at + 1] = [piece[:inside], debris, piece[inside:]]
    return tuple(piece for piece in damaged if piece)


def jumble(form: OutputFormat, rng: Random) -> tuple[str, ...]:
    """Markers, debris and texts in no order at all."""
    stock = (*literals(form), *literals(form), *_DEBRIS, *_TEXTS, '{"name": "read_tide", "arguments": {}}')
    return tuple(rng.choice(stock) for _ in range(rng.randint(1, 14)))
