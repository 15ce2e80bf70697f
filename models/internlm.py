"""InternLM (Shanghai AI Lab): actions, which open with two tokens; Intern-S1 thinks and may act within."""

from unified_parser.calls.json_calls import JsonObject
from unified_parser.format import Marker, OutputFormat, Start, Tools, replace
from unified_parser.models.qwen3 import CHAT_ML, THINK
from unified_parser.parser import UnifiedParser

#: The action's kind and the call's first brace; what stands between them depends on template and detokenizer.
PLUGIN = Marker("<|plugin|>\n{", ("<|plugin|>{", "<|plugin|> {", "<|plugin|> \n{"), token="<|plugin|>")
INTERNLM = OutputFormat(
    tools=(
        Tools(
            open=Marker("<|action_start|>"),
            close=Marker("<|action_end|>"),
            calls=(JsonObject(arguments=("parameters", "arguments"), begin=PLUGIN),),
        ),
    ),
    start=Start(boundaries=("<|im_start|>", "<|im_end|>")),
)
INTERN_S1 = replace(
    INTERNLM,
    reasoning=THINK,
    tools=(replace(INTERNLM.tools[0], in_reasoning="nests"),),
    start=CHAT_ML,
)


class InternLMParser(UnifiedParser):
    """InternLM 2 and 2.5 chat."""

    names = ("internlm",)
    models = ("internlm/internlm2-chat-*", "internlm/internlm2_5-*-chat")
    traps = ("Does not think; `interns1` is the name for Intern-S1, which does.",)
    format = INTERNLM


class InternS1Parser(UnifiedParser):
    """Intern-S1."""

    names = ("interns1",)
    models = ("internlm/Intern-S1", "internlm/Intern-S1-mini")
    traps = ("A call inside the thinking is read, and the thought goes on behind it.",)
    format = INTERN_S1
