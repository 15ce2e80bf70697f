"""Jamba (AI21): a JSON array of calls between two tokens."""

from unified_parser.calls.json_calls import JsonArray
from unified_parser.format import Marker, OutputFormat, Start, Tools
from unified_parser.parser import UnifiedParser


class JambaParser(UnifiedParser):
    """Jamba 1.5, 1.6 and 1.7 (Jamba Reasoning 3B writes another format)."""

    names = ("jamba",)
    models = (
        "ai21labs/AI21-Jamba-1.5-Mini",
        "ai21labs/AI21-Jamba-1.5-Large",
        "ai21labs/AI21-Jamba-Mini-1.6",
        "ai21labs/AI21-Jamba-*-1.7",
    )
    traps = (
        "Outputs often begin with a space, as the template's turns do: it stays in the content.",
        "Jamba Reasoning 3B has another format (ChatML, think tags).",
    )
    format = OutputFormat(
        tools=(Tools(open=Marker("<tool_calls>"), close=Marker("</tool_calls>"), calls=(JsonArray(),)),),
        start=Start(boundaries=("<|bom|>", "<|eom|>")),
    )
