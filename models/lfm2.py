"""LFM2 (Liquid AI): Python calls between tokens, with quotes that nobody escapes and blocks that echo."""

from dataclasses import dataclass

import regex

from unified_parser.arguments.json_text import Malformed, drop
from unified_parser.calls.base import CallReader, CallSyntax, Surroundings
from unified_parser.calls.json_calls import JsonObject
from unified_parser.calls.python_calls import PythonCalls
from unified_parser.format import Marker, OutputFormat, Reasoning, Start, Tools, text_marker
from unified_parser.parser import UnifiedParser
from unified_parser.scanner import EndOfOutput, Marks, Steps, Use
from unified_parser.tokens import SpecialTokens
from unified_parser.walk import Walk

OPEN = Marker("<|tool_call_start|>")
CLOSE = Marker("<|tool_call_end|>")

_BLANK = r"\s{0,32}"
_NAME = r"[^\W\d][\w.-]{0,127}"
#: What stands behind an argument that is a string: the next argument, or the call's end and what follows it.
#: The lengths are bounded, so that no text is held back for long.
BEHIND_ARGUMENT = regex.compile(
    rf"{_BLANK}(?:,{_BLANK}(?:{_NAME}{_BLANK}=|\))"
    rf"|\){_BLANK}(?:;|<\||\]{_BLANK}<\||,{_BLANK}(?:{_NAME}{_BLANK}\(|\])))"
)
BEHIND_ITEM = regex.compile(rf"{_BLANK}[,\])}}:]")


def closes(walk: Walk, nested: bool) -> Steps[bool]:
    """A quote closes a string if what follows can follow one; else it is a quote in the text."""
    behind = BEHIND_ITEM if nested else BEHIND_ARGUMENT
    while True:
        match = behind.match(walk.buffer, walk.pos + 1, partial=True)
        if match is None or not match.partial or walk.over:
            return match is not None
        yield from walk.more()


@dataclass(frozen=True, slots=True)
class Echo(CallSyntax):
    """The body of a block, repeated behind the block up to a second closing token: it is dropped.

    Only the end of what may be an echo tells whether it is one, so such text is held back.
    """

    @property
    def begins(self) -> tuple[Marker, ...]:
        return (text_marker("[", "<", behind=("|tool_call_end|>",)),)

    def markers(self) -> tuple[Marker, ...]:
        return self.begins

    def compile(self, tokens: SpecialTokens, around: Surroundings) -> CallReader:
        marks: Marks[bool] = Marks([Use(CLOSE, True), Use(OPEN, False)], tokens)

        def read(walk: Walk) -> Steps[None]:
            if not walk.calls:
                raise Malformed
            try:
                is_echo = (yield from walk.read_until(marks, drop)).does
            except EndOfOutput:
                walk.give_back()
                raise
            if not is_echo:
                walk.pos -= walk.matched
                raise Malformed

        return read


class Lfm2Parser(UnifiedParser):
    """LFM2 and LFM2.5. The checkpoints that think open their thoughts themselves."""

    names = ("lfm2",)
    models = ("LiquidAI/LFM2-*", "LiquidAI/LFM2.5-*")
    traps = (
        "Nothing escapes quotes inside strings: each is held back until what follows shows if it closes one.",
        "Text behind a block that begins with `[` or `<` is held back: it may be an echo of the block.",
        "No switch: whether a model thinks depends on the checkpoint.",
    )
    format = OutputFormat(
        reasoning=Reasoning(Marker("<think>"), Marker("</think>")),
        tools=(
            Tools(
                open=OPEN,
                close=CLOSE,
                calls=(PythonCalls(loose=True, objects=JsonObject(), closes=closes), JsonObject()),
            ),
            Tools(calls=(Echo(),)),
        ),
        start=Start(boundaries=("<|im_start|>", "<|im_end|>"), undecided="content"),
    )
