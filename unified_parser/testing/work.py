"""The work that an output costs, counted rather than timed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import FrameType
from typing import Any

from .run import Delta, ParserClass


def work(parser_class: ParserClass, deltas: Sequence[Delta], **options: Any) -> int:
    """Function calls made, and characters left unread after each delta, which the next one looks at again."""
    parser = parser_class(**options)
    count = 0

    def step(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    unread = 0
    sys.setprofile(step)
    try:
        for text, ids in deltas:
            parser.feed(text, ids)
            walk = parser._walk
            unread += len(text) + (len(walk.buffer) - walk.pos if walk else 0)
        parser.finish()
    finally:
        sys.setprofile(before)
    return count + unread


def check_linear(
    parser_class: ParserClass, once: Sequence[Delta], twice: Sequence[Delta], **options: Any
) -> None:
    """An output twice as long costs twice as much, give or take what every output costs."""
    small, large = work(parser_class, once, **options), work(parser_class, twice, **options)
    assert large <= 2.3 * small, (
        f"{parser_class.__name__}: {len(once)} deltas cost {small} steps, twice as much text {large}: "
        f"{large / small:.2f} times as much"
    )
