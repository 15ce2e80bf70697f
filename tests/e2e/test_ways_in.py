"""The ways of running vLLM: does every process of each find the parsers? ``docs/serving.md`` has them all.

Each test starts what an operator would: one server, or one process that ends by itself.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from tests.e2e.cases import ANSWER, CALLS, CONTENT, KIMI_K2, REASONING, TOOLS
from tests.e2e.client import ChatClient, ScriptEncoder, fold, read_message
from tests.e2e.conftest import HAVE_VLLM
from tests.e2e.model import build_model, build_tokenizer
from tests.e2e.server import INSIDE_SERVER, MODEL_NAME, Server

pytestmark = [pytest.mark.e2e, pytest.mark.skipif(not HAVE_VLLM, reason="vLLM is not installed")]

CASE = KIMI_K2
CLOSED = "<|im_assistant|>assistant<|im_middle|><think></think>"
TOKENIZER = build_tokenizer(CASE.special, CASE.added)
SCRIPT = ScriptEncoder(TOKENIZER)
#: What a script says first that the grammar forbids, and what it allows.
FORBIDDEN, ALLOWED, CHOICES = "Pas de JSON :\n", "non", ["oui", "non"]

PARSERS = ("--reasoning-parser", "kimi_k2", "--enable-auto-tool-choice", "--tool-call-parser", "kimi_k2")
ENGINE = (
    *("--served-model-name", MODEL_NAME, "--load-format", "dummy", "--dtype", "float32", "--enforce-eager"),
    *("--max-model-len", "2048", "--max-num-seqs", "4", "--distributed-executor-backend", "uni"),
    *("--logits-processors", "scripted:Scripted"),
)
ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "OMP_NUM_THREADS": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "PYTHONPATH": str(INSIDE_SERVER),
}
SINGLE_PROCESS = {"VLLM_ENABLE_V1_MULTIPROCESSING": "0"}
SEVERAL_PROCESSES = {"VLLM_ENABLE_V1_MULTIPROCESSING": "1"}
PATIENCE = 600


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("ways_in") / "model"
    build_model(directory, TOKENIZER)
    return directory


def vllm(*arguments: str | Path) -> list[str]:
    """The command ``vllm`` with these arguments."""
    return [sys.executable, "-m", "vllm.entrypoints.cli.main", *map(str, arguments)]


def run(command: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a command to its end; its log is in ``stderr`` and ``stdout``."""
    done = subprocess.run(
        command,
        env=os.environ | ENVIRONMENT | environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done


@contextmanager
def running(command: list[str], log: Path, **environment: str) -> Iterator[None]:
    """Runs a command for as long as this lasts, with its log in a file."""
    with log.open("wb") as file:
        process = subprocess.Popen(
            command,
            env=os.environ | ENVIRONMENT | environment,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(20)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


def lines_of_ours(log: str) -> list[str]:
    return [line for line in log.splitlines() if "unified_parser" in line]


def check_answers(server: Server) -> None:
    """The API server splits a message, and the engine core knows where a grammar begins."""
    client = ChatClient(server.url, SCRIPT)  # a connection of its own
    for answer in (
        client.whole(CASE.output, prompt=CASE.prompt),
        client.streamed(CASE.output, prompt=CASE.prompt),
    ):
        assert (answer.reasoning, answer.content) == (REASONING, CONTENT)
        assert [(call.name, json.loads(call.arguments)) for call in answer.calls] == CALLS
    constrained = {"tools": (), "structured_outputs": {"choice": CHOICES}}
    said = f"{REASONING}</think>{FORBIDDEN}{ALLOWED}"
    answer = client.whole(said, prompt=CASE.prompt, **constrained)
    assert (answer.reasoning, answer.content) == (REASONING, ALLOWED)
    answer = client.whole(FORBIDDEN + ALLOWED, prompt=CLOSED, **constrained)
    assert (answer.reasoning, answer.content) == (None, ALLOWED)


# Offline: nothing splits an output, but the engine core asks where reasoning ends.

OFFLINE = """
import json, sys
from vllm import LLM, SamplingParams
from vllm.sampling_params import StructuredOutputsParams
from unified_parser import create_parser

model, requests = sys.argv[1], json.loads(sys.argv[2])
llm = LLM(model, reasoning_parser="deepseek-r1", load_format="dummy", dtype="float32", enforce_eager=True,
          max_model_len=2048, max_num_seqs=4, logits_processors=["scripted:Scripted"])
found = []
for request in requests:
    choices = request.get("choices")
    params = SamplingParams(
        temperature=0,
        max_tokens=len(request["script"]) + 8,
        extra_args={"script": request["script"]},
        structured_outputs=StructuredOutputsParams(choice=choices) if choices else None,
    )
    turns, kwargs = [{"role": "user", "content": "?"}], {"prompt_tail": request["prompt"]}
    (output,) = llm.chat(turns, params, chat_template_kwargs=kwargs, use_tqdm=False)
    said, prompt = output.outputs[0], output.prompt_token_ids
    parser = create_parser("kimi_k2", tokenizer=llm.get_tokenizer(), prompt_token_ids=prompt)
    found.append(parser.parse(said.text, said.token_ids, reason=said.finish_reason).to_openai())
print("FOUND", json.dumps(found))
"""


def test_offline_chat(model: Path) -> None:
    """``LLM`` takes a name that only this package has; the outputs are parsed by the library."""
    requests = [
        {
            "prompt": CASE.prompt,
            "script": SCRIPT(f"{REASONING}</think>{FORBIDDEN}{ALLOWED}"),
            "choices": CHOICES,
        },
        {"prompt": CLOSED, "script": SCRIPT(FORBIDDEN + ALLOWED), "choices": CHOICES},
        {"prompt": CASE.prompt, "script": SCRIPT(CASE.output)},
    ]
    done = run([sys.executable, "-c", OFFLINE, str(model), json.dumps(requests)], **SINGLE_PROCESS)
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("FOUND ")]
    open_prompt, closed_prompt, with_calls = json.loads(line.removeprefix("FOUND "))
    assert open_prompt == {"role": "assistant", "reasoning": REASONING, "content": ALLOWED}
    assert closed_prompt == {"role": "assistant", "content": ALLOWED}
    assert (with_calls["reasoning"], with_calls["content"]) == (REASONING, CONTENT)
    functions = [call["function"] for call in with_calls["tool_calls"]]
    assert [(function["name"], json.loads(function["arguments"])) for function in functions] == CALLS


# Batches


def batch_line(name: str, output: str, prompt: str, **fields: Any) -> str:
    """One request of an input file."""
    script = SCRIPT(output)
    body = {
        "model": MODEL_NAME,
        "messages": [{"role": "user", "content": "How is the weather?"}],
        "temperature": 0,
        "max_tokens": len(script) + 8,
        "vllm_xargs": {"script": script},
        "chat_template_kwargs": {"prompt_tail": prompt},
        **fields,
    }
    return json.dumps({"custom_id": name, "method": "POST", "url": "/v1/chat/completions", "body": body})


def test_run_batch(model: Path, tmp_path: Path) -> None:
    requests, results = tmp_path / "requests.jsonl", tmp_path / "results.jsonl"
    lines = [
        batch_line("calls", CASE.output, CASE.prompt, tools=TOOLS),
        batch_line(
            "grammar",
            f"{REASONING}</think>{FORBIDDEN}{ALLOWED}",
            CASE.prompt,
            structured_outputs={"choice": CHOICES},
        ),
    ]
    requests.write_text("\n".join(lines), encoding="utf-8")
    command = vllm("run-batch", "-i", requests, "-o", results, "--model", model, *ENGINE, *PARSERS)
    done = run(command, **SINGLE_PROCESS)

    assert lines_of_ours(done.stdout + done.stderr)
    answers = {}
    for line in results.read_text(encoding="utf-8").splitlines():
        result = json.loads(line)
        (choice,) = result["response"]["body"]["choices"]
        answers[result["custom_id"]] = choice["message"]
    calls = answers["calls"]
    assert (calls["reasoning"], calls["content"]) == (REASONING, CONTENT)
    functions = [call["function"] for call in calls["tool_calls"]]
    assert [(function["name"], json.loads(function["arguments"])) for function in functions] == CALLS
    assert (answers["grammar"]["reasoning"], answers["grammar"]["content"]) == (REASONING, ALLOWED)


# Several nodes: here two API servers without an engine, and a headless engine that serves them.


def test_two_api_servers_and_a_headless_engine(model: Path) -> None:
    shared = (
        *("--data-parallel-size", "1", "--data-parallel-address", "127.0.0.1"),
        *("--data-parallel-rpc-port", str(free_port())),
    )
    head = Server(
        model,
        reasoning=CASE.reasoning_parser,
        tool=CASE.tool_parser,
        arguments=["--api-server-count", "2", "--data-parallel-size-local", "0", *shared],
        environment=SEVERAL_PROCESSES,
    )
    log = model.with_name("headless.log")
    headless = vllm("serve", model, "--headless", *ENGINE, *PARSERS, *shared)
    with running(headless, log, **SEVERAL_PROCESSES):
        try:
            with head:
                for _ in range(8):  # each connection is taken by one of the two
                    check_answers(head)
        except Exception as error:
            error.add_note(log.read_text(errors="replace")[-4000:])
            raise
    ours = lines_of_ours(head.log_text())
    for process in ("ApiServer_0", "ApiServer_1"):
        assert any(process in line and "parses kimi_k2 directly" in line for line in ours)
    assert any("EngineCore" in line for line in lines_of_ours(log.read_text(errors="replace")))


# Reading outputs for an engine elsewhere


def wait_until_healthy(url: str, log: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=5):
                return
        except OSError:
            time.sleep(0.25)
    raise TimeoutError(f"not healthy after {PATIENCE} s; its log:\n{log.read_text(errors='replace')}")


def post(url: str, body: dict[str, Any]) -> Any:
    data = json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=PATIENCE) as response:
        return json.load(response)


