"""The terminal: how wide it is, and text made safe to show."""

from __future__ import annotations

import os
import re

from rich.console import Console

#: Columns where the output goes to no terminal.
WIDTH = 120

_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")


def make_console() -> Console:
    """A console on the standard output. Without a terminal, or with NO_COLOR, it writes no colours."""
    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal and not os.environ.get("COLUMNS"):
        console.width = WIDTH
    return console


def visible(text: str) -> str:
    """Text as a terminal may show it: control characters as their pictures, so that none of them acts."""
    return _UNSAFE.sub(_picture, text).expandtabs(4)


def one_line(text: str, longest: int | None = None) -> str:
    """The same in one line, its middle left out where it is longer than ``longest``."""
    line = _UNSAFE.sub(_picture, text.replace("\n", "⏎").replace("\t", "⇥"))
    if longest is None or len(line) <= longest:
        return line
    half = (longest - 1) // 2
    return f"{line[:half]}…{line[-half:]}"


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else "\ufffd"
