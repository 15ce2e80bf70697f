"""Calls written as a name and a bracket of ``key:value`` pairs: ``call:NAME{key:value}``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..arguments.delimited import DelimitedArguments
from ..arguments.json_text import Malformed
from ..format import Marker, text_marker
from ..scanner import EndOfOutput, Marks, Steps, Use
from ..tokens import SpecialTokens
from ..walk import Walk
from .base import CallReader, CallSyntax, Surroundings
from .grammar import Format, Wanted, const, ebnf, either, sequence
from .literals import arguments_grammar, delimited

_NAME = re.compile(r"[^\s<>\"'{}()\[\],:]+")
_SPACE = " \t\r\n"


@dataclass(frozen=True, slots=True)
class NotationCall(CallSyntax):
    """``PREFIX name { arguments }``, with round brackets too.

    ``delimiter``: the marker on both sides of a string. ``prefixes``: what may stand before the name.
    The call is announced with its opening bracket, and complete with the bracket that closes it.
    """

    delimiter: Marker
    prefixes: tuple[str, ...] = ("call:",)

    def accepts(self, char: str) -> bool:
        return any(prefix.startswith(char) for prefix in self.prefixes)

    def markers(self) -> tuple[Marker, ...]:
        return (self.delimiter,)

    def strays(self) -> tuple[Marker, ...]:
        return ()  # a delimiter outside of a call belongs to one that was none, and stays with its text

    def grammar(self, wanted: Wanted) -> Format | None:
        notation = delimited(self.delimiter.text)
        return either(
            sequence(
                const(f"{self.prefixes[0]}{function.name}{{"),
                ebnf(arguments_grammar(function, notation)),
                const("}"),
            )
            for function in wanted.functions
        )

    def compile(self, tokens: SpecialTokens, around: Surroundings) -> CallReader:
        return _Reader(self, tokens, (*around.ends, *around.begins)).read


class _Reader:
    def __init__(self, call: NotationCall, tokens: SpecialTokens, ends: tuple[Marker, ...]) -> None:
        brackets = [Use(text_marker("{"), "}"), Use(text_marker("("), ")")]
        spaces = [Use(text_marker(char), " ") for char in _SPACE]
        stops = [Use(marker, "") for marker in (call.delimiter, *ends)]
        self.prefix = Marks([Use(text_marker(prefix), None) for prefix in call.prefixes], tokens)
        self.name: Marks[str] = Marks([*brackets, *spaces, *stops], tokens)
        self.bracket: Marks[str] = Marks(brackets, tokens)
        self.arguments = DelimitedArguments(call.delimiter, ends, tokens)

    def read(self, walk: Walk) -> Steps[None]:
        """Reads one call."""
        if (yield from walk.at_mark(self.prefix)) is None:
            if walk.over:  # the prefix is cut off
                raise EndOfOutput
            raise Malformed
        name, closer = yield from self._read_name(walk)
        walk.start_call(name)
        yield from self.arguments.read(walk, closer)
        walk.end_call()

    def _read_name(self, walk: Walk) -> Steps[tuple[str, str]]:
        """The name, and the bracket that will close what its opening bracket, which is read, begins."""
        pieces: list[str] = []
        yield from walk.skip_space()
        spelling = yield from walk.read_until(self.name, pieces.append)
        name = "".join(pieces)
        closer = spelling.does
        if closer == " ":
            yield from walk.skip_space()
            bracket = yield from walk.at_mark(self.bracket)
            closer = bracket.does if bracket else ""
        elif not closer:
            walk.pos -= walk.matched
        if not closer or not _NAME.fullmatch(name):
            raise Malformed
        return name, closer
