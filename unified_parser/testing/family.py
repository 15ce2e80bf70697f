"""All invariants on one output, and on many outputs of one family."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from random import Random
from typing import Any

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
from .outputs import jumble, mutate, why_unwritable, write_output
from .run import Delta, ParserClass, stream
from .tokenizer import CharacterTokenizer, characters, cut, group

#: What is judged from the events of a run alone.
OF_ONE_RUN = (check_order, check_accounting, check_nothing_is_lost, check_latency, check_arguments)
#: What takes further runs of the same output.
OF_MORE_RUNS = (check_whole_is_streamed, check_atomic, check_finish, check_empty_deltas)
INVARIANTS = OF_ONE_RUN + OF_MORE_RUNS


def check_output(parser_class: ParserClass, text: str, rng: Random, **options: Any) -> None:
    """Every invariant on one output: by its text alone, and with the ids of a toy tokenizer."""
    check_text(parser_class, text, rng, **options)
    check_ids(parser_class, text, rng, **options)


def check_text(parser_class: ParserClass, text: str, rng: Random, **options: Any) -> None:
    """Every invariant on one output by its text alone."""
    partitions: list[list[Delta]] = [characters(text), cut(text, rng), [(text, ())]]
    _check_partitions(parser_class, partitions, rng, options)


def check_ids(parser_class: ParserClass, text: str, rng: Random, **options: Any) -> None:
    """Every invariant on one output with ids; some of its markers are spelled with ordinary tokens."""
    tokenizer = tokenizer_for(parser_class)
    ids = tokenizer.encode(text, rng)
    partitions = [group(ids, tokenizer, rng, most) for most in (1, 5)] + [[(text, ids)]]
    _check_partitions(parser_class, partitions, rng, {**options, "tokenizer": tokenizer})


def check_reasoning_end(parser_class: ParserClass, text: str, rng: Random, **options: Any) -> None:
    """Ids and text of one output agree on where reasoning ends."""
    tokenizer = tokenizer_for(parser_class)
    prompt = tokenizer.encode(options.pop("prompt_text", None) or "\n")
    ids = tokenizer.encode(text, rng)[:150]  # each prefix is asked about
    check_token_level(parser_class, ids, prompt, tokenizer.decode, **{**options, "tokenizer": tokenizer})


def _check_partitions(
    parser_class: ParserClass, partitions: Sequence[Sequence[Delta]], rng: Random, options: dict[str, Any]
) -> None:
    runs = [stream(parser_class, deltas, **options) for deltas in partitions]
    for run in runs:
        for check in OF_ONE_RUN:
            check(run)
    check_chunks(*runs)
    for check in OF_MORE_RUNS:
        check(rng.choice(runs))


def tokenizer_for(parser_class: ParserClass) -> CharacterTokenizer:
    """A toy tokenizer with a token for each marker of the family, and each boundary of its turns."""
    form = parser_class.format
    return _tokenizer(frozenset({*parser_class.marker_literals(), *form.start.boundaries}))


@cache
def _tokenizer(markers: frozenset[str]) -> CharacterTokenizer:
    """One for all: a format is compiled once for each tokenizer."""
    return CharacterTokenizer(markers)


def check_family(
    parser_class: ParserClass,
    samples: Iterable[str] = (),
    *,
    outputs: int = 50,
    seed: int = 0,
    **options: Any,
) -> None:
    """Every invariant on samples, generated and damaged outputs. Raises AssertionError at the first failure.

    ``options``: those of the parser class, for the samples.
    """
    rng = Random(seed)
    given = list(samples)
    lack = why_unwritable(parser_class)
    assert given or not lack, f"{parser_class.__name__} needs samples: {lack}"
    checks = (check_output, check_reasoning_end)
    for text in given:
        damaged = "".join(mutate([text], parser_class.format, rng))
        for check in checks:
            check(parser_class, text, rng, **options)
            check(parser_class, damaged, rng, **options)
    if lack:
        return
    for _ in range(outputs):
        output = write_output(parser_class, rng)
        check_calls(stream(parser_class, characters(output.text), **output.options), output.calls)
        damaged = "".join(mutate(output.pieces, parser_class.format, rng))
        for check in checks:
            check(parser_class, output.text, rng, **output.options)
            check(parser_class, damaged, rng, **output.options)
            check(parser_class, "".join(jumble(parser_class.format, rng)), rng, **output.options)
    texts = [write_output(parser_class, rng).text for _ in range(5)]
    check_interleaved(parser_class, [cut(text, rng) for text in texts])
