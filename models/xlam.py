"""xLAM (Salesforce): one array of calls, written bare or in any of three wrappers."""

from unified_parser.calls.json_calls import JsonArray, JsonObject
from unified_parser.format import Marker, OutputFormat, Tools, replace, text_marker
from unified_parser.parser import UnifiedParser

CALLS = JsonArray(JsonObject(arguments=("arguments",), needs_arguments=True))
#: A bare array is an answer's beginning, or follows a thought at once; elsewhere it is text.
BARE = replace(CALLS, begin=text_marker("[", behind=("</think>", "</think>\n", "</think>\n\n")))


class XlamParser(UnifiedParser):
    """xLAM 1 and 2. A thought is content unless another family is asked to read it."""

    names = ("xlam",)
    models = ("Salesforce/Llama-xLAM-2-*-fc-r", "Salesforce/xLAM-2-*-fc-r", "Salesforce/xLAM-*-fc-r")
    traps = (
        "A thought stays in the content, tags included, unless another family reads the reasoning.",
        "Three backticks are held back until it is clear whether calls follow.",
        "A model that has nothing to say may answer `[]`, which is content.",
    )
    format = OutputFormat(
        tools=(
            Tools(open=text_marker("```json", "```"), close=text_marker("```"), calls=(CALLS,)),
            Tools(open=text_marker("[TOOL_CALLS]"), calls=(CALLS,)),
            Tools(open=Marker("<tool_call>"), close=Marker("</tool_call>"), calls=(CALLS,)),
            Tools(calls=(BARE,)),
        ),
    )
