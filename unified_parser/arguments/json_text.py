"""JSON, read as it comes and handed on as it was written.

The grammar is the table ``EXPECT``; a value's text is passed to the sink piece by piece, only numbers and
literals wait until they are over. Raw control characters inside strings, which JSON forbids and models write,
are passed on escaped. Each character is looked at once.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from ..scanner import EndOfOutput, Sink, Steps
from ..schema import literal_to_json

if TYPE_CHECKING:
    from ..walk import Walk


class Malformed(Exception):
    """Raised inside the reading generators where the text is not of the format."""


#: White space, then a number or literal, or another character.
_STEP = re.compile(r'[ \t\r\n]*(?:([^ \t\r\n,:\[\]{}"]+)|([,:\[\]{}"]))?')
_STRING = re.compile(
    r'[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*',
)
_STRING_STOP = re.compile(r'["\\\x00-\x1f]')
_ESCAPE_PART = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")
_SCALAR = re.compile(r'[^ \t\r\n,:\[\]{}"]+')
_SCALAR_VALUE = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null")

#: What may come next, and what is expected after it. "+" opens a container, "-" closes one.
EXPECT: dict[str, dict[str, str]] = {
    "value": {"{": "+first key", "[": "+first item", '"': "string", "scalar": "after"},
    "first item": {"{": "+first key", "[": "+first item", '"': "string", "scalar": "after", "]": "-"},
    "first key": {'"': "key string", "}": "-"},
    "key": {'"': "key string"},
    "colon": {":": "value"},
    "after": {",": "next", "}": "-", "]": "-"},
}
_CLOSES = {"{": "}", "[": "]"}
_AFTER_STRING = {"string": "after", "key string": "colon"}


def pass_value(walk: Walk, sink: Sink, *, flows: bool = False) -> Steps[str]:
    """Passes one JSON value, which begins at the next character, to ``sink`` as it was written.

    Returns its first character. ``flows``: the sink is the arguments of the open call, so that the text of an
    open string may go to the client without coming by here. Raises Malformed at the first wrong character,
    what came before it having been passed on.
    """
    closers: list[str] = []
    scalar: list[str] = []  # a number or literal that may go on
    expect = "value"
    first = ""
    buffer, start = walk.buffer, walk.pos
    pos = start
    while True:
        if pos == len(buffer):  # pass on what is there, wait for more
            if scalar and walk.over and not closers:
                _end_scalar(walk, scalar, sink, pos)
                return first
            if start < pos and not scalar:
                walk.pos = pos
                sink(buffer[start:pos])
            walk.pos = pos
            if flows and expect in _AFTER_STRING:
                walk.let_arguments_flow(_STRING_STOP.search)
            if walk.over:
                raise EndOfOutput
            yield
            buffer, start = walk.buffer, walk.pos
            pos = start
        elif expect in _AFTER_STRING:
            pos = _STRING.match(buffer, pos).end()  # type: ignore[union-attr]  # it matches nothing, too
            if pos == len(buffer):
                continue
            char = buffer[pos]
            if char == '"':
                pos += 1
                expect = _AFTER_STRING[expect]
                if not closers:
                    break
            elif char == "\\":
                _pass(walk, buffer, start, pos, sink)
                if not _ESCAPE_PART.match(buffer, pos):
                    raise Malformed
                yield from walk.more()
                buffer, start = walk.buffer, walk.pos
                pos = start
            else:
                _pass(walk, buffer, start, pos, sink)
                pos += 1
                walk.pos = start = pos
                sink(json.dumps(char)[1:-1])
        elif scalar:
            rest = _SCALAR.match(buffer, pos)
            if rest is not None:
                scalar.append(rest[0])
                start = pos = rest.end()
                continue
            _end_scalar(walk, scalar, sink, pos)
            start = pos
            if not closers:
                return first
        else:
            step = _STEP.match(buffer, pos)
            assert step is not None
            char = step[2]
            if char is None:
                if step[1] is None:  # white space
                    pos = step.end()
                    continue
                if expect not in ("value", "first item"):
                    _pass(walk, buffer, start, step.start(1), sink)
                    raise Malformed
                first = first or step[1][0]
                pos = step.end()
                expect = "after"
                if closers and pos < len(buffer) and _SCALAR_VALUE.fullmatch(step[1]):
                    continue  # it is over
                _pass(walk, buffer, start, step.start(1), sink)
                scalar.append(step[1])
                start = pos
                continue
            after = EXPECT[expect].get(char)
            if after is None or (after == "-" and char != closers[-1]):
                _pass(walk, buffer, start, step.start(2), sink)
                raise Malformed
            first = first or char
            pos = step.end()
            if after == "-":
                closers.pop()
                expect = "after"
                if not closers:
                    break
            elif after[0] == "+":
                closers.append(_CLOSES[char])
                expect = after[1:]
            elif after == "next":
                expect = "key" if closers[-1] == "}" else "value"
            else:
                expect = after
    _pass(walk, buffer, start, pos, sink)
    return first


def _pass(walk: Walk, buffer: str, start: int, pos: int, sink: Sink) -> None:
    walk.pos = pos
    if start < pos:
        sink(buffer[start:pos])


def _end_scalar(walk: Walk, scalar: list[str], sink: Sink, pos: int) -> None:
    """A number or literal is over: passes it on, raises Malformed where it is none."""
    walk.pos = pos
    text = "".join(scalar)
    scalar.clear()
    sink(text)
    if not _SCALAR_VALUE.fullmatch(text):
        raise Malformed


def read_value(walk: Walk) -> Steps[str]:
    """Reads one JSON value, returns its text."""
    pieces: list[str] = []
    yield from pass_value(walk, pieces.append)
    return "".join(pieces)


def read_string(walk: Walk) -> Steps[str]:
    """Reads one JSON string, returns what it says. Raises Malformed for another kind of value."""
    if (yield from walk.peek()) != '"':
        raise Malformed
    text: str = json.loads((yield from read_value(walk)))
    return text


def drop(text: str) -> None:
    """A sink for what is not wanted."""


def is_object(text: str) -> bool:
    """Is this the text of a JSON object?"""
    text = text.strip()
    return text.startswith("{") and literal_to_json(text) == text
