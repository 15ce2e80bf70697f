"""Token ids as evidence: which spelling of a marker is one, however text and ids arrive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from support.fold import Folded, fold
from support.tokenizers import MarkerTokenizer, tokenizer_for

from unified_parser import create_parser

MARKERS = ("<think>", "</think>", "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>",
           "<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>")  # fmt: skip
CALL = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>"
    '{"a": 1}<|tool_call_end|><|tool_calls_section_end|>'
)


@pytest.fixture(scope="module")
def tokenizer() -> MarkerTokenizer:
    return tokenizer_for(MARKERS)


def run(tokenizer: Any, deltas: Sequence[tuple[str, Sequence[int]]]) -> Folded:
    parser = create_parser("kimi_k2", tokenizer=tokenizer)
    events = [event for text, ids in deltas for event in parser.feed(text, ids)]
    return fold([*events, *parser.finish()])


def spelled(tokenizer: MarkerTokenizer, text: str) -> list[int]:
    """Ids of ordinary tokens, whatever the text looks like."""
    return tokenizer.encode(text, literal=[text])


def special(tokenizer: MarkerTokenizer, text: str) -> int:
    (number,) = tokenizer.encode(text)
    return number


def test_a_spelled_marker_is_text(tokenizer: MarkerTokenizer) -> None:
    ids = [*spelled(tokenizer, "a</think>b"), special(tokenizer, "</think>"), *spelled(tokenizer, "c")]
    message = run(tokenizer, [("a</think>b</think>c", ids)])
    assert (message.reasoning, message.content) == ("a</think>b", "c")


def test_the_real_one_first(tokenizer: MarkerTokenizer) -> None:
    ids = [*spelled(tokenizer, "a"), special(tokenizer, "</think>"), *spelled(tokenizer, "b</think>c")]
    message = run(tokenizer, [("a</think>b</think>c", ids)])
    assert (message.reasoning, message.content) == ("a", "b</think>c")


def test_ids_of_another_marker_are_no_evidence(tokenizer: MarkerTokenizer) -> None:
    ids = [*spelled(tokenizer, "a</think>b"), special(tokenizer, "<think>")]
    message = run(tokenizer, [("a</think>b<think>", ids)])
    assert (message.reasoning, message.content) == ("a</think>b", None)


def test_without_ids_the_text_decides(tokenizer: MarkerTokenizer) -> None:
    message = run(tokenizer, [("a</think>b", [])])
    assert (message.reasoning, message.content) == ("a", "b")


def test_a_vocabulary_without_the_marker_leaves_it_to_the_text() -> None:
    message = run(plain := tokenizer_for(()), [("a</think>b", plain.encode("a</think>b"))])
    assert (message.reasoning, message.content) == ("a", "b")


def test_ids_come_before_their_text(tokenizer: MarkerTokenizer) -> None:
    ids = [*spelled(tokenizer, "a </think> b"), special(tokenizer, "</think>"), *spelled(tokenizer, "c")]
    message = run(tokenizer, [("", ids), ("a </think", []), ("> b</think>", []), ("c", [])])
    assert (message.reasoning, message.content) == ("a </think> b", "c")


def test_a_character_spread_over_tokens_delays_the_marker(tokenizer: MarkerTokenizer) -> None:
    wave = spelled(tokenizer, "🌊")
    assert len(wave) > 1
    close = special(tokenizer, "</think>")
    deltas = [
        ("a", spelled(tokenizer, "a")),
        ("", wave[:1]),
        ("🌊</think>", [*wave[1:], close]),
        ("b", spelled(tokenizer, "b")),
    ]
    message = run(tokenizer, deltas)
    assert (message.reasoning, message.content) == ("a🌊", "b")


def test_special_tokens_dropped_from_the_text(tokenizer: MarkerTokenizer) -> None:
    raw = f"thought</think>answer{CALL}"
    ids = tokenizer.encode(raw)
    texts = ["" if tokenizer.decode([number]) in MARKERS else tokenizer.decode([number]) for number in ids]
    expected = ("thought", "answer", [("f", {"a": 1}, True)])
    for deltas in (
        [("".join(texts), ids)],
        [(text, [number]) for text, number in zip(texts, ids, strict=True)],
    ):
        message = run(tokenizer, deltas)
        assert (message.reasoning, message.content, message.calls) == expected


def test_the_stop_token_is_cut_from_the_text_but_its_id_is_given() -> None:
    markers = (
        "<|start|>",
        "<|channel|>",
        "<|message|>",
        "<|constrain|>",
        "<|call|>",
        "<|end|>",
        "<|return|>",
    )
    tokenizer = tokenizer_for(markers)
    raw = '<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a": 1}'
    for stop, complete in (([special(tokenizer, "<|call|>")], True), ([], False)):
        parser = create_parser("gpt_oss", tokenizer=tokenizer)
        events = [*parser.feed(raw, tokenizer.encode(raw)), *parser.feed("", stop), *parser.finish("length")]
        ((name, _, is_complete),) = fold(events).calls
        assert (name, is_complete) == ("f", complete)


@pytest.mark.parametrize("ids", [[10**9], [-1], list(range(50)), [0] * 1000])
def test_ids_that_do_not_fit_lose_no_text(tokenizer: MarkerTokenizer, ids: list[int]) -> None:
    message = run(tokenizer, [("a plain text", ids), (" and more", [])])
    assert (message.reasoning or "") + (message.content or "") == "a plain text and more"


def test_a_tokenizer_that_cannot_decode(tokenizer: MarkerTokenizer) -> None:
    class Minimal:
        def get_vocab(self) -> dict[str, int]:
            return tokenizer.get_vocab()

        def encode(self, text: str) -> list[int]:
            return tokenizer.encode(text)

    raw = f"thought</think>answer{CALL}"
    ids = tokenizer.encode(raw)
    message = run(Minimal(), [(raw, ids)])
    assert (message.reasoning, message.content, len(message.calls)) == ("thought", "answer", 1)
