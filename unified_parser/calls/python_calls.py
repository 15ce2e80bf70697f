"""Calls written as Python: ``[name(key=value, ...), ...]``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..arguments.json_text import Malformed, drop
from ..arguments.python_literal import Closes, pass_literal, read_run
from ..format import Marker
from ..scanner import EndOfOutput, Steps
from ..schema import quote
from ..tokens import SpecialTokens
from ..walk import Walk
from .base import CallReader, CallSyntax, Surroundings
from .grammar import Format, Wanted, const, ebnf, either, listed, sequence, several, star
from .json_calls import BRACKET, JsonArray, JsonObject, expect
from .literals import PYTHON, arguments_grammar

_NAME_RUN = re.compile(r"[\w.-]*")
_NAME = re.compile(r"[^\W\d][\w-]*(?:\.[\w-]+)*")


@dataclass(frozen=True, slots=True)
class PythonCalls(CallSyntax):
    """``[name(key=value, ...), ...]``: a list of calls with literal keyword arguments.

    A list without a call is none, and so is one whose first call has positional or unpacked arguments.
    ``begin``: the list stands in the content by itself and this marker is its first bracket. Behind other
    text of the content, the first call must then be to a declared tool, where any are declared.
    ``loose``: a call may also stand without brackets; ``,`` or ``;`` may follow it.
    ``objects``: the items of a list may be JSON objects instead, if the first one is.
    ``closes``: whether a quote closes its string, for models that do not escape quotes; by default it does.
    """

    begin: Marker | None = None
    loose: bool = False
    objects: JsonObject | None = None
    closes: Closes | None = None

    @property
    def begins(self) -> tuple[Marker, ...]:
        return (self.begin,) if self.begin else ()

    def accepts(self, char: str) -> bool:
        return char == "[" or (self.loose and char.isidentifier())

    def markers(self) -> tuple[Marker, ...]:
        return self.begins

    def grammar(self, wanted: Wanted) -> Format | None:
        call = either(
            sequence(const(f"{function.name}("), ebnf(arguments_grammar(function, PYTHON)), const(")"))
            for function in wanted.functions
        )
        if self.begin is not None:  # told from text by the name
            more = None if wanted.single else star(sequence(const(", "), call))
            return sequence(const(self.begin.text), call, more, const("]"))
        ways = [sequence(const("["), listed(call, wanted), const("]"))]
        if self.loose and self.closes is None:  # else only what follows a string tells where it ends
            ways.append(several(call, wanted))
        if self.objects and (objects := JsonArray(self.objects).grammar(wanted)):
            ways.append(objects)
        return either(ways)

    @property
    def repeats(self) -> bool:
        return False

    def compile(self, tokens: SpecialTokens, around: Surroundings) -> CallReader:
        objects = JsonArray(self.objects, begin=BRACKET) if self.objects else None
        read_objects = objects.compile(tokens, around) if objects else None

        def read(walk: Walk) -> Steps[None]:
            if self.begin is None:
                if self.loose and (yield from walk.peek()) != "[":
                    yield from _read_loose_call(walk, self.closes)
                    return
                yield from expect(walk, "[")
            if read_objects is not None and (yield from walk.skip_space()) == "{":
                yield from read_objects(walk)
                return
            before = walk.calls
            try:
                only_declared = self.begin is not None and not walk.content.blank
                yield from _read_list(walk, self.closes, only_declared=only_declared)
            except Malformed:
                if walk.calls == before:
                    raise
                if walk.call is None:
                    walk.give_back()
                if self.begin is None:
                    raise
                if walk.call is not None:  # no block that the call might go on to the end of
                    walk.end_call(complete=False)

        return read


def _read_list(walk: Walk, closes: Closes | None, *, only_declared: bool) -> Steps[None]:
    """Reads the calls of a list, from behind its opening bracket to its end."""
    char = ""
    while char != "]":
        yield from _read_call(walk, closes, only_declared=only_declared)
        only_declared = False
        char = yield from walk.skip_space()
        if char == ",":
            walk.pos += 1
            walk.frame()
            walk.keep()
            char = yield from walk.skip_space()
        elif char != "]":
            raise Malformed
    walk.pos += 1
    walk.kept()
    walk.frame()


def _read_loose_call(walk: Walk, closes: Closes | None) -> Steps[None]:
    """Reads a call without brackets, and the separator that may follow it."""
    yield from _read_call(walk, closes)
    if (yield from walk.skip_space()) in ",;":
        walk.pos += 1
    walk.frame()


def _read_call(walk: Walk, closes: Closes | None, *, only_declared: bool = False) -> Steps[None]:
    """Reads ``name(key=value, ...)``. The call is announced when the first value's beginning is certain."""
    name = yield from _read_name(walk)
    yield from walk.skip_space()
    yield from expect(walk, "(")
    if only_declared and walk.tools and name not in walk.tools:
        raise Malformed
    arguments = _Arguments(walk, name, closes)
    while (yield from walk.skip_space()) != ")":
        key = yield from _read_name(walk)
        yield from walk.skip_space()
        yield from expect(walk, "=")
        yield from arguments.pass_value(key)
        char = yield from walk.skip_space()
        if char == ",":
            walk.pos += 1
        elif char != ")":
            raise Malformed
    walk.pos += 1
    arguments.end()


def _read_name(walk: Walk) -> Steps[str]:
    """Reads the name of a function or an argument. Keywords of Python are names, dots and hyphens may be."""
    char = yield from walk.skip_space()
    if not char.isidentifier():
        raise Malformed
    name = yield from read_run(walk, _NAME_RUN)
    if not _NAME.fullmatch(name):
        raise Malformed
    return name


class _Arguments:
    """The arguments of one call, as the members of a JSON object. Of a repeated key the first counts."""

    __slots__ = ("_closes", "_keys", "_lead", "_name", "_walk")

    def __init__(self, walk: Walk, name: str, closes: Closes | None) -> None:
        self._walk = walk
        self._name = name
        self._closes = closes
        self._keys: set[str] = set()
        self._lead = ""

    def pass_value(self, key: str) -> Steps[None]:
        """Passes the value of this key."""
        if key in self._keys:
            yield from pass_literal(self._walk, drop, closes=self._closes)
            return
        self._lead = f"{', ' if self._keys else '{'}{quote(key)}: "
        self._keys.add(key)
        try:
            yield from pass_literal(self._walk, self._write, flows=True, closes=self._closes)
        except EndOfOutput:
            self._announce()
            raise

    def _announce(self) -> None:
        if self._walk.call is None:
            self._walk.start_call(self._name)

    def _write(self, text: str) -> None:
        self._announce()
        self._walk.argument(self._lead + text)
        self._lead = ""

    def end(self) -> None:
        """Behind the closing parenthesis."""
        self._announce()
        self._walk.argument("}" if self._keys else "{}")
        self._walk.end_call()


__all__ = ["PythonCalls"]
