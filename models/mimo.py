"""MiMo (Xiaomi): Qwen3-Coder's calls without any framing: newlines at the edges of a value are data."""

from unified_parser.format import Marker, replace
from unified_parser.parser import UnifiedParser

from .deepseek import BARE_THINK
from .qwen3 import XML, XML_CALL

VERBATIM_CALL = replace(XML_CALL, parameter=replace(XML_CALL.parameter, trim=""))


class MiMoParser(UnifiedParser):
    """MiMo V2 Flash, V2.5 (a newline between tags) and V2.6 (none)."""

    names = ("mimo",)
    models = ("XiaomiMiMo/MiMo-V2-*", "XiaomiMiMo/MiMo-V2.5*", "XiaomiMiMo/MiMo-V2.6-*")
    traps = (
        "V2-Flash and V2.5 do not think by default, V2.6 does: without the prompt, thinking is assumed.",
        "Older MiMo-7B and MiMo-VL have another format (Qwen's JSON calls).",
    )
    format = replace(
        XML,
        reasoning=BARE_THINK,
        tools=(replace(XML.tools[0], open=Marker("<tool_call>"), calls=(VERBATIM_CALL,)),),
    )
