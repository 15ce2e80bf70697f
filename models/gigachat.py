"""GigaChat (Sber): 3 writes a call as a message, 3.1 behind a token, 3.5 in tags as DeepSeek does."""

from unified_parser.calls.json_calls import JsonObject
from unified_parser.calls.tagged import Parameter, TaggedCall
from unified_parser.format import (
    Content,
    Drop,
    Marker,
    OutputFormat,
    Reasoning,
    Start,
    Tools,
    text_marker,
)
from unified_parser.parser import UnifiedParser

from .deepseek import dsml_types

#: The newlines belong to these tokens. Another message than a call is none of the answer.
MESSAGE_SEP, ROLE_SEP = "<|message_sep|>\n\n", "<|role_sep|>\n"
ANSWER = Content(
    drops=(Drop(Marker(MESSAGE_SEP), ends_output=True), Drop(Marker(ROLE_SEP)), Drop(Marker("</s>")))
)
TURNS = (ROLE_SEP, MESSAGE_SEP)
CALL = JsonObject(arguments=("arguments",))

GIGACHAT3 = OutputFormat(
    content=ANSWER,
    tools=(
        Tools(open=Marker(f"{MESSAGE_SEP}function call{ROLE_SEP}", token=MESSAGE_SEP), calls=(CALL,)),
        Tools(open=Marker("<|function_call|>"), calls=(CALL,)),
    ),
    start=Start(boundaries=TURNS),
)

GCML = "｜GCML｜"


def gcml(tag: str, *, end: bool = False, before: tuple[str, ...] = ()) -> Marker:
    """One tag; what marks it may be one token, the rest never is."""
    return Marker(f"{'</' if end else '<'}{GCML}{tag}", token=GCML, special=False, before=before)


GIGACHAT35 = OutputFormat(
    reasoning=Reasoning(Marker("<think>"), Marker("</think>", after=("\n\n",))),
    content=ANSWER,
    tools=(
        Tools(
            open=gcml("tool_calls>", before=("\n\n",)),
            close=gcml("tool_calls>", end=True),
            calls=(
                TaggedCall(
                    begin=gcml("invoke"),
                    name_end=(text_marker(">"),),
                    name_attribute="name",
                    parameter=Parameter(
                        open=gcml("parameter"),
                        key_end=text_marker(">"),
                        key_attribute="name",
                        close=gcml("parameter>", end=True),
                        typing=dsml_types,
                        recovery=(gcml("parameter name="), gcml("invoke>", end=True)),
                    ),
                    end=gcml("invoke>", end=True),
                ),
            ),
            bare=True,
        ),
    ),
    start=Start(boundaries=TURNS, toggles={"reasoning": (False,)}, thinking=False),
)


class GigaChat3Parser(UnifiedParser):
    """GigaChat 3 and 3.1, which do not think."""

    names = ("gigachat3",)
    models = ("ai-sage/GigaChat3-*", "ai-sage/GigaChat3.1-*")
    traps = ("The separator tokens end with newlines: `<|role_sep|>` without its newline is text.",)
    format = GIGACHAT3


class GigaChat35Parser(UnifiedParser):
    """GigaChat 3.5, which thinks when asked to."""

    names = ("gigachat35",)
    models = ("ai-sage/GigaChat3.5-*",)
    traps = ("The switch is `reasoning`; `enable_thinking` does nothing.",)
    format = GIGACHAT35
