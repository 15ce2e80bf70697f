"""The conformance kit: what must hold for every family, ready to run on one of your own.

    from unified_parser.testing import check_family
    check_family(MyParser, samples=["<think>Hm.</think>Hello."])

``check_family`` writes outputs from the family's own format, damages some, cuts them, and checks every
invariant on them with nothing but the standard library. The invariants are plain functions too
(``check_chunks``, ``check_latency``, ...), and ``unified_parser.testing.strategies`` gives the same outputs
to Hypothesis. A call syntax of your own needs a writer (``write_calls.register``); without it only the
samples are checked, and ``why_unwritable`` says so.
"""

from __future__ import annotations

from .family import (
    INVARIANTS,
    check_family,
    check_ids,
    check_output,
    check_reasoning_end,
    check_text,
    tokenizer_for,
)
from .invariants import (
    check_accounting,
    check_arguments,
    check_atomic,
    check_calls,
    check_chunks,
    check_empty_deltas,
    check_finish,
    check_interleaved,
    check_latency,
    check_nothing_is_lost,
    check_order,
    check_token_level,
    check_whole_is_streamed,
)
from .outputs import TOOLS, Output, jumble, literals, mutate, why_unwritable, write_output
from .run import Delta, ParserClass, Run, stream
from .tokenizer import CharacterTokenizer, characters, cut, group
from .work import check_linear, work
from .writers import Call, Unwritable, holds_many, write_calls

__all__ = [
    "INVARIANTS",
    "TOOLS",
    "Call",
    "CharacterTokenizer",
    "Delta",
    "Output",
    "ParserClass",
    "Run",
    "Unwritable",
    "characters",
    "check_accounting",
    "check_arguments",
    "check_atomic",
    "check_calls",
    "check_chunks",
    "check_empty_deltas",
    "check_family",
    "check_finish",
    "check_ids",
    "check_interleaved",
    "check_latency",
    "check_linear",
    "check_nothing_is_lost",
    "check_order",
    "check_output",
    "check_reasoning_end",
    "check_text",
    "check_token_level",
    "check_whole_is_streamed",
    "cut",
    "group",
    "holds_many",
    "jumble",
    "literals",
    "mutate",
    "stream",
    "tokenizer_for",
    "why_unwritable",
    "work",
    "write_calls",
    "write_output",
]
