"""Calls written as JSON: one object with a name and arguments, or an array of such objects."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from ..arguments.json_text import Malformed, drop, is_object, pass_value, read_string, read_value
from ..format import Marker, text_marker
from ..scanner import Marks, Steps
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
    listed,
    optional,
    quoted,
    regex,
    sequence,
    star,
)

#: A longer number is no id.
_LONGEST_ID = 64

#: Markers that a bare object or array begins with.
BRACE = text_marker("{")
BRACKET = text_marker("[")


@dataclass(frozen=True, slots=True)
class JsonObject(CallSyntax):
    """``{"name": ..., "arguments": {...}}``, keys in any order.

    ``names``, ``arguments``, ``ids``: the keys that count, the first of each kind that comes. The arguments
    are handed on as written; a string that holds them is unpacked; none at all, or null, is ``{}``.
    ``only``: what else may stand in the object (None: anything). An object with another key is no call.
    ``begin``: the object stands in the content by itself and this marker is its first brace.
    ``needs_arguments``: without an arguments key it is no call. ``nothing``: a call of this name, where no
    such tool is offered, says that the model calls none.
    """

    names: tuple[str, ...] = ("name",)
    arguments: tuple[str, ...] = ("arguments", "parameters")
    ids: tuple[str, ...] = ("id",)
    only: tuple[str, ...] | None = None
    begin: Marker | None = None
    needs_arguments: bool = False
    nothing: str = ""

    @property
    def begins(self) -> tuple[Marker, ...]:
        return (self.begin,) if self.begin else ()

    def accepts(self, char: str) -> bool:
        return char == "{"

    def markers(self) -> tuple[Marker, ...]:
        return self.begins

    def grammar(self, wanted: Wanted) -> Format | None:
        return either(map(self._written, wanted.functions))

    def _written(self, function: Function) -> Format:
        """The object. Where it stands in the text by itself, it is told from text by the way it begins."""
        name = quoted(function.name)
        if self.begin is not None:
            head = const(f"{self.begin.text}{quoted(self.names[0])}: {name}, ")
            key = either(const(f"{quoted(key)}: ") for key in self.arguments)
            return sequence(head, key, arguments(function), const("}"))
        key = either(const(f"{quoted(key)}:") for key in self.arguments)
        call_id = sequence(
            const(f"{quoted(self.ids[0])}:"), SPACE, regex(r'"[^"\\]{1,64}"'), const(","), SPACE
        )
        return sequence(
            *(const("{"), SPACE, optional(call_id)),
            *(const(f"{quoted(self.names[0])}:"), SPACE, const(f"{name},"), SPACE),
            *(key, SPACE, arguments(function), SPACE, const("}")),
        )

    def compile(self, tokens: SpecialTokens, around: Surroundings) -> CallReader:
        return self._read

    def _read(self, walk: Walk) -> Steps[None]:
        if self.begin is None:
            yield from expect(walk, "{")
        name: str | None = None
        call_id: str | None = None
        held: str | None = None  # arguments that came before the name
        done = False
        members = Members(walk)
        while True:
            key = yield from members.next_key()
            if key is None:
                break
            if key in self.names and name is None:
                name = yield from read_string(walk)
                if not name:
                    raise Malformed
                done = name == self.nothing and name not in walk.tools
            elif key in self.ids and call_id is None:
                call_id = _as_id((yield from read_value(walk)))
            elif key in self.arguments and not done and held is None:
                if name is None:
                    held = yield from read_value(walk)
                else:
                    walk.start_call(name, call_id)
                    yield from pass_arguments(walk)
                    done = True
            elif self.only is not None and key not in self.only and key not in self.arguments:
                raise Malformed
            else:
                yield from pass_value(walk, drop)
        if not done:
            if name is None or (held is None and self.needs_arguments):
                raise Malformed
            walk.start_call(name, call_id)
            end_with(walk, held or "{}")


class Members:
    """Reads the members of a JSON object behind its opening brace, key by key."""

    def __init__(self, walk: Walk) -> None:
        self._walk = walk
        self._first = True

    def next_key(self) -> Steps[str | None]:
        """The next key, its value unread; None at the closing brace, which is read."""
        walk = self._walk
        char = yield from walk.skip_space()
        if char == "}":
            walk.pos += 1
            return None
        if not self._first:
            yield from expect(walk, ",")
            yield from walk.skip_space()
        self._first = False
        key = yield from read_string(walk)
        yield from walk.skip_space()
        yield from expect(walk, ":")
        yield from walk.skip_space()
        return key


@dataclass(frozen=True, slots=True)
class KeyedObject(CallSyntax):
    """``{"NAME": {...}}``: the only key is the name, its value the arguments."""

    def accepts(self, char: str) -> bool:
        return char == "{"

    def markers(self) -> tuple[Marker, ...]:
        return ()

    def grammar(self, wanted: Wanted) -> Format | None:
        return either(
            sequence(const("{"), SPACE, const(f"{quoted(f.name)}:"), SPACE, arguments(f), SPACE, const("}"))
            for f in wanted.functions
        )

    def compile(self, tokens: SpecialTokens, around: Surroundings) -> CallReader:
        return self._read

    def _read(self, walk: Walk) -> Steps[None]:
        yield from expect(walk, "{")
        members = Members(walk)
        name = yield from members.next_key()
        if not name:
            raise Malformed
        walk.start_call(name)
        yield from pass_arguments(walk)
        while (yield from members.next_key()) is not None:
            yield from pass_value(walk, drop)


@dataclass(frozen=True, slots=True)
class JsonArray(CallSyntax):
    """``[{...}, {...}]``: an array of calls.

    Items that are no objects are skipped. ``begin``: the array stands in the content by itself.
    """

    item: CallSyntax = JsonObject()
    begin: Marker | None = None

    @property
    def begins(self) -> tuple[Marker, ...]:
        return (self.begin,) if self.begin else ()

    def accepts(self, char: str) -> bool:
        return char == "["

    def markers(self) -> tuple[Marker, ...]:
        return self.begins

    def grammar(self, wanted: Wanted) -> Format | None:
        item = self.item
        if self.begin is not None and self.begin.text == BRACKET.text and isinstance(item, JsonObject):
            item = replace(item, begin=BRACE)  # told from text by the way it begins
        written = item.grammar(wanted)
        if written is None:
            return None
        begin = const(self.begin.text if self.begin else "[")
        if not item.begins:
            return sequence(begin, listed(written, wanted), SPACE, const("]"))
        more = None if wanted.single else star(sequence(const(", "), written))
        return sequence(begin, written, more, const("]"))

    @property
    def repeats(self) -> bool:
        return False

    def compile(self, tokens: SpecialTokens, around: Surroundings) -> CallReader:
        read_item = self.item.compile(tokens, around)

        def read(walk: Walk) -> Steps[None]:
            if self.begin is None:
                yield from expect(walk, "[")
            before = walk.calls
            while True:
                char = yield from walk.skip_space()
                if char == "]":
                    break
                if walk.calls > before:
                    walk.frame()
                    walk.keep()
                if char == "{":
                    yield from read_item(walk)
                else:
                    yield from pass_value(walk, drop)
                char = yield from walk.skip_space()
                if char == "]":
                    break
                yield from expect(walk, ",")
            walk.pos += 1
            if walk.calls == before:
                raise Malformed

        return read


def expect(walk: Walk, char: str) -> Steps[None]:
    """Reads this character, and white space before it. Raises Malformed at another one."""
    if (yield from walk.skip_space()) != char:
        raise Malformed
    walk.pos += 1


def pass_arguments(walk: Walk) -> Steps[None]:
    """Reads the JSON value that is the open call's arguments, and ends the call."""
    char = yield from walk.skip_space()
    if char == "{":
        yield from pass_value(walk, walk.argument, flows=True)
        walk.end_call()
    elif char in '"n':
        end_with(walk, (yield from read_value(walk)))
    else:
        raise Malformed


def end_with(walk: Walk, value: str) -> None:
    """Ends the open call with arguments that were read whole, as JSON."""
    unpacked = value.startswith('"')
    text = json.loads(value) if unpacked else value
    if text.strip() in ("", "null"):
        text = "{}"
    walk.argument(text)
    walk.end_call(complete=is_object(text) if unpacked else text.startswith("{"))


def _as_id(value: str) -> str | None:
    """A call id: what a string says, or a number as it is written. Anything else is none."""
    if value.startswith('"'):
        return str(json.loads(value)) or None
    return value if value[0] in "-0123456789" and len(value) <= _LONGEST_ID else None


__all__ = ["BRACE", "BRACKET", "JsonArray", "JsonObject", "Marks", "end_with", "expect", "pass_arguments"]
