"""A tools block: its calls, one after another, from behind its opener to its end."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..arguments.json_text import Malformed
from ..format import Marker, Tools
from ..scanner import Marks, Steps, Use
from ..tokens import SpecialTokens
from ..walk import Walk
from .base import CallReader, CallSyntax, Surroundings
from .grammar import SPACE, Format, Wanted, const, either, sequence


class Block:
    """A tools block compiled: reads its calls from behind its opener to its end.

    ``leaves``: markers before which the block is over. ``outer``: those that end what the block stands in,
    and so its calls, too.
    """

    def __init__(
        self,
        tools: Tools,
        tokens: SpecialTokens,
        leaves: tuple[Marker, ...] = (),
        outer: tuple[Marker, ...] = (),
    ) -> None:
        self.tools = tools
        begins = tuple(marker for call in tools.calls for marker in call.begins)
        self.ends = (tools.close,) if tools.close else ()
        strays = tuple(marker for call in tools.calls for marker in call.strays())
        #: what closes the block, or its call where it has no close of its own
        self.closers = self.ends or strays
        around = Surroundings(self.ends + outer, begins or ((tools.open,) if tools.open else ()))
        self.readers: dict[CallSyntax, CallReader] = {
            call: call.compile(tokens, around) for call in tools.calls
        }
        uses: list[Use[CallSyntax | str]] = [Use(m, call) for call in tools.calls for m in call.begins]
        uses += [Use(marker, "close") for marker in self.ends]
        if tools.open:
            uses.append(Use(tools.open, "again"))
        uses += [Use(marker, "leave") for marker in leaves + outer]  # a reasoning block: the close is missing
        uses += [Use(marker, "stray") for marker in strays]
        self.inside = Marks(distinct(uses), tokens)
        #: the block is nothing but text that looks like a call: what breaks one off is content again
        self.bare = not any(m.special for m in (*begins, *self.ends))
        self.unmarked = [call for call in tools.calls if not call.begins]

    def read(self, walk: Walk, syntax: CallSyntax | None) -> Steps[bool]:
        """Reads the block. False: it cannot be one, and what was kept of it is to be given back."""
        before = walk.calls
        while True:
            try:
                if syntax is None:
                    syntax = yield from self._next_call(walk, first=walk.calls == before)
                    if syntax is None:
                        return True
                yield from self.readers[syntax](walk)
            except Malformed:
                if walk.calls == before:
                    return False
                if walk.call is None:
                    walk.give_back()
                elif self.bare:
                    walk.end_call(complete=False)
                    return not walk.take_gave_back()
                yield from self._pass_rest(walk)
            if walk.take_gave_back():
                return False
            walk.kept()
            walk.frame()
            syntax = None
            if self.tools.close is None:
                return True

    def _next_call(self, walk: Walk, *, first: bool) -> Steps[CallSyntax | None]:
        """The syntax of the next call. None: the block is over. Raises Malformed inside an empty block."""
        while True:
            char = yield from walk.skip_space()
            if not first:
                walk.frame()
                walk.keep()
            spelling = yield from walk.at_mark(self.inside)
            if spelling is None:
                syntax = next((call for call in self.unmarked if call.accepts(char)), None)
                if syntax is not None or (first and self.unmarked):
                    return syntax or _reject()
                walk.kept()
                walk.frame()
                spelling = yield from walk.read_until(self.inside, walk.around.write)
                walk.around.end()
                walk.keep(walk.matched)
            if isinstance(spelling.does, CallSyntax):
                return spelling.does
            if spelling.does == "leave":
                walk.kept()
                walk.pos -= walk.matched
                walk.around.end()
                return None
            if spelling.does == "close":
                walk.kept()
                yield from self._leave(walk)
                return None
            if not first:
                walk.kept()
                walk.frame()

    def _leave(self, walk: Walk) -> Steps[None]:
        walk.around.end()
        walk.frame()
        if self.tools.close:
            yield from walk.skip_frame(self.tools.close.after)
            walk.frame()

    def _pass_rest(self, walk: Walk) -> Steps[None]:
        """What follows is not of the format: passes it on up to the next marker of the block, left unread.

        It is arguments as received while a call is open, and text behind a closed one.
        """
        around, call_is_open = walk.around, walk.call is not None
        if not call_is_open and not around.holds:
            walk.frame()
        try:
            sink = walk.argument if call_is_open else around.write
            spelling = yield from walk.read_until(self.inside, sink)
            walk.pos -= walk.matched
        finally:
            if call_is_open:
                walk.end_call(complete=False)
        if spelling.does == "stray" and not call_is_open:  # it ends what was no call
            walk.pos += walk.matched
            around.write(spelling.literal)


def _reject() -> CallSyntax:
    raise Malformed


def distinct(uses: Iterable[Use[Any]]) -> list[Use[Any]]:
    """The uses without those whose spellings another one has already."""
    known: set[str] = set()
    kept: list[Use[Any]] = []
    for use in uses:
        if known.isdisjoint(use.marker.spellings):
            known.update(use.marker.spellings)
            kept.append(use)
    return kept


@dataclass(frozen=True, slots=True)
class Wrapped(CallSyntax):
    """Calls in a wrapper of their own: one that may be written in several ways, or those of a header's body.

    ``begins_call``: the wrapper's opener begins the call; otherwise it stands behind a header.
    """

    open: Marker
    close: Marker
    calls: tuple[CallSyntax, ...]
    begins_call: bool = True

    @property
    def begins(self) -> tuple[Marker, ...]:
        return (self.open,) if self.begins_call else ()

    def markers(self) -> tuple[Marker, ...]:
        return (self.open, self.close, *(marker for call in self.calls for marker in call.markers()))

    def strays(self) -> tuple[Marker, ...]:
        return (self.close,)

    def grammar(self, wanted: Wanted) -> Format | None:
        inner = [written for call in self.calls if (written := call.grammar(wanted))]
        if not inner:
            return None
        return sequence(const(self.open.text), SPACE, either(inner), SPACE, const(self.close.text))

    def compile(self, tokens: SpecialTokens, around: Surroundings) -> CallReader:
        tools = Tools(open=self.open, close=self.close, calls=self.calls)
        block = Block(tools, tokens, outer=around.ends)
        opener: Marks[None] = Marks([Use(self.open, None)], tokens)

        def read(walk: Walk) -> Steps[None]:
            if not self.begins_call:
                yield from walk.skip_space()
                if (yield from walk.at_mark(opener)) is None:
                    raise Malformed
            before = walk.calls
            done = yield from block.read(walk, None)
            if not done or walk.calls == before:
                raise Malformed

        return read
