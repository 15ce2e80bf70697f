"""Where in the text the special tokens of the given ids stand.

A marker that is one token of the vocabulary is structure only where its id occurred. This module turns the
ids of each delta into positions in the raw text. It looks closer only at deltas that hold such an id, and
decodes ids only where text and ids do not arrive hand in hand. Text of a special token that the server
dropped is put back where the token stands.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from .tokens import SpecialTokens, Tokenizer

#: How many past deltas are remembered, to find out how far the text is behind its ids.
_MEMORY = 192
#: How many characters must agree for that.
_AGREE = 16


class Evidence:
    """The special tokens seen in one output.

    ``at``: raw text position -> id, for each special token whose place is known.
    ``recent``: the last deltas, (text, ids), noted by the walk.
    """

    __slots__ = ("_awaited", "_doubtful", "_tail", "_tokenizer", "at", "recent", "tokens", "watched")

    def __init__(self, tokens: SpecialTokens, tokenizer: Tokenizer | None) -> None:
        self.tokens = tokens
        self.watched = tokens.watched
        self.at: dict[int, int] = {}
        self.recent: deque[tuple[str, Sequence[int]]] = deque(maxlen=_MEMORY)
        self._tokenizer = tokenizer
        #: special tokens whose text has not come: (the text expected before it, None if unknown; id)
        self._awaited: deque[tuple[str | None, int]] = deque()
        self._tail = ""  # the text expected behind them
        self._doubtful = ""  # the last text: the first characters of a special token, or it was dropped

    @property
    def lagging(self) -> bool:
        """Is text still to come whose tokens are known?"""
        return bool(self._awaited or self._tail)

    def place(self, text: str, ids: Sequence[int], start: int, held: str) -> str:
        """Finds the special tokens of a delta that starts at ``start``; ``held`` is unread text before it.

        Returns the delta's text, with the literals of dropped special tokens put back.
        """
        if self.lagging or self._in_step(text, ids):
            self._expect(ids, self._tail)
        else:
            first = next(n for n, number in enumerate(ids) if self._literal(number) is not None)
            self._expect(ids[first:], self._owed(ids[:first], self._literal(ids[first]) or ""))
        shown = "".join(past for past, _ in self.recent)
        text, self._doubtful = self._doubtful + text, ""
        return self._match(text, start, held if len(held) > len(shown) else shown)

    def take_rest(self, start: int) -> str:
        """At the output's end: the text of the tokens that never showed (stop tokens are cut from it)."""
        text = ""
        while self._awaited:
            _, number = self._awaited.popleft()
            if number in self.watched:
                self.at[start + len(text)] = number
                text += self.tokens.text_of[number]
        if self._tail == self._doubtful:
            text += self._doubtful
        self._tail = self._doubtful = ""
        return text

    def _literal(self, number: int) -> str | None:
        """The text of a special token; None for an ordinary one."""
        return self.tokens.text_of.get(number) or self.tokens.foreign.get(number)

    def _in_step(self, text: str, ids: Sequence[int]) -> bool:
        """The usual case: the delta begins with a special token, in ids and text."""
        return bool(ids) and ids[0] in self.watched and text.startswith(self.tokens.text_of[ids[0]])

    def _owed(self, ids: Sequence[int], literal: str) -> str | None:
        """The text still to come for past ids and these, which begin the delta, before ``literal``.

        They are decoded together, since the bytes of one character may be spread over them.
        """
        past = [number for _, numbers in self.recent for number in numbers]
        shown = "".join(text for text, _ in self.recent)
        expected = self._decode([*past, *ids])
        if not expected or not shown:
            return expected
        if len(self.recent) < _MEMORY and expected.startswith(shown):  # all of the output is remembered
            return expected[len(shown) :]
        agree = min(_AGREE, len(shown))
        if any(shown.endswith(expected[-agree:] + literal[:n]) for n in range(1, len(literal) + 1)):
            return ""  # the text is ahead: it shows some of the special token already
        in_step = len(self._decode(past) or "")
        for end in sorted(range(agree, len(expected) + 1), key=lambda end: abs(end - in_step)):
            if shown.endswith(expected[end - agree : end]):
                return expected[end:]
        return self._decode(ids)

    def _expect(self, ids: Sequence[int], before: str | None) -> None:
        """Adds the ids, behind the text ``before``, to what the text is expected to show."""
        ordinary: list[int] = []
        for number in ids:
            if self._literal(number) is None:
                ordinary.append(number)
                continue
            decoded = self._decode(ordinary)
            self._awaited.append((None if decoded is None or before is None else before + decoded, number))
            before = ""
            ordinary = []
        self._tail = (before or "") + (self._decode(ordinary) or "")

    def _match(self, text: str, start: int, past: str) -> str:
        """Follows the text along what is expected, and places the special tokens that it shows.

        ``past``: the last text before it; a special token's text may have come before its id.
        """
        position = 0
        pieces: list[str] = []  # the text up to ``done``, and what was put back into it
        done = shift = 0
        unread: str | None = None
        while self._awaited:
            before, number = self._awaited[0]
            ours = number in self.watched
            literal = self._literal(number) or ""
            reached = None if before is None else _follow(text, position, before)
            if reached is None:  # the text is ahead of its ids, or they do not fit
                unread = past + text if unread is None else unread
                found = unread.find(literal, max(len(past) + position - len(literal) + 1, 0))
                if found < 0 and ours:
                    self._awaited[0] = (None, number)
                    break
                position = found - len(past) if found >= 0 else position
                shown = found >= 0
            else:
                position, rest = reached
                if rest or position == len(text):
                    self._awaited[0] = (rest, number)
                    break
                shown = text.startswith(literal, position)
                if not shown:
                    overlap = self._ahead(text, position, past, literal)
                    if overlap is not None:
                        position, shown = overlap, True
                    elif len(text) - position < len(literal) and literal.startswith(text[position:]):
                        self._doubtful = text[position:]  # the next text tells
                        self._awaited[0] = ("", number)
                        text = text[:position]
                        break
            if ours:
                self.at[start + position + shift] = number
                if not shown:  # the server dropped it
                    pieces += (text[done:position], literal)
                    done = position
                    shift += len(literal)
            position += len(literal) if shown else 0
            self._awaited.popleft()
        else:
            reached = _follow(text, position, self._tail)
            self._tail = reached[1] if reached else ""
        return "".join([*pieces, text[done:]]) if pieces else text

    def _ahead(self, text: str, position: int, past: str, literal: str) -> int | None:
        """Where the literal began, if its text came before its id."""
        unread = past + text
        at = len(past) + position
        found = unread.find(literal, max(at - len(literal) + 1, 0), at + len(literal))
        return found - len(past) if 0 <= found < at else None

    def _decode(self, ids: Sequence[int]) -> str | None:
        if not ids:
            return ""
        if self._tokenizer is None:
            return None
        try:
            return self._tokenizer.decode(ids)
        except Exception:  # unknown ids, no decode at all: the order of appearance decides
            return None


def _follow(text: str, position: int, expected: str) -> tuple[int, str] | None:
    """The position behind ``expected``, and what of it the text does not hold yet. None: it is other text."""
    left = len(text) - position
    for candidate in (expected, " " + expected):  # some tokenizers drop a leading blank when they decode
        if text.startswith(candidate, position):
            return position + len(candidate), ""
        if left < len(candidate) and candidate.startswith(text[position:]):
            return len(text), candidate[left:]
        if not expected:
            return position, ""
    return None
