"""CPU time of several ways to do the same work, in turns."""

from __future__ import annotations

import gc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from time import process_time
from typing import Any

from contenders import Maker
from streams import Delta

#: The clock is read once in so many deltas.
_BETWEEN_LOOKS = 64


@dataclass
class Timing:
    """The runs of one contender over one stream, in seconds. ``over``: a run took longer than the limit.

    ``done``: the part of the stream that was read by then.
    """

    seconds: list[float] = field(default_factory=list)
    over: bool = False
    done: float = 1.0
    error: str = ""

    @property
    def best(self) -> float:
        return min(self.seconds)

    @property
    def median(self) -> float:
        return median(self.seconds)


def run(make: Maker, deltas: Sequence[Delta], limit: float) -> tuple[float, float]:
    """(CPU seconds, part of the stream that was read) of one run, given up after ``limit`` seconds."""
    step = make()
    last = len(deltas) - 1
    gc.collect()
    gc.disable()
    start = now = process_time()
    try:
        for begin in range(0, last, _BETWEEN_LOOKS):
            for text, ids in deltas[begin : min(begin + _BETWEEN_LOOKS, last)]:
                step(text, ids, False)
            now = process_time()
            if now - start > limit:
                return now - start, (begin + _BETWEEN_LOOKS) / len(deltas)
        text, ids = deltas[last]
        step(text, ids, True)
        return process_time() - start, 1.0
    finally:
        gc.enable()


def take_turns(
    makers: Mapping[str, Maker], deltas: Sequence[Delta], repeats: int, limit: float
) -> dict[str, Timing]:
    """Times the contenders one after the other, ``repeats`` times over: A B C D A B C D ...

    One that is over the limit, or fails, is not run again.
    """
    timings = {name: Timing() for name in makers}
    gc.freeze()  # what is there already would make every run of the collector a long one
    for _ in range(repeats):
        for name, make in makers.items():
            timing = timings[name]
            if timing.over or timing.error:
                continue
            try:
                seconds, timing.done = run(make, deltas, limit)
            except Exception as error:  # whatever a parser raises for this stream
                timing.error = f"{type(error).__name__}: {error}"
                continue
            timing.seconds.append(seconds)
            timing.over = timing.done < 1
    return timings


def messages(make: Maker, deltas: Sequence[Delta]) -> list[Any]:
    """What a run returns, delta by delta."""
    step = make()
    last = len(deltas) - 1
    return [step(text, ids, at == last) for at, (text, ids) in enumerate(deltas)]
