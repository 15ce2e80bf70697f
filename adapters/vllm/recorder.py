"""Writes responses to files while the server serves, and never gets in its way.

``UNIFIED_PARSER_RECORD`` names a directory. ``UNIFIED_PARSER_RECORD_RATE`` is the share of the responses that
are recorded (0 to 1, default 1), ``UNIFIED_PARSER_RECORD_MB`` how many megabytes the directory's files may
have in all (default 1000). Records are made and written by a thread of each process, from a queue of limited
length. Whatever cannot be written is dropped, with one line in the log.
"""

from __future__ import annotations

import atexit
import os
import queue
import threading
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from random import Random
from typing import TypeAlias

from vllm.logger import init_logger

from unified_parser.recording import Record, RecordWriter, to_line

from .compat import LOGGER_NAME

logger = init_logger(LOGGER_NAME)

DIRECTORY = "UNIFIED_PARSER_RECORD"
RATE = "UNIFIED_PARSER_RECORD_RATE"
MEGABYTES = "UNIFIED_PARSER_RECORD_MB"

#: How many responses may wait to be written.
_WAITING = 256
#: How many seconds the process's end waits for them.
_PATIENCE = 5.0

MakeRecord: TypeAlias = Callable[[], Record]


class Recorder:
    """Writes the records of one process."""

    def __init__(self, directory: Path, rate: float, megabytes: float) -> None:
        self._directory = directory
        self._rate = rate
        self._writer = RecordWriter(directory, int(megabytes * 1_000_000))
        self._random = Random()  # the server may have seeded the common one
        self._waiting: queue.Queue[MakeRecord | None] = queue.Queue(_WAITING)
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._warned = False

    def wants(self) -> bool:
        """Is the response that begins now one of those to record?"""
        return self._random.random() < self._rate

    def put(self, make: MakeRecord) -> None:
        """Takes a response; ``make`` is called in the writing thread. Returns at once, never raises."""
        try:
            self._start()
            self._waiting.put_nowait(make)
        except (queue.Full, RuntimeError) as error:  # no more threads, or the interpreter is ending
            self._warn(str(error) or f"{_WAITING} are waiting to be written")

    def flush(self) -> None:
        """Waits until all that was taken is written."""
        if self._thread is not None:
            self._waiting.join()

    def _start(self) -> None:
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="unified_parser records", daemon=True)
                self._thread.start()
                atexit.register(self._stop, os.getpid())

    def _stop(self, started_in: int) -> None:
        """At the end of the process; one that was forked from it has no such thread."""
        if self._thread is not None and os.getpid() == started_in:
            try:
                self._waiting.put(None, timeout=_PATIENCE)
            except queue.Full:
                return
            self._thread.join(_PATIENCE)

    def _run(self) -> None:
        while (make := self._waiting.get()) is not None:
            try:
                self._writer.write(to_line(make()))
            except Exception as error:  # whatever it is, the next one may go well
                self._warn(str(error))
            finally:
                del make  # it holds a whole response
                self._waiting.task_done()

    def _warn(self, problem: str) -> None:
        if not self._warned:
            self._warned = True
            logger.warning(
                "Responses are not recorded in %s, now or from time to time: %s", self._directory, problem
            )


def recorder() -> Recorder | None:
    """The recorder of this process; None where recording is off."""
    return _recorder_of(os.getpid())


@cache
def _recorder_of(process: int) -> Recorder | None:
    """One for each process: a forked one has a copy of the queue, but no thread."""
    try:
        settings = _settings(os.environ)
    except ValueError as error:
        logger.warning("Responses are not recorded: %s", error)
        return None
    if settings is None:
        return None
    directory, rate, megabytes = settings
    logger.info("Responses are recorded in %s (%s=%s, %s=%s)", directory, RATE, rate, MEGABYTES, megabytes)
    return Recorder(directory, rate, megabytes)


def _settings(environment: Mapping[str, str]) -> tuple[Path, float, float] | None:
    """Directory, rate and megabytes; None where recording is off. Raises ValueError."""
    directory = environment.get(DIRECTORY, "").strip()
    if not directory:
        return None
    rate = _number(environment, RATE, 1.0)
    if not 0 <= rate <= 1:
        raise ValueError(f"{RATE}={rate}: give a number from 0 to 1.")
    megabytes = _number(environment, MEGABYTES, 1000.0)
    if not 0 < megabytes < float("inf"):
        raise ValueError(f"{MEGABYTES}={megabytes}: give a number of megabytes above 0.")
    return Path(directory), rate, megabytes


def _number(environment: Mapping[str, str], name: str, default: float) -> float:
    text = environment.get(name, "").strip()
    try:
        return float(text) if text else default
    except ValueError:
        raise ValueError(f"{name}={text}: give a number.") from None
