"""What every call syntax is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ..format import Marker
from .grammar import Format, Wanted

if TYPE_CHECKING:
    from ..tokens import SpecialTokens
    from ..walk import Walk

#: Reads one call, or a list of them, that begins here (behind its beginning, if the syntax has one).
#: Announces, streams and ends each call through the walk. Raises Malformed where the text cannot be a call of
#: this syntax, and lets EndOfOutput pass.
CallReader: TypeAlias = "Callable[[Walk], Generator[None, None, None]]"


class Surroundings(NamedTuple):
    """What stands around a call: the markers that end its block, and those that begin the next call."""

    ends: tuple[Marker, ...]
    begins: tuple[Marker, ...]


class CallSyntax(ABC):
    """How a call is written. Subclasses are frozen dataclasses: descriptions, compiled per vocabulary."""

    __slots__ = ()

    @property
    def begins(self) -> tuple[Marker, ...]:
        """The markers that begin a call. None: it begins with its text, see ``accepts``."""
        return ()

    def accepts(self, char: str) -> bool:
        """May a call without a beginning marker begin with this character?"""
        return True

    @abstractmethod
    def markers(self) -> tuple[Marker, ...]:
        """Every marker of the syntax."""

    def strays(self) -> tuple[Marker, ...]:
        """The closing markers, which are dropped where they stray."""
        begins = self.begins
        return tuple(marker for marker in self.markers() if marker not in begins)

    @abstractmethod
    def compile(self, tokens: SpecialTokens, around: Surroundings) -> CallReader:
        """The reader of such a call, for one vocabulary."""

    def grammar(self, wanted: Wanted) -> Format | None:
        """How a model writes a call to one of these functions; a list of calls, where the syntax is a list.

        None: it cannot be told.
        """
        return None

    @property
    def repeats(self) -> bool:
        """May one block hold several calls, each written on its own?"""
        return bool(self.begins)


def describe(value: Any) -> str:
    """A short name of a syntax, for pages and tables."""
    return type(value).__name__
