"""Calls with a header (name, perhaps an id) before JSON arguments, and calls named by a block's header."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from ..arguments.json_text import Malformed, pass_value
from ..format import Marker
from ..scanner import EndOfOutput, Marks, Steps, Use
from ..tokens import SpecialTokens
from ..walk import Walk
from .base import CallReader, CallSyntax, Surroundings
from .grammar import (
    SPACE,
    Format,
    Function,
    Wanted,
    arguments,
    const,
    either,
    optional,
    regex,
    sequence,
)
from .json_calls import end_with, pass_arguments


class Named(NamedTuple):
    """What a header says."""

    name: str
    id: str | None = None


def plain_name(header: str) -> Named | None:
    """The header is the name."""
    name = header.strip()
    return Named(name) if name and not any(char.isspace() for char in name) else None


@dataclass(frozen=True, slots=True)
class HeaderedCall(CallSyntax):
    """``BEGIN header ARGUMENTS_BEGIN json END``.

    ``header`` reads name and id from the header's text; None: the text is no header and this is no call.
    ``written``: how the model writes it, ``{name}`` for the name and ``#`` for a number.
    ``begin``: None if the call begins with its block. ``arguments_begin``: one of these ends the header;
    those in ``keep_begin`` are the first characters of the arguments. ``inner``: markers that stand in the
    header. ``closers`` may stand behind the arguments.
    A header that runs into the call's or block's end is a call without arguments; ``ends_output``: so is one
    that the output's end closes.
    """

    arguments_begin: tuple[Marker, ...]
    begin: Marker | None = None
    header: Callable[[str], Named | None] = plain_name
    written: str = "{name}"
    keep_begin: tuple[Marker, ...] = ()
    inner: tuple[Marker, ...] = ()
    closers: tuple[Marker, ...] = ()
    ends_output: bool = False

    @property
    def begins(self) -> tuple[Marker, ...]:
        return (self.begin,) if self.begin else ()

    def markers(self) -> tuple[Marker, ...]:
        return (*self.begins, *self.arguments_begin, *self.keep_begin, *self.inner, *self.closers)

    def strays(self) -> tuple[Marker, ...]:
        return self.closers

    def grammar(self, wanted: Wanted) -> Format | None:
        calls = [self._written(function) for function in wanted.functions]
        if None in calls:
            return None
        return either(call for call in calls if call)

    def _written(self, function: Function) -> Format | None:
        header = self.header_of(function.name)
        if header is None:
            return None
        before, number, behind = header
        ids = (sequence(const(m.text), regex("[a-zA-Z0-9_-]{1,64}")) for m in self.inner)
        separator = sequence(SPACE, const(self.arguments_begin[0].text), SPACE)
        return sequence(
            *(const(marker.text) for marker in self.begins),
            sequence(const(before), regex("[0-9]+") if number else None, const(behind)),
            *map(optional, ids),
            optional(separator) if self.keep_begin else separator,
            arguments(function),
            *(sequence(SPACE, const(marker.text)) for marker in self.closers),
        )

    def header_of(self, name: str) -> tuple[str, str, str] | None:
        """The header of a call to ``name``: before its number, a number, behind it. None: there is none."""
        first, mark, last = self.written.partition("#")
        before, number, behind = first.format(name=name), "0" if mark else "", last.format(name=name)
        named = self.header(before + number + behind)
        return (before, number, behind) if named is not None and named.name == name else None

    def compile(self, tokens: SpecialTokens, around: Surroundings) -> CallReader:
        uses = [Use(marker, "arguments") for marker in self.arguments_begin]
        uses += [Use(marker, "first") for marker in self.keep_begin]
        ends = [Use(marker, "end") for marker in (*self.closers, *around.ends, *around.begins)]
        in_header: Marks[str] = Marks([*uses, *ends], tokens)
        no_arguments: Marks[str] = Marks(ends, tokens)

        def read(walk: Walk) -> Steps[None]:
            pieces: list[str] = []
            try:
                spelling = yield from walk.read_until(in_header, pieces.append)
            except EndOfOutput:
                named = self.header("".join(pieces)) if self.ends_output and walk.reason != "length" else None
                if named is not None:
                    walk.start_call(*named)
                    end_with(walk, "{}")
                raise
            named = self.header("".join(pieces))
            if spelling.does != "arguments":
                walk.pos -= len(spelling.literal)
            if named is None:
                raise Malformed
            if spelling.does == "arguments":
                yield from walk.skip_space()
                if (yield from walk.at_mark(no_arguments)) is not None:
                    walk.pos -= walk.matched
                    spelling = spelling._replace(does="end")
            walk.start_call(*named)
            if spelling.does == "end":
                end_with(walk, "{}")
            else:
                yield from pass_arguments(walk)

        return read


@dataclass(frozen=True, slots=True)
class BodyCall(CallSyntax):
    """A call whose name stood in its block's header; the body is its JSON arguments.

    The block's closing marker is a stop token, so the end of the output closes a call whose arguments are
    complete, unless the server says that the output was cut.
    """

    def markers(self) -> tuple[Marker, ...]:
        return ()

    def grammar(self, wanted: Wanted) -> Format | None:
        return either(map(arguments, wanted.functions))

    def compile(self, tokens: SpecialTokens, around: Surroundings) -> CallReader:
        closes: Marks[str] = Marks([Use(marker, "close") for marker in around.ends], tokens)

        def read(walk: Walk) -> Steps[None]:
            char = yield from walk.skip_space()  # a body that never comes says nothing: no call
            empty = yield from walk.at_mark(closes)
            walk.start_call(walk.header_name)
            if empty is not None:
                walk.pos -= walk.matched
                end_with(walk, "{}")
            elif char != "{":
                yield from pass_arguments(walk)
            else:
                yield from pass_value(walk, walk.argument, flows=True)
                try:
                    yield from walk.skip_space()
                except EndOfOutput:
                    walk.end_call(complete=walk.reason != "length")
                    raise
                walk.end_call()

        return read
