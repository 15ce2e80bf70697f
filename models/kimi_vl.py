"""Kimi-VL (Moonshot AI): thinking tags of its own, and no calls."""

from unified_parser.format import THINKING_TOGGLES, Marker, OutputFormat, Reasoning, Start
from unified_parser.parser import UnifiedParser


class KimiVLParser(UnifiedParser):
    """Kimi-VL Thinking."""

    names = ("kimi",)
    models = ("moonshotai/Kimi-VL-A3B-Thinking*",)
    traps = ("For Kimi-VL alone: Kimi K2 and K3 are `kimi_k2` and `kimi_k3`.",)
    format = OutputFormat(
        reasoning=Reasoning(Marker("◁think▷"), Marker("◁/think▷")),
        start=Start(
            boundaries=("<|im_assistant|>", "<|im_user|>", "<|im_end|>"),
            toggles=THINKING_TOGGLES,
            undecided="content",
        ),
    )
