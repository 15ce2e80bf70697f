"""Trinity (Arcee): Hermes calls, which may stand inside the thinking."""

from unified_parser.format import replace
from unified_parser.parser import UnifiedParser

from .qwen3 import HERMES


class TrinityParser(UnifiedParser):
    """Trinity Nano, Mini and Large. A call inside the thinking is read, and the thought goes on behind it."""

    names = ("trinity",)
    models = ("arcee-ai/Trinity-Nano-*", "arcee-ai/Trinity-Mini*", "arcee-ai/Trinity-Large-*")
    traps = ("Structured output waits for `</think>`: a call inside the thinking does not end it.",)
    format = replace(HERMES, tools=tuple(replace(block, in_reasoning="nests") for block in HERMES.tools))
