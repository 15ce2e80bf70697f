"""Seed OSS (ByteDance): Qwen3-Coder's call in tags of its own; budget notes stay in the reasoning."""

from unified_parser.format import Marker, OutputFormat, Reasoning, Start, Tools, replace, text_marker
from unified_parser.parser import UnifiedParser

from .qwen3 import XML_CALL

LOST_CLOSE = (
    text_marker("\n<parameter="),
    Marker("\n</function>\n</seed:tool_call>", token="</seed:tool_call>"),
    Marker("</function></seed:tool_call>", token="</seed:tool_call>"),
)


class SeedOssParser(UnifiedParser):
    """Seed-OSS 36B. The template cannot switch thinking off; only a caller who prevents it says so."""

    names = ("seed_oss",)
    models = ("ByteDance-Seed/Seed-OSS-36B-*",)
    traps = (
        "The template does not know `enable_thinking`: with false, thoughts and their tags are content.",
        "Notes on the thinking budget (`<seed:cot_budget_reflect>`) stay in the reasoning.",
    )
    format = OutputFormat(
        reasoning=Reasoning(Marker("<seed:think>"), Marker("</seed:think>", after=("\n",))),
        tools=(
            Tools(
                open=Marker("<seed:tool_call>", before=("\n\n", "\n")),
                close=Marker("</seed:tool_call>"),
                calls=(replace(XML_CALL, parameter=replace(XML_CALL.parameter, recovery=LOST_CLOSE)),),
                bare=True,
            ),
        ),
        start=Start(boundaries=("<seed:bos>", "<seed:eos>"), toggles={"enable_thinking": (False,)}),
    )
