"""How much text a parser may hold back, computed from the format alone.

Text may be held where it could be the beginning of a marker that acts here, with the framing before it, or
white space that could be framing; in an open string value, also the beginning of an escape. Where other
text is held, in front of a call that is not yet certain for one, nothing is asserted.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from ..events import (
    ContentText,
    Discarded,
    Event,
    Framing,
    ReasoningEnd,
    ReasoningStart,
    ReasoningText,
    ToolCallArguments,
    ToolCallEnd,
    ToolCallStart,
)
from ..format import Marker, OutputFormat
from .json_reader import OpenString
from .run import Run

_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3}|x[0-9a-fA-F]?|U[0-9a-fA-F]{0,7}|[0-7]{1,2}|N(?:\{[^}]*)?|\r)?")
_QUOTES = ("'", '"', "''", '""')  # they may be the first ones of three


@dataclass(frozen=True)
class Excess:
    """Text held back without a reason after the delta ``step``."""

    step: int
    held: str
    where: str


def excess(run: Run, form: OutputFormat, tokens: Collection[str] = ()) -> Iterator[Excess]:
    """Where the run held back more than it had to.

    ``tokens``: the literals that are one token each, where every delta comes with the ids of its text. Such a
    literal comes in one piece, so that its first characters alone are never held.
    """
    raw, fed, place = run.raw, 0, _Place(form)
    known = ("call",) if form.text_filter else ("start", "reasoning", "content", "call")
    allowed = {where: _Allowed(form, where, tokens) for where in known}
    for step, (text, _) in enumerate(run.deltas):
        fed += len(text)
        for event in run.steps[step]:
            place.take(event, raw)
        held = raw[place.done : fed]
        if held and place.where in allowed and not allowed[place.where].explains(held, place, raw):
            yield Excess(step, held, place.where)


@dataclass
class _Place:
    """Where a run is, as far as its events tell. ``where`` is "" where they do not."""

    form: OutputFormat
    where: str = "start"
    blank: bool = True  # nothing of the current piece of text has come yet
    done: int = 0
    reasoning: bool = False
    block: bool = False  # in a tools block: what is held there is not known
    body: bool = False  # a header is complete: what follows is its body
    skipping: str = ""  # where a dropped text stands whose end has not come
    string: OpenString = field(default_factory=OpenString)

    def __post_init__(self) -> None:
        if self.form.header:
            self.where = ""

    def take(self, event: Event, raw: str) -> None:
        """Follows one event."""
        self.done = event.end
        match event:
            case ReasoningStart():
                self._enter("reasoning", reasoning=True)
            case ReasoningEnd():
                self._enter("content", reasoning=False)
            case ReasoningText():
                self.where, self.blank, self.block = "reasoning", False, False
            case ContentText() if not self.block and not self.form.header:
                self.where, self.blank = "content", False
            case ContentText() if self.body:
                self.where, self.blank = "content", False
            case ToolCallStart():
                # The markers of a call behind a header are known to the header alone.
                self.where, self.string = "" if self.form.header else "call", OpenString()
            case ToolCallArguments():
                self.string.feed(event.fragment)
            case ToolCallEnd() | Discarded():
                self.where, self.block = "", any(block.close for block in self.form.tools)
            case Framing():
                self._framed(raw[event.start : event.end])
        if (
            self.form.header
            and event.end > event.start
            and not isinstance(event, ContentText | ReasoningText)
        ):
            ends = tuple(spelling for marker in self.form.header.ends for spelling in marker.spellings)
            self.body = raw.endswith(ends, event.start, event.end)

    def _enter(self, where: str, *, reasoning: bool) -> None:
        self.where, self.blank, self.block, self.reasoning = where, True, False, reasoning
        if self.form.header and not reasoning:
            self.where = ""

    def _framed(self, text: str) -> None:
        if self.form.header:
            self.where = ""
            return
        if self.skipping:
            self.where, self.skipping = self.skipping, ""
        skips = tuple(s for drop in self.form.content.drops if drop.until for s in drop.marker.spellings)
        if text.endswith(skips):
            self.where, self.skipping = "", self.where
            return
        opens = [s for block in self.form.tools if block.open for s in block.open.spellings]
        closes = [s for block in self.form.tools if block.close for s in block.close.spellings]
        if any(text.rstrip().endswith(literal) for literal in closes):
            self._enter("reasoning" if self.reasoning else "content", reasoning=self.reasoning)
        elif any(literal in text for literal in opens):
            self.where, self.block = "", True


class _Allowed:
    """What may be held in one place."""

    def __init__(self, form: OutputFormat, where: str, tokens: Collection[str]) -> None:
        uses = list(_in_call(form) if where == "call" else _in_text(form, where))
        self._literals = {spelling for marker, _ in uses for spelling in marker.spellings}
        self._prefixes = {
            prefix for marker, frames in uses for prefix in _prefixes(marker, ("", *frames), tokens)
        }
        self._after = [(marker.spellings, marker.after) for marker in form.markers() if marker.after]
        calls = [call for block in form.tools for call in block.calls]
        self._unsure_quotes = any(getattr(call, "closes", None) for call in calls)
        self._first = form.start.off_frames + tuple(literal for _, after in self._after for literal in after)
        self._strips = (
            where in ("reasoning", "start") and bool(form.reasoning and form.reasoning.strip)
        ) or (where in ("content", "start") and bool(form.content.strip))

    def explains(self, held: str, place: _Place, raw: str) -> bool:
        """Is there a reason to hold this text?"""
        if any(literal in held for literal in self._literals):
            return True  # a structure that is not decided yet
        if place.where == "call":
            return not place.string.inside or (
                held in self._prefixes
                or held in _QUOTES
                or (self._unsure_quotes and held[0] in _QUOTES)  # what follows tells whether it closes
                or _ESCAPE.fullmatch(held) is not None
            )
        if held in self._prefixes or any(after.startswith(held) for after in self._may_follow(place, raw)):
            return True
        if not (place.blank or self._strips):
            return False
        space = len(held) - len(held.lstrip())
        return any(held[n:] in self._prefixes or n == len(held) for n in range(space + 1))

    def _may_follow(self, place: _Place, raw: str) -> Iterable[str]:
        """The framing that may stand behind the marker that was read last."""
        if place.done == 0:
            yield from self._first
        for spellings, after in self._after:
            if raw.endswith(spellings, 0, place.done):
                yield from after


def _prefixes(marker: Marker, frames: Iterable[str], tokens: Collection[str]) -> Iterator[str]:
    """The proper beginnings of a marker in its frames, but for those that end inside of its token."""
    for literal in marker.spellings:
        token = marker.token or literal
        at = literal.find(token)
        split = token in tokens and (marker.special or marker.token is not None)
        for frame in frames:
            inside = range(len(frame) + at + 1, len(frame) + at + len(token)) if split else range(0)
            full = frame + literal
            yield from (full[:n] for n in range(1, len(full)) if n not in inside)


Use = tuple[Marker, tuple[str, ...]]


def _in_text(form: OutputFormat, where: str) -> Iterator[Use]:
    """The markers that act in a channel's text, each with the framing before it."""
    if form.header:
        header = form.header
        ends = header.ends if header.ends_in_body else ()
        yield from ((marker, ()) for marker in (header.open, *header.close, *header.bare, *ends))
        return
    if where in ("reasoning", "start"):
        yield from _in_reasoning(form)
    if where in ("content", "start"):
        yield from _in_content(form)
    if where == "start" and form.reasoning:
        yield form.reasoning.open, form.reasoning.open.before
        yield from ((marker, ()) for marker in form.reasoning.bare)


