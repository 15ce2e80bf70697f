"""The direct parser: when it serves, and what it does with a request. It reads the samples elsewhere."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from support.parsing import family_tokenizer

pytest.importorskip("vllm")

from vllm.parser.abstract_parser import DelegatingParser
from vllm.reasoning import ReasoningParser, ReasoningParserManager
from vllm_driver import chat_request, compose, fold_messages, parse_whole, stream

from unified_parser import families
from unified_parser.adapters.vllm.direct import DirectParser

TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
SECTION = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>"
    "{}<|tool_call_end|><|tool_calls_section_end|>"
)
OUTPUT = f"why</think>so{SECTION}"


def parser_for(reasoning: str | None, tool: str | None, request: Any, **options: Any) -> Any:
    tokenizer = family_tokenizer("kimi_k2")
    return compose(reasoning, tool, tokenizer)(tokenizer, request.tools, chat_template_kwargs={}, **options)


def both_ways(reasoning: str | None, tool: str | None, request: Any, output: str) -> Any:
    """The message, the same whole and streamed, one token a delta."""
    tokenizer = family_tokenizer("kimi_k2")
    ids = tokenizer.encode(output)
    prompt = tokenizer.encode("<|im_assistant|>assistant<|im_middle|><think>")
    whole = parse_whole(parser_for(reasoning, tool, request), request, output, ids, prompt)
    deltas = [(tokenizer.decode([number]), [number]) for number in ids]
    streamed = fold_messages(stream(parser_for(reasoning, tool, request), request, deltas, prompt))
    assert streamed == whole
    return whole


@pytest.mark.parametrize("family", families(), ids=lambda family: family.names[0])
def test_it_serves_every_family(family: Any) -> None:
    for name in family.names:
        parser_class = compose(name, name)
        assert issubclass(parser_class, DirectParser)
        assert parser_class.parser_class is family.parser_class


def test_it_serves_pairs_and_single_halves() -> None:
    assert issubclass(compose("qwen3", "qwen3_coder"), DirectParser)
    assert compose("kimi_k2", None).tool_parser_cls is None
    assert compose(None, "kimi_k2").reasoning_parser_cls is None
    assert all(issubclass(compose(*pair), DirectParser) for pair in (("kimi_k2", None), (None, "kimi_k2")))


def test_the_environment_switches_it_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNIFIED_PARSER_VLLM_DIRECT", "0")
    parser_class = compose("kimi_k2", "kimi_k2")
    assert issubclass(parser_class, DelegatingParser) and not issubclass(parser_class, DirectParser)


class Foreign(ReasoningParser):
    """Somebody else's reasoning parser."""


@pytest.fixture
def foreign() -> Iterator[str]:
    ReasoningParserManager.register_module("foreign", module=Foreign, force=True)
    yield "foreign"
    ReasoningParserManager.reasoning_parsers.pop("foreign")


def test_a_foreign_half_is_composed(foreign: str) -> None:
    parser_class = compose(foreign, "kimi_k2")
    assert parser_class.reasoning_parser_cls is Foreign and not issubclass(parser_class, DirectParser)


def test_a_vllm_that_calls_otherwise_gets_the_adapters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DelegatingParser, "parse_delta", lambda self, chunk: None)
    assert not issubclass(compose("kimi_k2", "kimi_k2"), DirectParser)


