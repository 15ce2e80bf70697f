"""Mistral: a marker before a JSON array (tokenizers before v11), or before each name and its arguments."""

import secrets
from string import ascii_letters, digits
from typing import Any

from unified_parser.calls.headered import HeaderedCall, Named, plain_name
from unified_parser.calls.json_calls import JsonArray, JsonObject
from unified_parser.format import Marker, OutputFormat, Reasoning, Start, Tools, replace, text_marker
from unified_parser.parser import UnifiedParser
from unified_parser.tokens import vocabulary

THINK = Reasoning(Marker("[THINK]"), Marker("[/THINK]"), reopens=True, strip="trailing")
CALL_ID = Marker("[CALL_ID]")


def name_and_id(header: str) -> Named | None:
    """v11 writes the call's id behind its name."""
    name, _, identifier = header.partition(CALL_ID.text)
    named = plain_name(name)
    return named and Named(named.name, identifier.strip() or None)


def nine_characters() -> str:
    """A call's id: mistral-common takes no other back."""
    return "".join(secrets.choice(ascii_letters + digits) for _ in range(9))


V13 = OutputFormat(
    reasoning=THINK,
    tools=(
        Tools(
            open=Marker("[TOOL_CALLS]"),
            calls=(
                JsonArray(),
                JsonObject(),
                HeaderedCall(
                    header=name_and_id,
                    inner=(CALL_ID,),
                    arguments_begin=(Marker("[ARGS]"),),
                    keep_begin=(text_marker("{"),),
                    ends_output=True,
                ),
            ),
        ),
    ),
    start=Start(boundaries=("[/INST]", "[/TOOL_RESULTS]", "[/SYSTEM_PROMPT]"), undecided="content"),
    make_call_id=nine_characters,
)
#: Magistral 2506 (v11) spells its thinking tags.
V11 = replace(
    V13,
    reasoning=replace(THINK, open=Marker("[THINK]", ("<think>",)), close=Marker("[/THINK]", ("</think>",))),
)


class MistralParser(UnifiedParser):
    """Mistral, Magistral, Ministral, Devstral; the tokenizer's version decides what is written."""

    names = ("mistral",)
    models = ("mistralai/Mistral-*", "mistralai/Magistral-*", "mistralai/Ministral-*", "mistralai/Devstral-*")
    traps = (
        "The format depends on the tokenizer's version: `<think>` in v11, `[THINK]` from v13 on.",
        "Mistral's detokenizer leaves out `[CALL_ID]`: without token ids a name ends with the call's id.",
    )
    format = V11

    @classmethod
    def output_format(cls, tokenizer: Any) -> OutputFormat:
        """A vocabulary that has the thinking tokens never spells them as tags."""
        return V13 if tokenizer is not None and "[THINK]" in vocabulary(tokenizer) else V11
