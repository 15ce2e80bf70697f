"""The command line ``unified-parser``: lists the families, parses outputs, draws how they are read."""

from __future__ import annotations

import io
import sys


def main() -> None:
    """The entry point. Exits with 0; 1 if ``--strict`` found a flaw; 2 for what the user must mend."""
    from .app import app

    for stream in (sys.stdout, sys.stderr):
        if isinstance(
            stream, io.TextIOWrapper
        ):  # a terminal that cannot show a character is no reason to fail
            stream.reconfigure(errors="backslashreplace")
    app(prog_name="unified-parser")
