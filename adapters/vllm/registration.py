"""The families' names in vLLM's two parser registries."""

from __future__ import annotations

import difflib
import logging
import os
from typing import Any

from vllm.logger import init_logger
from vllm.reasoning import ReasoningParserManager
from vllm.tool_parsers import ToolParserManager

from unified_parser.registry import families

from .compat import LOGGER_NAME
from .composition import install
from .make import make_adapters

logger = init_logger(LOGGER_NAME)

VARIABLE = "UNIFIED_PARSER_VLLM"

#: vLLM's registries, each with its table of loaded classes, in the order of ``make_adapters``.
_REGISTRIES: tuple[tuple[str, Any, dict[str, Any]], ...] = (
    ("reasoning parsers", ReasoningParserManager, ReasoningParserManager.reasoning_parsers),
    ("tool parsers", ToolParserManager, ToolParserManager.tool_parsers),
)


def register() -> None:
    """Registers the names that the environment asks for; a second call changes nothing and says nothing.

    The classes are registered loaded, not lazily: a lazy entry would lose against a parser of the same name
    that vLLM has loaded already.
    """
    parser_classes = {name: family.parser_class for family in families() for name in family.names}
    mode = os.environ.get(VARIABLE, "").strip() or "all"
    chosen = _chosen(mode, list(parser_classes))
    replaced: dict[str, list[str]] = {}
    added: dict[str, list[str]] = {}
    for half, (kind, manager, loaded) in enumerate(_REGISTRIES):
        known = set(manager.list_registered())
        for name in chosen:
            adapter = make_adapters(parser_classes[name])[half]
            if loaded.get(name) is adapter or (mode == "missing" and name in known):
                continue
            (replaced if name in known else added).setdefault(kind, []).append(name)
            manager.register_module(name, module=adapter, force=True)
    install()
    if replaced or added:
        what = f"replaces vLLM's {_listed(replaced)}; it adds {_listed(added)}"
        _log(f"unified_parser {what} ({VARIABLE}={mode})")


def _listed(names: dict[str, list[str]]) -> str:
    return " and ".join(f"{kind} {', '.join(sorted(found))}" for kind, found in names.items()) or "nothing"


def _log(line: str) -> None:
    """One line of information. Before vLLM has set up its logging, only a warning would be seen."""
    level = logging.INFO if logging.getLogger("vllm").handlers else logging.WARNING
    logger.log(level, "%s", line)


def _chosen(mode: str, names: list[str]) -> list[str]:
    """The names to register, by the value of the variable."""
    if mode in ("all", "missing"):
        return names
    if mode == "off":
        return []
    chosen = [name.strip() for name in mode.split(",") if name.strip()]
    unknown = [name for name in chosen if name not in names]
    if unknown:
        hints = {name: difflib.get_close_matches(name, names, n=3) for name in unknown}
        raise ValueError(
            f"{VARIABLE}: no such parser: "
            + "; ".join(f"{name} (nearest: {', '.join(near) or 'none'})" for name, near in hints.items())
            + ". Give all, missing, off, or a comma-separated list of names."
        )
    return chosen
