"""Arguments as ``key:value`` pairs with strings between delimiter tokens, read into JSON as they come.

    {city:<|"|>Oban<|"|>,adults:2,legs:[{km:7.5}]}

Keys and scalars are bare text. A string is literal to the next delimiter: it has no escapes, and brackets and
commas in it are text. What a value is, its writing says; the tool's schema corrects it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ..format import Marker, text_marker
from ..scanner import Marks, Steps, Use
from ..schema import quote, quote_inner, to_json
from ..tokens import SpecialTokens
from ..walk import Walk
from .json_text import Malformed, drop

#: What a bare value may be, where no schema says otherwise: a JSON scalar, or else a string.
BARE_TYPES: Final = ("null", "number", "boolean", "string")
#: More open brackets than this are no arguments: the JSON readers of clients recurse.
MAX_DEPTH: Final = 256

_CLOSES: Final = {"{": "}", "[": "]"}


@dataclass(slots=True)
class _Container:
    """An open object or array. ``muted``: it is the value of a repeated key, and is not passed on."""

    closer: str
    schema: Any
    muted: bool = False
    count: int = 0
    after_value: bool = False
    seen: set[str] = field(default_factory=set)

    @property
    def is_array(self) -> bool:
        return self.closer == "]"

    def lead(self, key: str) -> str:
        """The JSON before the next value."""
        comma = ", " if self.count else ""
        return comma if self.is_array else f"{comma}{quote(key)}: "


class DelimitedArguments:
    """The notation compiled for one vocabulary. ``ends``: markers that no bare text may hold."""

    def __init__(self, delimiter: Marker, ends: Sequence[Marker], tokens: SpecialTokens) -> None:
        markers = (delimiter, *ends)

        def stops(characters: str) -> Marks[str]:
            uses = [Use(text_marker(char), char) for char in characters]
            return Marks([*uses, *(Use(marker, "") for marker in markers)], tokens)

        self._delimiter: Marks[None] = Marks([Use(delimiter, None)], tokens)
        self._key = {"}": stops(":,{}[]"), ")": stops(":=,{}[]()")}
        self._bare = {"}": stops(",]}"), "]": stops(",]}"), ")": stops(",]})")}

    def read(self, walk: Walk, closer: str) -> Steps[None]:
        """Reads the open call's arguments from behind their opening bracket to ``closer``, which is read too.

        Raises Malformed at the first thing that is not of the notation, what came before it being passed on.
        """
        assert walk.call is not None
        parameters = walk.call.parameters
        walk.argument("{")
        stack = [_Container(closer, parameters.root)]
        while stack:
            inner = stack[-1]
            char = yield from walk.skip_space()
            if char == ",":  # stray ones are tolerated
                inner.after_value = False
                walk.pos += 1
            elif char == inner.closer:
                walk.pos += 1
                stack.pop()
                _sink(walk, inner.muted)("]" if inner.is_array else "}")
            elif inner.after_value:
                raise Malformed
            elif inner.is_array:
                schema = parameters.items(inner.schema, inner.count)
                yield from self._read_value(walk, stack, "", schema)
            else:
                key = yield from self._read_key(walk, inner.closer)
                yield from self._read_value(walk, stack, key, parameters.child(inner.schema, key))

    def _read_key(self, walk: Walk, closer: str) -> Steps[str]:
        """Reads a key, bare or delimited, and the separator behind it."""
        pieces: list[str] = []
        separators = self._key[closer]
        if (yield from walk.at_mark(self._delimiter)) is not None:
            yield from walk.read_until(self._delimiter, pieces.append)
            yield from walk.skip_space()
            key = "".join(pieces)
            separator = yield from walk.at_mark(separators)
        else:
            separator = yield from walk.read_until(separators, pieces.append)
            key = "".join(pieces).strip()
        if separator is None:
            raise Malformed
        if separator.does not in (":", "=") or not key:
            walk.pos -= walk.matched
            raise Malformed
        return key

    def _read_value(self, walk: Walk, stack: list[_Container], key: str, schema: Any) -> Steps[None]:
        """Reads one value; of a container only its opening bracket. A bare value of no length is none."""
        assert walk.call is not None
        outer = stack[-1]
        outer.after_value = True
        muted = outer.muted or key in outer.seen
        write = _sink(walk, muted)
        lead = outer.lead(key)
        types = walk.call.parameters.types_of(schema) if schema else ()
        char = yield from walk.skip_space()
        if (yield from walk.at_mark(self._delimiter)) is not None:
            yield from self._pass_string(walk, lead, types, muted)
        elif char in _CLOSES:
            if len(stack) == MAX_DEPTH:
                raise Malformed
            walk.pos += 1
            write(lead + char)
            stack.append(_Container(_CLOSES[char], schema, muted))
        else:
            text = yield from self._read_bare(walk, outer.closer)
            if not text:
                return
            write(lead + to_json(text, types or BARE_TYPES))
        if not outer.is_array:
            outer.seen.add(key)
        if muted == outer.muted:
            outer.count += 1

    def _read_bare(self, walk: Walk, closer: str) -> Steps[str]:
        """Reads bare text up to what ends it, which is left unread."""
        pieces: list[str] = []
        spelling = yield from walk.read_until(self._bare[closer], pieces.append)
        walk.pos -= walk.matched
        if not spelling.does:
            raise Malformed
        return "".join(pieces).strip()

    def _pass_string(self, walk: Walk, lead: str, types: tuple[str, ...], muted: bool) -> Steps[None]:
        """Passes a delimited value on: as it comes where it may be a string, else converted at its end."""
        write = _sink(walk, muted)
        if types and "string" not in types:
            pieces: list[str] = []
            yield from walk.read_until(self._delimiter, pieces.append)
            write(lead + to_json("".join(pieces), types))
            return

        def pass_on(text: str) -> None:
            if not walk.over:  # else it is a delimiter that was cut off
                write(quote_inner(text))

        def flow(search: Callable[[str], object]) -> None:
            walk.let_arguments_flow(search, quoted=True)

        write(lead + '"')
        yield from walk.read_until(self._delimiter, pass_on, None if muted else flow)
        write('"')


def _sink(walk: Walk, muted: bool) -> Callable[[str], None]:
    return drop if muted else walk.argument
