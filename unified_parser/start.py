"""The start rule: in which block an output starts.

Strongest first: the last marker of the current turn in the prompt, the request's template switches, the
family's default. The same rule answers whether reasoning is over at the end of a prompt.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from .format import Header, Marker, OutputFormat
from .machine import BETWEEN, BODY, CONTENT_ONLY, HEADER, INSIDE, REASONING, UNDECIDED, Place
from .tokens import SpecialTokens, Tokenizer, spell
from .walk import CONTENT

#: How many of a prompt's last tokens are decoded to look for a marker that is no single token.
_TAIL = 256


class Prompt(NamedTuple):
    """What is known of a prompt. ``tokens``: every literal of the format that is one token."""

    text: str | None
    ids: Sequence[int] | None
    tokenizer: Tokenizer | None
    tokens: SpecialTokens


class Start(NamedTuple):
    """The rule for one request."""

    form: OutputFormat
    thinking: bool | None
    kwargs: Mapping[str, Any]

    def place(self, prompt: Prompt) -> Place:
        """Where the output behind this prompt starts."""
        form = self.form
        if form.header:
            return _place_in_headers(form.header, _tail(prompt))
        if form.reasoning is None:
            return Place(CONTENT)
        shown = self._shown(prompt)
        if shown is not None:
            return shown
        if not self.thinking_is_on:
            return Place(CONTENT_ONLY if form.reasoning.off_text else CONTENT, form.start.off_frames)
        return Place(UNDECIDED)

    @property
    def thinking_is_on(self) -> bool:
        """What the request says, or else the family's default."""
        if self.thinking is not None:
            return self.thinking
        return self.form.start.thinking_is_on(self.kwargs)

    @property
    def reasons_by_default(self) -> bool:
        """Is reasoning still to come where the prompt shows nothing?"""
        rule = self.form.start
        if self.form.reasoning is None or not self.thinking_is_on:
            return False
        return rule.undecided == REASONING or bool(rule.toggles or rule.vetoes)

    def _shown(self, prompt: Prompt) -> Place | None:
        """What the prompt's current turn shows: the block that its last marker leaves open."""
        reasoning = self.form.reasoning
        assert reasoning is not None
        meaning: dict[str, Marker | None] = dict.fromkeys(self.form.start.boundaries)
        enders = [t.open for t in self.form.tools if t.open and t.in_reasoning == "ends"]
        enders += [item.marker for item in self.form.content.drops if item.ends_reasoning]
        content = [m for m in (self.form.content.open, self.form.content.close) if m]
        for known in [reasoning.open, reasoning.close, *content, *enders]:
            meaning |= dict.fromkeys(known.spellings, known)
        found = _last(meaning, prompt)
        if found is None:
            return None
        literal, behind = found
        marker = meaning[literal]
        if marker is None:
            return None
        frames = tuple(frame[len(behind) :] for frame in marker.after if frame.startswith(behind))
        frames = tuple(frame for frame in frames if frame)
        if marker is reasoning.open:
            return Place(REASONING, frames)
        if marker is self.form.content.open:
            return Place(INSIDE, frames)
        off = self.thinking is False or not self.form.start.thinking_is_on(self.kwargs)
        return Place(CONTENT_ONLY if off and reasoning.off_text else CONTENT, frames)


def _last(meaning: Iterable[str], prompt: Prompt) -> tuple[str, str] | None:
    """The last of the literals in the prompt, and the text behind it."""
    literals = list(meaning)
    if prompt.text is not None:
        return _last_in_text(literals, prompt.text)
    if prompt.ids is None:
        return None
    known = {number: text for text, number in prompt.tokens.id_of.items() if text in set(literals)}
    for offset in range(len(prompt.ids) - 1, -1, -1):
        if prompt.ids[offset] in known:
            behind = decode(prompt.tokenizer, prompt.ids[offset + 1 :])
            later = _last_in_text([t for t in literals if t not in prompt.tokens.id_of], behind)
            return later or (known[prompt.ids[offset]], behind)
    if all(text in prompt.tokens.id_of for text in literals):
        return None
    return _last_in_text(literals, decode(prompt.tokenizer, prompt.ids[-_TAIL:]))


def _last_in_text(literals: Iterable[str], text: str) -> tuple[str, str] | None:
    ends = [
        (at + len(literal), len(literal), literal) for literal in literals if (at := text.rfind(literal)) >= 0
    ]
    if not ends:
        return None
    end, _, literal = max(ends)
    return literal, text[end:]


def _tail(prompt: Prompt) -> str:
    if prompt.text is not None:
        return prompt.text
    return decode(prompt.tokenizer, prompt.ids[-_TAIL:]) if prompt.ids else ""


def decode(tokenizer: Tokenizer | None, ids: Sequence[int]) -> str:
    """The text of ids; none where they cannot be decoded."""
    if tokenizer is None or not ids:
        return ""
    try:
        return tokenizer.decode(ids)
    except NotImplementedError:
        return spell(tokenizer, ids)
    except Exception:  # unknown ids, or a tokenizer that cannot decode: the prompt shows nothing
        return ""


def _place_in_headers(header: Header, text: str) -> Place:
    """An output may start in a header, in the body behind one, or between two."""
    found = _last_in_text(header.open.spellings, text)
    if found is None:
        return Place(HEADER)
    behind = found[1]
    ended = _first(_spellings(header.ends), behind)
    if ended is None:
        return Place(HEADER, header=behind)
    at, ending = ended
    if _first(_spellings(header.close), behind[at:]) is not None:
        return Place(BETWEEN)
    return Place(BODY, header=behind[:at], ending=ending)


def _spellings(markers: Iterable[Marker]) -> list[str]:
    return [literal for marker in markers for literal in marker.spellings]


def _first(literals: Iterable[str], text: str) -> tuple[int, str] | None:
    found = [(at, literal) for literal in literals if (at := text.find(literal)) >= 0]
    return min(found) if found else None
