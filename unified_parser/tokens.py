"""Tokenizers as the parsers see them, and the special tokens of a format in one vocabulary."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class Tokenizer(Protocol):
    """What a parser needs of a tokenizer: token ids are ints, texts are str."""

    def get_vocab(self) -> Mapping[str, int]:
        """Token text to id, special tokens included."""
        ...

    def encode(self, text: str) -> list[int]:
        """The ids of a text, no beginning or end tokens added, special tokens recognised."""
        ...

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ids, special tokens spelled out."""
        ...


class _Wrapped:
    """A foreign tokenizer behind the protocol. Whatever it lacks or refuses is an empty answer."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def get_vocab(self) -> Mapping[str, int]:
        vocabulary: Mapping[str, int] = self.inner.get_vocab()
        return vocabulary

    def encode(self, text: str) -> list[int]:
        try:
            encoded = self.inner.encode(text, add_special_tokens=False)
        except TypeError:
            encoded = self.inner.encode(text)
        return list(getattr(encoded, "ids", encoded))

    def decode(self, ids: Sequence[int]) -> str:
        decode = getattr(self.inner, "decode", None)
        if decode is None:
            raise NotImplementedError("this tokenizer cannot decode")
        try:
            text: str = decode(list(ids), skip_special_tokens=False)
        except TypeError:
            text = decode(list(ids))
        return text


class _MistralCommon:
    """mistral_common's tokenizers, or what wraps one."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def get_vocab(self) -> Mapping[str, int]:
        pieces: list[str] = self.inner.vocab()
        return {piece: number for number, piece in reversed(list(enumerate(pieces)))}

    def encode(self, text: str) -> list[int]:
        return list(self.inner.encode(text, bos=False, eos=False))

    def decode(self, ids: Sequence[int]) -> str:
        try:
            from mistral_common.tokens.tokenizers.base import SpecialTokenPolicy

            return str(self.inner.decode(list(ids), special_token_policy=SpecialTokenPolicy.KEEP))
        except (ImportError, TypeError):
            return str(self.inner.decode(list(ids)))


def wrap(tokenizer: Any) -> Tokenizer:
    """Any of the known kinds of tokenizer behind the ``Tokenizer`` protocol.

    Hugging Face and vLLM tokenizers, ``tokenizers.Tokenizer`` and mistral_common's objects are known. Raises
    TypeError for what has no vocabulary.
    """
    if isinstance(tokenizer, _Wrapped | _MistralCommon):
        return tokenizer
    if hasattr(tokenizer, "get_vocab"):
        return _Wrapped(tokenizer)
    inner = getattr(getattr(tokenizer, "instruct_tokenizer", tokenizer), "tokenizer", tokenizer)
    if hasattr(inner, "vocab") and hasattr(inner, "n_words"):
        return _MistralCommon(inner)
    raise TypeError(
        f"{type(tokenizer).__name__} is no tokenizer: it has no get_vocab(). "
        "Give a Hugging Face, tokenizers or mistral_common tokenizer."
    )


class SpecialTokens:
    """The literals of a format that are one token of a vocabulary, both ways.

    ``foreign``: the vocabulary's other special tokens, which a server may leave out of the text as well.
    """

    __slots__ = ("foreign", "id_of", "text_of", "watched")

    def __init__(self, id_of: Mapping[str, int], foreign: Mapping[int, str] | None = None) -> None:
        self.id_of = dict(id_of)
        self.text_of = {number: text for text, number in self.id_of.items()}
        self.watched = frozenset(self.text_of)
        self.foreign = {n: text for n, text in (foreign or {}).items() if n not in self.watched}


NO_TOKENS = SpecialTokens({})

_vocabularies: weakref.WeakKeyDictionary[Any, tuple[int, Mapping[str, int]]] = weakref.WeakKeyDictionary()


def size_of(tokenizer: Any) -> int:
    """How many tokens a vocabulary has, 0 where that is not known: it shows that tokens were added."""
    if hasattr(tokenizer, "get_vocab_size"):
        return int(tokenizer.get_vocab_size())
    return len(tokenizer) if hasattr(tokenizer, "__len__") else 0


def vocabulary(tokenizer: Any) -> Mapping[str, int]:
    """The tokenizer's vocabulary, read once per tokenizer: building it takes some tokenizers 50 ms."""
    inner = getattr(tokenizer, "inner", tokenizer)
    size = size_of(inner)
    try:
        known_size, known = _vocabularies.get(inner, (-1, {}))
        if known_size != size:
            known = wrap(tokenizer).get_vocab()
            _vocabularies[inner] = size, known
    except TypeError:  # not weakly referable
        known = wrap(tokenizer).get_vocab()
    return known


def special_tokens(tokenizer: Any | None, literals: Iterable[str]) -> SpecialTokens:
    """Which of the literals are one token for this tokenizer. No tokenizer: none are."""
    if tokenizer is None:
        return NO_TOKENS
    known = vocabulary(tokenizer)
    return SpecialTokens({text: known[text] for text in literals if text in known}, _flagged(tokenizer))


def _flagged(tokenizer: Any) -> Mapping[int, str]:
    """The tokens that the tokenizer itself calls special."""
    inner = getattr(tokenizer, "inner", tokenizer)
    added = getattr(inner, "added_tokens_decoder", None)
    if added is None and hasattr(inner, "get_added_tokens_decoder"):
        added = inner.get_added_tokens_decoder()
    if not isinstance(added, Mapping):
        return {}
    return {
        int(n): str(token) if isinstance(token, str) else token.content
        for n, token in added.items()
        if getattr(token, "special", False)
    }


#: How vocabularies write blanks.
_BLANKS = str.maketrans({"Ġ": " ", "▁": " ", "Ċ": "\n"})


def spell(tokenizer: Tokenizer, ids: Sequence[int]) -> str:
    """What the vocabulary shows of ids: right for ASCII, which is what most markers are made of."""
    wanted = set(ids)
    text_of = {number: text for text, number in vocabulary(tokenizer).items() if number in wanted}
    return "".join(text_of.get(number, "") for number in ids).translate(_BLANKS)
