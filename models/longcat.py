"""LongCat (Meituan): a call is a JSON object, in later models a name and key/value pairs."""

from unified_parser.calls.json_calls import JsonObject
from unified_parser.calls.tagged import Parameter, TaggedCall
from unified_parser.format import Marker, OutputFormat, Reasoning, Start, Tools, text_marker
from unified_parser.parser import UnifiedParser

KEYED_CALL = TaggedCall(
    name_end=(text_marker("\n"),),
    name_is_closed=False,
    parameter=Parameter(
        open=Marker("<longcat_arg_key>"),
        key_end=Marker("</longcat_arg_key>"),
        value_begin=Marker("<longcat_arg_value>"),
        close=Marker("</longcat_arg_value>"),
    ),
)


class LongCatParser(UnifiedParser):
    """LongCat Flash Chat (JSON, no thinking), Flash Thinking, Flash Lite and Next."""

    names = ("longcat",)
    models = (
        "meituan-longcat/LongCat-Flash-Chat",
        "meituan-longcat/LongCat-Flash-Thinking*",
        "meituan-longcat/LongCat-Flash-Lite*",
        "meituan-longcat/LongCat-Next",
    )
    traps = (
        "Newer templates open the thinking in the prompt: to a parser without it, thoughts are content.",
    )
    format = OutputFormat(
        reasoning=Reasoning(
            Marker("<longcat_think>", after=("\n",)),
            Marker("</longcat_think>", before=("\n",), after=("\n",)),
        ),
        tools=(
            Tools(
                open=Marker("<longcat_tool_call>", before=("\n",)),
                close=Marker("</longcat_tool_call>"),
                calls=(JsonObject(), KEYED_CALL),
            ),
        ),
        start=Start(
            boundaries=(" ASSISTANT:", "<longcat_assistant>", "</longcat_s>"),
            toggles={"enable_thinking": (False,)},
            undecided="content",
        ),
    )
