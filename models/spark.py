"""Spark X2.5 (iFlytek): GLM-4.7's key/value calls."""

from unified_parser.format import THINKING_TOGGLES, Start, replace
from unified_parser.parser import UnifiedParser

from .glm import GLM47, REOPENS_TRAP


class Spark25Parser(UnifiedParser):
    """Spark X2.5."""

    names = ("spark25",)
    models = ("XHToken/Spark-X2.5-4B", "XHToken/Spark-X2.5-9B")
    traps = (
        "Decoded outputs with `<|tool_call|>` in place of `<tool_call>` were seen: that spelling is no call.",
        REOPENS_TRAP,
    )
    format = replace(
        GLM47, start=Start(boundaries=("<|Bot|>",), toggles=THINKING_TOGGLES, undecided="content")
    )
