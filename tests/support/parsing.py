"""Runs a parser over deltas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from support.cuts import Delta
from support.fold import Folded, fold
from support.tokenizers import MarkerTokenizer, template_tokens, tokenizer_for, turn_tokens
from unified_parser import get_parser_class


def family_tokenizer(
    name: str,
    reasoning: str | None = None,
    prompt: str = "",
    absent: Iterable[str] = (),
    response_template: Mapping[str, Any] | None = None,
) -> MarkerTokenizer:
    """A tokenizer in which the markers of a family, and of its partner, are special tokens.

    ``absent`` are the markers that it is to have no token for. A literal around a marker's token is no token.
    ``response_template``: what its configuration says of the format.
    """
    markers = set(get_parser_class(name, reasoning).marker_literals())
    markers |= template_tokens(response_template) if response_template else set()
    turns = {token for token in turn_tokens(prompt) if not any(marker in token for marker in markers)}
    return tokenizer_for((markers | turns) - set(absent), response_template)


def run(parser: Any, deltas: Iterable[Delta], reason: str | None = None) -> Folded:
    """The message that the events of one stream add up to."""
    events: list[Any] = []
    for text, ids in deltas:
        events += parser.feed(text, ids)
    events += parser.finish(reason)
    return fold(events)
