"""Cohere Command: blocks for thinking, answer and actions, with citation marks inside the texts."""

from unified_parser.calls.json_calls import JsonArray, JsonObject
from unified_parser.format import (
    Content,
    Drop,
    Marker,
    OutputFormat,
    Reasoning,
    Start,
    Tools,
    replace,
    text_marker,
)
from unified_parser.parser import UnifiedParser

CITATIONS = (
    Drop(text_marker("<co>"), in_reasoning=True),
    Drop(text_marker("</co: "), until=">", in_reasoning=True),
)


def answer(block: str) -> tuple[Drop, Drop]:
    """The markers around an answer. They are never shown; the first also ends an open thinking block."""
    return (
        Drop(Marker(f"<|START_{block}|>"), trims=True, ends_reasoning=True),
        Drop(Marker(f"<|END_{block}|>"), trims=True),
    )


COMMAND4 = OutputFormat(
    reasoning=Reasoning(
        Marker("<|START_THINKING|>"), Marker("<|END_THINKING|>"), reopens=True, strip="both", off_text=False
    ),
    content=Content(strip="trailing", drops=answer("RESPONSE") + answer("TEXT") + CITATIONS),
    tools=(
        Tools(
            open=Marker("<|START_ACTION|>"),
            close=Marker("<|END_ACTION|>"),
            calls=(
                JsonArray(
                    JsonObject(
                        names=("tool_name", "name"),
                        arguments=("parameters", "arguments"),
                        ids=("tool_call_id", "id"),
                    )
                ),
            ),
        ),
    ),
    start=Start(
        boundaries=("<|START_OF_TURN_TOKEN|>", "<|END_OF_TURN_TOKEN|>", "<|CHATBOT_TOKEN|>"),
        toggles={"reasoning": (False,)},
        vetoes={"reasoning_effort": ("none",)},
    ),
)
COMMAND3 = replace(
    COMMAND4,
    content=Content(strip="trailing", drops=answer("RESPONSE") + CITATIONS),
    start=replace(COMMAND4.start, undecided="content"),
)

CITATIONS_TRAP = "Citation marks are taken out of answers and thoughts; the sources they name are lost."


class CohereCommand3Parser(UnifiedParser):
    """Command A Reasoning; Command R7B and Command A write the same."""

    names = ("cohere_command3",)
    models = ("CohereLabs/command-a-reasoning-08-2025", "CohereLabs/c4ai-command-r7b-12-2024")
    traps = (
        CITATIONS_TRAP,
        "Cohere's own renderer leaves the thinking block out of the prompt: untagged text is content then.",
    )
    format = COMMAND3


class CohereCommand4Parser(UnifiedParser):
    """Command A Plus, North Mini Code."""

    names = ("cohere_command4",)
    models = ("CohereLabs/command-a-plus-05-2026", "CohereLabs/North-Mini-Code-1.0")
    traps = (
        CITATIONS_TRAP,
        "Cohere's own renderer leaves the thinking block out of the prompt: untagged text is reasoning then.",
    )
    format = COMMAND4
