"""Granite (IBM): four wires. 3.x has sentences as markers, 4.0 JSON in tags; 20b-functioncalling; 4.2."""

from unified_parser.calls.json_calls import JsonArray, JsonObject
from unified_parser.format import Marker, OutputFormat, Reasoning, Start, Tools, replace, text_marker
from unified_parser.parser import UnifiedParser

from .nemotron import FORCED_CONTENT
from .qwen3 import XML

TURNS = ("<|start_of_role|>", "<|end_of_text|>")

GRANITE3 = OutputFormat(
    reasoning=Reasoning(
        text_marker("Here is my thought process:", "Here's my thought process:"),
        text_marker("Here is my response:", "Here's my response:"),
    ),
    tools=(
        Tools(open=Marker("<|tool_call|>"), calls=(JsonArray(),)),
        Tools(open=text_marker("<tool_call>"), calls=(JsonArray(),), in_reasoning="text"),
    ),
    start=Start(boundaries=TURNS, toggles={"thinking": (False,)}, thinking=False, undecided="content"),
)
GRANITE4 = OutputFormat(
    tools=(
        Tools(
            open=Marker("<tool_call>", before=("\n",)), close=Marker("</tool_call>"), calls=(JsonObject(),)
        ),
    ),
    start=Start(boundaries=TURNS),
)
FUNCTION_CALLING = OutputFormat(
    tools=(Tools(open=text_marker("<function_call>"), calls=(JsonObject(nothing="no_function"),)),),
)
GRANITE42 = replace(
    XML,
    reasoning=Reasoning(
        Marker("<think>", after=("\n",)),
        Marker("</think>", before=("\n",), after=("\n\n", "\n")),
        strip="trailing",
    ),
    tools=(replace(XML.tools[0], open=Marker("<tool_call>", before=("\n",))),),
    start=replace(XML.start, content_required=FORCED_CONTENT),
)

GENERATIONS = "`granite` is for 3.x, `granite4` for 4.0, `granite_thinking_parser` for 4.2: three formats."


class Granite3Parser(UnifiedParser):
    """Granite 3.0 to 3.3."""

    names = ("granite",)
    models = ("ibm-granite/granite-3.*-instruct",)
    traps = (
        "The phrases count only where `thinking` is on, and the first only at the beginning of the output.",
        GENERATIONS,
    )
    format = GRANITE3


class Granite4Parser(UnifiedParser):
    """Granite 4.0."""

    names = ("granite4",)
    models = ("ibm-granite/granite-4.0-*",)
    traps = (GENERATIONS,)
    format = GRANITE4


class GraniteFunctionCallingParser(UnifiedParser):
    """Granite 20B function calling."""

    names = ("granite-20b-fc",)
    models = ("ibm-granite/granite-20b-functioncalling",)
    traps = (
        "A call of `no_function` means that nothing is called: it is no call unless such a tool is offered.",
    )
    format = FUNCTION_CALLING


class GraniteThinkingParser(UnifiedParser):
    """Granite 4.2: Qwen3-Coder's calls, and its own framing of the thinking block."""

    names = ("granite_thinking_parser",)
    models = ("ibm-granite/granite-4.2-*",)
    traps = (GENERATIONS,)
    format = GRANITE42