def _in_reasoning(form: OutputFormat) -> Iterator[Use]:
    reasoning = form.reasoning
    if reasoning is None:
        return
    yield reasoning.close, reasoning.close.before
    yield reasoning.open, ()
    for block in form.tools:
        if block.open and block.in_reasoning != "text":
            yield block.open, block.open.before + reasoning.close.before
    for drop in form.content.drops:
        if drop.in_reasoning or drop.ends_reasoning:
            yield drop.marker, drop.marker.before + reasoning.close.before


def _in_content(form: OutputFormat) -> Iterator[Use]:
    if form.reasoning:
        yield form.reasoning.close, ()
        if form.reasoning.reopens:
            yield form.reasoning.open, form.reasoning.open.before
    yield from ((marker, ()) for marker in (form.content.open, form.content.close) if marker)
    for block in form.tools:
        opener = block.open.before if block.open else ()
        if block.open:
            yield block.open, opener
        if block.close:
            yield block.close, ()
        for call in block.calls:
            yield from ((marker, marker.before + opener) for marker in call.begins)
            yield from ((marker, ()) for marker in call.strays())
    yield from ((drop.marker, drop.marker.before) for drop in form.content.drops)


def _in_call(form: OutputFormat) -> Iterator[Use]:
    """The markers that may end a string value: of the calls, and of what is around them."""
    for marker in form.markers():
        yield marker, (*marker.before, "\n")
    for block in form.tools:
        for call in block.calls:
            recovery = getattr(getattr(call, "parameter", None), "recovery", ())
            yield from ((marker, ("\n",)) for marker in recovery)
