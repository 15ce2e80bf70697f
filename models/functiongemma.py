"""FunctionGemma (Google): no reasoning; calls in Gemma's notation, with an escape token around strings."""

from unified_parser.calls.notation_call import NotationCall
from unified_parser.format import Marker, OutputFormat, Start, Tools
from unified_parser.parser import UnifiedParser


class FunctionGemmaParser(UnifiedParser):
    """FunctionGemma 270M and its fine-tunes."""

    names = ("functiongemma",)
    models = ("google/functiongemma-270m-it",)
    traps = ("Models may write numbers as strings: give the tools, whose schemas say which are numbers.",)
    format = OutputFormat(
        tools=(
            Tools(
                open=Marker("<start_function_call>"),
                close=Marker("<end_function_call>"),
                calls=(NotationCall(delimiter=Marker("<escape>")),),
            ),
        ),
        start=Start(boundaries=("<start_of_turn>", "<end_of_turn>", "<start_function_response>")),
    )
