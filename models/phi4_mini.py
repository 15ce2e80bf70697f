"""Phi-4-mini (Microsoft): ``functools[`` and JSON objects, all of it ordinary text."""

from unified_parser.calls.json_calls import JsonArray
from unified_parser.format import OutputFormat, Start, Tools, text_marker
from unified_parser.parser import UnifiedParser


class Phi4MiniParser(UnifiedParser):
    """Phi-4-mini and Phi-4-multimodal (not the 14B Phi-4)."""

    names = ("phi4_mini_json",)
    models = ("microsoft/Phi-4-mini-instruct", "microsoft/Phi-4-multimodal-instruct")
    traps = ("Phi-4 (14B) and Phi-4-mini-reasoning have no such calls.",)
    format = OutputFormat(
        tools=(Tools(calls=(JsonArray(begin=text_marker("functools[")),)),),
        start=Start(boundaries=("<|assistant|>", "<|end|>")),
    )
