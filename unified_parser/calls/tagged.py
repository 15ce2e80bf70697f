"""Calls written with tags: a name, then parameters, each a key and a value between markers."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from ..arguments.json_text import Malformed, drop, is_object
from ..format import Marker
from ..scanner import EndOfOutput, Marks, Spelling, Steps, Use
from ..schema import Parameters, Tools, quote, quote_inner, to_json
from ..tokens import SpecialTokens
from ..walk import Walk
from .base import CallReader, CallSyntax, Surroundings
from .grammar import Format, Wanted
from .json_calls import pass_arguments
from .tagged_grammar import tagged_grammar

Trim = Literal["", "newline", "both"]
Attributes = Mapping[str, str]
#: The types of a value, in the order in which they are tried: from the schema's, and the tag's attributes.
Typing = Callable[[tuple[str, ...], Attributes], tuple[str, ...]]

_ATTRIBUTE = re.compile(r"""([\w.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>/]+))""")
_NAME = re.compile(r"[^\s<>\"'{}()]+")
#: Every type there is: for values whose notation is JSON, or nearly.
ANY_TYPE = ("null", "integer", "number", "boolean", "object", "array", "string")


def schema_types(types: tuple[str, ...], attributes: Attributes) -> tuple[str, ...]:
    """The schema alone decides; what it does not declare is a string."""
    return types or ("string",)


def guessed_types(types: tuple[str, ...], attributes: Attributes) -> tuple[str, ...]:
    """Only strings are written as text: a value that the schema does not declare is what it reads as."""
    return types or ANY_TYPE


def read_attributes(text: str) -> dict[str, str]:
    """The attributes of a tag: ``name="N" string="true"``; a value may be quoted either way, or be bare."""
    return {
        name: html.unescape(double or single) or bare
        for name, double, single, bare in (match.groups("") for match in _ATTRIBUTE.finditer(text))
    }


@dataclass(frozen=True, slots=True)
class Parameter:
    """How one argument is written: ``OPEN key KEY_END [TYPE] [VALUE_BEGIN] value CLOSE``.

    ``key_attribute``: the text of the key is a tag's attributes, and this one is the key.
    ``type_tag``: the pair of markers around a type that may stand behind the key; it counts as the attribute
    ``type``. ``raw``: a pair of markers around a value in which anything may stand (CDATA).
    ``trim``: what of a value's edges is framing: one newline at each, or all white space.
    ``typing``: the types of a value.
    ``recovery``: what else ends an open string, left unread: literals that follow a value whose closing
    marker is missing. A value that cannot be a string is also ended by any marker of the call.
    """

    open: Marker
    key_end: Marker
    close: Marker
    value_begin: Marker | None = None
    key_attribute: str = ""
    type_tag: tuple[Marker, Marker] | None = None
    raw: tuple[Marker, Marker] | None = None
    trim: Trim = ""
    typing: Typing = schema_types
    recovery: tuple[Marker, ...] = ()

    def markers(self) -> tuple[Marker, ...]:
        """Every marker of a parameter."""
        always = (self.open, self.key_end, self.close)
        value_begin = (self.value_begin,) if self.value_begin else ()
        return always + value_begin + (self.type_tag or ()) + (self.raw or ())


@dataclass(frozen=True, slots=True)
class TaggedCall(CallSyntax):
    """``BEGIN name NAME_END { parameter } END``.

    ``begin``: None if the name begins with the block. ``name_end``: what ends the name and is read; unless
    ``name_is_closed``, the first parameter or the call's end may end it too. ``name_attribute``: the text of
    the name is a tag's attributes, and this one is the name. ``named_by_header``: the block's header has said
    the name. ``resolve``: the tool's name, from the name as written and the request's tools.
    ``end``: None if the call ends with its block; ``ends_output``: the block's end may be a stop token, so
    the output's end between parameters ends the call as well, unless the output was cut.
    ``json_body``: the arguments may also be a JSON object; ``json_tag``: the pair of markers around it.
    ``unwrap``: the only parameter, if it has this key, is an object and is not declared, is the arguments.
    """

    parameter: Parameter
    name_end: tuple[Marker, ...] = ()
    begin: Marker | None = None
    end: Marker | None = None
    name_is_closed: bool = True
    name_attribute: str = ""
    named_by_header: bool = False
    resolve: Callable[[str, Tools], str] | None = None
    ends_output: bool = False
    json_body: bool = False
    json_tag: tuple[Marker, Marker] | None = None
    unwrap: tuple[str, ...] = ()

    @property
    def begins(self) -> tuple[Marker, ...]:
        return (self.begin,) if self.begin else ()

    def accepts(self, char: str) -> bool:
        return char not in "{["

    def markers(self) -> tuple[Marker, ...]:
        ends = (self.end,) if self.end else ()
        return self.begins + self.name_end + self.parameter.markers() + ends + (self.json_tag or ())

    def strays(self) -> tuple[Marker, ...]:
        return (self.end,) if self.end else ()

    def grammar(self, wanted: Wanted) -> Format | None:
        return tagged_grammar(self, wanted)

    def compile(self, tokens: SpecialTokens, around: Surroundings) -> CallReader:
        return _Reader(self, tokens, around).read


class _Reader:
    """The compiled call. What its marks do: "name", "key", "close" end the text before them; "parameter",
    "end", "json" begin or end something; "leave" and "recovery" belong to others and are left unread."""

    def __init__(self, call: TaggedCall, tokens: SpecialTokens, around: Surroundings) -> None:
        parameter = call.parameter
        ends = [Use(call.end, "end")] if call.end else []
        leaves = [Use(m, "leave") for m in (*around.ends, *around.begins) if m != call.end]
        opens = [Use(parameter.open, "parameter")]
        json = [Use(call.json_tag[0], "json")] if call.json_tag else []
        name_ends = [Use(marker, "name") for marker in call.name_end]
        key_ends = [Use(parameter.key_end, "key")]
        frames = ("\n",) if parameter.trim == "newline" else ()
        close = Use(parameter.close, "close", parameter.close.before + frames)
        recovery = [Use(marker, "recovery") for marker in parameter.recovery]
        siblings = [Use(use.marker, "recovery", frames) for use in [*opens, *ends, *leaves]]

        def marks(*uses: Use[str]) -> Marks[str]:
            return Marks(uses, tokens)

        def marks_of(*markers: Marker | None) -> Marks[str]:
            return Marks([Use(marker, "read") for marker in markers if marker], tokens)

        self.call = call
        self.frames = frames
        self.name = marks(*name_ends, *opens, *ends, *leaves)
        self.body = marks(*json, *opens, *ends, *leaves)
        self.key = marks(*key_ends, *ends, *leaves)
        self.value_begin = marks_of(parameter.value_begin)
        self.type_begin, self.type_end = map(marks_of, parameter.type_tag or (None, None))
        self.raw_begin, self.raw_end = map(marks_of, parameter.raw or (None, None))
        self.json_end = marks_of(call.json_tag[1] if call.json_tag else None)
        self.string = marks(close, *recovery)
        self.typed = marks(close, *recovery, *siblings)

    def read(self, walk: Walk) -> Steps[None]:
        """Reads one call. It is announced with its first parameter, or when it closes."""
        arguments = _Arguments(walk, self.call)
        arguments.name, over = yield from self._read_name(walk)
        if not over and self.call.json_body and (yield from walk.skip_space()) == "{":
            walk.start_call(arguments.name)
            yield from pass_arguments(walk)
            return
        while not over:
            does = yield from self._next(walk, arguments)
            if does == "parameter":
                yield from self._read_parameter(walk, arguments)
            elif does == "json" and not arguments.begun:
                walk.start_call(arguments.name)
                yield from pass_arguments(walk)
                yield from walk.skip_space()
                yield from walk.at_mark(self.json_end)
                return
            else:
                over = True
        arguments.end()

    def _read_name(self, walk: Walk) -> Steps[tuple[str, bool]]:
        """The name, and whether the call is over with it."""
        if self.call.named_by_header:
            return walk.header_name, False
        pieces: list[str] = []
        yield from walk.skip_space()
        spelling = yield from walk.read_until(self.name, pieces.append)
        text = "".join(pieces).strip()
        if spelling.does != "name":
            if self.call.name_is_closed or not text:
                walk.pos -= len(spelling.literal)
                raise Malformed
            _unread_unless(walk, spelling, "end")
        attribute = self.call.name_attribute
        closed = bool(attribute) and text.endswith("/")
        name = _attribute(text, attribute)[0] if attribute else text
        if not _NAME.fullmatch(name):
            raise Malformed
        if self.call.resolve:
            name = self.call.resolve(name, walk.tools)
        return name, closed or spelling.does == "end"

    def _next(self, walk: Walk, arguments: _Arguments) -> Steps[str]:
        """What comes next in the body."""
        try:
            yield from walk.skip_space()
        except EndOfOutput:
            if self.call.ends_output and walk.reason != "length":
                arguments.end()
            raise
        spelling = yield from walk.at_mark(self.body)
        if spelling is None:
            if walk.call is None:
                raise Malformed
            spelling = yield from walk.read_until(self.body, drop)
        _unread_unless(walk, spelling, "end", "parameter", "json")
        return spelling.does

    def _read_parameter(self, walk: Walk, arguments: _Arguments) -> Steps[None]:
        key, attributes = yield from self._read_key(walk)
        parameter = self.call.parameter
        types = parameter.typing(arguments.parameters.types(key), attributes)
        if parameter.raw and (yield from walk.at_mark(self.raw_begin)) is not None:
            pieces: list[str] = []
            yield from walk.read_until(self.raw_end, pieces.append)
            yield from walk.read_until(self.string, drop)
            arguments.add(key, to_json("".join(pieces), types))
            return
        if parameter.trim == "both":
            yield from walk.skip_space()
        else:
            yield from walk.skip_frame(self.frames)
        if types == ("string",) and parameter.trim != "both" and arguments.open_string(key):
            sink = _Quoted(walk)
            spelling = yield from walk.read_until(self.string, sink.write, sink.flow)
            _unread_unless(walk, spelling, "close")
            walk.argument('"')
            return
        pieces = []
        marks = self.string if "string" in types else self.typed  # a string may quote anything
        spelling = yield from walk.read_until(marks, pieces.append)
        _unread_unless(walk, spelling, "close")
        text = "".join(pieces)
        arguments.add(key, to_json(text.strip() if parameter.trim == "both" else text, types))

    def _read_key(self, walk: Walk) -> Steps[tuple[str, Attributes]]:
        parameter = self.call.parameter
        pieces: list[str] = []
        spelling = yield from walk.read_until(self.key, pieces.append)
        if spelling.does != "key":
            walk.pos -= len(spelling.literal)
            raise Malformed
        text = "".join(pieces).strip()
        key, attributes = (
            _attribute(text, parameter.key_attribute) if parameter.key_attribute else (text, dict[str, str]())
        )
        if parameter.type_tag:
            yield from walk.skip_space()
            if (yield from walk.at_mark(self.type_begin)) is not None:
                kind: list[str] = []
                yield from walk.read_until(self.type_end, kind.append)
                attributes["type"] = "".join(kind).strip()
        if parameter.value_begin:
            yield from walk.skip_space()
            if (yield from walk.at_mark(self.value_begin)) is None:
                raise Malformed
        return key, attributes


def _attribute(text: str, wanted: str) -> tuple[str, dict[str, str]]:
    """The wanted attribute, and all of them. The tag's marker may hold the attribute's name already."""
    attributes = read_attributes(wanted + text if text[:1] == "=" else text)
    return attributes.get(wanted, "").strip(), attributes


def _unread_unless(walk: Walk, spelling: Spelling[str], *reads: str) -> None:
    """Gives back a marker that is not among those that are read here, its framing included."""
    if spelling.does not in reads:
        walk.pos -= walk.matched


class _Arguments:
    """The arguments of one call as a JSON object, member by member. The first of a repeated key counts."""

    __slots__ = ("_call", "_held", "_seen", "_walk", "name")

    def __init__(self, walk: Walk, call: TaggedCall) -> None:
        self._walk = walk
        self._call = call
        self._seen: set[str] = set()
        self._held: tuple[str, str] | None = None  # a wrapper, until it is known to be the only parameter
        self.name = ""

    @property
    def begun(self) -> bool:
        """Is there an argument yet?"""
        return bool(self._seen)

    @property
    def parameters(self) -> Parameters:
        """What the tool declares."""
        return self._walk.tools.parameters(self.name)

    def open_string(self, key: str) -> bool:
        """Begins a string that will come in pieces. False: it may not be streamed."""
        if key in self._seen or self._may_wrap(key):
            return False
        self._walk.argument(self._lead(key) + '"')
        return True

    def add(self, key: str, value: str) -> None:
        """Adds a member whose value is whole."""
        if key in self._seen:
            return
        if self._may_wrap(key) and is_object(value):
            self._announce()
            self._seen.add(key)
            self._held = key, value
            return
        self._walk.argument(self._lead(key) + value)

    def end(self) -> None:
        """Ends the call."""
        walk = self._walk
        if self._held is not None:
            walk.argument(self._held[1])
            walk.end_call()
        else:
            self._announce()
            walk.argument("}" if self._seen else "{}")
            walk.end_call()

    def _may_wrap(self, key: str) -> bool:
        """May this be the wrapper of all arguments?"""
        wraps = key in self._call.unwrap and not self._seen and self.name in self._walk.tools
        return wraps and not self.parameters.declares(key)

    def _lead(self, key: str) -> str:
        """What stands before a member's value; announces the call with its first."""
        self._announce()
        before = "{"
        if self._held is not None:
            before = "{" + quote(self._held[0]) + ": " + self._held[1] + ", "
            self._held = None
        elif self._seen:
            before = ", "
        self._seen.add(key)
        return before + quote(key) + ": "

    def _announce(self) -> None:
        if self._walk.call is None:
            self._walk.start_call(self.name)


class _Quoted:
    """A sink that emits text as the inside of a JSON string."""

    __slots__ = ("_walk",)

    def __init__(self, walk: Walk) -> None:
        self._walk = walk

    def write(self, text: str) -> None:
        self._walk.argument(quote_inner(text))

    def flow(self, search: Callable[[str], object]) -> None:
        self._walk.let_arguments_flow(search, quoted=True)
