"""Recorded responses parsed again, by the recorded families or by others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any

from .message import Message, MessageBuilder
from .parser import UnifiedParser
from .recording import Record, visible
from .registry import get_parser_class
from .variants import without_reasoning

#: How some vocabularies write a blank. The others write bytes.
_BLANK = "▁"


class RecordedTokenizer:
    """What a record tells of its tokenizer: the markers, and the tokens of the output."""

    def __init__(self, record: Record) -> None:
        ordinary, markers = record.vocabulary or {}, record.markers or {}
        self._vocabulary = ordinary | markers
        bytewise = not any(_BLANK in text for text in ordinary)
        self._data = {number: text.encode() for text, number in self._vocabulary.items()}
        for text, number in ordinary.items():
            if number not in (record.special_ids or ()):
                self._data[number] = _bytes(text) if bytewise else text.replace(_BLANK, " ").encode()
        self.added_tokens_decoder = {
            number: SimpleNamespace(content=text, special=True)
            for text, number in ordinary.items()
            if number in (record.special_ids or ())
        }

    def get_vocab(self) -> Mapping[str, int]:
        """Token text to id."""
        return self._vocabulary

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ids that are on record; KeyError for others."""
        return b"".join(self._data[number] for number in ids).decode(errors="replace")


def _bytes(text: str) -> bytes:
    """The bytes that a token of a byte-level vocabulary is written for."""
    byte_of = _byte_of()
    return b"".join(
        bytes([byte_of[character]]) if character in byte_of else character.encode() for character in text
    )


@cache
def _byte_of() -> Mapping[str, int]:
    """The byte that each character of a byte-level vocabulary stands for."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(0x100) if byte not in plain]
    return {chr(byte): byte for byte in plain} | {chr(0x100 + n): byte for n, byte in enumerate(others)}


def parser_for(record: Record, name: str | None = None, tokenizer: Any = None) -> UnifiedParser:
    """A parser for a recorded output: of the recorded families, or of the one called ``name``.

    ``tokenizer``: the model's own, in place of what the record has of it. Raises UnknownFamilyError, and what
    the parser raises for options that it does not take.
    """
    reasoning = name if name and record.reasoning_parser else record.reasoning_parser
    tools = name if name and record.tool_parser else record.tool_parser
    if tokenizer is None and record.markers is not None:
        tokenizer = RecordedTokenizer(record)
    options: dict[str, Any] = {
        "tokenizer": tokenizer,
        "tools": record.tools,
        "thinking": record.thinking,
        "chat_template_kwargs": record.chat_template_kwargs,
        "prompt_text": record.prompt_tail,
    }
    if tools is None:
        return get_parser_class(reasoning or "")(**options, calls=False)
    if reasoning is None:
        return without_reasoning(get_parser_class(tools))(**options, phase="answer")
    return get_parser_class(tools, reasoning)(**options)


def replay(record: Record, name: str | None = None, tokenizer: Any = None) -> tuple[Message, Message]:
    """What a parser makes of a recorded output now: (in the recorded deltas, as a whole).

    Like the recorded result these are what the request wants to see. The options are those of ``parser_for``.
    """
    parser = parser_for(record, name, tokenizer)
    builder = MessageBuilder(keep_incomplete=record.streamed)
    for text, ids in record.pieces():
        builder.add(parser.feed(text, ids))
    builder.add(parser.finish())
    whole = parser.parse(record.text, record.token_ids, keep_incomplete=record.streamed)
    return _sent(builder.build(), record), _sent(whole, record)


def _sent(message: Message, record: Record) -> Message:
    calls = record.tool_choice != "none"
    return visible(message, include_reasoning=record.include_reasoning, include_calls=calls)
