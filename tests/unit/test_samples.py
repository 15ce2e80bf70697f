"""Every golden sample in every mode: each way to cut it, with ids and without, with each kind of prompt."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
from support.cuts import CUTS, TEXT_CUTS, Output, text_only, whole, without_special_tokens
from support.fold import Folded, message
from support.parsing import family_tokenizer, run
from support.samples import Sample, everything, load
from support.tokenizers import MarkerTokenizer, minimal

from unified_parser import UnknownFamilyError, create_parser, get_parser_class

SAMPLES = load()
BY_ID = [pytest.param(sample, id=sample.id) for sample in SAMPLES]


@dataclass(frozen=True)
class Mode:
    """How a sample is given to the parser: the cut, whether ids come with it, the prompt as text or ids."""

    cut: str
    ids: bool
    prompt: str

    def __str__(self) -> str:
        return f"{self.cut}-{'ids' if self.ids else 'text'}-prompt-{self.prompt}"


MODES = [
    *(Mode(cut, True, "ids") for cut in CUTS),
    *(Mode(cut, False, "text") for cut in TEXT_CUTS),
    *(Mode(cut, True, "text") for cut in ("whole", "tokens")),
    *(Mode(cut, False, "ids") for cut in ("whole", "characters")),
]


def tokenizer_of(sample: Sample) -> MarkerTokenizer:
    return family_tokenizer(
        sample.parser_name,
        sample.partner,
        sample.prompt_tail,
        sample.absent_markers,
        sample.response_template,
    )


def parser_for(sample: Sample, *, tokenizer: Any, prompt: str) -> Any:
    """The parser that a server would make for the sample's request; ``prompt`` is "text" or "ids"."""
    given: dict[str, Any] = {"prompt_text": sample.prompt_tail}
    if prompt == "ids":
        given = {"prompt_token_ids": tokenizer_of(sample).encode(sample.prompt_tail)}
    if prompt == "ids" or sample.response_template:
        tokenizer = tokenizer or tokenizer_of(sample)
    return create_parser(
        sample.parser_name,
        reasoning=sample.partner,
        tokenizer=tokenizer,
        tools=sample.tools,
        thinking=sample.thinking,
        chat_template_kwargs=sample.chat_template_kwargs,
        **given,
    )


def check(sample: Sample, got: Folded) -> None:
    assert got.complete().spelled() == sample.expected.spelled(), sample.note


@pytest.mark.parametrize("sample", BY_ID)
def test_streamed(sample: Sample) -> None:
    """In every mode; a sample with literal look-alikes is only told right by its ids."""
    tokenizer = tokenizer_of(sample)
    output = Output.of(sample.raw, tokenizer, sample.literal)
    cut = cache(lambda name: CUTS[name](output))
    expected = sample.expected.spelled()
    wrong: dict[str, Any] = {}
    for mode in MODES:
        if sample.literal and not mode.ids:
            continue
        deltas = cut(mode.cut)
        parser = parser_for(sample, tokenizer=tokenizer if mode.ids else None, prompt=mode.prompt)
        try:
            got = run(parser, deltas if mode.ids else text_only(deltas), sample.finish_reason)
        except Exception as error:
            error.add_note(f"mode: {mode}")
            raise
        if got.complete().spelled() != expected:
            wrong[str(mode)] = got.complete().spelled()
    assert wrong == {}, f"{expected} is right: {sample.note}"


@pytest.mark.parametrize("sample", BY_ID)
def test_parsed_whole(sample: Sample) -> None:
    tokenizer = tokenizer_of(sample)
    parser = parser_for(sample, tokenizer=tokenizer, prompt="ids")
    ids = tokenizer.encode(sample.raw, literal=sample.literal)
    check(sample, message(parser.parse(sample.raw, ids, reason=sample.finish_reason)))


@pytest.mark.parametrize(
    "sample", [pytest.param(sample, id=sample.id) for sample in SAMPLES if not sample.literal]
)
def test_parsed_whole_from_text_alone(sample: Sample) -> None:
    parser = parser_for(sample, tokenizer=None, prompt="text")
    check(sample, message(parser.parse(sample.raw, reason=sample.finish_reason)))


@pytest.mark.parametrize("sample", BY_ID)
def test_a_minimal_tokenizer_is_enough(sample: Sample) -> None:
    tokenizer = tokenizer_of(sample)
    deltas = CUTS["some-tokens-2"](Output.of(sample.raw, tokenizer, sample.literal))
    parser = parser_for(sample, tokenizer=minimal(tokenizer), prompt="ids")
    check(sample, run(parser, deltas, sample.finish_reason))


def markers_only_as_markers(sample: Sample) -> bool:
    """Whether no special token is part of an expected text: such a one is lost with the special tokens."""
    markers = tokenizer_of(sample).markers
    data = [text for text in sample.strings for marker in markers if marker in text]
    return not data or bool(sample.literal)


@pytest.mark.parametrize("sample", BY_ID)
def test_special_tokens_left_out_of_the_text(sample: Sample) -> None:
    """A server that skips special tokens: the ids alone must be enough."""
    tokenizer = tokenizer_of(sample)
    output = Output.of(sample.raw, tokenizer, sample.literal)
    for size in (1, 3, 10_000):
        parser = parser_for(sample, tokenizer=tokenizer, prompt="ids")
        got = run(parser, without_special_tokens(size)(output), sample.finish_reason)
        if markers_only_as_markers(sample):
            check(sample, got)
        else:
            # The marker's text is gone from the value it was part of; the calls must still be the same ones.
            assert [name for name, *_ in got.complete().calls] == [name for name, *_ in sample.expected.calls]


@pytest.mark.parametrize("sample", BY_ID)
def test_empty_deltas_change_nothing(sample: Sample) -> None:
    tokenizer = tokenizer_of(sample)
    deltas = CUTS["tokens"](Output.of(sample.raw, tokenizer, sample.literal))
    parser = parser_for(sample, tokenizer=tokenizer, prompt="ids")
    spaced = [delta for pair in deltas for delta in (("", []), pair)]
    check(sample, run(parser, [*spaced, ("", [])], sample.finish_reason))


def test_the_corpus_is_sound() -> None:
    """Identifiers are unique, and every literal is in the output it is said to be in."""
    assert len({sample.id for sample in everything()}) == len(everything()) > 450
    for sample in everything():
        assert sample.parser_name, sample.id
        assert all(piece in sample.raw for piece in sample.literal), sample.id
    for sample in SAMPLES:
        assert whole(Output.of(sample.raw, tokenizer_of(sample), sample.literal))[0][0] == sample.raw


def test_samples_wait_only_for_families_that_are_not_there() -> None:
    """The corpus may be ahead of the families; a warning names the files."""
    loaded = {sample.id for sample in SAMPLES}
    waiting = [sample for sample in everything() if sample.id not in loaded]
    for sample in waiting:
        with pytest.raises(UnknownFamilyError):
            get_parser_class(sample.parser_name, sample.partner)
    if waiting:
        files = sorted({f"{sample.family} ({'+'.join(sorted(sample.names))})" for sample in waiting})
        warnings.warn(f"samples that wait for their families: {', '.join(files)}", stacklevel=1)
