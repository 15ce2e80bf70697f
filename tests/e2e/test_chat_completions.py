"""A real ``vllm serve``, with the parsers loaded by their entry point, asked by the ``openai`` client."""

from __future__ import annotations

import json

import pytest

from tests.e2e.answer import Answer
from tests.e2e.cases import ANSWER, CALLS, CONTENT, Case
from tests.e2e.client import ChatClient
from tests.e2e.server import Server

pytestmark = pytest.mark.e2e

WHOLE = 0  # tokens a delta: not streamed
EVERYTHING = 1000  # the first token, then all others in one delta


def modes(*tokens_per_delta: int) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("tokens_per_delta", tokens_per_delta)


THINKING_CUT = "First the forecast"
VALUE_CUT = "Saint-Malo"


def ask(client: ChatClient, case: Case, tokens_per_delta: int, **changes: object) -> Answer:
    request = {"output": case.output, "prompt": case.prompt, "switches": case.switches, **changes}
    if tokens_per_delta != WHOLE:
        return client.streamed(tokens_per_delta=tokens_per_delta, **request)
    return client.whole(**request)


def test_the_plugin_is_loaded(server: Server, case: Case) -> None:
    names = {case.tool_parser, case.reasoning_parser} - {None}
    lines = [line for line in server.log_text().splitlines() if "unified_parser" in line]
    assert all(any(name in line for line in lines) for name in names)


@modes(WHOLE, 1, 3, 8, EVERYTHING)
def test_the_message(client: ChatClient, case: Case, tokens_per_delta: int) -> None:
    answer = ask(client, case, tokens_per_delta)

    assert answer.reasoning == case.reasoning
    assert answer.content == case.content
    assert [(call.name, json.loads(call.arguments)) for call in answer.calls] == CALLS
    assert answer.finish_reason == "tool_calls"
    ids = [call.id for call in answer.calls]
    assert len({*ids, ""}) == 3
    assert case.call_ids in (None, tuple(ids))


def test_a_stream_is_split_as_asked(client: ChatClient, case: Case) -> None:
    # A busy server may merge deltas that were asked for one by one, but not every time.
    by_token = max(ask(client, case, 1, output=CONTENT).deltas for _ in range(4))
    by_eight = min(ask(client, case, 8, output=CONTENT).deltas for _ in range(2))
    assert by_token > by_eight


@modes(WHOLE, 3)
def test_tool_choice_none_gives_no_calls(client: ChatClient, case: Case, tokens_per_delta: int) -> None:
    answer = ask(client, case, tokens_per_delta, tool_choice="none")

    assert answer.calls == []
    assert answer.reasoning == case.reasoning
    assert answer.content == case.content
    assert answer.finish_reason == "stop"


@modes(WHOLE, 1, EVERYTHING)
@pytest.mark.cases_where(lambda case: case.closed is not None)
def test_a_prompt_that_closed_thinking(client: ChatClient, case: Case, tokens_per_delta: int) -> None:
    assert case.closed is not None
    answer = ask(
        client,
        case,
        tokens_per_delta,
        output=case.closed.output,
        prompt=case.closed.prompt,
        switches=case.closed.switches,
    )

    assert (answer.reasoning, answer.content, answer.calls) == (None, ANSWER, [])
    assert answer.finish_reason == "stop"


@modes(WHOLE, 1, 3)
@pytest.mark.cases_where(lambda case: case.reasoning is not None)
def test_cut_off_while_thinking(client: ChatClient, case: Case, tokens_per_delta: int) -> None:
    assert case.reasoning is not None
    answer = ask(client, case, tokens_per_delta, output=up_to(case.output, THINKING_CUT), cut_off=True)

    assert answer.reasoning == up_to(case.reasoning, THINKING_CUT)
    assert (answer.content, answer.calls) == (None, [])
    assert answer.finish_reason == "length"


@modes(WHOLE, 1, 8)
def test_cut_off_in_an_argument(client: ChatClient, case: Case, tokens_per_delta: int) -> None:
    answer = ask(client, case, tokens_per_delta, output=up_to(case.output, VALUE_CUT), cut_off=True)

    assert answer.reasoning == case.reasoning
    assert answer.content == case.content
    assert answer.finish_reason == "length"
    if tokens_per_delta == WHOLE:
        assert answer.calls == []
        return
    (call,) = answer.calls  # a stream cannot take back what it announced
    assert call.name == "forecast"
    assert call.arguments.replace(" ", "") == '{"city":"Saint-Malo'


def up_to(text: str, piece: str) -> str:
    """``text`` up to the end of ``piece``."""
    return text[: text.index(piece) + len(piece)]
