"""How vLLM composes a reasoning and a tool parser, freed of what it does for certain names.

``ParserManager.get_parser`` composes any two parsers, but gives some names, and one model type, parsers of
its own that fail with foreign classes. While it composes ours they go by a name that means nothing to vLLM.
Models of that type keep vLLM's own parsers.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from vllm.parser import ParserManager
from vllm.reasoning import ReasoningParserManager
from vllm.tool_parsers import ToolParserManager

from .reasoning import ReasoningAdapter
from .tools import ToolAdapter

#: The argument of ``get_parser`` that names a parser, and the loaded classes by name.
_LOADED: Mapping[str, dict[str, Any]] = {
    "reasoning_parser_name": ReasoningParserManager.reasoning_parsers,
    "tool_parser_name": ToolParserManager.tool_parsers,
}


def install() -> None:
    """Makes vLLM compose our adapters whatever their names. A second call changes nothing."""
    original = ParserManager.get_parser
    if hasattr(original, "composes_unified_parsers"):
        return
    signature = inspect.signature(original)

    @functools.wraps(original)
    def get_parser(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        if bound.arguments.get("is_harmony"):
            with _vllms_own():
                return original(*args, **kwargs)
        with _renamed(bound.arguments):
            return original(*bound.args, **bound.kwargs)

    get_parser.composes_unified_parsers = True  # type: ignore[attr-defined]
    ParserManager.get_parser = staticmethod(get_parser)


def _is_ours(parser: Any) -> bool:
    return isinstance(parser, type) and issubclass(parser, ReasoningAdapter | ToolAdapter)


@contextmanager
def _renamed(arguments: dict[str, Any]) -> Iterator[None]:
    """Gives our parsers among the arguments a second name for as long as this lasts."""
    given: list[tuple[dict[str, Any], str]] = []
    for argument, loaded in _LOADED.items():
        name = arguments.get(argument)
        if name and _is_ours(loaded.get(name)):
            arguments[argument] = second = f"unified_parser/{name}"
            loaded[second] = loaded[name]
            given.append((loaded, second))
    try:
        yield
    finally:
        for loaded, second in given:
            loaded.pop(second, None)


@contextmanager
def _vllms_own() -> Iterator[None]:
    """While this lasts, our names are vLLM's own parsers again, where it has any."""
    ours = [
        (loaded, {name: parser for name, parser in loaded.items() if _is_ours(parser)})
        for loaded in _LOADED.values()
    ]
    for loaded, parsers in ours:
        for name in parsers:
            del loaded[name]
    try:
        yield
    finally:
        for loaded, parsers in ours:
            loaded |= parsers
