"""What is noted of one response while it is parsed: for the metrics page, and for the record.

A watch is told every step and the end. All that it knows is in it: a response whose client goes away leaves
nothing behind, and is neither counted nor recorded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

from vllm.logger import init_logger

from unified_parser import __version__
from unified_parser.events import Event, ReasoningText, ToolCallArguments, ToolCallEnd, ToolCallStart
from unified_parser.message import Message, MessageBuilder
from unified_parser.parser import UnifiedParser
from unified_parser.recording import Record, described, format_of, visible

from . import metrics
from .compat import LOGGER_NAME
from .forced_json import schema_forced
from .recorder import recorder
from .requests import forced_tool, function_tools

logger = init_logger(LOGGER_NAME)

_OF_CALLS = frozenset({ToolCallStart, ToolCallArguments})
#: How many steps are looked at together.
MANY = 128


class Subject(NamedTuple):
    """Whose response it is. ``reasoning``, ``tools``: the families, None where there is no such parser.

    ``direct``: it is read by one parser; otherwise the events are made of what vLLM's composition sends.
    ``offered``: the tools of the request. ``parser``: one that reads, or could read, the response.
    """

    reasoning: str | None
    tools: str | None
    direct: bool
    streamed: bool
    model: str
    offered: Any
    request: Any
    parser: UnifiedParser

    @property
    def path(self) -> str:
        return "direct" if self.direct else "adapters"


def watch(subject: Subject, *, recordable: bool = True) -> Watch | None:
    """A watch for a response that begins; None if nobody wants to know of it."""
    records = recorder() if recordable else None
    recorded = records is not None and records.wants()
    return Watch(subject, recorded) if recorded or metrics.are_kept() else None


class Watch:
    """Watches one response. ``step`` is called for every delta: it notes, and looks at many at a time."""

    __slots__ = ("_answering", "_builder", "_calling", "_noted", "_pieces", "_subject", "_waits")

    def __init__(self, subject: Subject, recorded: bool) -> None:
        self._subject = subject
        self._builder = MessageBuilder(keep_incomplete=True)
        self._noted: list[Sequence[Event]] = []  # the events of the last steps
        self._pieces: list[tuple[str, Sequence[int]]] | None = [] if recorded else None
        self._waits = subject.direct  # for the end of the reasoning
        self._answering = 0  # steps behind it
        self._calling = 0  # those of them with a part of a call

    def step(self, text: str, token_ids: Sequence[int], events: Sequence[Event]) -> None:
        """A delta, and the events that came of it."""
        if self._pieces is not None:
            self._pieces.append((text, token_ids))
        if self._waits and not (len(events) == 1 and type(events[0]) is ReasoningText):
            self._look()
        noted = self._noted
        noted.append(events)
        if len(noted) >= MANY:
            self._take()

    def _look(self) -> None:
        """Is this step behind the reasoning?"""
        if self._subject.parser.reasoning_settled:
            self._take()
            self._waits = False

    def _take(self) -> None:
        """Takes in what was noted."""
        noted = self._noted
        events = list(chain.from_iterable(noted))
        self._builder.add(events)
        if not self._waits:
            self._answering += len(noted)
            if not _OF_CALLS.isdisjoint(map(type, events)):
                self._calling += sum(1 for step in noted if not _OF_CALLS.isdisjoint(map(type, step)))
        noted.clear()

    def end(self, events: Sequence[Event]) -> None:
        """The end of the response, and the events that came of it. Never raises."""
        try:
            self._take()
            self._builder.add(events)
            message = self._builder.build()
            if metrics.are_kept():
                self._count(message, _cut_off(events))
            records = recorder()
            if self._pieces is not None and records is not None:
                records.put(lambda: self._record(message))
        except Exception as error:  # no response fails because it could not be counted
            logger.warning_once("A response was not counted or recorded: %s", repr(error))

    def _count(self, message: Message, cut_off: int) -> None:
        subject = self._subject
        labels = {
            "model_name": subject.model or metrics.model_name(),
            "family": "+".join(dict.fromkeys(filter(None, (subject.reasoning, subject.tools)))),
            "path": subject.path,
        }
        metrics.count(labels, self._amounts(message, cut_off))
        if subject.direct and subject.tools:
            calling, steps = self._calling, self._answering
            if not subject.streamed:
                calling, steps = int(any(call.complete for call in message.tool_calls)), 1
            metrics.count_invocations(
                subject.request, streamed=subject.streamed, calling=calling, other=steps - calling
            )

    def _amounts(self, message: Message, cut_off: int) -> dict[str, int]:
        """What the counters add for the message; ``cut_off``: its calls that the output's end has ended."""
        calls = message.tool_calls
        return {
            "responses": 1,
            "tool_calls": len(calls),
            "incomplete_tool_calls": cut_off + (message.discarded is not None),
            "invalid_tool_arguments": sum(not call.complete for call in calls) - cut_off,
            "unknown_tool_names": len(calls) and self._unknown(call.name for call in calls),
            "markers_in_content": self._leaks(message.content or ""),
        }

    def _unknown(self, names: Iterable[str]) -> int:
        known = {tool["function"]["name"] for tool in self._tools()}
        return sum(name not in known for name in names)

    def _leaks(self, content: str) -> int:
        markers = format_of(self._subject.parser).markers()
        special = [text for marker in markers if marker.special for text in marker.spellings]
        return len(_any_of(tuple(special)).findall(content))

    def _tools(self) -> list[dict[str, Any]]:
        return function_tools(self._subject.offered or getattr(self._subject.request, "tools", None))

    def _record(self, message: Message) -> Record:
        """The record; made in the writing thread, when nobody else uses any of it."""
        subject, pieces = self._subject, self._pieces or []
        request = subject.request
        ids = [int(number) for _, numbers in pieces for number in numbers]
        _, name = forced_tool(request)
        choice = getattr(request, "tool_choice", None)
        wants_reasoning = bool(getattr(request, "include_reasoning", True))
        if not subject.streamed:  # of a whole output, what was cut off is not sent
            message.tool_calls = [call for call in message.tool_calls if call.complete]
        return Record(
            text="".join(text for text, _ in pieces),
            token_ids=ids,
            deltas=[[len(text), len(numbers)] for text, numbers in pieces],
            streamed=subject.streamed,
            result=visible(message, include_reasoning=wants_reasoning, include_calls=choice != "none"),
            reasoning_parser=subject.reasoning,
            tool_parser=subject.tools,
            tools=self._tools(),
            tool_choice=choice if isinstance(choice, str) else name and {"function": {"name": name}},
            include_reasoning=wants_reasoning,
            forced_json=schema_forced(request),
            path=subject.path,
            model=subject.model or getattr(request, "model", None),
            time=datetime.now(UTC).isoformat(timespec="milliseconds"),
            package=__version__,
            **described(subject.parser, ids),
        )


def _cut_off(events: Iterable[Event]) -> int:
    """How many calls the end of the output has ended."""
    return sum(isinstance(event, ToolCallEnd) and not event.complete for event in events)


@lru_cache(maxsize=64)
def _any_of(literals: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(literals, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first)) or "(?!)")
