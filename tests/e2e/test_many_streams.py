"""One server process and many streams at once: no cross-talk, and nothing left of a stream that is over."""

from __future__ import annotations

import asyncio
import json
import time
import urllib.request
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeAlias

import openai
import pytest

from tests.e2e.cases import KIMI_K2, Case
from tests.e2e.client import ChatClient, fold
from tests.e2e.server import Server

pytestmark = [pytest.mark.e2e, pytest.mark.cases_where(lambda case: case is KIMI_K2)]

STREAMS = 200
BROKEN_OFF, CHUNKS = 20, 3
PATIENCE = 60  # seconds for the server to come to rest

Said: TypeAlias = tuple[str | None, str | None, list[tuple[str, str, object]]]
Request: TypeAlias = dict[str, Any]


def places(number: int) -> str:
    return ", ".join(f"{number}-{n}" for n in range(number % 3 + 1))


def output(number: int, length: int = 1) -> str:
    """What the stream of this number says: thoughts, words and a call of its own; more words if longer."""
    return (
        f"I am stream {number}.</think>{f'Asking for {places(number)}.' * length}"
        "<|tool_calls_section_begin|><|tool_call_begin|>"
        f'functions.forecast:{number}<|tool_call_argument_begin|>{{"city": "{places(number)}"}}'
        "<|tool_call_end|><|tool_calls_section_end|>"
    )


def expected(number: int) -> Said:
    call = (f"functions.forecast:{number}", "forecast", {"city": places(number)})
    return f"I am stream {number}.", f"Asking for {places(number)}.", [call]


async def read(client: openai.AsyncOpenAI, request: Request) -> Said:
    """A stream to its end."""
    answer = fold([chunk async for chunk in await client.chat.completions.create(stream=True, **request)])
    calls = [(call.id, call.name, json.loads(call.arguments)) for call in answer.calls]
    return answer.reasoning, answer.content, calls


async def break_off(client: openai.AsyncOpenAI, request: Request) -> int:
    """A stream up to some chunk, where the client hangs up. Returns how many chunks there were."""
    stream = await client.chat.completions.create(stream=True, **request)
    chunks = 0
    async for chunk in stream:
        chunks += 1
        if chunks == CHUNKS:
            break
        assert chunk.choices[0].finish_reason is None
    await stream.close()
    return chunks


def all_at_once(
    client: ChatClient,
    do: Callable[[openai.AsyncOpenAI, Request], Awaitable[Any]],
    requests: Iterable[Request],
) -> list[Any]:
    async def run() -> list[Any]:
        async with client.asynchronous() as asking:
            return await asyncio.gather(*(do(asking, request) for request in requests))

    return asyncio.run(run())


def census(server: Server) -> dict[str, int]:
    """How many of this project's objects are alive in the server, and how many objects at all."""
    with urllib.request.urlopen(f"{server.url}/census", timeout=PATIENCE) as answer:
        counts: dict[str, int] = json.load(answer)
        return counts


def at_rest(server: Server) -> dict[str, int]:
    """The census when no parser is alive any more, or, when patience is at an end, whatever is."""
    deadline = time.monotonic() + PATIENCE
    while alive(counts := census(server)) and time.monotonic() < deadline:
        time.sleep(0.2)
    return counts


def alive(counts: dict[str, int]) -> dict[str, int]:
    """Which of our objects a census found."""
    return {kind: count for kind, count in counts.items() if count and kind != "objects"}


def test_the_census_sees_a_running_stream(server: Server, client: ChatClient, case: Case) -> None:
    with client.chunks(output(0, length=40), prompt=case.prompt) as chunks:
        next(iter(chunks))
        assert alive(census(server)).keys() == {"parsers", "walks", "vllm_parsers"}
    assert not alive(at_rest(server))


def test_many_streams_at_once(server: Server, client: ChatClient, case: Case) -> None:
    requests = [client.request(output(n), prompt=case.prompt, stream_interval=3) for n in range(STREAMS)]
    objects = []
    for _ in range(3):
        assert all_at_once(client, read, requests) == [expected(n) for n in range(STREAMS)]
        counts = at_rest(server)
        assert not alive(counts)
        objects.append(counts["objects"])
    # The first rounds fill caches. From then on a stream leaves less than one object behind.
    assert objects[2] - objects[1] < STREAMS


def test_clients_that_hang_up(server: Server, client: ChatClient, case: Case) -> None:
    requests = [client.request(output(n, length=40), prompt=case.prompt) for n in range(BROKEN_OFF)]
    assert all_at_once(client, break_off, requests) == [CHUNKS] * BROKEN_OFF
    assert not alive(at_rest(server))

    requests = [client.request(output(n), prompt=case.prompt) for n in range(BROKEN_OFF)]
    assert all_at_once(client, read, requests) == [expected(n) for n in range(BROKEN_OFF)]
