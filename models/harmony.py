"""Harmony (OpenAI gpt-oss): a header's channel and recipient decide what a message's body is."""

import re

from unified_parser.calls.headered import BodyCall
from unified_parser.format import Header, Marker, OutputFormat, Route
from unified_parser.parser import UnifiedParser

RECIPIENT = re.compile(r"\bto=([^\s<]+)")
CHANNEL = re.compile(r"<\|channel\|>\s*([\w-]+)")
BUILT_IN_TOOLS = ("python", "browser", "container", "assistant")
CHANNELS = {"analysis": Route("reasoning"), "commentary": Route("content"), "final": Route("content")}

HEADERS = (
    *(f"<|channel|>{channel}" for channel in CHANNELS),
    "<|channel|>commentary to=functions.{name} <|constrain|>json",
    "<|channel|>commentary to=functions.{name}<|constrain|>json",
    " to=functions.{name}<|channel|>commentary <|constrain|>json",
    " to=functions.{name}<|channel|>commentary json",
)


def classify(header: str, ending: str) -> Route:
    """A recipient that is a function makes the message a call, on any channel; else the channel decides."""
    header = header.partition("<|constrain|>")[0]
    recipient = RECIPIENT.search(header)
    if recipient is not None:
        name = recipient[1].removeprefix("functions.")
        built_in = recipient[1].partition(".")[0] in BUILT_IN_TOOLS
        return Route("ignored") if built_in or not name else Route("call", BodyCall(), name)
    channel = CHANNEL.search(header)
    return CHANNELS.get(channel[1], Route("ignored")) if channel else Route("ignored")


class HarmonyParser(UnifiedParser):
    """gpt-oss."""

    names = ("openai_gptoss", "openai", "gpt_oss", "gpt-oss")
    models = ("openai/gpt-oss-20b", "openai/gpt-oss-120b", "openai/gpt-oss-safeguard-*")
    traps = (
        "Any message to a function is a call, on `analysis` and without `functions.` before its name too.",
        "Calls of built-in tools (`python`, `browser`, `container`) are dropped.",
        "No switch turns thinking off, `reasoning_effort` only says how much of it there is.",
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
            constrained="messages",
            separator="\n",
        ),
    )
