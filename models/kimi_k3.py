"""Kimi K3 (Moonshot AI): XTML, elements whose tags are control tokens around ordinary text."""

from unified_parser.calls.tagged import Attributes, Parameter, TaggedCall
from unified_parser.format import (
    THINKING_TOGGLES,
    Content,
    Drop,
    Marker,
    OutputFormat,
    Reasoning,
    Start,
    Tools,
)
from unified_parser.parser import UnifiedParser


def opening(tag: str, *others: str) -> Marker:
    """``<|open|>tag<|sep|>``. A detokenizer may write blanks next to the control tokens."""
    spellings = [s for t in (tag, *others) for s in (f"<|open|>{t}<|sep|>", f"<|open|> {t} <|sep|>")]
    return Marker(spellings[0], tuple(spellings[1:]), token="<|open|>")


def closing(tag: str) -> Marker:
    """``<|close|>tag<|sep|>``."""
    return Marker(f"<|close|>{tag}<|sep|>", (f"<|close|> {tag} <|sep|>",), token="<|close|>")


def with_attributes(tag: str) -> Marker:
    """The beginning of an opening tag whose attributes follow, up to ``<|sep|>``."""
    return Marker(f"<|open|>{tag}", (f"<|open|> {tag}",), token="<|open|>")


def wire_types(types: tuple[str, ...], attributes: Attributes) -> tuple[str, ...]:
    """The tag's type decides, the schema is not asked: text, or else JSON."""
    return ("string",) if attributes.get("type", "string") == "string" else ("json", "string")


CALL_END = closing("call")
SEPARATOR = Marker("<|sep|>")
CALL = TaggedCall(
    begin=with_attributes("call"),
    name_end=(SEPARATOR,),
    name_attribute="tool",
    parameter=Parameter(
        open=with_attributes("argument"),
        key_end=SEPARATOR,
        key_attribute="key",
        close=closing("argument"),
        typing=wire_types,
        recovery=(CALL_END,),  # control tokens are no text
    ),
    json_tag=(opening('json type="object"', "json"), closing("json")),
    end=CALL_END,
)


class KimiK3Parser(UnifiedParser):
    """Kimi K3."""

    names = ("kimi_k3",)
    models = ("moonshotai/Kimi-K3",)
    traps = (
        "Values are typed by the tag's `type`; the tools' schemas are not asked.",
        "On very long prompts the model may answer without a thought: that answer counts as reasoning.",
    )
    format = OutputFormat(
        reasoning=Reasoning(opening("think"), closing("think")),
        content=Content(
            drops=(
                Drop(opening("response"), ends_reasoning=True),
                Drop(closing("response"), ends_reasoning=True),
                Drop(closing("message"), in_reasoning=True, ends_output=True),
                Drop(Marker("<|end_of_msg|>"), in_reasoning=True, ends_output=True),
            )
        ),
        tools=(Tools(open=opening("tools"), close=closing("tools"), calls=(CALL,)),),
        start=Start(boundaries=("<|end_of_msg|>",), toggles=THINKING_TOGGLES),
    )
