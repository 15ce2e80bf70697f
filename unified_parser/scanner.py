"""Reading text that comes in pieces: marker search, hold-back, and the evidence of token ids.

``Marks`` is a set of markers compiled for searching. ``Scanner`` is the text of one output that has not been
read yet; its methods are generators that suspend where they need more text and end with ``EndOfOutput`` where
none will come.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

import regex

from .evidence import Evidence
from .format import Marker
from .tokens import SpecialTokens

T = TypeVar("T")
Steps: TypeAlias = Generator[None, None, T]
Sink: TypeAlias = Callable[[str], None]
Flow: TypeAlias = Callable[[Callable[[str], object]], None]

#: How far back a marker may look.
LOOK_BACK = 16
#: How long the text of a pattern may be.
MAX_MATCH = 1024
_NOT_SPACE = re.compile(r"[^ \t\r\n]")


class EndOfOutput(Exception):
    """Raised inside the reading generators when text is needed and the output is over."""


class Use(NamedTuple, Generic[T]):
    """A marker at one point of a format: what it does there, and the framing around it at that point."""

    marker: Marker
    does: T
    before: tuple[str, ...] = ()


class Spelling(NamedTuple, Generic[T]):
    """One literal of a marker, as found in the text."""

    literal: str
    marker: Marker
    does: T
    token_id: int | None  # the id that is its evidence; None: the text decides
    token_at: int  # where in the literal that token stands


class Marks(Generic[T]):
    """Markers that may act at one point, compiled into one search.

    ``by_text`` finds the first marker, with the framing before it, or else the longest end of the text that
    may still become one (a match without a group). ``by_ids`` is the same where token ids are given: the text
    of a special token comes in one piece, so its first characters alone are held back no more. ``at_end`` is
    for a text that is over: what could become a longer marker never will.
    """

    __slots__ = ("at_end", "by_ids", "by_text", "spellings")

    def __init__(self, uses: Iterable[Use[T]], tokens: SpecialTokens) -> None:
        full: list[tuple[str, Spelling[T]]] = []
        for marker, does, before in uses:
            for literal in marker.spellings:
                token = marker.token or literal
                token_id = tokens.id_of.get(token) if marker.special or marker.token else None
                spelling = Spelling(literal, marker, does, token_id, literal.find(token))
                full += [(frame + literal, spelling) for frame in _longest_first(before)]
                full.append((literal, spelling))
        full.sort(key=lambda pair: -len(pair[0]))
        self.spellings = [spelling for _, spelling in full]
        self.by_text = _compile(full)
        self.by_ids = _compile(full, tokens=True)
        self.at_end = _compile(full, over=True)

    def pattern(self, scanner: Scanner) -> re.Pattern[str]:
        """The search that fits what the scanner knows of its text."""
        if scanner.over:
            return self.at_end
        return self.by_ids if scanner.exact else self.by_text


def _longest_first(literals: Iterable[str]) -> list[str]:
    return sorted(literals, key=len, reverse=True)


def _compile(
    full: Sequence[tuple[str, Spelling[T]]], *, tokens: bool = False, over: bool = False
) -> re.Pattern[str]:
    """One alternative per literal, each ending in its group, then the prefixes that end the text."""
    prefixes: set[str] = set()
    for text, spelling in full:
        skip = range(0)
        if tokens and spelling.token_id is not None:
            first = len(text) - len(spelling.literal) + spelling.token_at
            token = spelling.marker.token or spelling.literal
            skip = range(first + 1, first + len(token))
        prefixes |= {text[:n] for n in range(1, len(text)) if n not in skip}
    texts = [text for text, _ in full]
    whole = [re.escape(text) + ("" if over else _unless_longer(text, prefixes)) + "()" for text in texts]
    return re.compile("|".join([*whole, *_endings(prefixes)]) or r"(?!)", re.DOTALL)


def _unless_longer(text: str, prefixes: set[str]) -> str:
    """Where a literal begins longer ones: a look-ahead that waits while one of those may still come."""
    parts = {prefix[len(text) :] for prefix in prefixes if prefix.startswith(text)}
    if not parts:
        return ""
    ends = [r"\Z"] if "" in parts else []
    return f"(?!{'|'.join([*_endings(parts - {''}), *ends])})"


@cache
def compile_pattern(pattern: str) -> tuple[regex.Pattern[str], bool]:
    """A marker's pattern, and whether what it matches may go on behind a match."""
    may_grow = re.search(r"(?<!\\)[?*+})]$", pattern) is not None
    return regex.compile(pattern, regex.DOTALL), may_grow


