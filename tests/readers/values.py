"""What naive readers need of JSON and of schemas; shares nothing with the framework."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

_DECODER = json.JSONDecoder(parse_float=Decimal)


def json_at(text: str, at: int) -> tuple[Any, int]:
    """The JSON value that starts at ``at``, white space before it allowed, and where it ends."""
    while text[at].isspace():
        at += 1
    return _DECODER.raw_decode(text, at)


def json_of(text: str) -> Any:
    """The whole text as JSON."""
    return json.loads(text, parse_float=Decimal)


_WORDS = {"true": True, "false": False}


def typed(text: str, schema: dict[str, Any]) -> Any:
    """A value that a model wrote as bare text, by its schema; what does not fit stays a string."""
    kinds = schema.get("type", "string")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    bare = text.strip()
    if "null" in kinds and bare.lower() in ("null", "none"):
        return None
    if "integer" in kinds and re.fullmatch(r"[+-]?\d+", bare, re.ASCII):
        return int(bare)
    if "number" in kinds and re.fullmatch(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", bare, re.ASCII):
        return int(bare) if re.fullmatch(r"[+-]?\d+", bare) else Decimal(bare)
    if "boolean" in kinds and bare.lower() in _WORDS:
        return _WORDS[bare.lower()]
    for kind, shape in (("object", dict), ("array", list)):
        if kind in kinds and isinstance(value := json_of(bare), shape):
            return value
    return text


def thought(raw: str, opening: str, closing: str) -> tuple[str, str]:
    """Splits off the reasoning: all up to the first ``closing``, behind ``opening``, which must be there."""
    if closing not in raw:
        return "", raw
    assert raw.startswith(opening)
    reasoning, _, rest = raw[len(opening) :].partition(closing)
    return reasoning, rest


def joined(pieces: list[str], *, beside_calls: bool) -> str | None:
    """Text pieces as content; beside calls, white space alone is none."""
    if beside_calls:
        pieces = [piece for piece in pieces if piece.strip()]
    return "".join(pieces) or None
