"""Inkling (Thinking Machines): every message has a header whose last marker is the kind of its body."""

from unified_parser.calls.json_calls import JsonObject
from unified_parser.format import Header, Marker, OutputFormat, Route
from unified_parser.parser import UnifiedParser

CALL = Route("call", JsonObject(arguments=("args", "arguments", "parameters")))
#: What a body is, by the marker that ends its header. The rest of the header (a function's name) is a copy.
KINDS = {
    "<|content_thinking|>": Route("reasoning"),
    "<|content_text|>": Route("content"),
    "<|content_invoke_tool_json|>": CALL,
    "<|content_invoke_tool_text|>": Route("content"),
    "<|content_tool_error|>": Route("content"),
}


def classify(header: str, ending: str) -> Route:
    """The kind alone decides."""
    return KINDS[ending]


class InklingParser(UnifiedParser):
    """Inkling. A model that writes no header at all means content."""

    names = ("inkling",)
    models = ("thinkingmachines/Inkling*",)
    traps = (
        "No switch turns thinking off; the model may skip its thinking block.",
        "A call's name in the header is a copy: the one in the JSON counts.",
    )
    format = OutputFormat(
        header=Header(
            open=Marker("<|message_model|>"),
            ends=tuple(map(Marker, KINDS)),
            close=(Marker("<|end_message|>"), Marker("<|content_model_end_sampling|>")),
            classify=classify,
            open_in_body=True,
            ends_in_body=True,
            loose=True,
        ),
    )
