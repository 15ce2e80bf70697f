"""The bodies of tool calls that a response template describes, each read whole and turned into calls."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from unified_parser.arguments.json_text import Malformed
from unified_parser.calls.base import CallReader, CallSyntax, Surroundings
from unified_parser.calls.json_calls import end_with
from unified_parser.format import Marker
from unified_parser.scanner import EndOfOutput, Marks, Steps, Use
from unified_parser.schema import Parameters, Tools, quote, to_json
from unified_parser.tokens import SpecialTokens
from unified_parser.walk import Walk

Options: TypeAlias = Mapping[str, Any]
#: Where a value stands: a capture's name or "content", then the keys of JSON objects.
Path: TypeAlias = tuple[str, ...]
Pairs: TypeAlias = Callable[[str], Iterator[tuple[str, str]]]


class Body(NamedTuple):
    """``read`` makes JSON text of a body, with the tool's parameters, as far as its name is known before.

    ``is_whole``: may a body that nothing closed be over, or is there a value that was cut off?
    """

    read: Callable[[str, Parameters], str]
    is_whole: Callable[[str], bool]


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=_refuse)
_CONTROL = re.compile(r"[\x00-\x1f]")
_KEY = re.compile(r"(?<=[{,])(\w+):")
#: The literal that a pattern ends with.
_ENDING = re.compile(r"(?<!\\)(?:\\[^\w\s]|[^\\.^$*+?{}\[\]|()])+\Z")
_TYPES = {"int": "integer", "float": "number", "bool": "boolean"}


def _value(text: str, at: int) -> tuple[str, int]:
    """The JSON value at this place as it is written, and the place behind it. Raises Malformed."""
    try:
        end = _DECODER.raw_decode(text, at)[1]
    except (ValueError, RecursionError):
        raise Malformed from None
    return text[at:end], end


def _escape(match: re.Match[str]) -> str:
    """A control character, which models write and JSON forbids, as JSON writes it."""
    return json.dumps(match[0])[1:-1]


def _skip(text: str, at: int, char: str = "") -> int:
    """The place behind blanks, a character that must stand there, and blanks."""
    match = re.compile(rf"\s*{re.escape(char)}\s*").match(text, at)
    if match is None:
        raise Malformed
    return match.end()


def _parts(text: str, brackets: str) -> Iterator[tuple[str, str]]:
    """The members of a JSON object, or the items of an array (their keys are ""), as they are written."""
    at = _skip(text, 0, brackets[0])
    while text[at : at + 1] != brackets[1]:
        key = ""
        if brackets == "{}":
            quoted, at = _value(text, at)
            key = str(json.loads(quoted))
            at = _skip(text, at, ":")
        value, at = _value(text, at)
        yield key, value
        at = _skip(text, at, "" if text[_skip(text, at)] == brackets[1] else ",")


def _members(text: str) -> dict[str, str]:
    """The members of a JSON object; the first of a repeated key counts."""
    found: dict[str, str] = {}
    for key, value in _parts(text, "{}"):
        found.setdefault(key, value)
    return found


# --- What is in a body --------------------------------------------------------------------------------------


def json_body(options: Options) -> Body:
    """JSON, where keys may stand without quotes, and strings between delimiters of their own."""
    delimiters = [tuple(pair) for pair in options.get("string_delims", ())]
    spans = [rf"{re.escape(o)}(.*?)(?:{re.escape(c)}|\Z)" for o, c in delimiters]
    strings = re.compile("|".join([*spans, r'"(?:[^"\\]|\\.)*+"']), re.DOTALL)
    bare_keys = bool(options.get("unquoted_keys"))

    def outside(text: str) -> str:
        return _KEY.sub(r'"\1":', text) if bare_keys else text

    def rewrite(text: str) -> Iterator[str]:
        at = 0
        for match in strings.finditer(text):
            yield outside(text[at : match.start()])
            own = match.lastindex is not None  # a string between delimiters of the template's own
            yield quote(match[match.lastindex or 0]) if own else _CONTROL.sub(_escape, match[0])
            at = match.end()
        yield outside(text[at:])

    def read(text: str, parameters: Parameters) -> str:
        text = "".join(rewrite(text))
        value, end = _value(text, _skip(text, 0))
        if text[end:].strip():
            raise Malformed
        return value

    return Body(read, lambda text: True)


def _read_pairs(options: Options, found: Pairs) -> Callable[[str, Parameters], str]:
    """Keys and values, which are typed by the tool's schema, or by a parser of their own first."""
    parser: Options = options.get("value_parser") or {}
    merge = bool(options.get("merge_duplicates"))

    def read(text: str, parameters: Parameters) -> str:
        values: dict[str, list[str]] = {}
        for key, value in found(text):
            values.setdefault(key, []).append(value)
        members = []
        for key, texts in values.items():
            schema = parameters.schema(key)
            if merge and len(texts) > 1:
                types = parameters.types_of(parameters.items(schema))
                value = f"[{', '.join(_typed(item, parser, types) for item in texts)}]"
            else:
                value = _typed(texts[0], parser, parameters.types(key))
            members.append(f"{quote(key)}: {value}")
        return "{" + ", ".join(members) + "}"

    return read


