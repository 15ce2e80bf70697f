"""Ways to cut an output into deltas.

A delta is (text, ids). A cut knows the output's text and, with a tokenizer, its ids; the texts of its deltas
joined are the text, the ids joined are the ids.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise

from support.tokenizers import Detokenizer, MarkerTokenizer

Delta = tuple[str, list[int]]


@dataclass(frozen=True)
class Output:
    """A model output as text and ids, with the tokenizer that wrote it."""

    text: str
    ids: tuple[int, ...]
    tokenizer: MarkerTokenizer

    @staticmethod
    def of(text: str, tokenizer: MarkerTokenizer, literal: Iterable[str] = ()) -> Output:
        """The output that ``text`` spells; ``literal`` as in ``MarkerTokenizer.encode``."""
        return Output(text, tuple(tokenizer.encode(text, literal=tuple(literal))), tokenizer)


Cut = Callable[[Output], list[Delta]]


def whole(output: Output) -> list[Delta]:
    """Everything in one delta."""
    return [(output.text, list(output.ids))]


def groups(output: Output, sizes: Callable[[], int], *, skip_special_tokens: bool = False) -> list[Delta]:
    """Tokens in groups of ``sizes()``, each with the text that a detokenizer gives for it."""
    detokenizer = Detokenizer(output.tokenizer, skip_special_tokens=skip_special_tokens)
    deltas: list[Delta] = []
    at = 0
    while at < len(output.ids):
        ids = list(output.ids[at : at + max(1, sizes())])
        deltas.append((detokenizer.push(ids), ids))
        at += len(ids)
    rest = detokenizer.flush()
    return [*deltas, (rest, [])] if rest else deltas


def tokens(output: Output) -> list[Delta]:
    """One token a delta; a token that ends inside a character has no text."""
    return groups(output, lambda: 1)


def some_tokens(seed: int) -> Cut:
    """Several tokens a delta, at random."""

    def cut(output: Output) -> list[Delta]:
        chosen = random.Random(seed)
        return groups(output, lambda: chosen.choice((1, 2, 3, 5, 8, 13)))

    return cut


def without_special_tokens(size: int) -> Cut:
    """``size`` tokens a delta, special tokens left out of the text: only their ids tell of them."""
    return lambda output: groups(output, lambda: size, skip_special_tokens=True)


def _starts(length: int, seed: int | None) -> list[int]:
    """Where the deltas start: at each character, or at random ones."""
    if seed is None:
        return list(range(length))
    chosen = random.Random(seed)
    return [0, *(at for at in range(1, length) if chosen.random() < 0.3)]


def _char_spans(output: Output) -> list[tuple[int, int]]:
    """For each token the characters in which its first and its last byte lie."""
    char_at = [n for n, char in enumerate(output.text) for _ in char.encode()]
    spans: list[tuple[int, int]] = []
    at = 0
    for number in output.ids:
        end = at + len(output.tokenizer.bytes_of(number))
        spans.append((char_at[at], char_at[end - 1]))
        at = end
    return spans


def _characters(place: Callable[[list[tuple[int, int]], int], int], seed: int | None) -> Cut:
    def cut(output: Output) -> list[Delta]:
        spans = _char_spans(output)
        places = [place(spans, number) for number in range(len(spans))]
        borders = [*_starts(len(output.text), seed), len(output.text)]
        deltas: list[Delta] = []
        taken = 0
        for start, end in pairwise(borders):
            first = taken
            while taken < len(places) and places[taken] < end:
                taken += 1
            deltas.append((output.text[start:end], list(output.ids[first:taken])))
        return deltas

    return cut


def characters(seed: int | None = None) -> Cut:
    """One character a delta, or runs of them at random; a token's id comes with its first character."""
    return _characters(lambda spans, number: spans[number][0], seed)


def characters_ids_last(seed: int | None = None) -> Cut:
    """The same; a token's id comes with its last character."""
    return _characters(lambda spans, number: spans[number][1], seed)


def characters_ids_early(seed: int | None = None, lead: int = 4) -> Cut:
    """The same; ids run ``lead`` tokens ahead of the text, as behind a detokenizer that lags."""
    return _characters(lambda spans, number: spans[max(0, number - lead)][0], seed)


CUTS: dict[str, Cut] = {
    "whole": whole,
    "tokens": tokens,
    "some-tokens-1": some_tokens(1),
    "some-tokens-2": some_tokens(2),
    "characters": characters(),
    "characters-1": characters(1),
    "characters-ids-last": characters_ids_last(),
    "characters-ids-early": characters_ids_early(),
    "characters-ids-early-3": characters_ids_early(3),
}

# Without ids these are all the cuts there are: the others cut the text at the same places.
TEXT_CUTS = (
    "whole",
    "tokens",
    "some-tokens-1",
    "some-tokens-2",
    "characters",
    "characters-1",
)


def text_only(deltas: Iterable[Delta]) -> list[Delta]:
    """The deltas without their ids."""
    return [(text, []) for text, _ in deltas]
