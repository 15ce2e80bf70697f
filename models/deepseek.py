"""DeepSeek: R1, V3 and V3.1 with a section of headered calls; V3.2 and V4 with DSML tags; and Holo2."""

from collections.abc import Mapping

from unified_parser.calls.headered import HeaderedCall, Named, plain_name
from unified_parser.calls.tagged import ANY_TYPE, Parameter, TaggedCall
from unified_parser.format import (
    THINKING_TOGGLES,
    Marker,
    OutputFormat,
    Reasoning,
    Start,
    Tools,
    replace,
    text_marker,
)
from unified_parser.parser import UnifiedParser

from .qwen3 import HERMES

BARE_THINK = Reasoning(Marker("<think>"), Marker("</think>"))
TURNS = ("<｜User｜>", "<｜Assistant｜>", "<｜end▁of▁sentence｜>")
CHAT_ML = ("<|im_start|>", "<|im_end|>")
SEPARATOR = Marker("<｜tool▁sep｜>")


def typed_name(header: str) -> Named | None:
    """V3 writes the call's type before the name; it is always ``function``."""
    _, separator, name = header.partition(SEPARATOR.text)
    return plain_name(name if separator else header)


def section(call: HeaderedCall) -> tuple[Tools, ...]:
    """The section that V3 and V3.1 write around their calls."""
    opener, closer = Marker("<｜tool▁calls▁begin｜>"), Marker("<｜tool▁calls▁end｜>")
    return (Tools(open=opener, close=closer, calls=(call,), bare=True, in_reasoning="text"),)


FENCED_CALL = HeaderedCall(
    begin=Marker("<｜tool▁call▁begin｜>"),
    header=typed_name,
    written=f"function{SEPARATOR.text}{{name}}",
    arguments_begin=(text_marker("\n```json\n"),),
    closers=(text_marker("```"), Marker("<｜tool▁call▁end｜>")),
)
PLAIN_CALL = HeaderedCall(
    begin=Marker("<｜tool▁call▁begin｜>"),
    arguments_begin=(SEPARATOR,),
    closers=(Marker("<｜tool▁call▁end｜>"),),
)

R1 = OutputFormat(
    reasoning=replace(BARE_THINK, open=Marker("<think>", after=("\n",))),
    tools=section(FENCED_CALL),
    start=Start(boundaries=TURNS + CHAT_ML),
)
V3 = OutputFormat(
    reasoning=BARE_THINK,
    tools=section(FENCED_CALL),
    start=Start(boundaries=TURNS, toggles=THINKING_TOGGLES, thinking=False),
)
V31 = replace(V3, tools=section(PLAIN_CALL))
HOLO2 = replace(
    HERMES,
    reasoning=R1.reasoning,
    tools=tuple(replace(block, in_reasoning="text") for block in HERMES.tools),
    start=Start(boundaries=CHAT_ML, toggles=THINKING_TOGGLES),
)


def dsml_types(types: tuple[str, ...], attributes: Mapping[str, str]) -> tuple[str, ...]:
    """The tag says whether a value is text or JSON; where it says nothing, the schema does."""
    match attributes.get("string"):
        case "true":
            return ("string",)
        case "false":
            return ANY_TYPE
        case _:
            return types or ANY_TYPE


DSML = "｜DSML｜"


def dsml(tag: str, *aliases: str, end: bool = False, before: tuple[str, ...] = ()) -> Marker:
    """One DSML tag; D is one token in some vocabularies, the rest never."""
    lead = "</" if end else "<"
    first, *others = (f"{lead}{DSML}{name}" for name in (tag, *aliases))
    return Marker(first, tuple(others), token=DSML, special=False, before=before)


def dsml_tools(wrapper: tuple[str, ...], space: str = "") -> tuple[Tools, ...]:
    """The block of DSML calls: its tag's spellings, and what stands before each inner tag's name."""
    call = TaggedCall(
        begin=dsml(f"{space}invoke"),
        name_end=(text_marker(">"),),
        name_attribute="name",
        unwrap=("arguments", "input"),
        parameter=Parameter(
            open=dsml(f"{space}parameter"),
            key_end=text_marker(">"),
            key_attribute="name",
            close=dsml(f"{space}parameter>", end=True),
            typing=dsml_types,
            recovery=(dsml(f"{space}parameter name="), dsml(f"{space}invoke>", end=True)),
        ),
        end=dsml(f"{space}invoke>", end=True),
        json_body=True,
    )
    tags = [f"{name}>" for name in wrapper]
    return (Tools(open=dsml(*tags, before=("\n\n",)), close=dsml(*tags, end=True), calls=(call,), bare=True),)


