"""Olmo 3 (Ai2): think tags and Python calls, one a line, in a section; every marker is ordinary text."""

from unified_parser.calls.python_calls import PythonCalls
from unified_parser.format import OutputFormat, Reasoning, Start, Tools, text_marker
from unified_parser.parser import UnifiedParser


class Olmo3Parser(UnifiedParser):
    """Olmo 3 and 3.1. The prompt opens thinking for the Think models, and for no other."""

    names = ("olmo3",)
    models = (
        "allenai/Olmo-3-7B-Instruct",
        "allenai/Olmo-3-7B-Think",
        "allenai/Olmo-3-32B-Think",
        "allenai/Olmo-3.1-*",
    )
    traps = (
        "All tags are ordinary text: a quoted tag cannot be told from a real one.",
        "Think models' prompts open the thinking: to a parser without the prompt, thoughts are content.",
    )
    format = OutputFormat(
        reasoning=Reasoning(text_marker("<think>"), text_marker("</think>")),
        tools=(
            Tools(
                open=text_marker("<function_calls>"),
                close=text_marker("</function_calls>"),
                calls=(PythonCalls(loose=True),),
                in_reasoning="text",  # thoughts quote it
            ),
        ),
        start=Start(boundaries=("<|im_start|>", "<|im_end|>"), undecided="content"),
    )
