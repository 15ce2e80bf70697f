"""Python literals (and so JSON), read as they come and written out as JSON text.

What a bracket means in JSON may show only behind its first item: ``(1)`` is a number, ``(1,)`` an array,
``{1}`` an array, ``{1: 2}`` an object. The tables ``AFTER_ITEM`` and ``NO_ITEM`` say how each kind of bracket
goes on; what stands in an undecided one is held back, everything else is passed on once it is certain. There
is no recursion, and each character is looked at a bounded number of times.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from ..scanner import Sink, Steps
from ..schema import literal_to_json, quote, quote_inner
from ..walk import Search, Walk
from .json_text import Malformed

#: For models that do not escape quotes: does the quote that stands here, unread, close its string? The flag
#: says whether the string stands inside brackets.
Closes: TypeAlias = Callable[[Walk, bool], Steps[bool]]


class Turn(NamedTuple):
    """What a delimiter does inside a bracket.

    ``kind``: what the bracket is from here on, "" for closed. ``text``: what is written for the delimiter; a
    comma is written with the item behind it. ``opener``: what the opening bracket has turned out to be.
    """

    kind: str
    text: str = ""
    opener: str | None = None


#: The kinds of brackets, and what is written for the opening one (None: not known yet).
OPENERS: dict[str, tuple[str, str | None]] = {"[": ("list", "["), "(": ("group", None), "{": ("brace", None)}

#: What may follow an item, by the kind of the bracket around it ("": none, the value is over).
AFTER_ITEM: dict[str, dict[str, Turn]] = {
    "": dict.fromkeys(",)]}", Turn("")),
    "list": {",": Turn("list"), "]": Turn("", "]")},
    "group": {",": Turn("tuple", opener="["), ")": Turn("", opener="")},
    "tuple": {",": Turn("tuple"), ")": Turn("", "]")},
    "brace": {":": Turn("value", ": ", "{"), ",": Turn("set", opener="["), "}": Turn("", "]", "[")},
    "set": {",": Turn("set"), "}": Turn("", "]")},
    "key": {":": Turn("value", ": ")},
    "value": {",": Turn("key"), "}": Turn("", "}")},
}
#: What may stand there instead of an item: the bracket is empty, or ends with a comma.
NO_ITEM: dict[str, dict[str, Turn]] = {
    "": {},
    "list": {"]": Turn("", "]")},
    "group": {")": Turn("", "]", "[")},
    "tuple": {")": Turn("", "]")},
    "brace": {"}": Turn("", "}", "{")},
    "set": {"}": Turn("", "]")},
    "key": {"}": Turn("", "}")},
    "value": {},
}

_MAX_DEPTH = 200  # Python's own limit
_WORD = re.compile(r"[\w.+-]*")
_PREFIXES = frozenset({"", "r", "u", "b", "f", "br", "rb", "fr", "rf"})
_CONSTANTS = {"None": "null", "True": "true", "False": "false"} | {w: w for w in ("null", "true", "false")}
_DIGITS = "[0-9](?:_?[0-9])*+"
_NUMBER = re.compile(rf"([+-]?)(?:({_DIGITS})(\.(?:{_DIGITS})?)?|(\.{_DIGITS}))([eE][+-]?{_DIGITS})?")
_OTHER_BASE = re.compile(r"[+-]?0[xXoObB][0-9a-fA-F_]+")
_ESCAPE = re.compile(
    r"\\(?:[0-7]{1,3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U00(?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4}|.)", re.DOTALL
)
_ESCAPE_PART = re.compile(r"\\(?:[0-7]{0,2}|x[0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7})\Z")


def pass_literal(walk: Walk, sink: Sink, *, flows: bool = False, closes: Closes | None = None) -> Steps[None]:
    """Passes one literal, which begins at the next character that is not blank, to ``sink`` as JSON text.

    A number or constant by itself is over, and passed on, where a delimiter follows it, which is left unread.
    Tuples and sets become arrays, keys strings; the digits of numbers stay as written. ``flows``: the sink is
    the arguments of the open call, so that the text of an open string may go to the client without coming by
    here. ``closes``: asked of each quote that may close a string; by default each does. Raises Malformed
    where this is no literal; what was certain by then has been passed on.
    """
    out = _Output(walk, sink, flows, closes)
    kinds = [""]
    item = ""  # what stands before the next delimiter: nothing yet, a "string", "scalar" or "bracket"
    scalar = comma = ""
    while True:
        char = yield from walk.skip_space()
        turn = (AFTER_ITEM if item else NO_ITEM)[kinds[-1]].get(char)
        if turn is not None:
            if char == ":" and item == "bracket":
                raise Malformed
            out.write(quote(scalar) if scalar and char == ":" else scalar)
            scalar = ""
            if len(kinds) == 1:
                out.flush()
                return
            walk.pos += 1
            out.turn(turn)
            comma = ", " if char == "," else ""
            item = "" if turn.kind else "bracket"
            kinds[-1:] = [turn.kind] if turn.kind else []
        elif item or (char in OPENERS and len(kinds) > _MAX_DEPTH):
            raise Malformed
        else:
            out.write(comma)
            comma = ""
            if char in OPENERS:
                walk.pos += 1
                kind, text = OPENERS[char]
                kinds.append(kind)
                out.open(text)
            else:
                out.nested = len(kinds) > 1
                scalar = yield from _pass_string_or_read_scalar(walk, out)
                item = "scalar" if scalar else "string"
        out.flush()
        if len(kinds) == 1 and item in ("string", "bracket"):
            return


class _Output:
    """The JSON text on its way to the sink: what stands in a bracket that is not decided yet is held back."""

    __slots__ = ("_closes", "_flows", "_pieces", "_sink", "_undecided", "_walk", "nested")

    def __init__(self, walk: Walk, sink: Sink, flows: bool, closes: Closes | None) -> None:
        self._walk = walk
        self._sink = sink
        self._flows = flows
        self._closes = closes
        self.nested = False  # does the item being read stand inside brackets?
        self._pieces: list[str] = []
        self._undecided: list[int] = []  # the places of the undecided opening brackets

    def write(self, text: str) -> None:
        """Appends text, which the next ``flush`` sends."""
        self._pieces.append(text)

    def open(self, text: str | None) -> None:
        """Appends an opening bracket; None: one that is decided later."""
        if text is None:
            self._undecided.append(len(self._pieces))
        self._pieces.append(text or "")

    def turn(self, turn: Turn) -> None:
        """Appends a delimiter, which may decide the last undecided bracket."""
        if turn.opener is not None:
            self._pieces[self._undecided.pop()] = turn.opener
        self._pieces.append(turn.text)

    def flush(self) -> None:
        """Sends what is certain."""
        if not self._undecided:
            text = "".join(self._pieces)
            self._pieces.clear()
            if text:
                self._sink(text)

    def wait(self, search: Search | None = None) -> Steps[None]:
        """Waits for more text inside a string; up to what ``search`` finds it is plain."""
        self.flush()
        walk = self._walk
        all_sent = not self._undecided and walk.done == walk.position
        if search is not None and self._flows and all_sent:
            walk.let_arguments_flow(search, quoted=True)
        yield from walk.more()

    def closes(self) -> Steps[bool]:
        """Does the quote that comes next close its string?"""
        if self._closes is None:
            return True
        self.flush()
        return (yield from self._closes(self._walk, self.nested))

    def at(self, text: str) -> Steps[bool]:
        """Does this text come next? Nothing is read; only as much is waited for as the answer takes."""
        walk = self._walk
        while text != (ahead := walk.buffer[walk.pos : walk.pos + len(text)]) and text.startswith(ahead):
            yield from self.wait()
        return text == ahead


# --- Strings ------------------------------------------------------------------------------------------------


class _Style(NamedTuple):
    """How a string is written: what closes it, whether escapes are text, where plain text stops."""

    close: str
    raw: bool
    stop: re.Pattern[str]


@lru_cache(maxsize=64)
def _style(prefix: str, close: str) -> _Style:
    braces = "{}" if "f" in prefix else ""
    return _Style(close, "r" in prefix, re.compile(rf"[\\{close[0]}{braces}]"))


def _pass_string_or_read_scalar(walk: Walk, out: _Output) -> Steps[str]:
    """Passes the string that stands here, or else reads the scalar and returns it as JSON text."""
    word = yield from read_run(walk, _WORD)
    char = walk.buffer[walk.pos]
    if char not in "\"'":
        return _scalar_to_json(word)
    if word.lower() not in _PREFIXES:
        raise Malformed
    out.write('"')
    triple = yield from out.at(char * 3)
    style = _style(word.lower(), char * 3 if triple else char)
    walk.pos += len(style.close)
    yield from _pass_string(walk, out, style)
    out.write('"')
    return ""


def _pass_string(walk: Walk, out: _Output, style: _Style) -> Steps[None]:
    """Passes the inside of a string, and reads its closing quotes. It may hold anything, raw newlines too."""
    while True:
        buffer, start = walk.buffer, walk.pos
        match = style.stop.search(buffer, start)
        at = walk.pos = match.start() if match else len(buffer)
        out.write(quote_inner(buffer[start:at]))
        if match is None:
            yield from out.wait(style.stop.search)
        elif match[0] == "\\":
            if _ESCAPE_PART.match(buffer, at):
                yield from out.wait()
                continue
            escape = _ESCAPE.match(buffer, at)
            assert escape is not None
            walk.pos = escape.end()
            out.write(quote_inner(escape[0]) if style.raw else _unescape(escape[0]))
        elif match[0] == style.close and not (yield from out.closes()):
            walk.pos += 1
            out.write(quote_inner(match[0]))
        elif match[0] == style.close or (yield from out.at(style.close)):
            walk.pos += len(style.close)
            return
        elif match[0] in "{}":
            if not (yield from out.at(match[0] * 2)):
                out.flush()
                raise Malformed  # an expression
            walk.pos += 2
            out.write(match[0])
        else:
            walk.pos += 1
            out.write(quote_inner(match[0]))


@lru_cache(maxsize=256)
def _unescape(escape: str) -> str:
    """An escape of Python as the inside of a JSON string; one that Python does not know is text."""
    text = literal_to_json(f"'{escape}'")
    return quote_inner(escape) if text is None else text[1:-1]


# --- Scalars ------------------------------------------------------------------------------------------------


def _scalar_to_json(word: str) -> str:
    """A number or constant as JSON. Digits stay as written where JSON can write them so."""
    if word in _CONSTANTS:
        return _CONSTANTS[word]
    number = _NUMBER.fullmatch(word)
    if number is not None:
        sign, whole, fraction, fraction_only, exponent = (part or "" for part in number.groups())
        fraction = (fraction or fraction_only).replace("_", "")
        whole = whole.replace("_", "").lstrip("0") or "0"
        return f"{sign.strip('+')}{whole}{'.0' if fraction == '.' else fraction}{exponent.replace('_', '')}"
    if _OTHER_BASE.fullmatch(word):
        try:
            return str(int(word, 0))
        except ValueError:  # no digits of this base, or more than Python writes out
            raise Malformed from None
    raise Malformed


def read_run(walk: Walk, pattern: re.Pattern[str]) -> Steps[str]:
    """Reads the characters that ``pattern``, a repeated class, matches here; it is over at another one."""
    pieces: list[str] = []
    while True:
        match = pattern.match(walk.buffer, walk.pos)
        assert match is not None
        walk.pos = match.end()
        pieces.append(match[0])
        if walk.pos < len(walk.buffer):
            return "".join(pieces)
        yield from walk.more()


__all__ = ["AFTER_ITEM", "NO_ITEM", "OPENERS", "Closes", "Turn", "pass_literal", "read_run"]