def test_a_server_that_renders_and_derenders(model: Path) -> None:
    """The output's ids come from somewhere else; streamed, every chunk is read with all before it.

    The end token is left out of the ids: the server would show it as text, whatever the parser.
    """
    port = free_port()
    url, log = f"http://127.0.0.1:{port}", model.with_name("render.log")
    ids, prompt = SCRIPT(CASE.output)[:-1], TOKENIZER.encode(CASE.prompt, add_special_tokens=False).ids
    asked = {
        "model": MODEL_NAME,
        "prompt_token_ids": prompt,
        "prompt_tokens": len(prompt),
        "chat_request": {
            "model": MODEL_NAME,
            "messages": [{"role": "user", "content": "How is the weather?"}],
            "tools": TOOLS,
        },
    }
    command = vllm("launch", "render", model, "--served-model-name", MODEL_NAME, *PARSERS)
    with running([*command, "--host", "127.0.0.1", "--port", str(port)], log):
        wait_until_healthy(url, log)
        derender = f"{url}/v1/chat/completions/derender"
        choice = {"index": 0, "finish_reason": "stop", "token_ids": ids}
        whole = post(derender, asked | {"generate_response": {"request_id": "1", "choices": [choice]}})
        state, chunks = None, []
        for at in range(0, len(ids), 40):
            last = at + 40 >= len(ids)
            choice = {"index": 0, "finish_reason": "stop" if last else None, "token_ids": ids[at : at + 40]}
            chunk = {"request_id": "1", "choices": [choice]}
            step = {"stream": True, "stream_state": state, "generate_chunk": chunk}
            answer = post(derender, asked | step)
            state = answer["stream_state"]
            chunks.append(ChatCompletionChunk.model_validate(answer["chunk"]))
    assert lines_of_ours(log.read_text(errors="replace"))
    for answer in (read_message(ChatCompletion.model_validate(whole).choices[0].message), fold(chunks)):
        assert (answer.reasoning, answer.content) == (REASONING, CONTENT)
        assert [(call.name, json.loads(call.arguments)) for call in answer.calls] == CALLS


