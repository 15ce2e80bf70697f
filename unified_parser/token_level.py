"""What the ids alone say about reasoning: where it ends, which ids are content, how many are reasoning.

Servers ask this for structured output and for usage. Where the markers of a format are single tokens the ids
are looked at directly; otherwise their text is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .format import OutputFormat
from .scanner import Marks, Use
from .start import decode
from .tokens import NO_TOKENS, SpecialTokens, Tokenizer


class EndFound(NamedTuple):
    """``offset``: index of the id that ends reasoning. ``implicit``: that id belongs to what follows."""

    offset: int
    implicit: bool


class TokenLevel:
    """The token-level description of one format in one vocabulary. Holds no state of any output."""

    def __init__(self, form: OutputFormat, tokens: SpecialTokens, tokenizer: Tokenizer | None) -> None:
        self._tokenizer = tokenizer
        self._ends = Marks([], NO_TOKENS) if form.reasoning is None else _end_marks(form)
        self._window = max((len(s.literal) for s in self._ends.spellings), default=0)
        explicit, implicit = _enders(form)
        self.single = bool(explicit) and all(text in tokens.id_of for text in explicit)
        self.end_ids = frozenset(tokens.id_of[t] for t in explicit) if self.single else frozenset()
        self.implicit_ids = frozenset(tokens.id_of[t] for t in implicit if t in tokens.id_of)
        reasoning = form.reasoning
        self.open_ids = frozenset(
            tokens.id_of[text]
            for text in (reasoning.open.spellings if reasoning else ())
            if text in tokens.id_of
        )
        self.reopens = bool(reasoning and reasoning.reopens)

    def find_end(self, ids: Sequence[int]) -> EndFound | None:
        """The first id of these that ends reasoning, where ends are single tokens."""
        if not self.single:
            return None
        for offset, number in enumerate(ids):
            if number in self.end_ids:
                return EndFound(offset, implicit=False)
            if number in self.implicit_ids:
                return EndFound(offset, implicit=True)
        return None

    def ends_in(self, ids: Sequence[int], delta: Sequence[int]) -> bool:
        """Does reasoning end inside ``delta``, the last of ``ids``? Looks back no further than a marker."""
        if self.single:
            return self.find_end(delta) is not None
        if not self._window or not delta:
            return False
        before = len(ids) - len(delta)
        text = decode(self._tokenizer, ids[max(before - self._window, 0) :])
        fresh = len(decode(self._tokenizer, delta))
        old = max(len(text) - fresh, 0)
        match = self._ends.by_text.search(text)
        while match is not None and (match.lastindex is None or match.end() <= old):
            match = self._ends.by_text.search(text, match.start() + 1)
        return match is not None

    def count(self, ids: Sequence[int], *, reasoning: bool) -> int:
        """How many of an output's ids are reasoning, markers excluded; ``reasoning``: it starts there."""
        inside, total = reasoning, 0
        for number in ids:
            if number in self.open_ids:
                inside = inside or self.reopens or total == 0
            elif inside and (number in self.end_ids or number in self.implicit_ids):
                inside = False
            elif inside:
                total += 1
        return total


def _enders(form: OutputFormat) -> tuple[list[str], list[str]]:
    """The literals that end reasoning: explicitly, and by being something else."""
    if form.reasoning is None:
        return [], []
    implicit = [t.open for t in form.tools if t.open and t.in_reasoning == "ends"]
    implicit += [item.marker for item in form.content.drops if item.ends_reasoning]
    return list(form.reasoning.close.spellings), [text for marker in implicit for text in marker.spellings]


def _end_marks(form: OutputFormat) -> Marks[None]:
    assert form.reasoning is not None
    enders = [form.reasoning.close, *(t.open for t in form.tools if t.open and t.in_reasoning == "ends")]
    return Marks([Use(marker, None) for marker in enders], NO_TOKENS)
