"""IQuest Q1: GLM-4.7's key/value calls in a tag of its own."""

from unified_parser.format import THINKING_TOGGLES, Marker, Start, replace
from unified_parser.parser import UnifiedParser

from .glm import GLM47, REOPENS_TRAP


class IQuestParser(UnifiedParser):
    """IQuest Q1."""

    names = ("iquest_q1",)
    traps = (REOPENS_TRAP,)
    format = replace(
        GLM47,
        tools=(
            replace(GLM47.tools[0], open=Marker("<iquest_tool_call>"), close=Marker("</iquest_tool_call>")),
        ),
        start=Start(boundaries=("<|iquest_assistant|>", "<|iquest_end|>"), toggles=THINKING_TOGGLES),
    )
