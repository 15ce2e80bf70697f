"""What a parser does to what it is given: ids of calls, tokenizers, blocks held back whole, deep values."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from support.tokenizers import tokenizer_for
from tokenizers import AddedToken, Tokenizer
from tokenizers.models import WordLevel

from unified_parser import ContentText, ReasoningText, create_parser, get_parser_class

CALL = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>"
    '{"a": 1}<|tool_call_end|><|tool_calls_section_end|>'
)


@pytest.mark.parametrize("identifier", ["1" * 5000, "[" * 20000 + "]" * 20000, "{}", "null", '""', "true"])
@pytest.mark.parametrize("family", ["hermes", "cohere_command4"])
def test_what_is_no_id_is_none(family: str, identifier: str) -> None:
    raw = {
        "hermes": '<tool_call>{"id": ID, "name": "f", "arguments": {}}</tool_call>',
        "cohere_command4": '<|END_THINKING|><|START_ACTION|>[{"tool_call_id": ID, "tool_name": "f"}]',
    }[family].replace("ID", identifier)
    (call,) = create_parser(family).parse(raw).tool_calls
    assert call.name == "f" and call.id and call.id not in (identifier, "None")


@pytest.mark.parametrize(("written", "identifier"), [('"k7"', "k7"), ("12", "12")])
def test_an_id_is_kept(written: str, identifier: str) -> None:
    raw = f'<tool_call>{{"id": {written}, "name": "f", "arguments": {{}}}}</tool_call>'
    assert create_parser("hermes").parse(raw).tool_calls[0].id == identifier


def test_arguments_before_the_name_may_be_as_deep_as_any() -> None:
    deep = '{"a":' * 300 + "1" + "}" * 300
    for raw in (f'{{"arguments": {deep}, "name": "f"}}', f'{{"name": "f", "arguments": {deep}}}'):
        (call,) = create_parser("hermes").parse(f"<tool_call>{raw}</tool_call>").tool_calls
        assert (call.complete, call.arguments) == (True, deep)


class TestTheTokenizer:
    def made(self) -> Tokenizer:
        tokenizer = Tokenizer(WordLevel({"a": 0, "[UNK]": 1}, unk_token="[UNK]"))
        tokenizer.add_special_tokens([AddedToken("<think>", special=True)])
        return tokenizer

    def test_it_can_still_be_pickled(self) -> None:
        class Owner:  # as the tokenizers of servers, it takes attributes
            def __init__(self, inner: Tokenizer) -> None:
                self.encode, self.decode, self.get_vocab = inner.encode, inner.decode, inner.get_vocab

        owner = Owner(self.made())
        create_parser("kimi_k2", tokenizer=owner).parse("a")
        (kept,) = [value for name, value in vars(owner).items() if name.startswith("_unified")]
        assert kept and not pickle.loads(pickle.dumps(kept))

    def test_tokens_added_later_count(self) -> None:
        tokenizer = self.made()
        ids = lambda: create_parser("kimi_k2", tokenizer=tokenizer).reasoning_end_token_ids  # noqa: E731
        assert ids() == frozenset()
        tokenizer.add_special_tokens([AddedToken("</think>", special=True)])
        assert ids() == {tokenizer.token_to_id("</think>")}


def test_a_foreign_special_token_left_out_of_the_text() -> None:
    markers = get_parser_class("kimi_k2").marker_literals()
    tokenizer = tokenizer_for([*markers, "<|media|>"]).backend
    raw = f"a<|media|>b</think>c{CALL}"
    ids = tokenizer.encode(raw, add_special_tokens=False).ids
    text = tokenizer.decode(ids, skip_special_tokens=True)
    parser = create_parser("kimi_k2", tokenizer=tokenizer)
    message = parser.parse(text, ids)
    assert (message.reasoning, message.content, len(message.tool_calls)) == ("ab", "c", 1)


BROKEN = [
    '<tool_call>\n{"name": "f", "arguments":</function> {"path": "t.md"}}\n</tool_call>',
    '<tool_call>{"name": "f", "arguments": [1]}</tool_call>',
    '<tool_call>{"name": "f", "arguments": {"a": ]}</tool_call>',
]


@pytest.mark.parametrize("family", ["hermes", "qwen3", "holo2"])
@pytest.mark.parametrize("raw", BROKEN)
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_call_held_back_is_given_back_to_the_letter(family: str, raw: str, size: int) -> None:
    parser = create_parser(family, thinking=False, argument_streaming="atomic", trace=True)
    text = f"a{raw}b"
    deltas = [text[start : start + size] for start in range(0, len(text), size)]
    events: list[Any] = [event for delta in deltas for event in parser.feed(delta)] + parser.finish()
    assert "".join(event.text for event in events if isinstance(event, ContentText)) == text
    assert events[-1].end == len(text)


@pytest.mark.parametrize("deltas", [[("<", True)], [("", True), ("<", False)], [("<", False)]])
def test_a_lone_character_has_one_channel(deltas: list[tuple[str, bool]]) -> None:
    tokenizer = tokenizer_for(get_parser_class("kimi_k2").marker_literals())
    ids = tokenizer.encode("<")
    parser = create_parser("kimi_k2", tokenizer=tokenizer)
    events = [event for text, with_ids in deltas for event in parser.feed(text, ids if with_ids else ())]
    kinds = [type(event).__name__ for event in [*events, *parser.finish()]]
    assert "ReasoningText" in kinds and "ContentText" not in kinds


@pytest.mark.parametrize(
    "pieces", [("why", " ", "[/THINK]"), ("why ", "[/THINK]"), ("why", " ", "\n", "[/THINK]")]
)
def test_white_space_held_back_in_the_steady_flow_keeps_its_place(pieces: tuple[str, ...]) -> None:
    """The marker's id is looked for where its text stands, held-back text before it included."""
    tokenizer = tokenizer_for(["[THINK]", "[/THINK]", "[TOOL_CALLS]", "[ARGS]"])
    parser = create_parser("mistral", tokenizer=tokenizer, trace=True)
    events: list[Any] = []
    written = ("[THINK]", "first ", "then ", *pieces, "so")
    for piece in written:
        events += parser.feed(piece, tokenizer.encode(piece))
    events += parser.finish()
    said = {kind: "".join(e.text for e in events if type(e) is kind) for kind in (ReasoningText, ContentText)}
    assert said == {ReasoningText: "first then why", ContentText: "so"}
    assert [event.start for event in events] == [0, *(event.end for event in events[:-1])]
    assert events[-1].end == len("".join(written))
