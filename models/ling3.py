"""Ling 3 (inclusionAI): GLM-4.7's think tags and key/value calls, between turns that are spelled as text."""

from unified_parser.format import THINKING_TOGGLES, Content, Drop, Marker, Start, replace
from unified_parser.parser import UnifiedParser

from .glm import GLM47, REOPENS_TRAP

#: The model sometimes spells the end of its turn instead of stopping there.
TURN_END = Marker("<|role_end|>")


class Ling3Parser(UnifiedParser):
    """Ling 3.0 and 3.1."""

    names = ("ling3",)
    models = ("inclusionAI/Ling-3.0-*", "inclusionAI/Ling-3.1-*")
    traps = (
        "The model often calls before `</think>`: the call is read, and the thought is over with it.",
        REOPENS_TRAP,
    )
    format = replace(
        GLM47,
        content=Content(drops=(Drop(TURN_END, ends_output=True),)),
        start=Start(boundaries=("<role>", TURN_END.text), toggles=THINKING_TOGGLES),
    )