def test_the_log_says_once_which_path(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    records: list[logging.LogRecord] = []
    handler = logging.Handler()
    monkeypatch.setattr(handler, "emit", records.append)
    logger = logging.getLogger("vllm.unified_parser")
    monkeypatch.setattr(logger, "disabled", False)
    caplog.set_level(logging.INFO, logger.name)
    logger.addHandler(handler)
    try:
        compose("dots", "xlam")
        compose("dots", "xlam")
        monkeypatch.setenv("UNIFIED_PARSER_VLLM_DIRECT", "0")
        compose("dots", "xlam")
    finally:
        logger.removeHandler(handler)
    assert [record.getMessage().partition("parses ")[2] for record in records] == [
        "dots and xlam directly",
        "dots and xlam through the adapters (UNIFIED_PARSER_VLLM_DIRECT=0)",
    ]


def test_all_of_a_message() -> None:
    found = both_ways("kimi_k2", "kimi_k2", chat_request([TOOL]), OUTPUT)
    assert (found.reasoning, found.content, found.calls) == ("why", "so", [("f", {}, True)])


def test_reasoning_that_is_not_wanted_is_not_sent() -> None:
    request = chat_request([TOOL], include_reasoning=False)
    tokenizer = family_tokenizer("kimi_k2")
    deltas = [(tokenizer.decode([number]), [number]) for number in tokenizer.encode(OUTPUT)]
    found = fold_messages(stream(parser_for("kimi_k2", "kimi_k2", request), request, deltas))
    assert (found.reasoning, found.content, found.calls) == (None, "so", [("f", {}, True)])


def test_calls_that_are_not_wanted_are_not_sent() -> None:
    found = both_ways("kimi_k2", "kimi_k2", chat_request([TOOL], tool_choice="none"), OUTPUT)
    assert (found.reasoning, found.content, found.calls) == ("why", "so", [])


def test_without_a_tool_parser_calls_are_content() -> None:
    found = both_ways("kimi_k2", None, chat_request(), OUTPUT)
    assert (found.reasoning, found.content, found.calls) == ("why", f"so{SECTION}", [])


def test_without_a_reasoning_parser_reasoning_is_content() -> None:
    found = both_ways(None, "kimi_k2", chat_request([TOOL]), f"<think>{OUTPUT}")
    assert (found.reasoning, found.content, found.calls) == (None, "<think>why</think>so", [("f", {}, True)])


def test_a_prompt_that_closed_thinking_begins_with_content() -> None:
    request = chat_request()
    tokenizer = family_tokenizer("kimi_k2")
    prompt = tokenizer.encode("<|im_assistant|>assistant<|im_middle|><think></think>")
    parser = parser_for("kimi_k2", "kimi_k2", request)
    assert parser.is_reasoning_end(prompt)
    assert parse_whole(parser, request, "so", prompt=prompt).content == "so"
    (message,) = stream(parser_for("kimi_k2", "kimi_k2", request), request, [("so", [])], prompt)
    assert (message.reasoning, message.content) == (None, "so")


def test_counts_reasoning_tokens_while_it_streams_and_behind() -> None:
    tokenizer = family_tokenizer("kimi_k2")
    request = chat_request()
    prompt = tokenizer.encode("<|im_assistant|>assistant<|im_middle|><think>")
    thought, end, answer = (tokenizer.encode(text) for text in ("a b c", "</think>", "d"))
    ids = thought + end + answer
    parser = parser_for("kimi_k2", "kimi_k2", request)
    counts = []
    for count, number in enumerate(ids, start=1):
        parser.parse_delta(tokenizer.decode([number]), [number], request, prompt, finished=count == len(ids))
        counts.append(parser.count_reasoning_tokens(tuple(ids[:count])))
    assert len(end) == 1 and counts == [*range(1, len(thought) + 1)] + [len(thought)] * (1 + len(answer))


def test_counting_at_each_step_looks_at_new_ids_only() -> None:
    class Watched(tuple):  # type: ignore[type-arg]
        """Ids that say how many of them were taken."""

        taken = 0

        def __getitem__(self, key: Any) -> Any:
            part = super().__getitem__(key)
            type(self).taken += len(part) if isinstance(key, slice) else 1
            return part

        def __iter__(self) -> Iterator[int]:
            type(self).taken += len(self)
            return super().__iter__()

    tokenizer = family_tokenizer("kimi_k2")
    request = chat_request()
    prompt = tokenizer.encode("<|im_assistant|>assistant<|im_middle|><think>")
    parser = parser_for("kimi_k2", "kimi_k2", request)
    (number,) = tokenizer.encode("a")
    for count in range(1, 201):
        parser.parse_delta("a", [number], request, prompt, finished=False)
        assert parser.count_reasoning_tokens(Watched([number] * count)) == count
    assert Watched.taken < 1000
