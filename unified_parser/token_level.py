"""What the ids alone say about reasoning: where it ends, which ids are content, how many are reasoning.

Servers ask this for structured output and for usage. Where the markers of a format are single tokens the ids
are looked at directly; otherwise their text is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from .events import ReasoningText
from .format import Header, OutputFormat
from .scanner import compile_pattern
from .start import decode
from .tokens import SpecialTokens, Tokenizer
from .walk import Walk

#: How many ids before a step may belong to the header that it completes.
_HEADER_WINDOW = 64


class EndFound(NamedTuple):
    """``offset``: index of the id that ends reasoning. ``implicit``: that id belongs to what follows."""

    offset: int
    implicit: bool


class TokenLevel:
    """The token-level description of one format in one vocabulary. Holds no state of any output."""

    def __init__(self, form: OutputFormat, tokens: SpecialTokens, tokenizer: Tokenizer | None) -> None:
        self._tokenizer = tokenizer
        self._header = form.header
        self._id_of = tokens.id_of
        reasoning = form.reasoning
        pattern = reasoning.close.pattern if reasoning else ""
        explicit = reasoning.close.spellings if reasoning and not pattern else ()
        self._pattern = compile_pattern(pattern)[0] if pattern else None
        implicit = _implicit_ends(form)
        single = bool(explicit) and all(text in tokens.id_of for text in explicit)
        self.end_ids = frozenset(tokens.id_of[text] for text in explicit) if single else frozenset()
        self.implicit_ids = frozenset(tokens.id_of[text] for text in implicit if text in tokens.id_of)
        opens = reasoning.open.spellings if reasoning else ()
        self.open_ids = frozenset(tokens.id_of[text] for text in opens if text in tokens.id_of)
        self.reopens = bool(reasoning and reasoning.reopens)
        #: the ends that are no single tokens, and are looked for in the text
        self._spelled = [text for text in implicit if text not in tokens.id_of]
        self._spelled += () if single else explicit
        self._window = max(map(len, self._spelled), default=0)
        #: and the ids of those tokens that are a part of such an end, without which it is a quotation of one
        self._needs = {
            text: tokens.id_of[marker.token]
            for marker in form.markers()
            for text in marker.spellings
            if marker.token in tokens.id_of and marker.token is not None
        }

    @property
    def by_ids(self) -> bool:
        """Do the ids alone say where reasoning is?"""
        return bool(self.end_ids) and not self._spelled

    def find_end(self, ids: Sequence[int]) -> EndFound | None:
        """The first id of these that ends reasoning, where ends are single tokens."""
        if not self.end_ids:
            return None
        for offset, number in enumerate(ids):
            if number in self.end_ids:
                return EndFound(offset, implicit=False)
            if number in self.implicit_ids:
                return EndFound(offset, implicit=True)
        return None

    def ends_in(self, ids: Sequence[int], delta: Sequence[int]) -> bool:
        """Does reasoning end inside ``delta``, the last of ``ids``? Looks back no further than a marker."""
        if not delta:
            return False
        if self._header is not None:
            return self._leaves_in(self._header, ids, delta)
        if self.find_end(delta) is not None or not self.implicit_ids.isdisjoint(delta):
            return True
        if self._pattern is not None:
            text, old = self._text(ids, delta, _HEADER_WINDOW)
            return any(match.end() > old for match in self._pattern.finditer(text))
        if not self._spelled:
            return False
        text, old = self._text(ids, delta, self._window)
        recent = ids[max(len(ids) - len(delta) - self._window, 0) :]
        return any(
            text.find(end, max(old - len(end) + 1, 0)) >= 0
            for end in self._spelled
            if end not in self._needs or self._needs[end] in recent
        )

    def _leaves_in(self, header: Header, ids: Sequence[int], delta: Sequence[int]) -> bool:
        """Is a header completed inside ``delta`` whose body is no reasoning?"""
        return any(
            header.classify(before.rpartition(header.open.text)[2], ending).channel in ("content", "call")
            for before, ending in self._headers_in(header, ids, delta)
        )

    def _headers_in(
        self, header: Header, ids: Sequence[int], delta: Sequence[int]
    ) -> Iterator[tuple[str, str]]:
        """The text before each end of a header inside ``delta``, and that end."""
        for ending in (literal for marker in header.ends for literal in marker.spellings):
            number = self._id_of.get(ending)
            if number is None:
                text, old = self._text(ids, delta, _HEADER_WINDOW)
                at = text.find(ending, max(old - len(ending) + 1, 0))
                if at >= 0:
                    yield text[:at], ending
                continue
            for place in range(len(ids) - len(delta), len(ids)):
                before = ids[max(place - _HEADER_WINDOW, 0) : place]
                if ids[place] == number and self._in_header_or_body(header, before):
                    yield decode(self._tokenizer, before), ending

    def _in_header_or_body(self, header: Header, before: Sequence[int]) -> bool:
        """Do these ids end in a header or a body? Behind a close only an opener begins one."""
        opener = self._id_of.get(header.open.text)
        if opener is None:
            return True
        closes = {self._id_of.get(literal) for marker in header.close for literal in marker.spellings}
        last = next((number for number in reversed(before) if number == opener or number in closes), opener)
        return last == opener

    def _text(self, ids: Sequence[int], delta: Sequence[int], window: int) -> tuple[str, int]:
        """The text of the last ids, and where in it that of ``delta`` begins."""
        first = max(len(ids) - len(delta) - window, 0)
        text = decode(self._tokenizer, ids[first:])
        return text, max(len(text) - len(decode(self._tokenizer, delta)), 0)


class ReasoningCount:
    """Counts the ids of one output that are reasoning, markers excluded, as they come.

    ``reasoning``: the output starts in it.
    """

    def __init__(self, level: TokenLevel, *, reasoning: bool) -> None:
        self._level = level
        self._inside = reasoning
        self.total = 0

    def add(self, ids: Iterable[int]) -> int:
        """Takes the next ids; returns the count so far."""
        level, inside, total = self._level, self._inside, self.total
        ends = level.end_ids | level.implicit_ids
        for number in ids:
            if number in level.open_ids:
                inside = inside or level.reopens or total == 0
            elif inside and number in ends:
                inside = False
            elif inside:
                total += 1
        self._inside, self.total = inside, total
        return total


class ReasoningCountOfText:
    """The same where ids alone do not say what is reasoning: their text is walked through.

    An id is reasoning if some of its text is. What is held back counts as long as the block is open.
    """

    def __init__(self, walk: Walk, tokenizer: Tokenizer | None) -> None:
        self._walk = walk
        self._tokenizer = tokenizer
        self._length = 0  # of the text so far
        self._undecided: deque[tuple[int, int]] = deque()  # where in it the ids stand that are held back
        self._total = 0

    def add(self, ids: Iterable[int]) -> int:
        """Takes the next ids; returns the count so far."""
        walk = self._walk
        for number in ids:
            text = decode(self._tokenizer, [number])
            self._undecided.append((self._length, self._length + len(text)))
            self._length += len(text)
            for event in walk.feed(text, [number]):
                if type(event) is ReasoningText:
                    self._pass(event.start)
                    self._count(event.end)
            self._pass(walk.done)
        is_open = not walk.reasoning_over and walk.machine.format.header is None
        return self._total + (len(self._undecided) if is_open else 0)

    def _pass(self, place: int) -> None:
        """The ids up to this place that are not counted are no reasoning."""
        while self._undecided and self._undecided[0][1] <= place:
            self._undecided.popleft()

    def _count(self, place: int) -> None:
        """The ids that begin before this place are reasoning."""
        while self._undecided and self._undecided[0][0] < place:
            self._undecided.popleft()
            self._total += 1


def _implicit_ends(form: OutputFormat) -> list[str]:
    """The literals that end reasoning because they begin something else."""
    if form.reasoning is None:
        return []
    markers = [block.open for block in form.tools if block.open and block.in_reasoning == "ends"]
    markers += [item.marker for item in form.content.drops if item.ends_reasoning]
    return [text for marker in markers for text in marker.spellings]
