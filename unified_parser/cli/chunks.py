"""An output cut into deltas, as a server would send it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice, repeat
from random import Random
from typing import Any, NamedTuple

from .errors import UserError, say

#: The longest delta of a random cut.
LONGEST = 12


class Delta(NamedTuple):
    """A piece of an output. The ids are those of the tokens whose text begins in it."""

    text: str
    ids: tuple[int, ...] = ()


class Chunks(NamedTuple):
    """How to cut: ``sizes`` are the deltas' lengths, in tokens where there is a tokenizer, or characters."""

    sizes: Callable[[], Iterator[int]]
    characters: bool = False  # whatever tokenizer there is


def read_chunks(spec: str | None) -> Chunks | None:
    """``N``, ``char`` or ``random:SEED``. None: everything in one delta."""
    if spec is None:
        return None
    if spec == "char":
        return Chunks(lambda: repeat(1), characters=True)
    if re.fullmatch(r"0*[1-9]\d{0,8}", spec):
        return Chunks(lambda: repeat(int(spec)))
    if seed := re.fullmatch(r"random:(.+)", spec):
        return Chunks(lambda: _random_sizes(seed[1]))
    raise UserError(f"--chunk {spec}: give a number above 0, char, or random:SEED (as in random:7).")


def _random_sizes(seed: str) -> Iterator[int]:
    random = Random(seed)
    while True:
        yield random.randint(1, LONGEST)


def deltas(text: str, chunks: Chunks | None, tokenizer: Any = None) -> Iterable[Delta]:
    """The deltas of a text. ``tokenizer``: a ``tokenizers.Tokenizer`` whose ids go with them."""
    if chunks is None:
        ids = tokenizer.encode(text, add_special_tokens=False).ids if tokenizer else ()
        return [Delta(text, tuple(ids))]
    pieces: Iterable[Delta] = map(Delta, text)
    if tokenizer:
        pieces = _tokens(text, tokenizer)
        if chunks.characters:
            pieces = _characters(pieces)
    return _grouped(iter(pieces), chunks.sizes())


def _grouped(pieces: Iterator[Delta], sizes: Iterator[int]) -> Iterator[Delta]:
    while group := list(islice(pieces, next(sizes))):
        yield Delta("".join(p.text for p in group), tuple(number for p in group for number in p.ids))


def _tokens(text: str, tokenizer: Any) -> list[Delta]:
    """The tokens of a text; a character that several tokens make up comes with the last of them."""
    from tokenizers.decoders import DecodeStream

    stream = DecodeStream(skip_special_tokens=False)
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    tokens = [Delta(stream.step(tokenizer, number) or "", (number,)) for number in ids]
    if "".join(token.text for token in tokens) != text:
        say("the tokenizer does not give the text back to the letter; what it gives back is parsed.")
    return tokens


def _characters(tokens: Iterable[Delta]) -> Iterator[Delta]:
    """Every character a delta; a token's id comes with its first one."""
    for token in tokens:
        yield Delta(token.text[:1], token.ids)
        yield from map(Delta, token.text[1:])
