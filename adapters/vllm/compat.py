"""All that depends on which vLLM this is. No other module asks for its version or where it keeps a thing.

| topic | 0.30 | later | what serves all |
|---|---|---|---|
| end of reasoning in a step | ``find_reasoning_end_offset`` | 0.32: ``find_reasoning_end`` | both |
| what it gives | int | 0.32: ``ReasoningEnd`` | ``ReasoningEnd`` here |
| tool call ids | ``entrypoints.chat_utils`` | 0.32: ``renderers.chat_utils`` | ``make_tool_call_id`` here |
| a grammar that covers the reasoning | chat requests | 0.33: Responses, too | ``CONSTRAINS_FROM_START`` |
| strict level of a structural tag | none | 0.31: an argument; 0.33: None, too | an optional argument |
| tool parser's ``chat_template_kwargs`` | none | 0.32: an argument | the request's, without one |
| prompt of a whole output | none | 0.32: ``set_prompt_token_ids`` | the first ids asked about, without it |
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

import vllm
from vllm.logger import init_logger

from . import VllmMissingError

#: Only loggers below ``vllm`` have a handler in a server.
LOGGER_NAME = "vllm.unified_parser"

logger = init_logger(LOGGER_NAME)

#: The oldest release that is served, and the newest that the tests have run against.
OLDEST, NEWEST = (0, 30), (0, 33)

#: The attribute of a request that has its grammar begin with the output, whatever the reasoning parser says.
#: A kind of request that has none cannot.
CONSTRAINS_FROM_START = "_grammar_from_parser"


class _ReasoningEnd(NamedTuple):
    """Where reasoning ends in a step's tokens, and whether the token there is content already."""

    offset: int
    implicit: bool


def _first(name: str, *modules: str, otherwise: Any = None) -> Any:
    """What goes by this name in the first of these modules that has it."""
    for module in modules:
        try:
            return getattr(import_module(module), name)
        except (ImportError, AttributeError):
            continue
    if otherwise is None:
        raise ImportError(f"vllm has no {name} in {' or '.join(modules)}", name="vllm")
    return otherwise


_CHAT_UTILS = ("vllm.renderers.chat_utils", "vllm.entrypoints.chat_utils")

ReasoningEnd: Any = _first("ReasoningEnd", "vllm.parser.engine.parser_engine", otherwise=_ReasoningEnd)
get_tool_call_id_type = _first("get_tool_call_id_type", *_CHAT_UTILS)
make_tool_call_id = _first("make_tool_call_id", *_CHAT_UTILS)


#: The arguments with which the serving layer calls the members that a direct parser overrides.
_CALLED_WITH: Mapping[str, frozenset[str]] = {
    "parse": frozenset({"model_output", "request", "enable_auto_tools", "model_output_token_ids"}),
    "parse_delta": frozenset({"delta_text", "delta_token_ids", "request", "prompt_token_ids", "finished"}),
}


def called_otherwise() -> str:
    """The member of a ``Parser`` that this vLLM calls in a way unknown here; none in the tested versions."""
    composed = _first("DelegatingParser", "vllm.parser.abstract_parser")
    for member, arguments in _CALLED_WITH.items():
        if not arguments <= inspect.signature(getattr(composed, member)).parameters.keys():
            return member
    return ""


def check_version() -> None:
    """Warns once where the tests have not run against this vLLM: what is used is what it has.

    Raises ``VllmMissingError`` where it is too old.
    """
    version = str(vllm.__version__)
    release = re.match(r"(\d+)\.(\d+)", version)
    if release is None or ".dev" in version:  # a build from a clone without tags says 0.1.dev1
        _warn_of(version)
        return
    found = int(release[1]), int(release[2])
    if found < OLDEST:
        raise VllmMissingError(
            f"vLLM {_spelled(OLDEST)} or later is needed here, and this is {version}: "
            "pip install 'unified-parser[vllm]'"
        )
    if found > NEWEST:
        _warn_of(version)


@functools.cache
def _warn_of(version: str) -> None:
    tested = f"vLLM {_spelled(OLDEST)} to {_spelled(NEWEST)}"
    logger.warning("unified_parser is tested with %s, and this is %s: it uses what it finds", tested, version)


def _spelled(release: tuple[int, int]) -> str:
    return ".".join(map(str, release))
