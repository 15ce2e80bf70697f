"""ERNIE 4.5 Thinking (Baidu): think tags, a response wrapper, JSON calls, newlines around them all."""

from unified_parser.calls.json_calls import JsonObject
from unified_parser.format import Content, Drop, Marker, OutputFormat, Reasoning, Start, Tools
from unified_parser.parser import UnifiedParser

NEWLINE = ("\n",)


class Ernie45Parser(UnifiedParser):
    """ERNIE 4.5 Thinking; of the VL thinking models the reasoning."""

    names = ("ernie45",)
    models = ("baidu/ERNIE-4.5-21B-A3B-Thinking", "baidu/ERNIE-4.5-VL-*")
    traps = (
        "Only the VL models have a switch; the 21B model always thinks.",
        "Response tags are taken out of an answer wherever they stand, quoted ones too if no ids tell.",
    )
    format = OutputFormat(
        reasoning=Reasoning(
            Marker("<think>", after=NEWLINE),
            Marker("</think>", before=NEWLINE, after=("\n\n\n", "\n\n", "\n")),
        ),
        content=Content(
            drops=(
                Drop(Marker("<response>", after=NEWLINE)),
                Drop(Marker("</response>", before=NEWLINE, after=NEWLINE)),
            )
        ),
        tools=(
            Tools(
                open=Marker("<tool_call>", before=NEWLINE),
                close=Marker("</tool_call>", after=NEWLINE),
                calls=(JsonObject(),),
                in_reasoning="text",
            ),
        ),
        start=Start(boundaries=("<|im_start|>", "<|im_end|>"), toggles={"enable_thinking": (False,)}),
    )
