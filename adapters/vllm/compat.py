"""What differs between vLLM 0.30 and 0.33, and the names that moved; no other module depends on a version.

| topic | 0.30 | from 0.32 |
|---|---|---|
| end of reasoning in a step | ``find_reasoning_end_offset``, int | ``find_reasoning_end``, ``ReasoningEnd`` |
| tool call ids | ``entrypoints.chat_utils`` | ``renderers.chat_utils`` |
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

from vllm.parser.engine import parser_engine

#: Only loggers below ``vllm`` have a handler in a server.
LOGGER_NAME = "vllm.unified_parser"


class _ReasoningEnd(NamedTuple):
    """Where reasoning ends in a step's tokens, and whether the token there is content already."""

    offset: int
    implicit: bool


ReasoningEnd: Any = getattr(parser_engine, "ReasoningEnd", _ReasoningEnd)


def _chat_utils() -> Any:
    for module in ("vllm.renderers.chat_utils", "vllm.entrypoints.chat_utils"):
        try:
            utils = import_module(module)
        except ImportError:
            continue
        if hasattr(utils, "make_tool_call_id"):
            return utils
    raise ImportError("vllm has no chat_utils.make_tool_call_id", name="vllm")


_utils = _chat_utils()
get_tool_call_id_type = _utils.get_tool_call_id_type
make_tool_call_id = _utils.make_tool_call_id
