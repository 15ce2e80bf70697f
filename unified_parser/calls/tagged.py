"""Calls written with tags: a name, then parameters, each a key and a value between markers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from ..arguments.json_text import Malformed, drop
from ..format import Marker
from ..scanner import Marks, Steps, Use
from ..schema import quote, quote_inner, to_json
from ..tokens import SpecialTokens
from ..walk import Walk
from .base import CallReader, CallSyntax, Surroundings
from .json_calls import pass_arguments

Trim = Literal["", "newline", "both"]
Attributes = Mapping[str, str]
#: The types of a value, in the order in which they are tried: from the schema's, and the tag's attributes.
Typing = Callable[[tuple[str, ...], Attributes], tuple[str, ...]]

_ATTRIBUTE = re.compile(r"""([\w.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>/]+))""")
_NAME = re.compile(r"[^\s<>\"'{}()]+")
#: Every type there is: for values whose notation is JSON.
ANY_TYPE = ("null", "integer", "number", "boolean", "object", "array", "string")


def schema_types(types: tuple[str, ...], attributes: Attributes) -> tuple[str, ...]:
    """The schema alone decides; what it does not declare is a string."""
    return types or ("string",)


def read_attributes(text: str) -> dict[str, str]:
    """The attributes of a tag: ``name="N" string="true"``; a value may be quoted either way, or be bare."""
    return {
        name: double or single or bare
        for name, double, single, bare in (match.groups("") for match in _ATTRIBUTE.finditer(text))
    }


@dataclass(frozen=True, slots=True)
class Parameter:
    """How one argument is written: ``OPEN key KEY_END [VALUE_BEGIN] value CLOSE``.

    ``attributes``: the text of the key is a tag's attributes, ``name`` among them. ``trim``: what of a
    value's edges is framing: one newline at each, or all white space. ``typing``: the types of a value.
    ``recovery``: what else ends an open string, left unread: literals that follow a value whose closing
    marker is missing. A value that cannot be a string is also ended by any marker of the call.
    """

    open: Marker
    key_end: Marker
    close: Marker
    value_begin: Marker | None = None
    attributes: bool = False
    trim: Trim = ""
    typing: Typing = schema_types
    recovery: tuple[Marker, ...] = ()


@dataclass(frozen=True, slots=True)
class TaggedCall(CallSyntax):
    """``BEGIN name NAME_END { parameter } END``.

    ``begin``: None if the name begins with the block. ``name_end``: what ends the name and is read; unless
    ``name_is_closed``, the first parameter or the call's end may end it too. ``attributes``: the text of the
    name is a tag's attributes. ``end``: None if the call ends with its block. ``json_body``: the arguments
    may also be a JSON object.
    """

    parameter: Parameter
    name_end: tuple[Marker, ...]
    begin: Marker | None = None
    end: Marker | None = None
    name_is_closed: bool = True
    attributes: bool = False
    json_body: bool = False

    @property
    def begins(self) -> tuple[Marker, ...]:
        return (self.begin,) if self.begin else ()

    def accepts(self, char: str) -> bool:
        return char not in "{["

    def markers(self) -> tuple[Marker, ...]:
        p = self.parameter
        found = [self.begin, self.end, p.open, p.key_end, p.close, p.value_begin]
        return tuple(marker for marker in found if marker) + self.name_end

    def strays(self) -> tuple[Marker, ...]:
        return (self.end,) if self.end else ()

    def compile(self, tokens: SpecialTokens, around: Surroundings) -> CallReader:
        return _Reader(self, tokens, around).read


class _Reader:
    def __init__(self, call: TaggedCall, tokens: SpecialTokens, around: Surroundings) -> None:
        parameter = call.parameter
        ends = [Use(call.end, "end")] if call.end else []
        leaves = [Use(m, "leave") for m in (*around.ends, *around.begins) if m != call.end]
        opens = [Use(parameter.open, "parameter")]
        name_ends = [Use(marker, "name") for marker in call.name_end]
        key_ends = [Use(parameter.key_end, "key")]
        begins = [Use(parameter.value_begin, "value")] if parameter.value_begin else []
        frames = ("\n",) if parameter.trim == "newline" else ()
        close = Use(parameter.close, "close", parameter.close.before + frames)
        recovery = [Use(marker, "recovery") for marker in parameter.recovery]
        siblings = [Use(use.marker, "recovery", frames) for use in [*opens, *ends, *leaves]]

        def marks(*uses: Use[str]) -> Marks[str]:
            return Marks(uses, tokens)

        self.call = call
        self.frames = frames
        self.name = marks(*name_ends, *opens, *ends, *leaves)
        self.body = marks(*opens, *ends, *leaves)
        self.key = marks(*key_ends, *ends, *leaves)
        self.value_begin = marks(*begins)
        self.string = marks(close, *recovery)
        self.typed = marks(close, *recovery, *siblings)

    def read(self, walk: Walk) -> Steps[None]:
        """Reads one call. It is announced with its first parameter, or when it closes."""
        name, done = yield from self._read_name(walk)
        seen: set[str] = set()
        if not done and self.call.json_body:
            yield from walk.skip_space()
            if walk.buffer[walk.pos] == "{":
                walk.start_call(name)
                yield from pass_arguments(walk)
                yield from walk.read_until(self.body, drop)
                self._unread(walk)
                return
        while not done:
            does = yield from self._next(walk)
            if does != "parameter":
                done = True
                continue
            key, attributes = yield from self._read_key(walk)
            if walk.call is None:
                walk.start_call(name)
            yield from self._read_value(walk, key, attributes, seen)
        if walk.call is None:
            walk.start_call(name)
        walk.argument("}" if seen else "{}")
        walk.end_call()

    def _read_name(self, walk: Walk) -> Steps[tuple[str, bool]]:
        """The name, and whether the call is over with it."""
        pieces: list[str] = []
        yield from walk.skip_space()
        spelling = yield from walk.read_until(self.name, pieces.append)
        text = "".join(pieces).strip()
        if spelling.does != "name":
            if self.call.name_is_closed or not text:
                walk.pos -= len(spelling.literal)
                raise Malformed
            self._unread_unless_end(walk, spelling.does, len(spelling.literal))
        closed = self.call.attributes and text.endswith("/")
        name = (
            read_attributes("name" + text if text[:1] == "=" else text).get("name", "")
            if self.call.attributes
            else text
        )
        name = name.strip()
        if not _NAME.fullmatch(name):
            raise Malformed
        return name, closed or spelling.does == "end"

    def _next(self, walk: Walk) -> Steps[str]:
        """What comes next in the body; a call's or block's end that is not the call's own is left unread."""
        yield from walk.skip_space()
        spelling = yield from walk.at_mark(self.body)
        if spelling is None:
            if walk.call is None:
                raise Malformed
            spelling = yield from walk.read_until(self.body, drop)
        self._unread_unless_end(walk, spelling.does, len(spelling.literal), keep=("parameter",))
        return spelling.does

    def _unread_unless_end(self, walk: Walk, does: str, length: int, keep: tuple[str, ...] = ()) -> None:
        if does != "end" and does not in keep:
            walk.pos -= length

    def _unread(self, walk: Walk) -> None:
        walk.pos -= walk.matched

    def _read_key(self, walk: Walk) -> Steps[tuple[str, Attributes]]:
        parameter = self.call.parameter
        pieces: list[str] = []
        spelling = yield from walk.read_until(self.key, pieces.append)
        if spelling.does != "key":
            walk.pos -= len(spelling.literal)
            raise Malformed
        if parameter.value_begin:
            yield from walk.skip_space()
            if (yield from walk.at_mark(self.value_begin)) is None:
                raise Malformed
        text = "".join(pieces).strip()
        if not parameter.attributes:
            return text, {}
        attributes = read_attributes("name" + text if text[:1] == "=" else text)
        return attributes.get("name", ""), attributes

    def _read_value(self, walk: Walk, key: str, attributes: Attributes, seen: set[str]) -> Steps[None]:
        assert walk.call is not None
        parameter = self.call.parameter
        types = parameter.typing(walk.call.parameters.types(key), attributes)
        if parameter.trim == "both":
            yield from walk.skip_space()
        else:
            yield from walk.skip_frame(self.frames)
        repeated = key in seen
        lead = "" if repeated else ("," if seen else "{") + " " * bool(seen) + quote(key) + ": "
        seen.add(key)
        if types == ("string",) and parameter.trim != "both" and not repeated:
            yield from self._stream(walk, lead)
            return
        pieces: list[str] = []
        marks = self.string if "string" in types else self.typed  # a string may quote anything
        spelling = yield from walk.read_until(marks, pieces.append)
        if spelling.does == "recovery":
            self._unread(walk)
        if not repeated:
            text = "".join(pieces)
            walk.argument(lead + to_json(text.strip() if parameter.trim == "both" else text, types))

    def _stream(self, walk: Walk, lead: str) -> Steps[None]:
        """A string goes out as it comes."""
        walk.argument(lead + '"')
        spelling = yield from walk.read_until(self.string, _Quoted(walk).write, _Quoted(walk).flow)
        if spelling.does == "recovery":
            self._unread(walk)
        walk.argument('"')


class _Quoted:
    """A sink that emits text as the inside of a JSON string."""

    __slots__ = ("_walk",)

    def __init__(self, walk: Walk) -> None:
        self._walk = walk

    def write(self, text: str) -> None:
        self._walk.argument(quote_inner(text))

    def flow(self, search: Callable[[str], object]) -> None:
        self._walk.let_arguments_flow(search, quoted=True)
