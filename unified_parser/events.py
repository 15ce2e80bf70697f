"""What a parser says about an output: small immutable records, in the order of the text.

Each record carries the span ``[start, end)`` of the raw output it comes from, in characters. The spans of
all events of one output (``Framing`` included, see ``trace``) tile it: each starts where the last one ended.
A span may be empty, for what the parser adds or closes without reading a character.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias


class ReasoningStart(NamedTuple):
    """A reasoning block begins."""

    start: int
    end: int


class ReasoningText(NamedTuple):
    """A piece of reasoning."""

    text: str
    start: int
    end: int


class ReasoningEnd(NamedTuple):
    """The reasoning block is over."""

    start: int
    end: int


class ContentText(NamedTuple):
    """A piece of the answer."""

    text: str
    start: int
    end: int


class ToolCallStart(NamedTuple):
    """A tool call is announced: its name is known. Nothing takes it back from here on."""

    index: int  # type: ignore[assignment]  # position among the calls of the output, from 0
    id: str
    name: str
    start: int
    end: int


class ToolCallArguments(NamedTuple):
    """A fragment of a call's arguments. The fragments of one call, joined, are one JSON object text."""

    index: int  # type: ignore[assignment]
    fragment: str
    start: int
    end: int


class ToolCallEnd(NamedTuple):
    """The call is over. ``complete`` is false where it was cut off or its arguments are not valid JSON."""

    index: int  # type: ignore[assignment]
    complete: bool
    start: int
    end: int


class Discarded(NamedTuple):
    """Text of a call that the end of the output cut off before it could be announced. It is not content."""

    text: str
    start: int
    end: int


class Framing(NamedTuple):
    """Markers, and the white space that belongs to them. Only a parser made with ``trace=True`` emits it."""

    start: int
    end: int


Event: TypeAlias = (
    ReasoningStart
    | ReasoningText
    | ReasoningEnd
    | ContentText
    | ToolCallStart
    | ToolCallArguments
    | ToolCallEnd
    | Discarded
    | Framing
)
