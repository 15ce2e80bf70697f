"""A real server that records: its files replay, and its metrics page counts what it sent."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.cases import CALLS, CONTENT, KIMI_K2, REASONING
from tests.e2e.client import CLIENTS, ChatClient, Client, ScriptEncoder
from tests.e2e.conftest import HAVE_VLLM
from tests.e2e.model import build_model, build_tokenizer
from tests.e2e.server import MODEL_NAME, Server
from unified_parser.recording import Record, read_records

pytestmark = pytest.mark.e2e

SECONDS = 30
DOCUMENT = {"title": "a secret", "text": "a secret"}
REQUEST = {"prompt": KIMI_K2.prompt, "switches": {"documents": [DOCUMENT]}}


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("operations") / "records"


@pytest.fixture(scope="module")
def server(records: Path) -> Iterator[Server]:
    if not HAVE_VLLM:
        pytest.skip("vLLM is not installed")
    model = records.with_name("model")
    build_model(model, build_tokenizer(KIMI_K2.special, KIMI_K2.added))
    environment = {"UNIFIED_PARSER_RECORD": str(records)}
    with Server(model, reasoning="kimi_k2", tool="kimi_k2", environment=environment) as running:
        yield running


@pytest.fixture(scope="module")
def script() -> ScriptEncoder:
    return ScriptEncoder(build_tokenizer(KIMI_K2.special, KIMI_K2.added))


@pytest.fixture(scope="module")
def clients(server: Server, script: ScriptEncoder) -> dict[str, Client]:
    return {name: kind(server.url, script) for name, kind in CLIENTS.items()}


def written(records: Path, count: int) -> list[Record]:
    """The records, as soon as there are so many: they are written behind the responses."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        found = [record for file in sorted(records.glob("*.jsonl")) for _, record in read_records(file)]
        if len(found) >= count:
            return found
        time.sleep(0.1)
    raise TimeoutError(f"no {count} records after {SECONDS} s")


def counters(server: Server) -> dict[str, float]:
    """Our counters on the page, and vLLM's own of what tool parsers were asked while streaming."""
    with urllib.request.urlopen(f"{server.url}/metrics", timeout=SECONDS) as answer:
        page = answer.read().decode()
    labels = f'{{family="kimi_k2",model_name="{MODEL_NAME}",path="direct"}}'
    ours = re.findall(rf"^unified_parser:(\w+)_total{re.escape(labels)} (\S+)$", page, re.MULTILINE)
    invocations = re.findall(
        r'^vllm:tool_call_parser_invocations_total{.*mode="streaming",.*outcome="(\w+)".*} (\S+)$',
        page,
        re.MULTILINE,
    )
    found = {name: float(value) for name, value in ours}
    for outcome, value in invocations:
        found[outcome] = found.get(outcome, 0) + float(value)
    return found


def test_what_is_served_is_recorded_counted_and_replays(
    server: Server, clients: dict[str, Client], script: ScriptEncoder, records: Path
) -> None:
    before = counters(server)
    cut = KIMI_K2.output[: KIMI_K2.output.index("Saint-Malo")]
    chat = clients["chat"]
    assert isinstance(chat, ChatClient)

    chat.whole(KIMI_K2.output, **REQUEST)
    chat.streamed(KIMI_K2.output, **REQUEST)
    chat.streamed(cut, cut_off=True, **REQUEST)
    chat.choices(KIMI_K2.output, stream=False, n=2, temperature=1, **REQUEST)
    clients["responses"].streamed(KIMI_K2.output, **REQUEST)
    clients["messages"].whole(KIMI_K2.output, **REQUEST)
    with chat.chunks("tides " * 400, **REQUEST) as stream:  # this client goes away
        next(iter(stream))

    found = written(records, 7)
    assert [record.streamed for record in found] == [False, True, True, False, False, True, False]
    whole, streamed, cut_off = found[:3]
    for record in (whole, streamed):
        assert (record.result.reasoning, record.result.content) == (REASONING, CONTENT)
        assert [call.name for call in record.result.tool_calls] == [name for name, _ in CALLS]
        assert record.token_ids == script(KIMI_K2.output)
    assert len(streamed.deltas) > 1 and len(whole.deltas) == 1
    assert [call.complete for call in cut_off.result.tool_calls] == [False]
    assert all(record.prompt_tail == "<think>" and record.path == "direct" for record in found)
    assert not any(b"secret" in file.read_bytes() for file in records.iterdir())

    command = [sys.executable, "-m", "unified_parser", "replay", str(records)]
    replayed = subprocess.run(command, capture_output=True, text=True, timeout=60, env=os.environ)
    assert (replayed.returncode, replayed.stdout) == (0, "7 responses: 7 as recorded, 0 different\n")

    after = counters(server)
    assert {
        name: after[name] - before.get(name, 0) for name in after if name not in ("tool_call", "no_tool_call")
    } == {
        "responses": 7,
        "tool_calls": 13,
        "incomplete_tool_calls": 1,
        "invalid_tool_arguments": 0,
        "unknown_tool_names": 0,
        "markers_in_content": 0,
    }
    assert after["tool_call"] > 0 and after["no_tool_call"] > 0


def test_the_log_says_where_it_records(server: Server, clients: dict[str, Client], records: Path) -> None:
    clients["chat"].whole("so", prompt="<think></think>")
    lines = [line for line in server.log_text().splitlines() if "recorded in" in line]
    assert len(lines) == 1 and str(records) in lines[0]
