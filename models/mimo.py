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
    format = replace(
        XML,
        reasoning=BARE_THINK,
        tools=(replace(XML.tools[0], open=Marker("<tool_call>"), calls=(VERBATIM_CALL,)),),
    )
