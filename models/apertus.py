"""Apertus (Swiss AI): an array of one-key objects between tool tokens, also inside the deliberation."""

from unified_parser.calls.json_calls import JsonArray, KeyedObject
from unified_parser.format import Marker, OutputFormat, Reasoning, Start, Tools
from unified_parser.parser import UnifiedParser


class ApertusParser(UnifiedParser):
    """Apertus Instruct. The model opens a deliberation by itself, whatever the template's switch says."""

    names = ("apertus", "apertus2509")
    models = ("swiss-ai/Apertus-8B-Instruct-2509", "swiss-ai/Apertus-70B-Instruct-2509")
    traps = (
        "The model deliberates whatever `enable_thinking` says: the template only tells it what is wanted.",
        "Behind a tool's results its turn is still open: such a prompt may end inside a deliberation.",
    )
    format = OutputFormat(
        reasoning=Reasoning(
            Marker("<|inner_prefix|>"), Marker("<|inner_suffix|>"), reopens=True, off_text=False
        ),
        tools=(
            Tools(
                open=Marker("<|tools_prefix|>"),
                close=Marker("<|tools_suffix|>"),
                calls=(JsonArray(KeyedObject()),),
                in_reasoning="nests",
            ),
        ),
        start=Start(boundaries=("<|assistant_start|>", "<|assistant_end|>"), undecided="content"),
    )
