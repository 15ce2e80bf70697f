"""Laguna (Poolside): bare think tags, GLM's key/value calls; whether it thinks, each checkpoint decides."""

from unified_parser.calls.tagged import guessed_types
from unified_parser.format import THINKING_TOGGLES, Marker, OutputFormat, Start, Tools, replace
from unified_parser.parser import UnifiedParser

from .deepseek import BARE_THINK
from .glm import pairs

PAIRS = pairs()


class PoolsideParser(UnifiedParser):
    """Laguna XS.2, M.1 and 2.1."""

    names = ("poolside_v1",)
    models = (
        "poolside/Laguna-XS.2",
        "poolside/Laguna-M.1",
        "poolside/Laguna-XS-2.1",
        "poolside/Laguna-S-2.1",
    )
    traps = (
        "XS checkpoints do not think by default, S-2.1 does: the prompt shows it.",
        "A value that the schema does not declare is what it reads as: `42` is a number.",
    )
    format = OutputFormat(
        reasoning=BARE_THINK,
        tools=(
            Tools(
                open=Marker("<tool_call>", before=("\n",)),
                close=Marker("</tool_call>"),
                calls=(replace(PAIRS, parameter=replace(PAIRS.parameter, typing=guessed_types)),),
            ),
        ),
        start=Start(
            boundaries=("<assistant>", "</assistant>", "<user>"),
            toggles=THINKING_TOGGLES,
            undecided="content",
        ),
    )
