"""The conformance kit finds what it is there to find, and says what it cannot do."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest

from unified_parser import UnifiedParser
from unified_parser.arguments.json_text import Malformed
from unified_parser.calls.base import CallReader, CallSyntax, Surroundings
from unified_parser.calls.json_calls import JsonObject
from unified_parser.events import ContentText, Event, ToolCallArguments
from unified_parser.format import Marker, OutputFormat, Reasoning, Tools
from unified_parser.testing import (
    characters,
    check_accounting,
    check_arguments,
    check_chunks,
    check_family,
    check_latency,
    check_linear,
    check_order,
    mutate,
    stream,
    why_unwritable,
    write_output,
)
from unified_parser.testing.json_reader import OpenString, fault


class Plain(UnifiedParser):
    """A family as a third party would write one."""

    names = ("plain",)
    format = OutputFormat(
        reasoning=Reasoning(Marker("<hm>"), Marker("</hm>")),
        tools=(Tools(open=Marker("<call>"), close=Marker("</call>"), calls=(JsonObject(),)),),
    )


OUTPUT = '<hm>Well.</hm>It is this: <call>{"name": "read", "arguments": {"at": "Oban"}}</call>'


class Changed(Plain):
    """Hands on what ``change`` makes of each event list."""

    def feed(self, text: str, token_ids: Any = ()) -> list[Event]:
        return self.change(Plain.feed(self, text, token_ids))

    def change(self, events: list[Event]) -> list[Event]:
        self.__dict__.pop("feed", None)  # the shortcut past this class
        return events


class LosesText(Changed):
    def change(self, events: list[Event]) -> list[Event]:
        return [event for event in super().change(events) if not isinstance(event, ContentText)]


class LosesFragments(Changed):
    def change(self, events: list[Event]) -> list[Event]:
        return [event for event in super().change(events) if getattr(event, "fragment", "") != '"']


class TurnsAround(Changed):
    def change(self, events: list[Event]) -> list[Event]:
        return super().change(events)[::-1]


class HoldsBack(Changed):
    """Everything comes one delta late."""

    def change(self, events: list[Event]) -> list[Event]:
        late = self.__dict__.setdefault("_late", [])
        self.__dict__["_late"] = super().change(events)
        return late  # type: ignore[no-any-return]

    def finish(self, reason: str | None = None) -> list[Event]:
        return self.__dict__.pop("_late", []) + super().finish(reason)


class Slow(Changed):
    """Looks at all it has seen for every delta."""

    def change(self, events: list[Event]) -> list[Event]:
        seen = self.__dict__.setdefault("_seen", [])
        seen.append(events)
        for past in seen:
            len(past)
        return super().change(events)


def test_a_sound_family_passes() -> None:
    check_family(Plain, [OUTPUT], outputs=3)


def test_lost_text_is_found() -> None:
    with pytest.raises(AssertionError, match="should start at"):
        check_accounting(stream(LosesText, characters(OUTPUT)))


def test_broken_arguments_are_found() -> None:
    run = stream(LosesFragments, characters(OUTPUT))
    assert any(isinstance(event, ToolCallArguments) for event in run.events)
    with pytest.raises(AssertionError, match="no JSON object"):
        check_arguments(run)


def test_disorder_is_found() -> None:
    with pytest.raises(AssertionError, match="out of order"):
        check_order(stream(TurnsAround, [(OUTPUT, ())]))


def test_text_held_back_is_found() -> None:
    with pytest.raises(AssertionError, match="is held back"):
        check_latency(stream(HoldsBack, characters(OUTPUT)))
    check_latency(stream(Plain, characters(OUTPUT)))


def test_different_partitions_are_found() -> None:
    run = stream(Plain, characters(OUTPUT))
    with pytest.raises(AssertionError, match="two partitions differ"):
        check_chunks(run, stream(LosesText, [(OUTPUT, ())]))


def test_work_that_grows_is_found() -> None:
    once, twice = characters("tide " * 400), characters("tide " * 800)
    check_linear(Plain, once, twice)
    with pytest.raises(AssertionError, match="times as much"):
        check_linear(Slow, once, twice)


@dataclass(frozen=True)
class Unknown(CallSyntax):
    """A call syntax that the kit has never heard of."""

    def markers(self) -> tuple[Marker, ...]:
        return ()

    def compile(self, tokens: Any, around: Surroundings) -> CallReader:
        def read(walk: Any) -> Generator[None, None, None]:
            yield from walk.peek()
            raise Malformed

        return read


class Strange(UnifiedParser):
    names = ("strange",)
    format = OutputFormat(tools=(Tools(open=Marker("<call>"), close=Marker("</call>"), calls=(Unknown(),)),))


def test_an_unknown_syntax_is_said_to_need_samples() -> None:
    assert "no writer for Unknown" in str(why_unwritable(Strange))
    assert why_unwritable(Plain) is None
    with pytest.raises(AssertionError, match="needs samples"):
        check_family(Strange)
    check_family(Strange, ["Some text, no call."])


def test_damage_is_done() -> None:
    rng = Random(0)
    outputs = [write_output(Plain, rng) for _ in range(50)]
    damaged = [mutate(output.pieces, Plain.format, rng) for output in outputs]
    assert sum("".join(pieces) != output.text for pieces, output in zip(damaged, outputs, strict=True)) > 40


@pytest.mark.parametrize(
    "text",
    ["{}", ' {"a" : [1, -2.5e+3, true, null, "x\\u00e9\\n"], "b": {}} ', '{"a":' * 5000 + "{}" + "}" * 5000],
)
def test_json_objects(text: str) -> None:
    assert fault(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "1",
        "{",
        '{"a"}',
        '{"a":}',
        '{"a":1,}',
        "{'a':1}",
        '{"a":01}',
        '{"a":1}}',
        '{"a":"\n"}',
        '{"a":[1}',
    ],
)
def test_texts_that_are_none(text: str) -> None:
    assert fault(text)


def test_open_strings() -> None:
    string = OpenString()
    for piece, inside in (
        ('{"a', True),
        ('": "', True),
        ("\\", True),
        ('"', True),
        ('"', False),
        ("}", False),
    ):
        string.feed(piece)
        assert string.inside is inside, piece
