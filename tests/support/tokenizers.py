"""Small real tokenizers, built on the spot: byte-level BPE with a family's markers as special tokens."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import tokenizers
from tokenizers import AddedToken, decoders, models, pre_tokenizers, trainers

# What the merges are learnt from. ASCII only, so that every other character is split over several tokens,
# as it often is in real vocabularies; with bits of JSON and markup, so that tokens cross their borders.
_TEXT = [
    'the tide table of the harbour is read and then the call is made with {"name": "city", "value": 12}',
    'this is the reasoning; that is the answer, and there are two calls in the list: [{"name": "x"}, {}]',
    "<tool_call> <parameter=text> </parameter> <function=read> </function> <think> </think> <arg_key>\n\n",
]

# Turn tokens: single tokens in every vocabulary whose template writes them, though no marker of an output.
_TURN_TOKEN = re.compile(
    r"<\|[^|<>\s\"]+\|>|<｜[^｜<>\s]+｜>|<\|turn>|<turn\|>|<\|tool_response>|<tool_response\|>|\[/?INST\]"
)


def turn_tokens(prompt: str) -> set[str]:
    """The literals in ``prompt`` that are single tokens of a real vocabulary, turn boundaries above all."""
    return set(_TURN_TOKEN.findall(prompt))


@cache
def _learnt() -> tokenizers.Tokenizer:
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=420, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator(_TEXT, trainer)
    return tokenizer


def _byte_of() -> dict[str, int]:
    """The byte that each character of a byte-level vocabulary stands for."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    return {chr(byte): byte for byte in plain} | {chr(256 + n): byte for n, byte in enumerate(others)}


class MarkerTokenizer:
    """A tokenizer with ``markers`` as special tokens, in the manner of Hugging Face's.

    ``encode`` spells every marker as its one token, except inside the substrings listed in ``literal``,
    which are written with ordinary tokens.
    """

    def __init__(self, markers: Iterable[str], response_template: Mapping[str, Any] | None = None) -> None:
        self.response_template = response_template
        self.markers = tuple(sorted(set(markers)))
        self._ordinary = _learnt()
        self.backend = tokenizers.Tokenizer.from_str(self._ordinary.to_str())
        self.backend.add_special_tokens(
            [AddedToken(marker, special=True, normalized=False) for marker in self.markers]
        )
        self._vocabulary: dict[str, int] = self.backend.get_vocab(with_added_tokens=True)
        self.all_special_ids = [self._vocabulary[marker] for marker in self.markers]
        self._bytes = self._token_bytes()

    def _token_bytes(self) -> dict[int, bytes]:
        byte_of = _byte_of()
        ordinary = self._ordinary.get_vocab().items()
        table = {number: bytes(byte_of[char] for char in token) for token, number in ordinary}
        return table | {self._vocabulary[marker]: marker.encode() for marker in self.markers}

    def get_vocab(self) -> dict[str, int]:
        return dict(self._vocabulary)

    def __len__(self) -> int:
        return len(self._vocabulary)

    def encode(self, text: str, add_special_tokens: bool = False, literal: Sequence[str] = ()) -> list[int]:
        if not literal:
            return list(self.backend.encode(text, add_special_tokens=False).ids)
        ids: list[int] = []
        pieces = re.split("(" + "|".join(map(re.escape, literal)) + ")", text)
        for number, piece in enumerate(pieces):
            tokenizer = self._ordinary if number % 2 else self.backend
            ids += tokenizer.encode(piece, add_special_tokens=False).ids
        return ids

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = False) -> str:
        return self.token_bytes(ids, skip_special_tokens).decode(errors="replace")

    def token_bytes(self, ids: Sequence[int], skip_special_tokens: bool = False) -> bytes:
        """What ``ids`` spell, in UTF-8."""
        return b"".join(self.bytes_of(number, skip_special_tokens) for number in ids)

    def bytes_of(self, number: int, skip_special_tokens: bool = False) -> bytes:
        """What one id spells; nothing for a special token that is to be skipped."""
        return b"" if skip_special_tokens and number in self.all_special_ids else self._bytes[number]


class MinimalTokenizer:
    """The least a tokenizer must offer: ``get_vocab`` and ``encode``."""

    def __init__(self, tokenizer: MarkerTokenizer) -> None:
        self._tokenizer = tokenizer
        self.response_template = tokenizer.response_template

    def get_vocab(self) -> dict[str, int]:
        return self._tokenizer.get_vocab()

    def encode(self, text: str) -> list[int]:
        return self._tokenizer.encode(text)


@cache
def minimal(tokenizer: MarkerTokenizer) -> MinimalTokenizer:
    """The same vocabulary behind a ``MinimalTokenizer``; one for each tokenizer."""
    return MinimalTokenizer(tokenizer)


@cache
def _cached(markers: frozenset[str], template: str) -> MarkerTokenizer:
    return MarkerTokenizer(markers, json.loads(template))


def tokenizer_for(
    markers: Iterable[str], response_template: Mapping[str, Any] | None = None
) -> MarkerTokenizer:
    """The tokenizer whose special tokens are ``markers``, with this template in its configuration.

    Built once for each set of them.
    """
    return _cached(frozenset(markers), json.dumps(response_template))


def template_tokens(response_template: Mapping[str, Any]) -> set[str]:
    """The literals of a response template that are single tokens of the vocabulary it was written for."""
    sides = [
        field.get(side, ()) for field in response_template["fields"].values() for side in ("open", "close")
    ]
    texts = [text for side in sides for text in ([side] if isinstance(side, str) else side)]
    return {token for text in texts for token in re.findall(r"<[^<>\s]+>", text)}


class Detokenizer:
    """Turns ids into text as they come, as servers do: an incomplete character is held until it is whole.

    ``skip_special_tokens`` leaves special tokens out of the text.
    """

    def __init__(self, tokenizer: MarkerTokenizer, *, skip_special_tokens: bool = False) -> None:
        self._tokenizer = tokenizer
        self._skip = skip_special_tokens
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def push(self, ids: Sequence[int]) -> str:
        """The text that ``ids`` complete."""
        return self._decoder.decode(self._tokenizer.token_bytes(ids, self._skip))

    def flush(self) -> str:
        """What is still held, as a replacement character."""
        return self._decoder.decode(b"", final=True)
