"""How an output was read, drawn: its parts by channel, then what each delta held back and gave."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from ..events import (
    ContentText,
    Discarded,
    Event,
    ReasoningText,
    ToolCallArguments,
    ToolCallEnd,
    ToolCallStart,
)
from .chunks import Delta
from .console import one_line, visible

Steps: TypeAlias = Sequence[tuple[Delta, list[Event]]]

#: The channels and their colours; the legend.
STYLES = {
    "reasoning": "cyan",
    "content": "green",
    "call": "bold magenta",
    "arguments": "yellow",
    "framing": "dim",
    "discarded": "red strike",
}
#: What an event's raw text is; all others are framing.
CHANNELS: dict[type, str] = {
    ReasoningText: "reasoning",
    ContentText: "content",
    ToolCallStart: "call",
    ToolCallArguments: "arguments",
    Discarded: "discarded",
}
#: Events of running text.
RUNNING = (ReasoningText, ContentText, ToolCallArguments)
#: The longest text of a delta, and of an event, that is shown in full.
LONGEST = 28


def draw(steps: Steps) -> Group:
    """An output's parts, its deltas, and the legend. ``steps``: deltas and their events, with framing."""
    raw = "".join(delta.text for delta, _ in steps)
    return Group(
        _parts(raw, [event for _, events in steps for event in events]),
        Text(),
        _deltas(raw, steps),
        _legend(),
    )


def _legend() -> Text:
    line = Text("  ")
    for channel, style in STYLES.items():
        line.append(channel, style).append("  ")
    return line.append("⏎ newline  ⇥ tab", "dim")


# The parts


class Part(NamedTuple):
    """Neighbouring raw text of one channel."""

    channel: str
    call: int | None
    start: int
    end: int
    name: str = ""

    @property
    def label(self) -> str:
        return self.channel if self.call is None else f"{self.channel} {self.call}"


def parts(events: Iterable[Event]) -> Iterator[Part]:
    """The raw text by channel, neighbours of one channel joined."""
    last: Part | None = None
    for event in events:
        if event.start == event.end:
            continue
        part = _part(event)
        if last and part[:2] == last[:2] and not part.name:
            last = last._replace(end=part.end)
            continue
        if last:
            yield last
        last = part
    if last:
        yield last


def _part(event: Event) -> Part:
    channel = CHANNELS.get(type(event), "framing")
    call = event.index if isinstance(event, ToolCallStart | ToolCallArguments) else None
    name = event.name if isinstance(event, ToolCallStart) else ""
    return Part(channel, call, event.start, event.end, name)


def _parts(raw: str, events: Iterable[Event]) -> Table:
    view = Table(box=None, show_header=False, padding=(0, 1))
    view.add_column(justify="right", style="dim", no_wrap=True)
    view.add_column(no_wrap=True)
    view.add_column(overflow="fold")
    for part in parts(events):
        style = STYLES[part.channel]
        view.add_row(str(part.start), Text(part.label, style), _painted(part, raw[part.start : part.end]))
    return view


def _painted(part: Part, text: str) -> Text:
    """A part's text. Framing is dimmed and in one line; so is what stands around a call's name.

    Newlines act, except those that would not be seen, at the end.
    """
    if part.channel == "framing":
        return Text(one_line(text), STYLES["framing"])
    if part.channel != "call":
        body = text.rstrip("\n")
        return Text(visible(body) + one_line(text[len(body) :]), STYLES[part.channel])
    before, name, after = text.rpartition(part.name)
    return Text.assemble(
        (one_line(before), STYLES["framing"]),
        (one_line(name), STYLES["call"]),
        (one_line(after), STYLES["framing"]),
    )


# The deltas

#: What a delta's events are, where it may be drawn together with others of its like.
Like: TypeAlias = tuple[str, int | None]
WAITING: Like = ("waiting", None)


@dataclass(slots=True)
class Row:
    """One delta, or several of a like: nothing but running text, or nothing at all while text is held back.

    ``held``: the text behind its last event. The numbers of the deltas count from 1.
    """

    first: int
    last: int
    text: str
    held: str
    events: list[Event]
    like: Like | None

    def join(self, other: Row) -> None:
        """Takes the next row in."""
        self.last = other.last
        self.text += other.text
        self.held = other.held
        self.events += other.events


def rows(raw: str, steps: Steps) -> Iterator[Row]:
    """The deltas in order. The last row is the end of the output, and stands by itself."""
    fed = done = 0
    row: Row | None = None
    for number, (delta, events) in enumerate(steps, start=1):
        fed += len(delta.text)
        done = max([done, *(event.end for event in events)])
        held = raw[done:fed]
        like = None if number == len(steps) else _like(events, held)
        new = Row(number, number, delta.text, held, list(events), like)
        if row and like and row.like == like:
            row.join(new)
            continue
        if row:
            yield row
        row = new
    if row:
        yield row


def _like(events: list[Event], held: str) -> Like | None:
    if not events:
        return WAITING if held else None
    event = events[0]
    if len(events) > 1 or held or not isinstance(event, RUNNING):
        return None
    return type(event).__name__, event.index if isinstance(event, ToolCallArguments) else None


def _deltas(raw: str, steps: Steps) -> Table:
    view = Table("delta", "text", "held back", "events", box=box.SIMPLE_HEAD, header_style="dim")
    view.columns[0].justify = "right"
    view.columns[3].overflow = "fold"
    for row in rows(raw, steps):
        number = str(row.first) if row.first == row.last else f"{row.first}-{row.last}"
        if row.last == len(steps):
            number = "end"
        held = Text().append(one_line(row.held, LONGEST), "reverse")  # the text alone, not the whole cell
        view.add_row(number, Text(one_line(row.text, LONGEST)), held, Text("\n").join(_described(row)))
    return view


def _described(row: Row) -> list[Text]:
    """The events of a row, one a line; running text in one."""
    if row.like and row.events:
        return [_event(row.events[0], row.events[-1].end)]
    return [_event(event, event.end) for event in row.events]


def _event(event: Event, end: int) -> Text:
    line = Text().append(type(event).__name__, STYLES[CHANNELS.get(type(event), "framing")])
    line.append(f" {event.start}-{end}", "dim")
    if isinstance(event, ToolCallStart):
        line.append(f" {event.index} {one_line(event.name, LONGEST)}")
    elif isinstance(event, ToolCallArguments):
        line.append(f" {event.index}")
    elif isinstance(event, ToolCallEnd):
        line.append(f" {event.index} {'complete' if event.complete else 'incomplete'}")
    return line
