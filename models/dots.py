"""dots (rednote-hilab): Qwen3's thinking; attribute tags, or a JSON object, in a block of text."""

from unified_parser.calls.json_calls import JsonObject
from unified_parser.format import OutputFormat, Tools, replace, text_marker
from unified_parser.parser import UnifiedParser

from .minimax_m2 import INVOKE
from .qwen3 import CHAT_ML, THINK

#: Models pad values with a newline at times.
PADDED = replace(INVOKE, parameter=replace(INVOKE.parameter, trim="newline"))


class DotsParser(UnifiedParser):
    """dots-3 and later, which write their own think tags."""

    names = ("dots",)
    models = ("dots-studio/dots-3-*",)
    traps = (
        "The template was not seen: turns are taken to be ChatML's, and thinking to be on by default.",
        "One newline at each edge of a value is dropped, though it may be the value's own.",
    )
    format = OutputFormat(
        reasoning=THINK,
        tools=(
            Tools(
                open=text_marker("<dots_function_call>"),
                close=text_marker("</dots_function_call>"),
                calls=(PADDED, JsonObject()),
            ),
        ),
        start=replace(CHAT_ML, undecided="content"),
    )
