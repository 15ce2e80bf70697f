"""Every invariant over every family: on outputs written from its format, damaged ones, and the samples."""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from unified_parser.testing import (
    Output,
    ParserClass,
    characters,
    check_calls,
    check_ids,
    check_interleaved,
    check_reasoning_end,
    check_text,
    cut,
    group,
    mutate,
    stream,
    tokenizer_for,
    write_output,
)
from unified_parser.testing.strategies import hostile, jumbled, mutated, outputs

# A failure prints its output, which is short anyway; shrinking it takes minutes when many families fail.
UNSHRUNK = [phase for phase in Phase if phase not in (Phase.shrink, Phase.explain)]
FEW = settings(max_examples=max(settings.default.max_examples // 7, 1), phases=UNSHRUNK)
SEEDS = st.integers(0, 2**32)


def check(parser_class: ParserClass, output: Output, seed: int) -> None:
    check_text(parser_class, output.text, Random(seed), **output.options)
    check_ids(parser_class, output.text, Random(seed), **output.options)


@FEW
@given(data=st.data(), seed=SEEDS)
def test_written_calls_are_read(written: ParserClass, data: st.DataObject, seed: int) -> None:
    output = data.draw(outputs(written))
    check_calls(stream(written, cut(output.text, Random(seed)), **output.options), output.calls)
    tokenizer = tokenizer_for(written)
    deltas = group(tokenizer.encode(output.text), tokenizer, Random(seed))
    check_calls(stream(written, deltas, tokenizer=tokenizer, **output.options), output.calls)


@FEW
@given(data=st.data(), seed=SEEDS)
def test_outputs_as_the_format_says(written: ParserClass, data: st.DataObject, seed: int) -> None:
    check(written, data.draw(outputs(written)), seed)


@FEW
@given(data=st.data(), seed=SEEDS)
def test_damaged_outputs(written: ParserClass, data: st.DataObject, seed: int) -> None:
    check(written, data.draw(mutated(written)), seed)


@FEW
@given(data=st.data(), seed=SEEDS)
def test_markers_in_any_order(parser_class: ParserClass, data: st.DataObject, seed: int) -> None:
    check(parser_class, data.draw(jumbled(parser_class)), seed)


@FEW
@given(data=st.data(), seed=SEEDS)
def test_any_text(parser_class: ParserClass, data: st.DataObject, seed: int) -> None:
    check(parser_class, data.draw(hostile(parser_class)), seed)


def test_samples(recorded: Any) -> None:
    rng = Random(1)
    for text, options in rng.sample(recorded.outputs, min(len(recorded.outputs), 5)):
        check_text(recorded.parser_class, text, rng, **options)
        check_ids(recorded.parser_class, text, rng, **options)


def test_damaged_samples(recorded: Any) -> None:
    rng = Random(2)
    for text, options in rng.sample(recorded.outputs, min(len(recorded.outputs), 5)):
        damaged = "".join(mutate([text], recorded.parser_class.format, rng))
        check_text(recorded.parser_class, damaged, rng, **options)


@FEW
@given(data=st.data(), seed=SEEDS)
def test_ids_and_text_agree_on_the_end_of_reasoning(
    parser_class: ParserClass, data: st.DataObject, seed: int
) -> None:
    kinds = [jumbled(parser_class), hostile(parser_class)]
    output = data.draw(st.one_of(*kinds))
    check_reasoning_end(parser_class, output.text, Random(seed), **output.options)


@FEW
@given(data=st.data(), seed=SEEDS)
def test_they_agree_on_written_outputs(written: ParserClass, data: st.DataObject, seed: int) -> None:
    output = data.draw(outputs(written))
    check_reasoning_end(written, output.text[:150], Random(seed), **output.options)


def test_they_agree_on_samples(recorded: Any) -> None:
    rng = Random(3)
    for text, options in rng.sample(recorded.outputs, min(len(recorded.outputs), 4)):
        check_reasoning_end(recorded.parser_class, text[:150], rng, **options)


def test_a_thousand_at_once(written: ParserClass) -> None:
    """They share one compiled format, and nothing of each other's."""
    rng = Random(4)
    texts = [write_output(written, rng).text[:200] for _ in range(7)]
    check_interleaved(written, [cut(text, rng, 60) for text in texts] + [characters("short <")])
