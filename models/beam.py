"""Reflection Beam: Harmony's headers in an order of their own; a call's body holds parameter tags."""

import re

from unified_parser.calls.tagged import Parameter, TaggedCall
from unified_parser.format import Header, Marker, OutputFormat, Route, text_marker
from unified_parser.parser import UnifiedParser

RECIPIENT = re.compile(r" to=([^\s<]+)")
CHANNEL = re.compile(r"<\|channel\|>\s*(\w+)")
CHANNELS = {"analysis": Route("reasoning"), "final": Route("content")}
HEADERS = (
    *(f"<|channel|>{channel}" for channel in CHANNELS),
    " to={name}<|channel|>analysis <|constrain|>xml",
)
#: The body of a call. A value's closing tag is one token that begins with the newline behind the value.
CALL = TaggedCall(
    named_by_header=True,
    ends_output=True,
    parameter=Parameter(
        open=text_marker("<rfl:parameter"),
        key_end=text_marker(">"),
        key_attribute="name",
        close=text_marker("</rfl:parameter>"),
        trim="newline",
        recovery=(text_marker('\n<rfl:parameter name="'),),
    ),
)


def classify(header: str, ending: str) -> Route:
    """A recipient makes the message a call, though on the channel of reasoning; else the channel decides."""
    recipient = RECIPIENT.search(header)
    if recipient is not None:
        return Route("call", CALL, recipient[1])
    channel = CHANNEL.search(header)
    return CHANNELS.get(channel[1], Route("ignored")) if channel else Route("ignored")


class BeamParser(UnifiedParser):
    """Beam 1.0."""

    names = ("beam",)
    models = ("reflection/Beam-1.0-501B-A23B-NVFP4",)
    traps = (
        "Calls are on the reasoning's channel, `analysis`, too: only the recipient ` to=` tells them apart.",
        "Messages on other channels than `analysis` and `final` are dropped.",
    )
    format = OutputFormat(
        header=Header(
            open=Marker("<|start|>"),
            inner=(Marker("<|channel|>"), Marker("<|constrain|>")),
            ends=(Marker("<|message|>"),),
            close=(Marker("<|end|>"), Marker("<|call|>"), Marker("<|return|>")),
            classify=classify,
            written=HEADERS,
            role="assistant",
            open_in_body=True,
        ),
    )
