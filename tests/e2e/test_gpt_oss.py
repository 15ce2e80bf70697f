"""A real server of a model whose type is gpt_oss, which vLLM gives a parser of its own: all endpoints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.answer import Answer
from tests.e2e.cases import ANSWER, CALLS, CONTENT, FIRST_THOUGHT, JSON, SECOND_THOUGHT
from tests.e2e.client import CLIENTS, Client, Script
from tests.e2e.gpt_oss import VOCABULARY, build_gpt_oss, write_vocabulary
from tests.e2e.server import Server

harmony = pytest.importorskip("openai_harmony", reason="comes with vLLM, which is not installed")
pytest.importorskip("bpe_openai", reason="has the vocabulary of gpt-oss; in the extra [test]")

pytestmark = pytest.mark.e2e

#: A busy server merges deltas, and one delta has one place for each kind. It does not always.
TRIES = 4
NEXT = "<|end|><|start|>assistant"
THOUGHT = f"<|channel|>analysis<|message|>{FIRST_THOUGHT}{NEXT}"
CALLED = (
    f"{THOUGHT}<|channel|>commentary<|message|>{CONTENT}{NEXT}"
    f"<|channel|>analysis<|message|>{SECOND_THOUGHT}{NEXT}"
    f"<|channel|>commentary to=functions.forecast <|constrain|>json<|message|>{JSON}<|call|>"
)
SAID = f"{THOUGHT}<|channel|>final<|message|>{ANSWER}<|return|>"
PING = " to=functions.ping <|constrain|>json<|message|>{}<|call|>"

endpoints = pytest.mark.parametrize("endpoint", CLIENTS)
both_ways = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    directory = tmp_path_factory.mktemp("gpt_oss")
    build_gpt_oss(directory / "model")
    write_vocabulary(directory / "vocabulary")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VOCABULARY, str(directory / "vocabulary"))  # for the server and for the scripts here
        with Server(directory / "model", reasoning="openai_gptoss", tool="openai") as running:
            yield running


@pytest.fixture(scope="module")
def script(server: Server) -> Script:
    encoding = harmony.load_harmony_encoding(harmony.HarmonyEncodingName.HARMONY_GPT_OSS)
    return lambda output: encoding.encode(output, allowed_special="all")


@pytest.fixture(scope="module")
def clients(server: Server, script: Script) -> dict[str, Client]:
    return {name: kind(server.url, script) for name, kind in CLIENTS.items()}


def ask(client: Client, streamed: bool, output: str, **request: Any) -> Answer:
    return client.streamed(output, **request) if streamed else client.whole(output, **request)


def test_the_model_is_served_directly(server: Server, clients: dict[str, Client]) -> None:
    assert "unified_parser 0.1.0 parses openai_gptoss directly" in server.log_text()


@endpoints
@both_ways
def test_thoughts_words_and_a_call(clients: dict[str, Client], endpoint: str, streamed: bool) -> None:
    # Thoughts of two messages are parted by a newline, unless each has an item of its own.
    thoughts = [FIRST_THOUGHT, SECOND_THOUGHT if endpoint == "responses" else f"\n{SECOND_THOUGHT}"]
    if streamed or endpoint == "responses":
        first, last = [("reasoning", thoughts[0])], [("reasoning", thoughts[1])]
    else:
        first, last = [("reasoning", "".join(thoughts))], []
    expected = [*first, ("content", CONTENT), *last, CALLS[0]]
    answer = ask(clients[endpoint], streamed, CALLED)
    for _ in range(TRIES if streamed else 0):
        if answer.plain() == expected:
            break
        answer = ask(clients[endpoint], streamed, CALLED)

    assert answer.plain() == expected
    ended = {"chat": "tool_calls", "responses": "completed", "messages": "tool_use"}
    assert answer.finish_reason == ended[endpoint]
    assert answer.calls[0].id


@endpoints
@both_ways
def test_a_thought_and_an_answer(
    clients: dict[str, Client], script: Script, endpoint: str, streamed: bool
) -> None:
    answer = ask(clients[endpoint], streamed, SAID)

    assert answer.plain() == [("reasoning", FIRST_THOUGHT), ("content", ANSWER)]
    ended = {"chat": "stop", "responses": "completed", "messages": "end_turn"}
    assert answer.finish_reason == ended[endpoint]
    assert answer.usage is not None
    assert answer.usage.output == len(script(SAID))
    if endpoint != "messages":
        assert answer.usage.reasoning == len(script(FIRST_THOUGHT))


@endpoints
@both_ways
def test_cut_off_while_thinking(clients: dict[str, Client], endpoint: str, streamed: bool) -> None:
    output = THOUGHT.removesuffix(NEXT) + "<|return|>"  # which the limit of tokens leaves out
    answer = ask(clients[endpoint], streamed, output, cut_off=True)

    assert answer.plain() == [("reasoning", FIRST_THOUGHT)]
    ended = {"chat": "length", "responses": "incomplete", "messages": "max_tokens"}
    assert answer.finish_reason == ended[endpoint]


@both_ways
def test_reasoning_is_left_out(clients: dict[str, Client], streamed: bool) -> None:
    """Not on ``/v1/responses``, where vLLM sends the reasoning of these models whatever the request says."""
    answer = ask(clients["chat"], streamed, CALLED, include_reasoning=False)
    assert answer.plain() == [("content", CONTENT), CALLS[0]]


@endpoints
@both_ways
def test_the_conversation_goes_on(clients: dict[str, Client], endpoint: str, streamed: bool) -> None:
    client = clients[endpoint]
    first = ask(client, streamed, CALLED)
    history = [*first.turn, *client.results(first.calls, "Rain, then sun.")]
    second = ask(client, streamed, SAID, history=history)

    assert second.plain() == [("reasoning", FIRST_THOUGHT), ("content", ANSWER)]
    assert first.usage is not None and second.usage is not None
    assert second.usage.prompt > first.usage.prompt


@endpoints
@both_ways
def test_a_schema_constrains_the_answer_alone(
    clients: dict[str, Client], endpoint: str, streamed: bool
) -> None:
    schema = {"enum": ["oui", "non"]}
    named = {"type": "json_schema", "name": "it", "schema": schema}
    fields: dict[str, Any] = {
        "chat": {"response_format": {"type": "json_schema", "json_schema": {"name": "it", "schema": schema}}},
        "responses": {"text": {"format": named}},
        "messages": {"output_config": {"format": {"type": "json_schema", "schema": schema}}},
    }[endpoint]
    output = f'{THOUGHT}<|channel|>final <|constrain|>json<|message|>Pas de JSON :\n"non"<|return|>'
    answer = ask(clients[endpoint], streamed, output, tools=(), **fields)

    assert answer.plain() == [("reasoning", FIRST_THOUGHT), ("content", '"non"')]


@endpoints
@both_ways
@pytest.mark.parametrize("named", [False, True], ids=["required", "named"])
def test_a_call_is_forced(clients: dict[str, Client], endpoint: str, streamed: bool, named: bool) -> None:
    choice: Any = {
        "chat": ("required", {"type": "function", "function": {"name": "ping"}}),
        "responses": ("required", {"type": "function", "name": "ping"}),
        "messages": ({"type": "any"}, {"type": "tool", "name": "ping"}),
    }[endpoint][named]
    output = f"{THOUGHT}<|channel|>final<|message|>No.{NEXT}<|channel|>commentary{PING}"
    answer = ask(clients[endpoint], streamed, output, tool_choice=choice)

    assert answer.plain() == [("reasoning", FIRST_THOUGHT), ("ping", {})]
