"""Muse (Meta): a header's recipient decides what a message is; a tool's message holds a block of tags."""

import re
from collections.abc import Callable
from functools import partial

from unified_parser.calls.block import Wrapped
from unified_parser.calls.tagged import Parameter, TaggedCall, guessed_types
from unified_parser.format import Header, Marker, OutputFormat, Route, text_marker
from unified_parser.parser import UnifiedParser
from unified_parser.schema import Tools

RECIPIENT = re.compile(r"\bto=(\S+)")


def declared_name(name: str, tools: Tools) -> str:
    """Tools are advertised as ``name.*``, so models write ``name.name`` for a tool without parts."""
    half = name[: len(name) // 2]
    doubled = bool(half) and name == f"{half}.{half}"
    return half if doubled and half in tools and name not in tools else name


ATEM = Wrapped(
    text_marker("<atem:function_calls>"),
    text_marker("</atem:function_calls>"),
    calls=(
        TaggedCall(
            begin=text_marker("<atem:invoke"),
            name_end=(text_marker(">"),),
            name_attribute="name",
            resolve=declared_name,
            parameter=Parameter(
                open=text_marker("<atem:parameter"),
                key_end=text_marker(">"),
                key_attribute="name",
                close=text_marker("</atem:parameter>"),
                typing=guessed_types,
                recovery=(
                    text_marker("\n<atem:parameter name="),
                    text_marker("\n</atem:invoke>\n</atem:function_calls>"),
                ),
            ),
            end=text_marker("</atem:invoke>"),
        ),
    ),
    begins_call=False,
)
CHANNELS = {
    "self": Route("reasoning"),
    "user": Route("content"),
    "commentary": Route("content"),
    "developer": Route("ignored"),
}

HEADERS = ("", " to=self", " to=commentary", " to=user", " to={name}")


def classify(nobody: Route, header: str, ending: str) -> Route:
    """The recipient decides; a message to nobody is what the generation takes it for."""
    recipient = RECIPIENT.search(header)
    if recipient is None:
        return nobody
    return CHANNELS.get(recipient[1]) or Route("call", ATEM, recipient[1])


def muse(nobody: Route) -> OutputFormat:
    """The format of a generation. A header may come without its opener, the end of its message missing."""
    read: Callable[[str, str], Route] = partial(classify, nobody)
    return OutputFormat(
        header=Header(
            open=Marker("<|start|>"),
            ends=(Marker("<|message|>"),),
            close=(Marker("<|eom|>"), Marker("<|eot|>")),
            classify=read,
            written=HEADERS,
            role="assistant",
            open_in_body=True,
            bare=(text_marker(" to=", "\nto=", "\n to=", "\n\nto=", "\n\n to="),),
        ),
    )


STRENGTH = "No switch turns thinking off, `reasoning_strength` only says how much of it there is."


class MuseParser(UnifiedParser):
    """Muse Spark."""

    names = ("muse", "musespark1x")
    models = ("meta-models/Muse-Spark-Open-816B-A42B-NVFP4",)
    traps = (
        STRENGTH,
        "A message to nobody is reasoning; for `muse_glimmer` it is an answer.",
    )
    format = muse(nobody=Route("reasoning"))


class MuseGlimmerParser(UnifiedParser):
    """Muse Glimmer: a message to nobody is an answer."""

    names = ("muse_glimmer",)
    models = ("meta-models/Muse-Glimmer-30B",)
    traps = (
        STRENGTH,
        "A message to nobody is an answer; for `muse` it is reasoning.",
    )
    format = muse(nobody=Route("content"))
