"""Writes docs/families.md: the table of all families, made from their classes."""

from __future__ import annotations

import sys
from pathlib import Path

from unified_parser import families
from unified_parser.cli.families import markdown_sections, markdown_table

PAGE = Path(__file__).parent.parent / "docs" / "families.md"
HEAD = """# Families

Made by `make docs` from the classes; `unified-parser families NAME` shows all about one: its markers with
their framing, its start rule, its state table. Every name works as `--reasoning-parser NAME`, as
`--tool-call-parser NAME`, and as both.

"""
#: Between the table and the sections: what holds for every family.
COMMON = """
## Cut off, structured output, traps

What is the same for all of them:

- **The prompt is stronger than the switches**: a block that it leaves open, or closes, is where the output
  starts. Of several switches, one that says on is enough.
- **Cut off in reasoning**: what came is reasoning. **In a call**: a stream has announced it and ends it as
  incomplete; a message leaves it out. **Before a call's name is known**: neither call nor content. **Behind a
  complete call**: it stands, though the closing markers of its block are missing. **In a marker**: what came
  of it is text, unless it begins with a token that is a part of markers only.
- **Structured output** waits for the end of reasoning. A marker that is *a single token id* is looked for
  among ids. Where a tokenizer does not have it as one token it is *found as text*, as are markers of several
  tokens: the last ids are decoded, no further back than the marker is long. An *implicit end* belongs to
  what follows it.
- **Special tokens must be in the text**, or their ids given beside it: otherwise there are no markers. The
  adapter for vLLM sees to that.

"""


def page() -> str:
    """The page as it should be."""
    known = [family.parser_class for family in families()]
    return f"{HEAD}{markdown_table(known)}\n{COMMON}{markdown_sections(known)}\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE.name} written\n")
