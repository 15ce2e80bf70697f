"""One output driven through a parser, and what came of it in a shape that can be compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

from ..events import (
    ContentText,
    Discarded,
    Event,
    ReasoningEnd,
    ReasoningStart,
    ReasoningText,
    ToolCallArguments,
    ToolCallEnd,
    ToolCallStart,
)
from ..parser import UnifiedParser

#: The text of a delta and the ids of its tokens; either may be empty.
Delta: TypeAlias = tuple[str, Sequence[int]]
ParserClass: TypeAlias = type[UnifiedParser]


@dataclass(frozen=True)
class Run:
    """One output streamed through a new parser.

    ``deltas`` went in, ``steps`` came out: the events of each delta, in the last step those of ``finish``.
    ``options``: those of the parser class.
    """

    parser_class: ParserClass
    deltas: Sequence[Delta]
    options: Mapping[str, Any]
    steps: Sequence[Sequence[Event]]

    @property
    def raw(self) -> str:
        """The output's text."""
        return "".join(text for text, _ in self.deltas)

    @property
    def ids(self) -> list[int]:
        """The output's ids, as far as they were given."""
        return [number for _, ids in self.deltas for number in ids]

    @property
    def events(self) -> list[Event]:
        """The events of all steps."""
        return [event for step in self.steps for event in step]

    def again(self, deltas: Iterable[Delta] | None = None, **options: Any) -> Run:
        """Another run, with other deltas or further options."""
        return stream(
            self.parser_class, self.deltas if deltas is None else deltas, **{**self.options, **options}
        )

    def new_parser(self, **options: Any) -> UnifiedParser:
        """A parser as this run's, at its beginning."""
        return self.parser_class(**{"trace": True, **self.options, **options})

    def fail(self, problem: str) -> NoReturn:
        """Raises AssertionError, with what is needed to see it again."""
        raise AssertionError(report(self.parser_class, problem, self.deltas, self.options))


def stream(parser_class: ParserClass, deltas: Iterable[Delta], **options: Any) -> Run:
    """Feeds the deltas to a new parser and finishes it. ``options`` are those of the class.

    Raises AssertionError where the parser raises: no text, no ids and no cut may make it.
    """
    given = list(deltas)
    parser = parser_class(**{"trace": True, **options})
    try:
        steps = [parser.feed(text, ids) for text, ids in given]
        return Run(parser_class, given, options, [*steps, parser.finish()])
    except Exception as error:
        raise AssertionError(report(parser_class, f"raises {error!r}", given, options)) from error


def parts(events: Iterable[Event], raw: str) -> list[tuple[Any, ...]]:
    """What the events of an output say, whatever its deltas: texts and calls in order, fragments joined."""
    found: list[list[Any]] = []
    for event in events:
        match event:
            case ReasoningStart():
                found.append(["reasoning", ""])
            case ReasoningEnd():
                found.append(["end of reasoning"])
            case ReasoningText():
                _join(found, "reasoning", event.text)
            case ContentText():
                _join(found, "content", event.text)
            case Discarded():
                _join(found, "discarded", event.text)
            case ToolCallStart():
                found.append(["call", "", event.name, known_id(event.id, raw)])
            case ToolCallArguments():
                _join(found, "call", event.fragment)
            case ToolCallEnd():
                found.append(["complete call" if event.complete else "incomplete call"])
    return [tuple(part) for part in found]


def _join(found: list[list[Any]], kind: str, text: str) -> None:
    if found and found[-1][0] == kind:
        found[-1][1] += text
    else:
        found.append([kind, text])


def known_id(call_id: str, raw: str) -> str | None:
    """The id that the model wrote; None for one that was made up."""
    return call_id if call_id in raw else None


def calls(events: Iterable[Event]) -> Iterator[tuple[str, str, bool]]:
    """(name, arguments, complete) of each call that ended."""
    name, fragments = "", list[str]()
    for event in events:
        match event:
            case ToolCallStart():
                name, fragments = event.name, []
            case ToolCallArguments():
                fragments.append(event.fragment)
            case ToolCallEnd():
                yield name, "".join(fragments), event.complete


def report(
    parser_class: ParserClass, problem: str, deltas: Iterable[Delta], options: Mapping[str, Any]
) -> str:
    """The text of a failure: what is wrong, and how to see it again."""
    given = list(deltas)
    shown = {k: v for k, v in options.items() if k not in ("tools", "tokenizer") and v is not None}
    lines = [
        f"{parser_class.__name__}: {problem}",
        f"  output: {_short(''.join(text for text, _ in given))}",
        f"  deltas: {_deltas(given)}",
    ]
    if any(ids for _, ids in given):
        lines.append(f"  ids: {_short([list(ids) for _, ids in given])}")
    return "\n".join([*lines, f"  options: {shown}"])


def _deltas(deltas: list[Delta]) -> str:
    texts = [text for text, _ in deltas]
    if len(texts) > 1 and all(len(text) == 1 for text in texts):
        return "one character each"
    return _short(texts)


def _short(value: object, most: int = 3000) -> str:
    text = repr(value)
    return text if len(text) <= most else f"{text[:most]}... ({len(text)} characters)"