def _endings(prefixes: set[str]) -> list[str]:
    """Alternatives that match any of the prefixes at the end of the text."""
    tree: dict[str, Any] = {}
    for prefix in prefixes:
        node = tree
        for char in prefix:
            node = node.setdefault(char, {})

    def branch(char: str, node: dict[str, Any], path: str) -> str:
        path += char
        below = [branch(c, n, path) for c, n in node.items()]
        stop = [r"\Z"] if path in prefixes else []
        return re.escape(char) + (f"(?:{'|'.join(below + stop)})" if below else "".join(stop))

    return [branch(char, node, "") for char, node in tree.items()]


class Scanner:
    """The unread text of one output.

    ``buffer[pos:]`` is unread; ``base`` is the raw position of ``buffer[0]``. ``over``: no more text comes.
    """

    __slots__ = (
        "_kept",
        "_kept_from",
        "base",
        "buffer",
        "by_ids",
        "captures",
        "evidence",
        "exact",
        "in_frame",
        "last",
        "looks_back",
        "matched",
        "over",
        "pos",
    )

    def __init__(self, evidence: Evidence) -> None:
        self.buffer = ""
        self.pos = 0
        self.base = 0
        self.last = "\n"  # the text before buffer[0], as much of it as a marker may look back at
        self.over = False
        self.in_frame = False  # waiting for framing that may follow a marker
        self.looks_back = False  # some marker acts only behind certain text
        self.captures: Mapping[str, str] = {}  # the named groups of the last pattern that was read
        self.matched = 0  # the length of the last match, framing included
        self._kept: list[str] | None = None
        self._kept_from = 0
        self.evidence = evidence
        self.by_ids = False  # ids are given: a special token's spelling alone is text
        self.exact = False  # and its text comes in one piece

    def push(self, text: str) -> None:
        """Appends text. What has been read is let go, unless it is being kept."""
        if self.pos:
            if self._kept is not None:
                self._kept.append(self.buffer[self._kept_from : self.pos])
                self._kept_from = 0
            if self.looks_back:
                self.last = self._text_before(self.pos)
        if self.pos < len(self.buffer):
            text = self.buffer[self.pos :] + text
        self.base += self.pos
        self.pos = 0
        self.buffer = text

    def keep(self, back: int = 0) -> None:
        """Keeps the raw text from here on, or from ``back`` characters before."""
        self._kept = []
        self._kept_from = self.pos - back

    def kept(self) -> str:
        """The raw text read since ``keep``, which is over with this."""
        if self._kept is None:
            return ""
        text = "".join(self._kept) + self.buffer[self._kept_from : self.pos]
        self._kept = None
        return text

    @property
    def position(self) -> int:
        """The raw position of the next character to be read."""
        return self.base + self.pos

    def more(self) -> Steps[None]:
        """Waits for more text."""
        if self.over:
            raise EndOfOutput
        yield

    def is_structure(self, spelling: Spelling[T], end: int) -> bool:
        """Is this spelling, ending at buffer position ``end``, a marker and no quotation of one?"""
        if spelling.token_id is None or not self.by_ids:
            return True
        place = self.base + end - len(spelling.literal) + spelling.token_at
        return self.evidence.at.get(place) == spelling.token_id

    def may_act(self, spelling: Spelling[T], start: int) -> bool:
        """Does the marker's place, from buffer position ``start``, allow it to act?"""
        behind = spelling.marker.behind
        return not behind or self._text_before(start).endswith(behind)

    def _text_before(self, place: int) -> str:
        """The last of the text before a buffer position, read or not."""
        if place < LOOK_BACK:
            return (self.last + self.buffer[:place])[-LOOK_BACK:]
        return self.buffer[place - LOOK_BACK : place]

    def lose_rest(self) -> None:
        """The text ends in a part of a marker that is no text either."""
        self.pos = len(self.buffer)

    def read_until(self, marks: Marks[T], sink: Sink, flow: Flow | None = None) -> Steps[Spelling[T]]:
        """Reads up to and including the next marker; the text before it goes to ``sink`` in pieces.

        ``flow`` is called with the search when all text has gone to the sink and nothing is held back.
        """
        while True:
            pattern = marks.pattern(self)
            buffer, pos = self.buffer, self.pos
            match = pattern.search(buffer, pos)
            if match is None:
                self._sink(buffer, pos, len(buffer), sink)
                if flow is not None:
                    flow(pattern.search)
            elif match.lastindex is None:
                self._sink(buffer, pos, match.start(), sink)
                if self.over:
                    if self._is_cut_off(marks):
                        self.lose_rest()
                    self._sink(buffer, self.pos, len(buffer), sink)
                    raise EndOfOutput
            else:
                spelling = marks.spellings[match.lastindex - 1]
                if self.is_structure(spelling, match.end()) and self.may_act(spelling, match.start()):
                    self._sink(buffer, pos, match.start(), sink)
                    self.pos = match.end()
                    self.matched = match.end() - match.start()
                    if not spelling.marker.pattern or (yield from self._read_pattern(spelling)):
                        return spelling
                    buffer, pos = self.buffer, self.pos
                    self._sink(buffer, pos, pos + len(spelling.literal), sink)
                    continue
                self._sink(buffer, pos, match.start() + 1, sink)  # it may hold another one
                continue
            if self.over:
                raise EndOfOutput
            yield

    def _read_pattern(self, spelling: Spelling[T]) -> Steps[bool]:
        """Reads what the marker's pattern matches, whose literal was just read. False: nothing is read.

        A match that more text may lengthen waits for it.
        """
        pattern, may_grow = compile_pattern(spelling.marker.pattern)
        length = len(spelling.literal)
        self.pos -= length
        while True:
            match = pattern.match(self.buffer, self.pos, partial=not self.over)
            if match is None or match.end() - match.start() > MAX_MATCH:
                return False
            if self.over or not (match.partial or (may_grow and match.end() == len(self.buffer))):
                self.captures = match.groupdict("")
                self.matched += match.end() - match.start() - length
                self.pos = match.end()
                return True
            yield

    def _is_cut_off(self, marks: Marks[T]) -> bool:
        """Is the rest of the text a marker that was cut off behind a token that is only a part of it?"""
        rest = self.buffer[self.pos :]
        for spelling in marks.spellings:
            token = spelling.marker.token
            at = rest.find(spelling.literal[0])
            if token is None or at < 0 or not spelling.literal.startswith(rest[at:]) or token not in rest:
                continue
            place = self.base + self.pos + at + spelling.token_at
            known = spelling.token_id is not None and self.by_ids
            if not known or self.evidence.at.get(place) == spelling.token_id:
                return True
        return False

    def _sink(self, buffer: str, start: int, end: int, sink: Sink) -> None:
        if start < end:
            self.pos = end
            sink(buffer[start:end])

    def at_mark(self, marks: Marks[T]) -> Steps[Spelling[T] | None]:
        """Reads the marker that stands here. None, and nothing is read, if none does.

        A marker that the end of the output cuts off raises EndOfOutput.
        """
        while True:
            pattern = marks.pattern(self)
            match = pattern.match(self.buffer, self.pos)
            if match is None and self.pos < len(self.buffer):
                return None
            if match is not None and match.lastindex is not None:
                spelling = marks.spellings[match.lastindex - 1]
                if not self.is_structure(spelling, match.end()):
                    return None
                self.pos = match.end()
                self.matched = match.end() - match.start()
                if not spelling.marker.pattern or (yield from self._read_pattern(spelling)):
                    return spelling
                self.pos -= self.matched - len(spelling.literal)
                return None
            if self.over and match is not None and not self._may_be_cut_off(marks):
                return None
            yield from self.more()

    def _may_be_cut_off(self, marks: Marks[T]) -> bool:
        """Is what stands here, the text being over, the beginning of a marker?"""
        pattern = marks.by_ids if self.by_ids else marks.by_text  # however the text and its ids have come
        match = pattern.match(self.buffer, self.pos)
        return match is not None and match.lastindex is None

    def skip_frame(self, frames: tuple[str, ...]) -> Steps[None]:
        """Reads the longest of the literals that stands here in full, if one does."""
        if not frames:
            return
        longest = max(map(len, frames))
        while not self.over:
            rest = self.buffer[self.pos : self.pos + longest]
            if not any(len(rest) < len(frame) and frame.startswith(rest) for frame in frames):
                break
            self.in_frame = True
            yield
        self.in_frame = False
        rest = self.buffer[self.pos : self.pos + longest]
        if self.over and any(rest == frame.rstrip() for frame in frames):  # cut at its white space
            self.pos += len(rest)
        self.pos += max((len(frame) for frame in frames if rest.startswith(frame)), default=0)

    def skip_space(self) -> Steps[str]:
        """Reads white space; returns the character behind it, unread."""
        while True:
            match = _NOT_SPACE.search(self.buffer, self.pos)
            if match is not None:
                self.pos = match.start()
                return match[0]
            self.pos = len(self.buffer)
            yield from self.more()

    def peek(self) -> Steps[str]:
        """The next character, unread."""
        while self.pos == len(self.buffer):
            yield from self.more()
        return self.buffer[self.pos]