def _typed(text: str, parser: Options, types: tuple[str, ...]) -> str:
    """A value as JSON text."""
    name, options = parser.get("name", ""), parser.get("args") or {}
    if name and options.get("strip", True):
        text = text.strip()
    if name == "json":
        typed = _json_or(text, options)
        if typed is not None:
            return typed
    elif name in _TYPES:
        types = (_TYPES[name], "string")
    return to_json(text, types or ("string",))


def _json_or(text: str, options: Options) -> str | None:
    """The text if it is JSON. None: it is a string, where that is allowed."""
    try:
        return json_body({}).read(text, Parameters())
    except Malformed:
        if not options.get("allow_non_json"):
            raise
        return None


def xml_inline(options: Options) -> Body:
    """Tags: the template's pattern finds the keys and values."""
    pattern = re.compile(options["tag_pattern"], re.DOTALL)
    ending = None if "|" in pattern.pattern else _ENDING.search(pattern.pattern)
    last = re.sub(r"\\(.)", r"\1", ending[0]) if ending else ""

    def tags(text: str) -> Iterator[re.Match[str]]:
        # behind the last ending nothing matches, and looking there from each beginning would take long
        return pattern.finditer(text, 0, text.rfind(last) + len(last))

    def found(text: str) -> Iterator[tuple[str, str]]:
        return ((match["key"], match["value"]) for match in tags(text))

    def is_whole(text: str) -> bool:
        return not text[max((match.end() for match in tags(text)), default=0) :].strip()

    return Body(_read_pairs(options, found), is_whole)


def key_value_lines(options: Options) -> Body:
    """A key and a value on each line."""
    line_end, separator = options.get("line_sep", "\n"), options.get("kv_sep", ":")
    strip = options.get("strip", True)

    def found(text: str) -> Iterator[tuple[str, str]]:
        for line in text.split(line_end):
            key, is_pair, value = line.partition(separator)
            if is_pair:
                yield key.strip(), value.strip() if strip else value

    return Body(_read_pairs(options, found), lambda text: not text.strip() or text.endswith(line_end))


BODIES: Mapping[str, Callable[[Options], Body]] = {
    "json": json_body,
    "xml-inline": xml_inline,
    "kv-lines": key_value_lines,
}


# --- Calls --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WholeBody(CallSyntax):
    """``BEGIN body CLOSE``: the body is read whole, and says what is called.

    ``name``, ``arguments``: where they stand, in the opener's captures or in the body's value. ``each``: the
    value is a list of calls, and the paths begin in its items.
    """

    begin: Marker
    close: Marker | None
    body: Body
    name: Path
    arguments: Path
    each: bool = False

    @property
    def begins(self) -> tuple[Marker, ...]:
        return (self.begin,)

    def markers(self) -> tuple[Marker, ...]:
        return (self.begin, self.close) if self.close else (self.begin,)

    def compile(self, tokens: SpecialTokens, around: Surroundings) -> CallReader:
        closes: Marks[None] = Marks([Use(self.close, None)] if self.close else [], tokens)

        def read(walk: Walk) -> Steps[None]:
            captures = walk.captures if self.begin.pattern else {}
            pieces: list[str] = []
            try:
                yield from walk.read_until(closes, pieces.append)
            except EndOfOutput:
                text = "".join(pieces)
                if self.close is None or (walk.reason != "length" and self.body.is_whole(text)):
                    with suppress(Malformed):
                        self._call(walk, text, captures)
                raise
            self._call(walk, "".join(pieces), captures)

        return read

    def _call(self, walk: Walk, text: str, captures: Mapping[str, str]) -> None:
        calls = list(self._calls(text, captures, walk.tools))
        if not calls:
            raise Malformed
        for name, arguments in calls:
            walk.start_call(name)
            end_with(walk, arguments)

    def _calls(self, text: str, captures: Mapping[str, str], tools: Tools) -> Iterator[tuple[str, str]]:
        """The names and arguments that the body comes to. Raises Malformed."""
        value = self.body.read(text, tools.parameters(captures.get(self.name[0], "")))
        named = {key: quote(capture) for key, capture in captures.items()}
        for item in [item for _, item in _parts(value, "[]")] if value.startswith("[") else [value]:
            scope = _members(item) if self.each else {"content": item}
            name = _find(self.name, named | scope)
            if name is None or len(name) < 3 or not name.startswith('"'):
                raise Malformed
            yield json.loads(name), _find(self.arguments, named | scope) or "{}"


def _find(path: Path, scope: Mapping[str, str]) -> str | None:
    """The value at the end of a path, as it is written."""
    value = scope.get(path[0])
    for key in path[1:]:
        value = _members(value).get(key) if value is not None else None
    return value
