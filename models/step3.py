"""Step (StepFun): Step-5 thinks with bare tags and calls as Qwen3-Coder does."""

from unified_parser.format import Marker, OutputFormat, Start, Tools
from unified_parser.parser import UnifiedParser

from .deepseek import BARE_THINK
from .qwen3 import TOOL_CALL_END, XML_CALL

STEP5 = OutputFormat(
    reasoning=BARE_THINK,
    tools=(
        Tools(
            open=Marker("<tool_call>"),
            close=TOOL_CALL_END,
            calls=(XML_CALL,),
            bare=True,
            in_reasoning="text",
        ),
    ),
    start=Start(boundaries=("<|im_start|>", "<|im_end|>")),
)


class Step5Parser(UnifiedParser):
    """Step-5."""

    names = ("step5",)
    models = ("stepfun-ai/Step-5-Preview",)
    format = STEP5
