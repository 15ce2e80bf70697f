"""Marker search and hold-back: what is passed on at once, what is held, what acts."""

from __future__ import annotations

import pytest

from unified_parser.evidence import Evidence
from unified_parser.format import FormatError, Marker
from unified_parser.scanner import EndOfOutput, Marks, Scanner, Use
from unified_parser.tokens import NO_TOKENS


class Reading:
    """One search over text that comes in pieces."""

    def __init__(self, *uses: Use[str]) -> None:
        self.scanner = Scanner(Evidence(NO_TOKENS, None))
        self.passed: list[str] = []
        self.found: str | None = None
        self._steps = self._read(Marks(uses, NO_TOKENS))

    def _read(self, marks: Marks[str]):
        while not self.scanner.buffer:
            yield
        try:
            spelling = yield from self.scanner.read_until(marks, self.passed.append)
            self.found = spelling.does
        except EndOfOutput:
            self.found = "end"
        yield

    def feed(self, text: str) -> str:
        """Feeds a delta; returns what was passed on because of it."""
        self.passed.clear()
        self.scanner.push(text)
        next(self._steps)
        return "".join(self.passed)

    def finish(self) -> str:
        self.passed.clear()
        self.scanner.over = True
        next(self._steps)
        return "".join(self.passed)

    @property
    def held(self) -> str:
        return self.scanner.buffer[self.scanner.pos :]


THINK_END = Use(Marker("</think>"), "end of thinking")
FRAMED = Use(Marker("</think>"), "end of thinking", ("\n",))
CALL = Use(Marker("<tool_call>"), "call")


@pytest.mark.parametrize(
    ("text", "passed", "held"),
    [
        ("abc", "abc", ""),
        ("a <", "a ", "<"),
        ("a </thi", "a ", "</thi"),
        ("a </thx", "a </thx", ""),
        ("a <<", "a <", "<"),
        ("a </<tool", "a </", "<tool"),
        ("a\n", "a\n", ""),
    ],
)
def test_only_what_may_become_a_marker_is_held(text: str, passed: str, held: str) -> None:
    reading = Reading(THINK_END, CALL)
    assert reading.feed(text) == passed
    assert reading.held == held


def test_framing_is_held_and_dropped_with_its_marker() -> None:
    reading = Reading(FRAMED)
    assert reading.feed("a\n") == "a"
    assert reading.held == "\n"
    assert reading.feed("</think>") == ""
    assert reading.found == "end of thinking"


def test_framing_without_its_marker_is_text() -> None:
    reading = Reading(FRAMED)
    reading.feed("a\n")
    assert reading.feed("b\n\n") == "\nb\n"
    assert reading.held == "\n"
    assert reading.finish() == "\n"


def test_framing_is_dropped_in_full_or_not_at_all() -> None:
    reading = Reading(Use(Marker("<tool_call>"), "call", ("\n\n",)))
    assert reading.feed("a\n<tool_call>") == "a\n"
    assert reading.found == "call"


def test_the_first_marker_counts() -> None:
    reading = Reading(THINK_END, CALL)
    assert reading.feed("a<tool_call>b</think>") == "a"
    assert (reading.found, reading.held) == ("call", "b</think>")


def test_a_marker_in_single_characters() -> None:
    reading = Reading(THINK_END)
    assert "".join(reading.feed(char) for char in "x</think>") == "x"
    assert reading.found == "end of thinking"


class TestALiteralThatBeginsAnother:
    SHORT, LONG = Use(Marker("[", special=False), "short"), Use(Marker("[TOOL_CALLS]"), "long")

    def test_the_longer_one_is_waited_for(self) -> None:
        reading = Reading(self.SHORT, self.LONG)
        reading.feed("[TOOL")
        assert reading.found is None
        reading.feed("_CALLS]")
        assert reading.found == "long"

    def test_the_shorter_one_acts_when_the_longer_one_does_not_come(self) -> None:
        reading = Reading(self.SHORT, self.LONG)
        reading.feed("[TO")
        reading.feed("DO")
        assert (reading.found, reading.held) == ("short", "TODO")

    def test_the_shorter_one_acts_at_the_end(self) -> None:
        reading = Reading(self.SHORT, self.LONG)
        reading.feed("[")
        reading.finish()
        assert reading.found == "short"


class TestBehind:
    LIST = Use(Marker("[", special=False, behind=("\n",)), "list")

    @pytest.mark.parametrize(
        ("deltas", "found"),
        [(["a\n", "["], "list"), (["["], "list"), (["a", "["], None), (["a [", "\n", "["], "list")],
    )
    def test_a_marker_acts_at_the_beginning_of_a_line(self, deltas: list[str], found: str | None) -> None:
        reading = Reading(self.LIST)
        reading.scanner.looks_back = True
        for delta in deltas:
            reading.feed(delta)
        assert reading.found == found


def test_a_marker_cut_off_behind_its_own_token_is_no_text() -> None:
    reading = Reading(Use(Marker("<|open|>think<|sep|>", token="<|open|>"), "open"))
    assert reading.feed("a<|open|>thi") == "a"
    assert reading.finish() == ""


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"text": ""}, "Marker.text"),
        ({"text": "<a>", "after": "\n"}, "tuple of strings"),
        ({"text": "<a>", "token": "<b>"}, "part of every spelling"),
    ],
)
def test_a_bad_marker_says_what_to_do(options: dict, complaint: str) -> None:
    with pytest.raises(FormatError, match=complaint):
        Marker(**options)
