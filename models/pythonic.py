"""Calls as a bare Python list: Llama 3.2, ToolACE and others; Llama 4 may wrap the list in tokens."""

from unified_parser.calls.json_calls import JsonObject
from unified_parser.calls.python_calls import PythonCalls
from unified_parser.format import Marker, OutputFormat, Start, Tools, replace, text_marker
from unified_parser.parser import UnifiedParser

LIST = PythonCalls(begin=text_marker("[", behind=("\n",)))

BRACKET_TRAP = "A `[` where a line begins is held back until it is clear whether a call follows."
POSITIONAL_TRAP = "A list whose first call has positional arguments is text."


class PythonicParser(UnifiedParser):
    """Llama 3.2 1B and 3B, ToolACE, Ultravox and Gemma 3 with the prompt for Python call lists."""

    names = ("pythonic",)
    models = (
        "meta-llama/Llama-3.2-1B-Instruct",
        "meta-llama/Llama-3.2-3B-Instruct",
        "Team-ACE/ToolACE-8B",
        "fixie-ai/ultravox-v0_4-ToolACE-8B",
    )
    traps = (BRACKET_TRAP, POSITIONAL_TRAP)
    format = OutputFormat(
        tools=(Tools(calls=(LIST,)),),
        start=Start(
            boundaries=(
                "<|start_header_id|>",
                "<|end_header_id|>",
                "<|eot_id|>",
                "<|eom_id|>",
                "<start_of_turn>",
                "<end_of_turn>",
            )
        ),
    )


#: Llama 4 falls back to its JSON notation now and then.
OBJECT = JsonObject(arguments=("parameters", "arguments"), only=("type",), needs_arguments=True)


class Llama4PythonicParser(UnifiedParser):
    """Llama 4 Scout and Maverick with Python call lists. The wrapper's tokens may be left out of the text."""

    names = ("llama4_pythonic",)
    models = ("meta-llama/Llama-4-Scout-17B-16E-Instruct", "meta-llama/Llama-4-Maverick-17B-128E-Instruct")
    traps = (BRACKET_TRAP, POSITIONAL_TRAP)
    format = OutputFormat(
        tools=(
            Tools(
                open=Marker("<|python_start|>"),
                close=Marker("<|python_end|>"),
                calls=(PythonCalls(), OBJECT),
            ),
            Tools(calls=(LIST, replace(OBJECT, begin=text_marker("{", behind=("\n",))))),
        ),
        start=Start(boundaries=("<|header_start|>", "<|header_end|>", "<|eot|>", "<|eom|>")),
    )
