"""JSON checked without recursion, for values nested deeper than ``json`` reads; and strings left open."""

from __future__ import annotations

import re

_SPACE = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"')
_SCALAR = re.compile(r"(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)\b")
_OPEN_STRING_PART = re.compile(r'[^"\\]+|["\\]')


def fault(text: str) -> str | None:
    """What keeps this text from being one JSON object; None if it is one."""
    open_: list[str] = []
    expect = "{"
    at = 0
    while True:
        at = _end(_SPACE, text, at)
        char = text[at : at + 1]
        if not char:
            return None if expect == "end" else f"it ends where {expect} should follow"
        if expect == "end":
            return f"text follows the object at {at}"
        string, scalar = _STRING.match(text, at), _SCALAR.match(text, at)
        if char in "}]" and open_ and (expect in (", or close", "first")) and char == open_[-1]:
            open_.pop()
            at += 1
            expect = ", or close" if open_ else "end"
        elif expect in ("first", "key") and open_[-1] == "}":
            if string is None:
                return f"no key at {at}"
            at = string.end()
            expect = ":"
        elif expect in ("value", "first", "{") and char in ("{" if expect == "{" else "{["):
            open_.append("}" if char == "{" else "]")
            at += 1
            expect = "first"
        elif expect in ("value", "first"):
            match = string or scalar
            if match is None:
                return f"no value at {at}"
            at = match.end()
            expect = ", or close"
        elif char == ":" and expect == ":":
            at += 1
            expect = "value"
        elif char == "," and expect == ", or close":
            at += 1
            expect = "key" if open_[-1] == "}" else "value"
        else:
            return f"{char!r} at {at}, where {expect} should follow"


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


class OpenString:
    """Follows JSON text that comes in pieces: ``inside`` tells whether a string is open at its end."""

    def __init__(self) -> None:
        self.inside = False
        self._escaped = False

    def feed(self, text: str) -> None:
        """Takes the next piece."""
        for piece in _OPEN_STRING_PART.findall(text):
            if self._escaped:
                self._escaped = False
                if piece in '"\\':
                    continue
            if piece == '"':
                self.inside = not self.inside
            elif piece == "\\":
                self._escaped = self.inside
