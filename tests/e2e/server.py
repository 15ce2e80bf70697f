"""Starts and stops ``vllm serve``, and asks it things through the ``openai`` client."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path

INSIDE_SERVER = Path(__file__).parent / "inside_server"
START_SECONDS = 300
MODEL_NAME = "tiny"


class Server:
    """One ``vllm serve`` of a model directory, under one pair of parser names.

    A context manager: entering waits until the server is healthy, leaving ends its whole process group.
    The log stays in ``log`` beside the model directory. ``arguments`` and ``environment`` are for this server
    only.
    """

    def __init__(
        self,
        model: Path,
        *,
        reasoning: str | None,
        tool: str | None,
        arguments: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.port = _free_port()
        self._environment = environment or {}
        self.log = model.with_suffix(".log")
        self._command = _command(model, self.port, reasoning, tool, arguments)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Server:
        environment = os.environ | {
            "HF_HUB_OFFLINE": "1",
            "VLLM_CPU_KVCACHE_SPACE": "1",
            "OMP_NUM_THREADS": "1",
            # With the "uni" executor: one process less to start, a third of the time.
            "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
            "VLLM_NO_USAGE_STATS": "1",
            "PYTHONPATH": str(INSIDE_SERVER),
            **self._environment,
        }
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                self._command, env=environment, stdout=log, stderr=log, start_new_session=True
            )
        try:
            self._wait_until_healthy()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def log_text(self) -> str:
        return self.log.read_text(errors="replace")

    def _wait_until_healthy(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise RuntimeError(f"vllm serve ended while starting; its log:\n{self.log_text()}")
            try:
                with urllib.request.urlopen(f"{self.url}/health", timeout=5) as answer:
                    if answer.status == 200:
                        return
            except (urllib.error.URLError, OSError):
                time.sleep(0.25)
        raise TimeoutError(f"vllm serve not healthy after {START_SECONDS} s; its log:\n{self.log_text()}")

    def _stop(self) -> None:
        for signal_number, patience in ((signal.SIGTERM, 20), (signal.SIGKILL, 20)):
            try:
                os.killpg(self._process.pid, signal_number)
            except ProcessLookupError:
                break
            try:
                self._process.wait(patience)
            except subprocess.TimeoutExpired:
                continue


def _command(
    model: Path, port: int, reasoning: str | None, tool: str | None, arguments: Sequence[str]
) -> list[str]:
    command = [sys.executable, "-m", "vllm.entrypoints.cli.main", "serve", str(model)]
    command += ["--served-model-name", MODEL_NAME, "--host", "127.0.0.1", "--port", str(port)]
    command += ["--load-format", "dummy", "--dtype", "float32", "--enforce-eager"]
    command += ["--max-model-len", "2048", "--max-num-seqs", "256", "--distributed-executor-backend", "uni"]
    command += ["--logits-processors", "scripted:Scripted", "--middleware", "census.census"]
    if reasoning:
        command += ["--reasoning-parser", reasoning]
    if tool:
        command += ["--enable-auto-tool-choice", "--tool-call-parser", tool]
    return [*command, *arguments]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
