"""Writes docs/families.md: the table of all families, made from their classes."""

from __future__ import annotations

import sys
from pathlib import Path

from unified_parser import families
from unified_parser.cli.families import markdown_table

PAGE = Path(__file__).parent.parent / "docs" / "families.md"
HEAD = """# Families

Made by `make docs` from the classes; `unified-parser families NAME` shows all about one: its markers with
their framing, its start rule, its state table. Every name works as `--reasoning-parser NAME`, as
`--tool-call-parser NAME`, and as both.

What is the same for all of them:

- **Cut off in reasoning**: what came is reasoning (content where thinking is off). **In a call**: a stream
  has announced it and ends it as incomplete; a message leaves it out. **In a call's name**: neither call nor
  content.
- **Structured output** waits for the end of reasoning: its closing marker, or one of the markers in the last
  column. With thinking off, or closed in the prompt, it starts at once.
- **The prompt is stronger than the switches**: a block that it leaves open, or closes, is where the output
  starts.

"""


def page() -> str:
    """The page as it should be."""
    return HEAD + markdown_table(family.parser_class for family in families()).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE.name} written\n")
