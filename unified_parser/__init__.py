"""Parsers for what language models write: reasoning, content and tool calls, whole or as it comes."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .events import (
    ContentText,
    Discarded,
    Event,
    Framing,
    ReasoningEnd,
    ReasoningStart,
    ReasoningText,
    ToolCallArguments,
    ToolCallEnd,
    ToolCallStart,
)
from .format import FormatError, OutputFormat
from .message import Message, MessageBuilder, ToolCall, openai_deltas
from .parser import UnifiedParser
from .registry import (
    Family,
    UnknownFamilyError,
    create_parser,
    families,
    family_names,
    get_parser_class,
    pair,
)
from .schema import ToolSchemaError

__version__ = "0.1.0"

__all__ = [
    "ContentText",
    "Discarded",
    "Event",
    "Family",
    "FormatError",
    "Framing",
    "Message",
    "MessageBuilder",
    "OutputFormat",
    "ReasoningEnd",
    "ReasoningStart",
    "ReasoningText",
    "ToolCall",
    "ToolCallArguments",
    "ToolCallEnd",
    "ToolCallStart",
    "ToolSchemaError",
    "UnifiedParser",
    "UnknownFamilyError",
    "create_parser",
    "families",
    "family_names",
    "get_parser_class",
    "make_adapters",
    "openai_deltas",
    "pair",
]


def __getattr__(name: str) -> Any:
    """``make_adapters`` lives with the servers' adapters and is fetched from there when it is asked for."""
    if name == "make_adapters":
        return import_module("unified_parser.adapters.vllm").make_adapters
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
