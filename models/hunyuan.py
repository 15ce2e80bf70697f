"""Hunyuan (Tencent): A13B with a JSON list in answer tags; Hy3 and Hy4 with suffixed tags and pairs."""

import re
from functools import cache
from typing import Any

from unified_parser.calls.json_calls import JsonArray
from unified_parser.format import (
    Content,
    Drop,
    Marker,
    OutputFormat,
    Reasoning,
    Start,
    Tools,
    replace,
    text_marker,
)
from unified_parser.parser import UnifiedParser
from unified_parser.tokens import vocabulary

from .glm import pairs

A13B = OutputFormat(
    reasoning=Reasoning(
        text_marker("<think>", after=("\n",)),
        text_marker("</think>", before=("\n",), after=("\n",)),
    ),
    content=Content(
        drops=(
            Drop(text_marker("<answer>", after=("\n",))),
            Drop(text_marker("</answer>", before=("\n",))),
        )
    ),
    tools=(
        Tools(
            open=text_marker("<tool_calls>"),
            close=text_marker("</tool_calls>"),
            calls=(JsonArray(),),
            in_reasoning="text",
        ),
    ),
    start=Start(boundaries=("<|extra_0|>",), toggles={"enable_thinking": (False,)}, undecided="content"),
)

RELEASE_SUFFIX = ":opensource"
_THINK = re.compile(r"<think(:[^>]*)>")


@cache
def hy4(suffix: str, *name_end: Marker) -> OutputFormat:
    """Every tag carries the checkpoint's suffix."""
    call = replace(
        pairs(suffix),
        begin=Marker(f"<tool_call{suffix}>"),
        end=Marker(f"</tool_call{suffix}>"),
        name_end=name_end,
    )
    turns = ("<｜hy_User{}｜>", "<｜hy_Assistant{}｜>", "<｜hy_eos{}｜>", "<|hy_start{}|>", "<|hy_end{}|>")
    return OutputFormat(
        reasoning=Reasoning(Marker(f"<think{suffix}>"), Marker(f"</think{suffix}>")),
        tools=(
            Tools(
                open=Marker(f"<tool_calls{suffix}>"), close=Marker(f"</tool_calls{suffix}>"), calls=(call,)
            ),
        ),
        start=Start(
            boundaries=tuple(turn.format(suffix) for turn in turns),
            toggles={"reasoning_effort": ("no_think", "none")},
        ),
    )


@cache
def hy3(suffix: str) -> OutputFormat:
    """As Hy4, with a separator behind the name; it thinks only when asked to."""
    form = hy4(suffix, Marker(f"<tool_sep{suffix}>"))
    return replace(form, start=replace(form.start, thinking=False))


def suffix_of(tokenizer: Any) -> str:
    """The suffix of the checkpoint's tags, from its vocabulary; the release's where nothing is known."""
    if tokenizer is None:
        return RELEASE_SUFFIX
    known = vocabulary(tokenizer)
    found = [match[1] for match in map(_THINK.fullmatch, known) if match]
    return min(found, default="" if "<think>" in known else RELEASE_SUFFIX)


SUFFIX_TRAP = "Tags have the checkpoint's suffix, `:opensource` if none is known: give the tokenizer."


class HunyuanA13BParser(UnifiedParser):
    """Hunyuan A13B."""

    names = ("hunyuan_a13b",)
    models = ("tencent/Hunyuan-A13B-Instruct",)
    traps = ("All tags are ordinary text: a quoted tag cannot be told from a real one.",)
    format = A13B


class Hy3Parser(UnifiedParser):
    """Hy3."""

    names = ("hy_v3", "hunyuan")
    models = ("tencent/Hy3", "tencent/Hy3-preview")
    traps = (
        SUFFIX_TRAP,
        "The switch is `reasoning_effort`, by default `no_think`; `enable_thinking` does nothing.",
    )
    format = hy3(RELEASE_SUFFIX)

    @classmethod
    def output_format(cls, tokenizer: Any) -> OutputFormat:
        return hy3(suffix_of(tokenizer))


class Hy4Parser(UnifiedParser):
    """Hy4."""

    names = ("hy_v4",)
    models = ("tencent/Hy4", "tencent/Hy4-preview")
    traps = (
        SUFFIX_TRAP,
        "The switch is `reasoning_effort`, by default `high`; `enable_thinking` does nothing.",
    )
    format = hy4(RELEASE_SUFFIX)

    @classmethod
    def output_format(cls, tokenizer: Any) -> OutputFormat:
        return hy4(suffix_of(tokenizer))