# The flags that name a plug-in, where entry points are not loaded


@pytest.fixture(scope="module")
def by_flags(model: Path) -> Iterator[Server]:
    plugin = "unified_parser.adapters.vllm"
    flags = ["--reasoning-parser-plugin", plugin, "--tool-parser-plugin", plugin]
    with Server(
        model,
        reasoning=CASE.reasoning_parser,
        tool=CASE.tool_parser,
        arguments=flags,
        environment=SEVERAL_PROCESSES | {"VLLM_PLUGINS": "none_of_them"},
    ) as server:
        yield server


def test_plugin_flags_without_the_entry_point(by_flags: Server) -> None:
    check_answers(by_flags)
    assert any("parses kimi_k2 directly" in line for line in lines_of_ours(by_flags.log_text()))


def test_bench_serve(by_flags: Server, model: Path, tmp_path: Path) -> None:
    """It needs no parser; it counts every token of a stream, though markers have no delta."""
    script = SCRIPT(f"{REASONING}</think>{ANSWER}")[:-1]  # random requests ignore the end token
    extra = {"vllm_xargs": {"script": script}, "chat_template_kwargs": {"prompt_tail": CASE.prompt}}
    requests = 3
    run(
        vllm(
            *("bench", "serve", "--backend", "openai-chat", "--base-url", by_flags.url),
            *("--endpoint", "/v1/chat/completions", "--model", MODEL_NAME, "--tokenizer", model),
            *("--dataset-name", "random", "--random-input-len", "8"),
            *("--random-output-len", str(len(script))),
            *("--num-prompts", str(requests), "--temperature", "0", "--extra-body", json.dumps(extra)),
            *(
                "--save-result",
                "--save-detailed",
                "--result-dir",
                tmp_path,
                "--result-filename",
                "result.json",
            ),
        )
    )
    result = json.loads((tmp_path / "result.json").read_text())
    assert (result["completed"], result["output_lens"]) == (requests, [len(script)] * requests)
    assert result["generated_texts"] == [ANSWER] * requests
