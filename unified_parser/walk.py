"""One output on its way through a compiled format: the text read so far, the channels, the open call.

``Walk`` turns what ``machine`` and the call syntaxes find into events. Spans tile the output because every
event begins where the last one ended.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from .events import (
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
from .evidence import Evidence
from .format import Strip, TextFilter
from .scanner import LOOK_BACK, EndOfOutput, Scanner, Spelling, Steps
from .schema import Parameters, Tools, quote_inner

if TYPE_CHECKING:
    from .machine import Machine

Search: TypeAlias = Callable[[str], Any]
CallEvent: TypeAlias = ToolCallStart | ToolCallArguments | ToolCallEnd
Record: TypeAlias = Callable[[str, int, int], Event]

#: Plain text needs no walk: until the search finds something it is an event of this kind, of the call with
#: this index (none if negative). Of a call, perhaps as the inside of a JSON string; of a text, perhaps of a
#: channel that holds back white space at its end.
Steady: TypeAlias = tuple[Search, Any, int, Any]
#: Makes an event without the detour over its named arguments: the steady text is most of an output.
_new: Any = tuple.__new__

#: The state of text outside of all blocks.
CONTENT = "content"

_NEVER = re.compile(r"(?!)").search


class Channel:
    """The text of one channel. Holds back white space that may turn out to be framing.

    A piece of a channel is its text between two pieces of structure. A piece of nothing but white space is
    framing beside a call, and so is a blank reasoning block; which of the two it is shows only at its end.
    """

    __slots__ = ("_filter", "_held", "_record", "_strip", "_walk", "blank", "said")

    def __init__(self, walk: Walk, record: Record, strip: Strip, text_filter: TextFilter | None) -> None:
        self._walk = walk
        self._record = record
        self._strip = strip
        self._filter = text_filter
        self._held: list[str] = []
        self.blank = True
        self.said: list[str] | None = None  # the text emitted, where reasoning may have to be said again

    def write(self, text: str) -> None:
        """Takes text that the walk has just read."""
        if self.blank:
            if text.isspace():
                self._held.append(text)
                return
            if self._strip == "both":
                text = "".join([*self._held, text]).lstrip()
                self._held.clear()
                self._walk.frame(len(text))
            self.blank = False
        if self._strip:
            body = text.rstrip()
            tail = text[len(body) :]
            if not body:
                self._held.append(tail)
                return
            self._release(body, len(tail))
            if tail:
                self._held.append(tail)
        else:
            self._release(text, 0)

    def _release(self, text: str, behind: int) -> None:
        if self._held:
            text = "".join([*self._held, text])
            self._held.clear()
        if self._filter is not None:
            text = self._filter(text, False)
            if not text:
                return
        self._emit(text, behind)

    def _emit(self, text: str, behind: int = 0) -> None:
        walk = self._walk
        start = walk.done
        walk.done = walk.base + walk.pos - behind
        walk.events.append(self._record(text, start, walk.done))
        if self.said is not None:
            self.said.append(text)

    def end(self, *, keep_blank: bool = False) -> None:
        """The piece is over. What is held is framing, unless ``keep_blank`` and there is nothing else."""
        if self._held and keep_blank and self.blank and not self._strip:
            self._release("", 0)
        self._held.clear()
        self.blank = True
        if self._filter is not None and (rest := self._filter("", True)):
            self._emit(rest)

    @property
    def holds(self) -> bool:
        """Is some text held back?"""
        return bool(self._held)

    def trim(self) -> None:
        """Ends a wrapped text: white space held back at the end of a wrapped text is framing."""
        if self._strip:
            self._held.clear()

    def flush(self) -> None:
        """What is held back is text after all."""
        if self._held:
            self._release("", 0)

    def steady(self) -> Record | None:
        """The event that plain text becomes now, where at most white space is held back."""
        holds = self._held and not self._strip
        through = self.blank or holds or self._filter is not None or self.said is not None
        return None if through else self._record

    def flow(self, text: str) -> list[Event]:
        """Takes text of the steady flow: what may be framing at its end waits for what follows."""
        body = text.rstrip()
        if not body:
            self._held.append(text)
            return []
        tail = text[len(body) :]
        if self._held:
            body = "".join([*self._held, body])
            self._held.clear()
        if tail:
            self._held.append(tail)
        walk = self._walk
        start = walk.done
        walk.done = end = start + len(body)
        return [_new(self._record, (body, start, end))]

    @property
    def held(self) -> int:
        """How many characters are held back."""
        return sum(map(len, self._held))

    @property
    def trims(self) -> bool:
        """Is white space at the end of a piece framing?"""
        return bool(self._strip)


def _no_filter() -> None:
    """For the many formats whose text stays as it is."""


class OpenCall:
    """The call being read and announced."""

    __slots__ = ("index", "name", "parameters")

    def __init__(self, index: int, name: str, parameters: Parameters) -> None:
        self.index = index
        self.name = name
        self.parameters = parameters


class Options(NamedTuple):
    """What one request says: see ``UnifiedParser``."""

    tools: Tools
    atomic: bool = False
    only_reasoning: bool = False
    is_answer: bool = False
    content_required: bool = False
    calls_are_text: bool = False
    trace: bool = False


class Walk(Scanner):
    """The state of one output. ``machine`` steers it, ``feed`` and ``finish`` drive it."""

    __slots__ = (
        "_atomic",
        "_flowed",
        "_loose",
        "_program",
        "_recent",
        "_steady",
        "_trace",
        "_watched",
        "around",
        "call",
        "calls",
        "calls_are_text",
        "content",
        "content_state",
        "done",
        "events",
        "finished",
        "gave_back",
        "header_name",
        "lead",
        "machine",
        "only_reasoning",
        "reason",
        "reasoning",
        "reasoning_over",
        "spelled",
        "tools",
    )

    def __init__(self, machine: Machine, evidence: Evidence, options: Options, program: Any) -> None:
        super().__init__(evidence)
        self._watched = evidence.watched
        self._recent = evidence.recent
        self.machine = machine
        self.tools = options.tools
        self.events: list[Event] = []
        self.done = 0  # raw position up to which events account for the text
        self.call: OpenCall | None = None
        form = machine.format
        self.looks_back = machine.looks_back
        make_filter = form.text_filter or _no_filter
        strip = form.reasoning.strip if form.reasoning else ""
        self.reasoning = Channel(self, ReasoningText, strip, make_filter())
        self.content = Channel(self, ContentText, form.content.strip, make_filter())
        self.around = self.content  # the channel of the text around a tools block
        if options.content_required:
            self.reasoning.said, self.content.said = [], []
        self.lead = "" if options.is_answer else form.content.lead
        self.content_state = CONTENT
        self.reasoning_over = False
        self.spelled = False  # what is kept began with ordinary text, no marker
        self.finished = False
        self.gave_back = False  # a call that was held back is text again, up to its closing marker
        self.reason: str | None = None
        self.calls = 0  # announced so far
        self.header_name = ""  # the name that the header of the call's block gave
        self.only_reasoning = options.only_reasoning
        self.calls_are_text = options.calls_are_text
        self._trace = options.trace
        self._atomic: list[CallEvent] | None = [] if options.atomic else None
        self._steady: Steady | None = None
        self._flowed: deque[str] = deque(maxlen=LOOK_BACK)  # the last text that went past the scanner
        self._loose = False  # some text came without ids
        self._program: Steps[None] = program(self)

    # Driving

    def feed(self, text: str, token_ids: Sequence[int] = ()) -> list[Event]:
        """The events of one delta."""
        watched = self._watched
        if watched:
            if not token_ids:
                text = self._without_ids(text)
            elif self.exact and watched.isdisjoint(token_ids):
                self._recent.append((text, token_ids))
            else:
                text = self._take_ids(text, token_ids)
        if not text:
            return []
        steady = self._steady
        if steady is not None and steady[0](text) is None:
            self._flowed.append(text)
            _, kind, index, special = steady
            if special and index < 0:
                return special.flow(text)  # type: ignore[no-any-return]
            start = self.done
            self.done = end = start + len(text)
            if index < 0:
                return [_new(kind, (text, start, end))]
            return [_new(kind, (index, quote_inner(text) if special else text, start, end))]
        return self._go_on(text)

    def _take_ids(self, text: str, token_ids: Sequence[int]) -> str:
        """Takes the evidence of a delta's ids; returns its text, dropped special tokens put back."""
        evidence = self.evidence
        if not self.exact or not evidence.watched.isdisjoint(token_ids):
            self._land()
            if evidence.lagging or not evidence.watched.isdisjoint(token_ids):
                text = evidence.place(text, token_ids, self.base + len(self.buffer), self.buffer[self.pos :])
            self.by_ids = True
            self.exact = not evidence.lagging and not self._loose
        evidence.recent.append((text, token_ids))
        return text

    def _without_ids(self, text: str) -> str:
        """Text whose ids have come, or are to come: a special token's text need not come in one piece."""
        if not text:
            return text
        self._loose = True
        evidence = self.evidence
        if self.by_ids:
            self._land()
            self.exact = False
            if evidence.lagging:
                text = evidence.place(text, (), self.base + len(self.buffer), self.buffer[self.pos :])
        evidence.recent.append((text, ()))
        return text

    def _go_on(self, text: str) -> list[Event]:
        events: list[Event] = []
        self.events = events
        if self.finished:
            events.append(ContentText(text, self.done, self.done + len(text)))
            self.done += len(text)
            return events
        self._land()
        self.push(text)
        next(self._program, None)
        return events

    def _land(self) -> None:
        """Ends the steady flow: the scanner catches up with the text that went past it."""
        steady, self._steady = self._steady, None
        if self._flowed:
            if self.looks_back:
                self.last = (self._text_before(self.pos) + "".join(self._flowed))[-LOOK_BACK:]
            held = steady[3].held if steady is not None and steady[2] < 0 and steady[3] else 0
            self.base = self.done + held
            self.pos = 0
            self.buffer = ""
            self._flowed.clear()

    def finish(self, reason: str | None = None) -> list[Event]:
        """The events of the end. The text still held back is decided."""
        if self.finished:
            return []
        self.reason = reason
        self._land()
        start = self.base + len(self.buffer)
        rest = self.evidence.take_rest(start)
        events = self._go_on(rest) if rest else []
        self.events = events
        self.over = True
        while next(self._program, self) is not self:
            pass
        self._steady = None
        self.finished = True
        return events

    def may_act(self, spelling: Spelling[Any], start: int) -> bool:
        """Does the marker's place allow it to act? A piece of content begins a line of its own."""
        if super().may_act(spelling, start):
            return True
        in_content = self.reasoning_over and self.call is None
        return in_content and self.content.blank and not self.buffer[self.pos : start].strip()

    def lose_rest(self) -> None:
        """A part of a marker that was cut off behind its token is neither text nor part of a call."""
        if self._kept is None:
            self.keep()
        super().lose_rest()

    # Steady text: nothing held back, nothing looked for but the stops

    def let_flow(self, search: Search, channel: Channel) -> None:
        """Plain text goes straight to the channel until ``search`` finds something in a delta."""
        record = channel.steady()
        if record is not None and self.pos == len(self.buffer):
            self._steady = search, record, -1, channel if channel.trims else None

    def let_arguments_flow(self, search: Search, *, quoted: bool = False) -> None:
        """The same for arguments: as they are, or ``quoted`` as the inside of a JSON string."""
        if self.call is None or self._atomic is not None or self.pos < len(self.buffer):
            return
        if self.done != self.position:
            return
        self._steady = search, ToolCallArguments, self.call.index, quoted

    def pass_on(self) -> Steps[None]:
        """Everything from here on is content as it is."""
        while True:
            if self.pos < len(self.buffer):
                text = self.buffer[self.pos :]
                self.pos = len(self.buffer)
                self.write_raw(text)
            if self.content.said is None:
                self._steady = _NEVER, ContentText, -1, None
            yield from self.more()

    def write_raw(self, text: str) -> None:
        """The text just read is content as it is."""
        self.frame(len(text))
        self.events.append(ContentText(text, self.done, self.position))
        self.done = self.position
        if self.content.said is not None:
            self.content.said.append(text)

    # Channels

    def frame(self, back: int = 0) -> None:
        """What was read and not accounted for, up to ``back`` characters before here, is framing."""
        end = self.base + self.pos - back
        if self._trace and end > self.done:
            self.events.append(Framing(self.done, end))
        if end > self.done:
            self.done = end

    def open_reasoning(self) -> None:
        """A reasoning block begins here; what was read before is its opener."""
        self.content.end()
        end = self.base + self.pos
        self.events.append(ReasoningStart(self.done, end))
        self.done = end
        self.reasoning_over = False

    def close_reasoning(self, *, over: bool = True) -> None:
        """The reasoning block ends here; what was read behind its text is its closer."""
        self.reasoning.end()
        end = self.base + self.pos
        self.events.append(ReasoningEnd(self.done, end))
        self.done = end
        self.reasoning_over = over

    # Calls

    def start_call(self, name: str, call_id: str | None = None) -> None:
        """Announces a call. What was kept since its beginning belongs to it."""
        self.around.end()
        if self._atomic is None:
            self.kept()
        call = self.call = OpenCall(self.calls, name, self.tools.parameters(name))
        end = self.base + self.pos
        call_id = call_id or self.machine.format.make_call_id()
        event = ToolCallStart(call.index, call_id, name, self.done, end)
        self._emit_call(event, end)
        self.calls += 1

    def argument(self, fragment: str) -> None:
        """Emits a piece of the open call's arguments."""
        assert self.call is not None
        end = self.base + self.pos
        self._emit_call(ToolCallArguments(self.call.index, fragment, self.done, end), end)

    def end_call(self, *, complete: bool = True) -> None:
        """The open call is over."""
        assert self.call is not None
        end = self.base + self.pos
        self._emit_call(ToolCallEnd(self.call.index, complete, self.done, end), end)
        self.call = None
        if self._atomic is None:
            return
        if complete:
            self.kept()
            self.events.extend(self._atomic)
        else:
            self.calls -= 1
            self.done = self._atomic[0].start
            if self.over:
                self.discard()
            else:
                self.give_back()
                self.gave_back = True
        self._atomic.clear()

    def take_gave_back(self) -> bool:
        """Has a call that was held back just become text again? Asked once."""
        gave_back, self.gave_back = self.gave_back, False
        return gave_back

    def _emit_call(self, event: CallEvent, end: int) -> None:
        if self._atomic is None:
            self.events.append(event)
        else:
            self._atomic.append(event)
        self.done = end

    def give_back(self, channel: Channel | None = None) -> None:
        """What was kept is no structure: it is text as it was written, of the channel around it."""
        text = self.kept()
        if text:
            channel = channel or self.around
            if not channel.holds:
                self.frame(len(text))
            channel.write(text)

    def discard(self) -> None:
        """The output ended in a call that was not announced: what was kept of it is no content."""
        text = self.kept()
        if text:
            self.content.end()
            self.frame(len(text))
            self.events.append(Discarded(text, self.done, self.position))
            self.done = self.position


__all__ = ["Channel", "EndOfOutput", "OpenCall", "Options", "Walk"]
