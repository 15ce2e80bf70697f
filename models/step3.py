"""Step (StepFun): always thinks; Step3 calls with tags of its own, 3.5 and 5 as Qwen3-Coder does."""

from unified_parser.calls.tagged import Parameter, TaggedCall
from unified_parser.format import Marker, OutputFormat, Reasoning, Start, Tools, replace, text_marker
from unified_parser.parser import UnifiedParser

from .deepseek import R1
from .qwen3 import CHAT_ML, TOOL_CALL_END, XML_CALL

CALL_BEGIN, CALL_END = "<｜tool_call_begin｜>", "<｜tool_call_end｜>"
INVOKE_END = Marker(f"</steptml:invoke>{CALL_END}", (f"</steptml:invoke>\n{CALL_END}",), token=CALL_END)
#: The type before the separator is always ``function``.
INVOKE = TaggedCall(
    begin=Marker(f"{CALL_BEGIN}function<｜tool_sep｜><steptml:invoke", token=CALL_BEGIN),
    name_end=(text_marker(">"),),
    name_attribute="name",
    parameter=Parameter(
        open=text_marker("<steptml:parameter"),
        key_end=text_marker(">"),
        key_attribute="name",
        close=text_marker("</steptml:parameter>"),
        recovery=(text_marker("<steptml:parameter name="), INVOKE_END),
    ),
    end=INVOKE_END,
)
STEP3 = OutputFormat(
    reasoning=R1.reasoning,
    tools=(
        Tools(
            open=Marker("<｜tool_calls_begin｜>"),
            close=Marker("<｜tool_calls_end｜>"),
            calls=(INVOKE,),
            in_reasoning="text",
        ),
    ),
    start=Start(boundaries=("<|BOT|>", "<|EOT|>")),
)
STEP5 = OutputFormat(
    reasoning=R1.reasoning,
    tools=(
        Tools(
            open=Marker("<tool_call>"),
            close=TOOL_CALL_END,
            calls=(XML_CALL,),
            bare=True,
            in_reasoning="text",
        ),
    ),
    start=Start(boundaries=CHAT_ML.boundaries),
)
STEP35 = replace(
    STEP5,
    reasoning=Reasoning(Marker("<think>", after=("\n",)), Marker("</think>", before=("\n",), after=("\n",))),
    tools=(replace(STEP5.tools[0], in_reasoning="ends"),),
)

NO_SWITCH = "Always thinks: `enable_thinking` does nothing."


class Step3Parser(UnifiedParser):
    """Step3."""

    names = ("step3",)
    models = ("stepfun-ai/step3", "stepfun-ai/step3-fp8")
    traps = (
        NO_SWITCH,
        "A call before `</think>` is part of the reasoning.",
    )
    format = STEP3


class Step35Parser(UnifiedParser):
    """Step-3.5 and 3.7 Flash."""

    names = ("step3p5",)
    models = ("stepfun-ai/Step-3.5-Flash", "stepfun-ai/Step-3.7-Flash")
    traps = (NO_SWITCH,)
    format = STEP35


class Step5Parser(UnifiedParser):
    """Step-5."""

    names = ("step5",)
    models = ("stepfun-ai/Step-5-Preview",)
    traps = (
        NO_SWITCH,
        "A call before `</think>` is part of the reasoning.",
    )
    format = STEP5
