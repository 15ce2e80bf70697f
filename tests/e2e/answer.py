"""What a client reads from one response, whatever the endpoint, as plain values."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias


@dataclass
class Text:
    """A piece of reasoning or content."""

    channel: Literal["reasoning", "content"]
    text: str


@dataclass
class Call:
    """One tool call; ``arguments`` is the text as sent."""

    id: str
    name: str
    arguments: str = ""


Piece: TypeAlias = Text | Call


@dataclass
class Usage:
    """Counts of tokens; ``reasoning`` is None where the endpoint does not tell."""

    prompt: int
    output: int
    reasoning: int | None = None


@dataclass
class Answer:
    """The pieces of a response in the order in which they came, and how it ended.

    ``finish_reason`` is the endpoint's own word. ``turn`` is what a client sends back as the model's turn
    when the conversation goes on. ``deltas`` counts those of a chat stream.
    """

    pieces: list[Piece] = field(default_factory=list)
    finish_reason: str | None = None
    usage: Usage | None = None
    turn: list[Any] = field(default_factory=list)
    deltas: int = 0

    @property
    def reasoning(self) -> str | None:
        return self._text("reasoning")

    @property
    def content(self) -> str | None:
        return self._text("content")

    @property
    def calls(self) -> list[Call]:
        return [piece for piece in self.pieces if isinstance(piece, Call)]

    def _text(self, channel: str) -> str | None:
        texts = [piece.text for piece in self.pieces if isinstance(piece, Text) and piece.channel == channel]
        return "".join(texts) or None

    def add(self, channel: Literal["reasoning", "content"], text: str | None) -> None:
        """Appends text to the last piece, if that is of the same channel, or as a piece of its own."""
        if not text:
            return
        last = self.pieces[-1] if self.pieces else None
        if isinstance(last, Text) and last.channel == channel:
            last.text += text
        else:
            self.pieces.append(Text(channel, text))

    def plain(self) -> list[tuple[str, Any]]:
        """The pieces as (channel, text), or (tool, arguments) for a call."""
        return [
            (piece.name, json.loads(piece.arguments))
            if isinstance(piece, Call)
            else (piece.channel, piece.text)
            for piece in self.pieces
        ]
