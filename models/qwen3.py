"""Qwen3 and its relatives (Alibaba), and the Hermes format (Nous Research) from which the JSON calls come."""

from unified_parser.calls.json_calls import JsonArray, JsonObject
from unified_parser.calls.tagged import Parameter, TaggedCall
from unified_parser.format import (
    Marker,
    OutputFormat,
    Reasoning,
    Start,
    Tools,
    replace,
    text_marker,
)
from unified_parser.parser import UnifiedParser

THINK = Reasoning(
    Marker("<think>", after=("\n",)),
    Marker("</think>", before=("\n",), after=("\n\n",)),
)
CHAT_ML = Start(boundaries=("<|im_start|>", "<|im_end|>"), toggles={"enable_thinking": (False,)})

TOOL_CALL = Marker("<tool_call>", before=("\n\n",))
TOOL_CALL_END = Marker("</tool_call>")
#: A value may quote any tag; where its own closing tag is missing, these end it.
LOST_CLOSE = (
    text_marker("\n<parameter="),
    Marker("\n</function>\n</tool_call>", token="</tool_call>"),
    Marker("</function></tool_call>", token="</tool_call>"),
)
XML_CALL = TaggedCall(
    begin=text_marker("<function="),
    name_end=(text_marker(">"),),
    parameter=Parameter(
        open=text_marker("<parameter="),
        key_end=text_marker(">"),
        close=text_marker("</parameter>"),
        trim="newline",
        recovery=LOST_CLOSE,
    ),
    end=text_marker("</function>"),
)
XML = OutputFormat(
    reasoning=THINK,
    tools=(Tools(open=TOOL_CALL, close=TOOL_CALL_END, calls=(XML_CALL, JsonObject()), bare=True),),
    start=CHAT_ML,
)
#: The JSON template writes one newline before a block.
JSON = replace(
    XML,
    tools=(
        Tools(
            open=replace(TOOL_CALL, before=("\n",)),
            close=TOOL_CALL_END,
            calls=(JsonObject(), JsonArray(), XML_CALL),
        ),
    ),
)
HERMES = replace(
    JSON,
    reasoning=Reasoning(Marker("<think>", after=("\n",)), Marker("</think>")),
    start=Start(
        boundaries=CHAT_ML.boundaries,
        toggles={"enable_thinking": (False,), "thinking": (False,)},
        undecided="content",
    ),
)


class Qwen3Parser(UnifiedParser):
    """Qwen3, Qwen3-Coder, Qwen3.5 and later: calls as XML (JSON is read too)."""

    names = ("qwen3", "qwen3_coder", "qwen3_xml", "qwen3-thinking", "nanbeige")
    models = ("Qwen/Qwen3-*", "Qwen/Qwen3-Coder-*", "Qwen/Qwen3.5-*")
    traps = (
        "Coder never thinks: use the tool name alone or `enable_thinking=false`, else all is reasoning.",
        "Qwen3.5's default of thinking differs by size: the prompt's last think tag decides.",
    )
    format = XML


class Qwen3JsonParser(UnifiedParser):
    """Qwen3 with the template of Qwen2.5: calls as JSON."""

    names = ("qwen3_json", "qwen", "qwen25")
    models = ("Qwen/Qwen2.5-*", "Qwen/QwQ-32B", "Qwen/Qwen3-*-2507")
    traps = ("Qwen2.5 and Instruct-2507 never think: use the tool name alone or `enable_thinking=false`.",)
    format = JSON


class HermesParser(UnifiedParser):
    """Hermes: JSON calls; thinking, where a model does think, with bare tags."""

    names = ("hermes",)
    models = ("NousResearch/Hermes-2-Pro-*", "NousResearch/Hermes-3-*", "NousResearch/Hermes-4-*")
    traps = (
        "Hermes 2 and 3 never think; Hermes 4 writes `<think>` itself if `thinking` asks for it.",
        "A call whose arguments come before its name does not stream.",
    )
    format = HERMES
