"""A toy tokenizer, and ways to cut an output into deltas."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from random import Random

from .run import Delta

#: Ids from here on are markers; below, an id is the code point of its character.
_FIRST = 0x110000


class CharacterTokenizer:
    """Each marker is one token, and so is every other character."""

    def __init__(self, markers: Iterable[str]) -> None:
        self.markers = tuple(sorted(set(markers)))
        self._ids = {marker: _FIRST + number for number, marker in enumerate(self.markers)}
        longest = sorted(self.markers, key=len, reverse=True)
        self._piece = re.compile("|".join([*map(re.escape, longest), "."]), re.DOTALL)

    def get_vocab(self) -> Mapping[str, int]:
        """The markers; characters are no entries that a format could look for."""
        return dict(self._ids)

    def encode(self, text: str, rng: Random | None = None) -> list[int]:
        """The ids of a text. With ``rng``, some of the markers in it are spelled with ordinary tokens."""
        ids: list[int] = []
        for piece in self._piece.findall(text):
            if piece in self._ids and (rng is None or rng.random() < 0.8):
                ids.append(self._ids[piece])
            else:
                ids += map(ord, piece)
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ids."""
        return "".join([self.markers[n - _FIRST] if n >= _FIRST else chr(n) for n in ids])


def cut(text: str, rng: Random, most: int = 12) -> list[Delta]:
    """The text in deltas of 1 to ``most`` characters, without ids."""
    borders = [0]
    while borders[-1] < len(text):
        borders.append(min(borders[-1] + rng.randint(1, most), len(text)))
    return [(text[start:end], ()) for start, end in pairwise(borders)]


def characters(text: str) -> list[Delta]:
    """One character a delta, without ids."""
    return [(char, ()) for char in text]


def group(ids: Sequence[int], tokenizer: CharacterTokenizer, rng: Random, most: int = 6) -> list[Delta]:
    """1 to ``most`` tokens a delta, with their text."""
    deltas: list[Delta] = []
    at = 0
    while at < len(ids):
        taken = ids[at : at + rng.randint(1, most)]
        deltas.append((tokenizer.decode(taken), taken))
        at += len(taken)
    return deltas
