"""The two adapter classes of a parser class."""

from __future__ import annotations

from typing import TypeAlias

from unified_parser.parser import UnifiedParser
from unified_parser.registry import families

from .reasoning import ReasoningAdapter
from .tools import ToolAdapter

#: Where the classes are found by their names (``__getattr__`` there).
_MODULE = __name__.rpartition(".")[0]


Adapters: TypeAlias = tuple[type[ReasoningAdapter], type[ToolAdapter]]

_made: dict[type[UnifiedParser], Adapters] = {}


def make_adapters(parser_class: type[UnifiedParser]) -> Adapters:
    """The vLLM reasoning parser and tool parser of a family: always the same two for the same class.

    ``KimiK2Parser`` gives ``KimiK2ReasoningAdapter`` and ``KimiK2ToolAdapter``.
    """
    made = _made.get(parser_class)
    if made is None:
        made = _made[parser_class] = _make(parser_class)
    return made


def _make(parser_class: type[UnifiedParser]) -> Adapters:
    stem = parser_class.__name__.removesuffix("Parser")
    members = {"parser_class": parser_class, "__module__": _MODULE, "__doc__": parser_class.__doc__}
    return (
        type(f"{stem}ReasoningAdapter", (ReasoningAdapter,), dict(members)),
        type(f"{stem}ToolAdapter", (ToolAdapter,), dict(members)),
    )


def find_adapter(name: str) -> type[ReasoningAdapter] | type[ToolAdapter]:
    """The adapter class of that name among the families'."""
    for family in families():
        for adapter in make_adapters(family.parser_class):
            if adapter.__name__ == name:
                return adapter
    raise AttributeError(f"no family has an adapter {name!r}")
