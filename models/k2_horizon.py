"""K2 Horizon (LLM360, MBZUAI-IFM): a think tag for each effort, a group of calls, each as tags or as JSON."""

from unified_parser.calls.block import Wrapped
from unified_parser.calls.json_calls import JsonObject
from unified_parser.calls.tagged import Attributes, Parameter, TaggedCall
from unified_parser.format import Marker, OutputFormat, Reasoning, Start, Tools, text_marker
from unified_parser.parser import UnifiedParser


def pair(name: str) -> tuple[Marker, Marker]:
    """The markers around an element. Their tokens are not flagged special: a stray one is text."""
    return text_marker(f"<ifm|{name}>"), text_marker(f"</ifm|{name}>")


def tagged_types(types: tuple[str, ...], attributes: Attributes) -> tuple[str, ...]:
    """The schema's types; the type tag picks one of several, and says what the schema does not."""
    kind = attributes.get("type", "").lower().partition("[")[0].strip()
    if types:
        return (kind,) if kind in types else types
    return ("string",) if kind in ("", "any") else (kind,)


KEY, KEY_END = pair("arg_key")
VALUE, VALUE_END = pair("arg_value")
#: The body says by itself how it is written; the template's ``tool_call_format`` need not be known.
CALL = Wrapped(
    *pair("tool_call"),
    calls=(
        JsonObject(),
        TaggedCall(
            name_end=(text_marker("\n"),),
            name_is_closed=False,
            parameter=Parameter(
                open=KEY,
                key_end=KEY_END,
                type_tag=pair("arg_type"),
                value_begin=VALUE,
                close=VALUE_END,
                typing=tagged_types,
            ),
        ),
    ),
)
GROUP, GROUP_END = pair("tool_calls")


class K2HorizonParser(UnifiedParser):
    """K2 Horizon (K2-V3), all sizes. The small ones close any effort's block with the plain tag."""

    names = ("k2_horizon",)
    models = ("LLM360/K2-Horizon-*",)
    traps = (
        "The tags' tokens are not flagged special: a stray tag is shown as text.",
        "`enable_thinking` works with some templates only; `reasoning_effort` picks one of three tags.",
    )
    format = OutputFormat(
        reasoning=Reasoning(
            text_marker("<ifm|think>", "<ifm|think_fast>", "<ifm|think_faster>", after=("\n",)),
            text_marker("</ifm|think>", "</ifm|think_fast>", "</ifm|think_faster>"),
        ),
        tools=(Tools(open=GROUP, close=GROUP_END, calls=(CALL,)),),
        start=Start(
            boundaries=("<|ifm|im_start|>", "<|ifm|im_end|>"),
            toggles={"enable_thinking": (False,)},
        ),
    )