V32 = replace(
    V3,
    tools=tuple(replace(block, in_reasoning="text") for block in dsml_tools(("function_calls",))),
)
V4 = OutputFormat(
    reasoning=replace(BARE_THINK, reopens=True),
    tools=dsml_tools(("tool_calls", "toolcalls", "tool")),
    start=Start(boundaries=TURNS, toggles=THINKING_TOGGLES, vetoes={"reasoning_effort": ("none",)}),
)
V41 = replace(V4, tools=dsml_tools((" calls",), space=" "))

CALLS_BEHIND_THOUGHTS = "A call before `</think>` is part of the reasoning."
V4_THINKS = "Renderers differ on whether thinking is on by default: give the prompt, which shows it."
V4_DRAFTS = "Calls drafted in the thinking are text; the tag that opens a section ends the thought."


class DeepSeekR1Parser(UnifiedParser):
    """DeepSeek-R1: always thinks; calls as V3 writes them."""

    names = ("deepseek_r1", "deepseek-r1")
    models = ("deepseek-ai/DeepSeek-R1*",)
    traps = (
        "The templates ignore `enable_thinking`; without `</think>` all is reasoning and content is null.",
        CALLS_BEHIND_THOUGHTS,
    )
    format = R1


class DeepSeekV3Parser(UnifiedParser):
    """DeepSeek-V3: arguments in a JSON fence."""

    names = ("deepseek_v3", "deepseek-v3", "deepseekv3")
    models = ("deepseek-ai/DeepSeek-V3", "deepseek-ai/DeepSeek-V3-0324")
    traps = ("V3 does not think, and its vocabulary has no think tokens: leave thinking off.",)
    format = V3


class DeepSeekV31Parser(UnifiedParser):
    """DeepSeek-V3.1: name, separator, arguments."""

    names = ("deepseek_v31", "deepseekv31")
    models = ("deepseek-ai/DeepSeek-V3.1*", "deepseek-ai/DeepSeek-V3.2-Exp")
    traps = (
        "V3.2-Exp has V3.1's template: it needs `deepseek_v31`, not `deepseek_v32`.",
        CALLS_BEHIND_THOUGHTS,
    )
    format = V31


class DeepSeekV32Parser(UnifiedParser):
    """DeepSeek-V3.2: DSML."""

    names = ("deepseek_v32", "deepseekv32")
    models = ("deepseek-ai/DeepSeek-V3.2",)
    traps = (
        "V3.2-Exp is none of these: it has V3.1's template and needs `deepseek_v31`.",
        CALLS_BEHIND_THOUGHTS,
    )
    format = V32


class DeepSeekV4Parser(UnifiedParser):
    """DeepSeek-V4: DSML with another wrapper, interleaved thinking."""

    names = ("deepseek_v4", "deepseek-v4", "deepseekv4")
    models = ("deepseek-ai/DeepSeek-V4-*",)
    traps = (V4_THINKS, V4_DRAFTS)
    format = V4


class DeepSeekV41Parser(UnifiedParser):
    """DeepSeek-V4.1: every DSML tag name has a blank before it."""

    names = ("deepseek_v41", "deepseek-v41", "deepseekv41")
    models = ("deepseek-ai/DeepSeek-V4.1-*",)
    traps = (V4_THINKS, V4_DRAFTS)
    format = V41


class Holo2Parser(UnifiedParser):
    """Holo2 (H Company): Qwen3-VL that thinks by default, with JSON calls."""

    names = ("holo2",)
    models = ("Hcompany/Holo2-*",)
    traps = (
        "Thinks by default, unlike the DeepSeek models that have the same switches.",
        CALLS_BEHIND_THOUGHTS,
    )
    format = HOLO2
