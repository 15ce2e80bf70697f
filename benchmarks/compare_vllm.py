"""Our parsers against vLLM's own of the same names, on the same token streams.

Five contenders take turns on each stream: ``vllm``, vLLM's own reasoning and tool parser in its composition;
``direct``, ours in place of the composition; ``adapters``, ours in the composition; ``core``, our parser
alone; ``floor``, only the making of the messages that ours sends. CPU time, the best of the repeats.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

if __name__ == "__main__":
    os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    root = Path(__file__).resolve().parent.parent
    sys.path[1:1] = [str(root), str(root / "tests")]

    import typer
    from bench import main

    typer.run(main)
