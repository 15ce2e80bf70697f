"""The generated outputs as Hypothesis strategies. Needs the package ``hypothesis``."""

from __future__ import annotations

from random import Random

from .outputs import Output, jumble, mutate, write_output
from .run import ParserClass

try:
    from hypothesis import strategies as st
    from hypothesis.strategies import SearchStrategy
except ImportError as error:  # pragma: no cover
    raise ImportError("unified_parser.testing.strategies needs hypothesis: pip install hypothesis") from error


def _randoms() -> SearchStrategy[Random]:
    return st.randoms(use_true_random=False)


def outputs(parser_class: ParserClass) -> SearchStrategy[Output]:
    """Outputs as the format says."""
    return _randoms().map(lambda rng: write_output(parser_class, rng))


def mutated(parser_class: ParserClass) -> SearchStrategy[Output]:
    """Damaged ones of the outputs that the format says."""

    def damage(rng: Random) -> Output:
        source = write_output(parser_class, rng)
        return Output(mutate(source.pieces, parser_class.format, rng), (), source.options)

    return _randoms().map(damage)


def jumbled(parser_class: ParserClass) -> SearchStrategy[Output]:
    """Markers, debris and texts in no order."""
    return _randoms().map(lambda rng: Output(jumble(parser_class.format, rng)))


def hostile(parser_class: ParserClass) -> SearchStrategy[Output]:
    """Any text at all: bytes that are no text among it."""
    texts = st.one_of(st.text(max_size=60), st.binary(max_size=60).map(lambda b: b.decode(errors="replace")))
    return texts.map(lambda text: Output((text,)))
