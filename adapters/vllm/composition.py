"""What vLLM makes of our parsers' names: one parser for the whole response, or a composition of two.

``ParserManager.get_parser`` composes any two parsers, but gives some names, and one model type, parsers of
its own that fail with foreign classes. While it composes ours they go by a name that means nothing to vLLM.
What it has composed is then replaced by the direct parser (``direct``), unless ``UNIFIED_PARSER_VLLM_DIRECT``
is 0, one of the two is somebody else's, or this vLLM is not as expected.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from vllm.logger import init_logger
from vllm.parser import ParserManager
from vllm.reasoning import ReasoningParserManager
from vllm.tool_parsers import ToolParserManager

from unified_parser import __version__

from .compat import LOGGER_NAME, called_otherwise
from .direct import direct_parser
from .reasoning import ReasoningAdapter
from .tools import ToolAdapter
from .watched import watched_parser

logger = init_logger(LOGGER_NAME)

VARIABLE = "UNIFIED_PARSER_VLLM_DIRECT"

#: The argument of ``get_parser`` that names a parser, and the loaded classes by name.
_LOADED: Mapping[str, dict[str, Any]] = {
    "reasoning_parser_name": ReasoningParserManager.reasoning_parsers,
    "tool_parser_name": ToolParserManager.tool_parsers,
}

#: The attributes of a composed class, and the argument that names what is there.
_ARGUMENT_OF: Mapping[str, str] = {
    "reasoning_parser_cls": "reasoning_parser_name",
    "tool_parser_cls": "tool_parser_name",
}


def install() -> None:
    """Makes vLLM compose our parsers whatever their names. A second call changes nothing."""
    original = ParserManager.get_parser
    if hasattr(original, "composes_unified_parsers"):
        return
    signature = inspect.signature(original)

    @functools.wraps(original)
    def get_parser(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        if bound.arguments.get("is_harmony"):
            return _for_harmony(original, bound)
        with _renamed(bound.arguments):
            return _improved(original(*bound.args, **bound.kwargs))

    get_parser.composes_unified_parsers = True  # type: ignore[attr-defined]
    ParserManager.get_parser = staticmethod(get_parser)


def _improved(composed: Any, otherwise: Any = None) -> Any:
    """The direct parser in place of a composition of ours, where it can be; says once which it is.

    ``otherwise``: what serves where it cannot be, if not the composition.
    """
    halves = _halves(composed)
    if not any(map(_is_ours, halves)):
        return composed
    why = _why_not_direct(halves)
    if why and otherwise is not None:
        _say_once(f"unified_parser {__version__} leaves the output to vLLM's own parser ({why})")
        return otherwise
    names = " and ".join(dict.fromkeys(half.parser_class.names[0] for half in halves if _is_ours(half)))
    path = f"through the adapters ({why})" if why else "directly"
    _say_once(f"unified_parser {__version__} parses {names} {path}")
    return watched_parser(composed) if why else direct_parser(composed)


@functools.cache
def _say_once(line: str) -> None:
    """One line in the log, however many parts of the server ask for their parser."""
    logger.info("%s", line)


def _halves(composed: Any) -> list[Any]:
    halves = (getattr(composed, name, None) for name in _ARGUMENT_OF)
    return [half for half in halves if half is not None]


def _why_not_direct(halves: list[Any]) -> str:
    """Why these halves cannot be one parser; nothing if they can."""
    if os.environ.get(VARIABLE, "").strip() == "0":
        return f"{VARIABLE}=0"
    if not all(map(_is_ours, halves)):
        return "one of them is not of this package"
    member = called_otherwise()
    return f"this vLLM calls {member} in another way" if member else ""


def _for_harmony(original: Any, bound: inspect.BoundArguments) -> Any:
    """For a model type that vLLM serves by a class of its own: that class made direct, or as it is.

    The server uses members of that class which no other has; its halves, which it insists on, are exchanged.
    """
    with _vllms_own():
        composed = original(*bound.args, **bound.kwargs)
    halves = {
        half: _LOADED[argument].get(bound.arguments.get(argument, ""))
        for half, argument in _ARGUMENT_OF.items()
        if getattr(composed, half, None) is not None
    }
    if not halves or not all(map(_is_ours, halves.values())):
        return composed
    exchanged = type(composed.__name__, (composed,), {"__module__": __name__, **halves})
    return _improved(exchanged, otherwise=composed)


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
