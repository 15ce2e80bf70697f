"""Nemotron 3 (NVIDIA): Qwen3-Coder's calls, and one newline wherever its template writes framing."""

from unified_parser.format import Marker, Reasoning, replace
from unified_parser.parser import UnifiedParser

from .qwen3 import XML

#: With these switches a message that has nothing but reasoning says it again as content.
FORCED_CONTENT = {"enable_thinking": (False,), "force_nonempty_content": (True,)}


class NemotronV3Parser(UnifiedParser):
    """Nemotron 3 Nano, Super and Ultra, and 3.5."""

    names = ("nemotron_v3", "nemotron_3")
    models = ("nvidia/NVIDIA-Nemotron-3-*", "nvidia/NVIDIA-Nemotron-3.5-*")
    traps = (
        "Nemotron Nano v2 (`<TOOLCALL>`) and Llama-Nemotron have other formats.",
        "`force_nonempty_content` is a switch of the parser: the template does not know it.",
    )
    format = replace(
        XML,
        reasoning=Reasoning(
            Marker("<think>", after=("\n",)),
            Marker("</think>", before=("\n",), after=("\n",)),
            strip="trailing",
            off_text=False,
        ),
        tools=(
            replace(
                XML.tools[0],
                open=Marker("<tool_call>", before=("\n",)),
                close=Marker("</tool_call>", after=("\n",)),
            ),
        ),
        start=replace(
            XML.start,
            content_required=FORCED_CONTENT,
        ),
    )
