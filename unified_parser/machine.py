"""A format compiled: the states of its text, the markers that act in each, and what each marker does.

A compiled machine holds nothing of any request; all requests of one family and vocabulary share it.
``Machine.table`` prints what it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from .arguments.json_text import Malformed, drop
from .calls.base import CallReader, CallSyntax, Surroundings
from .calls.block import Block, distinct
from .events import ContentText, ReasoningStart
from .format import Drop, Header, Marker, OutputFormat, Route, Tools
from .scanner import EndOfOutput, Marks, Sink, Spelling, Steps, Use
from .tokens import SpecialTokens
from .walk import CONTENT, Channel, Search, Walk

#: Acts on a marker that was just read; returns the name of the state that follows.
Act: TypeAlias = Callable[[Walk, Spelling[Any]], Steps[str]]
#: Walks an output from its start to its end.
Program: TypeAlias = Callable[[Walk], Steps[None]]

REASONING = "reasoning"
CONTENT_ONLY = "content, thinking off"
UNDECIDED = "undecided"
OUTSIDE = "outside of content"
INSIDE = "inside of content"
PASS_ON = "passed on"
OVER = "over"
HEADER = "header"
BETWEEN = "between headers"
BODY = "body"


class Place(NamedTuple):
    """Where an output starts.

    ``frames``: framing that the prompt's last marker may still have behind it. ``header``: the part of a
    header that stands in the prompt; ``ending`` the marker that completed it there, for a start in a body.
    """

    state: str
    frames: tuple[str, ...] = ()
    header: str = ""
    ending: str = ""


class TextState(NamedTuple):
    """A state in which text flows into a channel until one of its markers comes."""

    channel: str
    marks: Marks[Act]


class Machine:
    """One format, compiled for one vocabulary."""

    def __init__(self, form: OutputFormat, tokens: SpecialTokens) -> None:
        self.format = form
        self.tokens = tokens
        self.looks_back = any(marker.behind for marker in form.markers())
        self.blocks = [Block(tools, tokens, _leaves(form, tools)) for tools in form.tools]
        channel = OUTSIDE if form.content.open else CONTENT
        #: by block and channel: the state behind a block that was given back, and inside one that is not read
        self.spilled: dict[tuple[int, str], str] = {}
        self.quoted: dict[tuple[int, str], str] = {}
        self.states: dict[str, TextState] = {
            CONTENT: self._state(channel, self._content_uses(thinking=True)),
            CONTENT_ONLY: self._state(channel, self._content_uses(thinking=False)),
        }
        if form.content.open:
            ends: list[Use[Act]] = [Use(m, self._leave_content) for m in (form.content.close,) if m]
            self.states[INSIDE] = self._state(CONTENT, ends)
        if form.reasoning:
            self.states[REASONING] = self._state(REASONING, self._reasoning_uses())
        for number, block in enumerate(self.blocks):
            for channel in _channels_of(form, block.tools):
                name = self.spilled[id(block), channel] = f"{channel}, behind text like block {number}"
                self.states[name] = self._spilled(block, channel)
                if block.tools.close:
                    name = f"{channel}, in text like block {number}"
                    self.states[name] = self._quoted(block, channel)
                self.quoted[id(block), channel] = name
        opener = [Use(form.reasoning.open, "open", form.reasoning.open.before)] if form.reasoning else []
        opener += [Use(marker, "open") for marker in form.reasoning.bare] if form.reasoning else []
        self.opener: Marks[str] = Marks(opener, tokens)
        line = Use(Marker("\n", special=False), False)
        self._untils = {
            item.until: Marks([Use(Marker(item.until, special=False), True), line], tokens)
            for item in form.content.drops
            if item.until
        }
        self.headers = Headers(self, form.header) if form.header else None

    # The states

    def _state(self, channel: str, uses: Iterable[Use[Act]]) -> TextState:
        return TextState(channel, Marks(distinct(uses), self.tokens))

    def _content_uses(self, *, thinking: bool) -> list[Use[Act]]:
        form = self.format
        uses: list[Use[Act]] = []
        reasoning = form.reasoning
        live = reasoning is not None and (thinking or not reasoning.off_text)
        if reasoning and live and reasoning.reopens:
            uses.append(Use(reasoning.open, self._reopen, reasoning.open.before))
        if form.content.open:
            uses.append(Use(form.content.open, self._enter_content))
        for block in self.blocks:
            if block.tools.open:
                opener = block.tools.open
                uses.append(Use(opener, partial(self._open_block, block, None), opener.before))
            if block.tools.bare or not block.tools.open:
                uses += [
                    Use(
                        begin, partial(self._open_block, block, call), _frames_before(begin, block.tools.open)
                    )
                    for call in block.tools.calls
                    for begin in call.begins
                ]
        uses += [
            Use(drop.marker, partial(self._drop, drop), drop.marker.before) for drop in form.content.drops
        ]
        strays = [m for block in self.blocks for m in (block.tools.close,) if m]
        strays += [m for block in self.blocks for call in block.tools.calls for m in call.strays()]
        if reasoning and live:
            strays.append(reasoning.close)
        uses += [Use(marker, self._stray) for marker in strays if marker.special]
        return uses

    def _reasoning_uses(self) -> list[Use[Act]]:
        form, reasoning = self.format, self.format.reasoning
        assert reasoning is not None
        uses: list[Use[Act]] = [
            Use(reasoning.close, self._close_reasoning, reasoning.close.before),
            Use(reasoning.open, self._again),
        ]
        for block in self.blocks:
            opener = block.tools.open
            if opener and block.tools.in_reasoning == "ends":
                frames = opener.before + reasoning.close.before
                uses.append(Use(opener, partial(self._end_by_block, block), frames))
            elif opener and block.tools.in_reasoning == "nests":
                uses.append(Use(opener, partial(self._nested_block, block, None)))
                uses += [Use(marker, self._again) for marker in block.closers if marker.special]
        for item in form.content.drops:
            if item.ends_reasoning:
                frames = item.marker.before + reasoning.close.before
                uses.append(Use(item.marker, partial(self._end_by_drop, item), frames))
            elif item.in_reasoning:
                uses.append(Use(item.marker, partial(self._drop, item)))
        return uses

    def _spilled(self, block: Block, channel: str) -> TextState:
        """Text behind a block that was given back: its closing markers belong to that text.

        A further call of the block is still one.
        """
        open_block = self._nested_block if channel == REASONING else self._open_block
        uses: list[Use[Act]] = [Use(marker, partial(self._literal, channel)) for marker in block.ends]
        for call in block.tools.calls:
            uses += [Use(begin, partial(open_block, block, call)) for begin in call.begins]
            uses += [Use(marker, partial(self._spill_on, block, channel)) for marker in call.strays()]
        around = self._reasoning_uses() if channel == REASONING else self._content_uses(thinking=True)
        return self._state(channel, [*uses, *around])

    def _quoted(self, block: Block, channel: str) -> TextState:
        """Inside a block that is not read: up to its closing marker everything is text."""
        return self._state(channel, [Use(marker, partial(self._literal, channel)) for marker in block.ends])

    def table(self) -> list[tuple[str, str, str]]:
        """The machine as rows (state, marker, what it does)."""
        rows = []
        for name, state in self.states.items():
            for spelling in dict.fromkeys(state.marks.spellings):
                act = getattr(spelling.does, "func", spelling.does)
                rows.append((name, spelling.literal, act.__name__.strip("_").replace("_", " ")))
        return rows + (self.headers.table() if self.headers else [])

    # Walking

    def program(self, start: Place) -> Program:
        """The generator function that walks an output from where it starts."""

        def run(walk: Walk) -> Steps[None]:
            state = start.state
            try:
                while not walk.buffer:
                    yield from walk.more()
                if walk.lead:
                    walk.events.append(ContentText(walk.lead, 0, 0))
                if self.headers and state in (HEADER, BETWEEN, BODY):
                    yield from self.headers.walk(walk, start)
                    yield from walk.pass_on()
                yield from self._begin(walk, state, start.frames)
                while True:
                    leaving = walk.only_reasoning and state not in (REASONING, UNDECIDED)
                    state = yield from self._go(walk, PASS_ON if leaving else state)
            except EndOfOutput:
                self._end(walk)

        return run

    def _begin(self, walk: Walk, start: str, frames: tuple[str, ...]) -> Steps[None]:
        if start == CONTENT_ONLY:
            walk.content_state = CONTENT_ONLY
        if start == REASONING:
            walk.open_reasoning()
        elif start != UNDECIDED:
            walk.reasoning_over = True
        yield from walk.skip_frame(frames)
        walk.frame()

    def _go(self, walk: Walk, state: str) -> Steps[str]:
        if state == PASS_ON:
            walk.content.flush()
            yield from walk.pass_on()
        if state == OVER:
            while True:
                walk.pos = len(walk.buffer)
                walk.frame()
                yield from walk.more()
        if state == UNDECIDED:
            return (yield from self._undecided(walk))
        text = self.states[state]
        return (yield from self._read(walk, text))

    def _read(self, walk: Walk, state: TextState) -> Steps[str]:
        if state.channel == OUTSIDE:
            spelling = yield from walk.read_until(state.marks, lambda text: walk.frame())
        else:
            channel = walk.reasoning if state.channel == REASONING else walk.content
            flow = partial(_let_flow, walk, channel)
            spelling = yield from walk.read_until(state.marks, channel.write, flow)
        return (yield from spelling.does(walk, spelling))

    def _undecided(self, walk: Walk) -> Steps[str]:
        """Blank so far, and the prompt silent: an opener begins reasoning, other text is what is assumed."""
        reasoning = self.format.reasoning
        assert reasoning is not None
        walk.keep()
        try:
            while True:
                spelling = yield from walk.at_mark(self.opener)
                if spelling is not None or not walk.buffer[walk.pos].isspace():
                    break
                walk.pos += 1
        except EndOfOutput:
            walk.pos = len(walk.buffer)
            self._assume(walk, walk.kept())
            raise
        if spelling is not None:
            walk.kept()
            return (yield from self._reopen(walk, spelling))
        return self._assume(walk, walk.kept())

    def _assume(self, walk: Walk, text: str) -> str:
        """No opener came: ``text``, blank but for the output's end, goes where the family's outputs start."""
        nothing = walk.over and not (text + walk.buffer[walk.pos :]).strip()
        if self.format.start.undecided == REASONING and not nothing:
            state: str = REASONING
            channel = walk.reasoning
            walk.events.append(ReasoningStart(walk.done, walk.done))
        else:
            state = walk.content_state
            channel = walk.content
            walk.reasoning_over = not nothing
        if text and self.states[state].channel != OUTSIDE:
            channel.write(text)
        return state

    def _end(self, walk: Walk) -> None:
        """No more text: what is open is closed, what is held back decided."""
        walk.pos = len(walk.buffer)  # what waits for its rest, an escape for one, is never going to get it
        if walk.call is not None:
            walk.end_call(complete=False)
        if walk.spelled and walk.reason == "stop":  # a finished answer was not cut off in a call
            walk.give_back()
        else:
            walk.discard()
        walk.reasoning.end()
        again = self._said_again(walk)
        if again:
            walk.events.append(ContentText(again, walk.done, walk.done))
        walk.content.end(keep_blank=walk.calls == 0 and not again)
        walk.frame()

    def _said_again(self, walk: Walk) -> str:
        """The reasoning, where it must stand in for the content that a message is required to have."""
        if walk.only_reasoning and walk.reasoning_over:  # what follows is read elsewhere
            return ""
        answered = walk.calls or "".join(walk.content.said or ()).strip()
        return "" if answered else "".join(walk.reasoning.said or ())

    # What markers do

    def _close_reasoning(self, walk: Walk, spelling: Spelling[Act]) -> Steps[str]:
        walk.close_reasoning()
        yield from walk.skip_frame(spelling.marker.after)
        walk.frame()
        return walk.content_state

    def _reopen(self, walk: Walk, spelling: Spelling[Any]) -> Steps[str]:
        walk.open_reasoning()
        yield from walk.skip_frame(spelling.marker.after)
        walk.frame()
        return REASONING

    def _enter_content(self, walk: Walk, spelling: Spelling[Act]) -> Steps[str]:
        yield from walk.skip_frame(spelling.marker.after)
        walk.frame()
        return INSIDE

    def _leave_content(self, walk: Walk, spelling: Spelling[Act]) -> Steps[str]:
        walk.content.end()
        walk.frame()
        return walk.content_state
        yield

    def _again(self, walk: Walk, spelling: Spelling[Act]) -> Steps[str]:
        walk.frame()
        yield from walk.skip_frame(spelling.marker.after)
        walk.frame()
        return REASONING

    def _stray(self, walk: Walk, spelling: Spelling[Act]) -> Steps[str]:
        walk.frame()
        return walk.content_state
        yield

    def _literal(self, channel: str, walk: Walk, spelling: Spelling[Act]) -> Steps[str]:
        around = walk.reasoning if channel == REASONING else walk.content
        around.write(walk.buffer[walk.pos - walk.matched : walk.pos])
        return REASONING if channel == REASONING else walk.content_state
        yield

    def _spill_on(self, block: Block, channel: str, walk: Walk, spelling: Spelling[Act]) -> Steps[str]:
        yield from self._literal(channel, walk, spelling)
        return self.spilled[id(block), channel]

    def _drop(self, item: Drop, walk: Walk, spelling: Spelling[Act]) -> Steps[str]:
        in_reasoning = not walk.reasoning_over and item.in_reasoning
        if item.trims:
            walk.content.trim()
        if item.until:
            walk.keep(walk.matched)
            if not (yield from self._skip_until(walk, self._untils[item.until])):
                walk.give_back(walk.reasoning if in_reasoning else walk.content)
                return REASONING if in_reasoning else walk.content_state
            walk.kept()
        walk.frame()
        yield from walk.skip_frame(spelling.marker.after)
        walk.frame()
        if item.ends_output:
            return OVER
        return REASONING if in_reasoning else walk.content_state

    def _skip_until(self, walk: Walk, marks: Marks[bool]) -> Steps[bool]:
        """Skips to the end of a mark. False: the line, or the output, is over before it."""
        try:
            return (yield from walk.read_until(marks, drop)).does
        except EndOfOutput:
            return False

    def _end_by_drop(self, item: Drop, walk: Walk, spelling: Spelling[Act]) -> Steps[str]:
        walk.close_reasoning()
        return (yield from self._drop(item, walk, spelling))

    def _end_by_block(self, block: Block, walk: Walk, spelling: Spelling[Act]) -> Steps[str]:
        walk.pos -= len(spelling.literal)
        walk.close_reasoning()
        if walk.only_reasoning:
            return walk.content_state
        walk.pos += len(spelling.literal)
        walk.matched = len(spelling.literal)
        return (yield from self._open_block(block, None, walk, spelling))

    def _nested_block(
        self, block: Block, syntax: CallSyntax | None, walk: Walk, spelling: Spelling[Act]
    ) -> Steps[str]:
        """A block inside reasoning: what is no call of it belongs to the reasoning.

        For a parser of the first reasoning alone it is the end: what follows is for the one that reads calls.
        """
        if walk.only_reasoning:
            return (yield from self._end_by_block(block, walk, spelling))
        walk.around = walk.reasoning
        done = yield from self._read_block(block, syntax, walk, spelling)
        walk.around = walk.content
        return REASONING if done else self._text_like(block, REASONING, walk)

    def _open_block(
        self, block: Block, syntax: CallSyntax | None, walk: Walk, spelling: Spelling[Act]
    ) -> Steps[str]:
        if (yield from self._read_block(block, syntax, walk, spelling)):
            return walk.content_state
        return self._text_like(block, CONTENT, walk)

    def _text_like(self, block: Block, channel: str, walk: Walk) -> str:
        """The state behind the beginning of a block that is text."""
        return (self.quoted if walk.calls_are_text else self.spilled)[id(block), channel]

    def _read_block(
        self, block: Block, syntax: CallSyntax | None, walk: Walk, spelling: Spelling[Act]
    ) -> Steps[bool]:
        """Reads a block. False: it was none, and what was read of it is text again."""
        walk.keep(walk.matched)
        walk.spelled = not spelling.marker.special and block.bare
        done = not walk.calls_are_text and (yield from block.read(walk, syntax))
        if not done:
            walk.give_back()
        return done


def _leaves(form: OutputFormat, tools: Tools) -> tuple[Marker, ...]:
    """The reasoning markers that end a tools block whose own close is missing."""
    reasoning = form.reasoning
    if reasoning is None:
        return ()
    opens = (reasoning.open,) if reasoning.reopens else ()
    return (*opens, reasoning.close) if tools.in_reasoning == "nests" else opens


def _channels_of(form: OutputFormat, tools: Tools) -> tuple[str, ...]:
    """The channels in which a block may stand."""
    nests = form.reasoning is not None and tools.in_reasoning == "nests"
    return (CONTENT, REASONING) if nests else (CONTENT,)


def _let_flow(walk: Walk, channel: Any, search: Any) -> None:
    walk.let_flow(search, channel)


def _frames_before(begin: Marker, opener: Marker | None) -> tuple[str, ...]:
    """The framing before a bare call: its own, and that of the missing wrapper."""
    return begin.before + (opener.before if opener else ())


class Headers:
    """The walk through a format whose blocks have headers."""

    def __init__(self, machine: Machine, header: Header) -> None:
        self.header = header
        tokens = machine.tokens
        closes: list[Use[str]] = [Use(marker, "close") for marker in header.close]
        opens = [Use(header.open, "open")]
        ends = [Use(marker, "end") for marker in header.ends]
        inner = [Use(marker, "inner") for marker in header.inner]
        bare = [Use(marker, "bare") for marker in header.bare]
        in_body = [*closes, *bare]
        in_body += opens if header.open_in_body else []
        in_body += ends if header.ends_in_body else []
        self.ends: Marks[str] = Marks(ends, tokens)
        self.in_header: Marks[str] = Marks([*ends, *opens, *closes, *inner], tokens)
        self.in_body: Marks[str] = Marks(in_body, tokens)
        self.outside: Marks[str] = Marks([*opens, *closes], tokens)
        around = Surroundings(header.close + ((header.open,) if header.open_in_body else ()), ())
        self.compile_call = partial(_compile_once, {}, tokens, around)

    def table(self) -> list[tuple[str, str, str]]:
        """The rows of ``Machine.table`` for headers and bodies."""
        states = ((HEADER, self.in_header), (BODY, self.in_body), (BETWEEN, self.outside))
        return [
            (name, spelling.literal, spelling.does)
            for name, marks in states
            for spelling in dict.fromkeys(marks.spellings)
        ]

    def walk(self, walk: Walk, start: Place) -> Steps[None]:
        """Reads header after header, body after body."""
        seen: set[str] = set()
        at, prefix = start.state, start.header
        route = self.header.classify(prefix, start.ending) if at == BODY else None
        walk.keep()
        opened = False
        while True:
            if route is None:
                if at == BETWEEN:
                    yield from self._between(walk)
                    opened = True
                route = yield from self._read_header(walk, prefix, opened)
            prefix = ""
            opened = True
            if walk.only_reasoning and route.channel != REASONING:
                walk.reasoning_over = True
                walk.write_raw(walk.kept())
                return
            at, route = yield from self._body(walk, route, seen)
            if walk.only_reasoning:
                if begun := walk.kept():
                    walk.write_raw(begun)
                return

    def _between(self, walk: Walk) -> Steps[None]:
        """Behind a body: looks for the next header."""
        while True:
            spelling = yield from walk.read_until(
                self.outside, walk.content.write if self.header.loose else drop
            )
            walk.content.end()
            if spelling.does == "open":
                back = walk.matched if walk.only_reasoning else 0
                walk.frame(back)
                walk.keep(back)
                return
            walk.frame()

    def _read_header(self, walk: Walk, prefix: str, opened: bool) -> Steps[Route]:
        """Reads a header to its end. One that never ends is content if no marker belongs to it."""
        pieces: list[str] = [prefix]
        plain = self.header.loose or not opened
        while True:
            try:
                spelling = yield from walk.read_until(self.in_header, pieces.append)
            except EndOfOutput:
                if plain:
                    self._give_back(walk)
                raise
            if spelling.does == "end":
                return self.header.classify("".join(pieces), spelling.literal)
            if spelling.does == "close" and plain:
                walk.pos -= walk.matched
                self._give_back(walk)
                walk.pos += walk.matched
                walk.frame()
            if spelling.does == "inner":
                plain = False
                pieces.append(spelling.literal)
            else:
                plain = self.header.loose or spelling.does == "close"
                pieces = []

    def _give_back(self, walk: Walk) -> None:
        """What looked like a header is content, but for its opener."""
        text = walk.kept()
        for opener in self.header.open.spellings:
            text = text.removeprefix(opener)
        if text:
            walk.frame(len(text))
            walk.content.write(text)

    def _body(self, walk: Walk, route: Route, seen: set[str]) -> Steps[tuple[str, Route | None]]:
        """Reads one body; returns where that leaves the walk, and the next route where it is known."""
        if route.channel == "call":
            return (yield from self._call(walk, route))
        walk.kept()
        if route.channel == REASONING:
            walk.open_reasoning()
        elif route.channel == CONTENT:
            walk.reasoning_over = True
        walk.frame()
        channel = {REASONING: walk.reasoning, CONTENT: walk.content}.get(route.channel)
        separator = self.header.separator if route.channel in seen else ""
        body = BodyText(walk, channel, separator) if channel else None
        sink = body.write if body else drop
        while True:
            spelling = yield from walk.read_until(self.in_body, sink, body.let_flow if body else None)
            if body and body.begun:
                seen.add(route.channel)
            following = yield from self._following(walk, spelling, sink)
            if following is None or following.channel != route.channel:
                if spelling.does != "bare" or following is not None:
                    return self._leave(walk, route, spelling, following)
            else:
                walk.kept()
                walk.frame()

    def _following(self, walk: Walk, spelling: Spelling[str], sink: Sink) -> Steps[Route | None]:
        """The route that a header without an opener gives, where a body runs into one."""
        if spelling.does == "end":
            return self.header.classify("", spelling.literal)
        if spelling.does != "bare":
            return None
        walk.keep(walk.matched)
        start = walk.position - walk.matched
        pieces: list[str] = []
        ending = None
        try:
            while not (char := (yield from walk.peek())).isspace() and char != "<":
                pieces.append(char)
                walk.pos += 1
            if pieces:
                ending = yield from walk.at_mark(self.ends)
        finally:
            if ending is None:
                sink(walk.kept())
        walk.matched = walk.position - start
        return ending and self.header.classify(spelling.literal + "".join(pieces), ending.literal)

    def _call(self, walk: Walk, route: Route) -> Steps[tuple[str, Route | None]]:
        walk.reasoning_over = True
        assert route.call is not None
        walk.header_name = route.name
        sink: Sink = drop
        try:
            if walk.calls_are_text:
                raise Malformed
            yield from self.compile_call(route.call)(walk)
        except Malformed:
            if walk.call is None:
                walk.give_back()
            sink = walk.argument if walk.call else walk.content.write
        following = None
        try:
            while following is None:
                spelling = yield from walk.read_until(self.in_body, sink)
                following = yield from self._following(walk, spelling, sink)
                if spelling.does != "bare":
                    break
        finally:
            if walk.call is not None:
                walk.end_call(complete=False)
        walk.content.end()
        return self._leave(walk, route, spelling, following)

    def _leave(
        self, walk: Walk, route: Route, spelling: Spelling[str], following: Route | None
    ) -> tuple[str, Route | None]:
        # what reasoning is handed on with begins with the marker that ended it
        back = walk.matched if walk.only_reasoning and spelling.does != "close" else 0
        walk.pos -= back
        if route.channel == REASONING:  # a later message may be reasoning again
            walk.close_reasoning(over=walk.only_reasoning)
        elif route.channel == CONTENT:
            walk.content.end()
        walk.frame()
        walk.pos += back
        if not (back and spelling.does == "bare"):
            walk.kept()
            if spelling.does != "close":
                walk.keep(back)
        return (HEADER if spelling.does == "open" else BETWEEN), following


class BodyText:
    """The text of one body on its way to a channel; what joins it to an earlier one comes before it."""

    __slots__ = ("_channel", "_separator", "_walk", "begun")

    def __init__(self, walk: Walk, channel: Channel, separator: str) -> None:
        self._walk = walk
        self._channel = channel
        self._separator = separator
        self.begun = False

    def write(self, text: str) -> None:
        if not self.begun:
            self.begun = True
            if self._separator:
                self._channel.write(self._separator)
        self._channel.write(text)

    def let_flow(self, search: Search) -> None:
        if self.begun:
            self._walk.let_flow(search, self._channel)


def _compile_once(
    known: dict[CallSyntax, CallReader], tokens: SpecialTokens, around: Surroundings, call: CallSyntax
) -> CallReader:
    if call not in known:
        known[call] = call.compile(tokens, around)
    return known[call]
