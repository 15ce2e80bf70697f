"""The tokenizers that the streams are cut with: small ones built on the spot, or real ones from a folder."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers import AddedToken

#: Tokens of their own in real vocabularies, but not marked as special.
_NOT_SPECIAL = {"｜DSML｜"}

#: Names a folder with one folder a tokenizer, each with a ``tokenizer.json``.
VARIABLE = "UNIFIED_PARSER_TOKENIZERS"


class BenchTokenizer:
    """What both sides ask of a tokenizer. The vocabulary is kept, as in a server."""

    def __init__(self, backend: tokenizers.Tokenizer, markers: Iterable[str]) -> None:
        self.backend = backend
        self.all_special_tokens = sorted(set(markers) - _NOT_SPECIAL)
        self.backend.add_special_tokens(_added(self.all_special_tokens, special=True))
        self.backend.add_tokens(_added(sorted(set(markers) & _NOT_SPECIAL), special=False))
        self.all_special_ids = [self.get_vocab()[marker] for marker in self.all_special_tokens]

    @cached_property
    def _vocabulary(self) -> dict[str, int]:
        return dict(self.backend.get_vocab(with_added_tokens=True))

    def get_vocab(self) -> dict[str, int]:
        return self._vocabulary

    @property
    def vocab(self) -> dict[str, int]:
        return self._vocabulary

    def __len__(self) -> int:
        return len(self._vocabulary)

    def encode(self, text: str, add_special_tokens: bool = False, **_: Any) -> list[int]:
        return list(self.backend.encode(text, add_special_tokens=False).ids)

    def decode(self, ids: Any, skip_special_tokens: bool = False, **_: Any) -> str:
        return str(self.backend.decode([ids] if isinstance(ids, int) else list(ids), skip_special_tokens))

    def tokenize(self, text: str, **_: Any) -> list[str]:
        return list(self.backend.encode(text, add_special_tokens=False).tokens)

    def convert_tokens_to_ids(self, found: str | list[str]) -> Any:
        if isinstance(found, str):
            return self._vocabulary.get(found)
        return [self._vocabulary.get(token) for token in found]

    def convert_ids_to_tokens(self, ids: list[int], **_: Any) -> list[Any]:
        return [self.backend.id_to_token(number) for number in ids]

    def convert_tokens_to_string(self, found: list[str]) -> str:
        return self.decode([self._vocabulary[token] for token in found])


def _added(literals: Iterable[str], *, special: bool) -> list[AddedToken]:
    return [AddedToken(literal, special=special, normalized=False) for literal in literals]


def tokenizer_for(markers: Iterable[str], prefer: str) -> BenchTokenizer:
    """A tokenizer with these special tokens; of real ones the one whose family ``prefer`` begins with."""
    folder = os.environ.get(VARIABLE)
    if not folder:
        from support.tokenizers import tokenizer_for as small

        return BenchTokenizer(tokenizers.Tokenizer.from_str(small(()).backend.to_str()), markers)
    found = sorted(path.parent for path in Path(folder).glob("*/tokenizer.json"))
    if not found:
        raise FileNotFoundError(f"{VARIABLE}: no */tokenizer.json in {folder}")
    alike = [path for path in found if prefer.startswith(path.name.partition("_")[0])]
    chosen = (alike or [path for path in found if path.name == "qwen3"] or found)[0]
    return BenchTokenizer(tokenizers.Tokenizer.from_file(str(chosen / "tokenizer.json")), markers)
