"""The parser on generated outputs, against what the generators meant and what the naive readers read."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from readers import SYNTAXES
from readers.grammar import Output as Generated
from readers.grammar import Syntax, lookalikes
from support.cuts import (
    Cut,
    Output,
    characters,
    characters_ids_early,
    some_tokens,
    text_only,
    tokens,
    whole,
)
from support.fold import Folded, message
from support.parsing import family_tokenizer, run
from support.tokenizers import MarkerTokenizer

from unified_parser import create_parser, get_parser_class

BY_NAME = [pytest.param(syntax, id=syntax.name) for syntax in SYNTAXES]


def some_cut(seed: int) -> Cut:
    """One of the ways to cut an output, at random."""
    kinds = (some_tokens, characters, characters_ids_early)
    return random.Random(seed).choice([whole, tokens, *(kind(seed) for kind in kinds)])


def parser_for(syntax: Syntax, output: Generated, tokenizer: MarkerTokenizer | None = None) -> Any:
    """The parser of a request; the prompt is given as ids where there is a tokenizer."""
    prompt: dict[str, Any] = {"prompt_text": syntax.prompt_tail}
    if tokenizer:
        prompt = {"prompt_token_ids": tokenizer.encode(syntax.prompt_tail)}
    return create_parser(
        syntax.parser_name,
        reasoning=syntax.reasoning,
        tokenizer=tokenizer,
        tools=output.tools,
        thinking=syntax.thinking,
        **prompt,
    )


def tokenizer_of(syntax: Syntax) -> MarkerTokenizer:
    return family_tokenizer(syntax.parser_name, syntax.reasoning, syntax.prompt_tail)


def check(output: Generated, got: Folded) -> None:
    assert got.spelled() == output.expected.spelled()


@pytest.mark.parametrize("syntax", BY_NAME)
@given(data=st.data(), seed=st.integers(0, 2**16))
def test_text(syntax: Syntax, data: st.DataObject, seed: int) -> None:
    """The naive reader, a parse of the whole and one of some cut into deltas."""
    output = data.draw(syntax.outputs(()))
    check(output, syntax.read(output.raw, output.tools))
    check(output, message(parser_for(syntax, output).parse(output.raw)))
    deltas = text_only(some_cut(seed)(Output.of(output.raw, tokenizer_of(syntax))))
    check(output, run(parser_for(syntax, output), deltas, "stop"))


@pytest.mark.parametrize("syntax", BY_NAME)
@given(data=st.data(), seed=st.integers(0, 2**16))
def test_cut_with_ids_and_spelled_markers(syntax: Syntax, data: st.DataObject, seed: int) -> None:
    """A marker that is spelled with ordinary tokens is text, in reasoning, content and values alike."""
    tokenizer = tokenizer_of(syntax)
    markers = get_parser_class(syntax.parser_name, syntax.reasoning).marker_literals()
    output = data.draw(syntax.outputs(lookalikes(markers)))
    deltas = some_cut(seed)(Output.of(output.raw, tokenizer, output.literal))
    check(output, run(parser_for(syntax, output, tokenizer), deltas, "stop"))
