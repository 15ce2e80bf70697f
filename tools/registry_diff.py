"""Compares the names of our families with those that the installed vLLM registers itself.

    python tools/registry_diff.py [VERSION]

Exits with 1 if vLLM has a name, under either flag, that no family answers to, or if it is another VERSION.
"""

from __future__ import annotations

import importlib
import os
import sys

os.environ["UNIFIED_PARSER_VLLM"] = "off"  # vLLM's own registries, without ours

import vllm

from unified_parser import family_names

MANAGERS = {
    "reasoning": ("vllm.reasoning", "ReasoningParserManager", "reasoning_parsers"),
    "tool": ("vllm.tool_parsers", "ToolParserManager", "tool_parsers"),
}


def registered(module: str, manager: str, eager: str) -> set[str]:
    """The names that one of vLLM's managers knows."""
    found = getattr(importlib.import_module(module), manager)
    return set(getattr(found, eager)) | set(found.lazy_parsers)


def main(*expected: str) -> int:
    version = vllm.__version__
    if version not in (expected or (version,)):
        print(f"this is vLLM {version}, not {' or '.join(expected)}")
        return 1
    ours = set(family_names())
    missing = 0
    everything: set[str] = set()
    for flag, where in MANAGERS.items():
        theirs = registered(*where)
        everything |= theirs
        gone = sorted(theirs - ours)
        missing += len(gone)
        names = ", ".join(gone) or "none"
        print(f"vLLM {version}, {flag}: {len(theirs)} names, missing here: {names}")
    print(f"ours: {len(ours)} names, not in vLLM: {', '.join(sorted(ours - everything))}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
