"""Kimi K2 (Moonshot AI): think tags, and a section of calls whose header is the call's id."""

from unified_parser.calls.headered import HeaderedCall, Named
from unified_parser.format import THINKING_TOGGLES, Marker, OutputFormat, Reasoning, Start, Tools
from unified_parser.parser import UnifiedParser


def call_id(header: str) -> Named | None:
    """``functions.NAME:N``: the whole is the call's id; N counts the calls of the conversation."""
    identifier = header.strip()
    name, colon, number = identifier.rpartition(":")
    if not (colon and number.isdigit()):
        return None
    name = name.removeprefix("functions.")
    return Named(name, identifier) if name else None


class KimiK2Parser(UnifiedParser):
    """Kimi K2 Instruct, K2 Thinking, K2.5 and later."""

    names = ("kimi_k2",)
    models = ("moonshotai/Kimi-K2-Instruct", "moonshotai/Kimi-K2-Thinking", "moonshotai/Kimi-K2.5")
    traps = (
        "K2-Instruct never thinks: use the tool name alone or `thinking=false`, else answers are reasoning.",
        "Call ids are the model's own and count through the conversation: send them back unchanged.",
    )
    format = OutputFormat(
        reasoning=Reasoning(Marker("<think>"), Marker("</think>")),
        tools=(
            Tools(
                open=Marker("<|tool_calls_section_begin|>"),
                close=Marker("<|tool_calls_section_end|>"),
                calls=(
                    HeaderedCall(
                        begin=Marker("<|tool_call_begin|>"),
                        header=call_id,
                        written="functions.{name}:#",
                        arguments_begin=(Marker("<|tool_call_argument_begin|>"),),
                        closers=(Marker("<|tool_call_end|>"),),
                    ),
                ),
            ),
        ),
        start=Start(
            boundaries=("<|im_user|>", "<|im_assistant|>", "<|im_system|>", "<|im_end|>"),
            toggles=THINKING_TOGGLES,
        ),
    )
