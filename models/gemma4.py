"""Gemma 4 (Google): a thought channel, and calls in a notation with delimiter tokens around strings."""

from unified_parser.calls.notation_call import NotationCall
from unified_parser.format import Marker, OutputFormat, Reasoning, Start, Tools, text_marker
from unified_parser.parser import UnifiedParser


class Gemma4Parser(UnifiedParser):
    """Gemma 4 instruction-tuned models of every size.

    The channel has a label, ``thought`` on a line of its own, which is framing. The large models' template
    closes an empty channel in the prompt where thinking is off; the small ones' says nothing. Either way a
    channel that the model opens is reasoning, and an output without one is content.
    """

    names = ("gemma4",)
    models = (
        "google/gemma-4-E2B-it",
        "google/gemma-4-E4B-it",
        "google/gemma-4-12B-it",
        "google/gemma-4-26B-A4B-it",
        "google/gemma-4-31B-it",
    )
    traps = (
        "The prompts of E2B and E4B do not show that thinking is off.",
        "Any channel that the model opens is reasoning; only the label `thought` is taken off.",
    )
    format = OutputFormat(
        reasoning=Reasoning(
            Marker("<|channel>", after=("thought\n",)),
            Marker("<channel|>", before=("\n",)),
            reopens=True,
            off_text=False,
            bare=(text_marker("thought\n"),),
        ),
        tools=(
            Tools(
                open=Marker("<|tool_call>"),
                close=Marker("<tool_call|>"),
                calls=(NotationCall(delimiter=Marker('<|"|>'), prefixes=("call:", ":")),),
            ),
        ),
        start=Start(
            boundaries=("<|turn>", "<|tool_response>"),
            toggles={"enable_thinking": (False,)},
            thinking=False,
            undecided="content",
        ),
    )
