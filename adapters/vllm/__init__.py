"""The parsers as vLLM's reasoning and tool parsers.

Two ways to load it, both by this package's name:

- installed, vLLM finds it through the entry point group ``vllm.general_plugins`` and calls ``register()``;
- ``--reasoning-parser-plugin unified_parser.adapters.vllm`` (``--tool-parser-plugin`` likewise): vLLM imports
  the package, and importing it where vLLM's parser registries are loaded registers the names.

Anywhere else the import does nothing and needs no vLLM; whatever needs it raises ``VllmMissingError`` then.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .make import make_adapters as make_adapters
    from .reasoning import ReasoningAdapter as ReasoningAdapter
    from .tools import ToolAdapter as ToolAdapter

__all__ = ["ReasoningAdapter", "ToolAdapter", "VllmMissingError", "make_adapters", "register"]

#: Where the names live that need vLLM.
_LAZY = {"ReasoningAdapter": "reasoning", "ToolAdapter": "tools", "make_adapters": "make"}


class VllmMissingError(RuntimeError):
    """vLLM is needed, and there is none that would do."""


def register() -> None:
    """Puts the families' names into vLLM's two parser registries. May be called any number of times.

    The environment variable ``UNIFIED_PARSER_VLLM`` limits it: ``all`` (the default), ``missing`` (only names
    that vLLM lacks), ``off``, or a comma-separated list of names. Raises ``VllmMissingError`` without vLLM or
    with one that is too old, ``ValueError`` for an unknown name in the list.
    """
    _load("compat").check_version()  # first: an older vLLM lacks what the next line imports
    _load("registration").register()


def _load(module: str) -> Any:
    """A module of this package that imports vLLM."""
    try:
        return import_module(f".{module}", __name__)
    except ImportError as error:
        if (error.name or "").partition(".")[0] != "vllm":
            raise
        raise VllmMissingError(
            f"vLLM 0.30 or later is needed here and cannot be imported ({error}): "
            "pip install 'unified-parser[vllm]'"
        ) from error


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(_load(_LAZY[name]), name)
    if name.endswith(("ReasoningAdapter", "ToolAdapter")):
        return _load("make").find_adapter(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


if "vllm.reasoning" in sys.modules or "vllm.tool_parsers" in sys.modules:
    register()
