"""How calls are written, for each call syntax: the inverse of reading, for outputs to test with.

A package that brings a call syntax of its own adds its writer: ``write_calls.register(MySyntax)``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import singledispatch
from random import Random
from typing import Any, NamedTuple

from ..calls.base import CallSyntax
from ..calls.block import Wrapped
from ..calls.headered import BodyCall, HeaderedCall
from ..calls.json_calls import JsonArray, JsonObject, KeyedObject
from ..calls.notation_call import NotationCall
from ..calls.python_calls import PythonCalls
from ..calls.tagged import Parameter, TaggedCall
from ..format import Header, Route


class Unwritable(Exception):
    """The kit cannot write this format; the text says what it lacks."""


class Call(NamedTuple):
    """A call to write."""

    name: str
    arguments: dict[str, Any]


@singledispatch
def write_calls(syntax: CallSyntax, calls: Sequence[Call], rng: Random) -> list[str]:
    """The calls in pieces, markers and texts apart. Raises Unwritable."""
    raise Unwritable(
        f"no writer for {type(syntax).__name__}: "
        "register one with unified_parser.testing.write_calls.register"
    )


@singledispatch
def holds_many(syntax: CallSyntax) -> bool:
    """May several calls of this syntax stand in one block?"""
    return bool(syntax.begins)


@holds_many.register(JsonArray)
@holds_many.register(PythonCalls)
def _list_holds_many(syntax: CallSyntax) -> bool:
    return True


def dumps(value: Any, rng: Random) -> str:
    """JSON as models write it, with or without blanks and line breaks."""
    indent, separators = rng.choice(((None, None), (None, (",", ":")), (2, None)))
    return json.dumps(value, ensure_ascii=rng.random() < 0.3, indent=indent, separators=separators)


@write_calls.register
def _json_object(syntax: JsonObject, calls: Sequence[Call], rng: Random) -> list[str]:
    pieces: list[str] = []
    for call in calls:
        members = [(syntax.names[0], call.name), (syntax.arguments[0], call.arguments)]
        text = dumps(dict(members if rng.random() < 0.8 else reversed(members)), rng)
        pieces += _begin(syntax, text)
    return pieces


@write_calls.register
def _keyed_object(syntax: KeyedObject, calls: Sequence[Call], rng: Random) -> list[str]:
    return [dumps({call.name: call.arguments}, rng) for call in calls]


@write_calls.register
def _wrapped(syntax: Wrapped, calls: Sequence[Call], rng: Random) -> list[str]:
    inner = rng.choice(syntax.calls)
    return [
        piece
        for call in calls
        for piece in (syntax.open.text, *write_calls(inner, [call], rng), syntax.close.text)
    ]


@write_calls.register
def _json_array(syntax: JsonArray, calls: Sequence[Call], rng: Random) -> list[str]:
    pieces = ["["]
    for call in calls:
        pieces += [*write_calls(syntax.item, [call], rng), ", "]
    return [*_begin(syntax, "["), *pieces[1:-1], "]"]


def _begin(syntax: CallSyntax, text: str) -> list[str]:
    """A marker that begins the call is its first bracket."""
    return [syntax.begins[0].text, text[1:]] if syntax.begins else [text]


@write_calls.register
def _headered(syntax: HeaderedCall, calls: Sequence[Call], rng: Random) -> list[str]:
    pieces: list[str] = []
    for call in calls:
        pieces += [marker.text for marker in syntax.begins]
        pieces += [_call_header(syntax, call.name, rng)]
        if not syntax.keep_begin or rng.random() < 0.5:
            pieces += [rng.choice(syntax.arguments_begin).text]
        pieces += [dumps(call.arguments, rng)]
        if len(syntax.closers) > 1:
            pieces += ["\n"]
        pieces += [marker.text for marker in syntax.closers]
    return pieces


def _call_header(syntax: HeaderedCall, name: str, rng: Random) -> str:
    """A header that the syntax reads as this name."""
    header = syntax.header_of(name)
    if header is None:
        raise Unwritable(f"{syntax.written!r} is no header that this HeaderedCall reads as the name {name}")
    ids = [f"{marker.text}Ab3dE6gH9" for marker in syntax.inner]
    return "".join(header) + rng.choice(("", *ids))


@write_calls.register
def _body(syntax: BodyCall, calls: Sequence[Call], rng: Random) -> list[str]:
    return [dumps(call.arguments, rng) for call in calls]


@write_calls.register
def _tagged(syntax: TaggedCall, calls: Sequence[Call], rng: Random) -> list[str]:
    pieces: list[str] = []
    newline = "\n" if syntax.parameter.trim == "newline" else ""
    for call in calls:
        if not syntax.named_by_header:
            begin = syntax.begin.text if syntax.begin else ""
            pieces += [begin, _attribute(begin, syntax.name_attribute, call.name)]
            pieces += [marker.text for marker in syntax.name_end[:1]]
        pieces += [newline]
        for key, value in call.arguments.items():
            pieces += [*_parameter(syntax.parameter, key, value, rng), newline]
        pieces += [syntax.end.text] if syntax.end else []
    return pieces


def _parameter(parameter: Parameter, key: str, value: Any, rng: Random) -> list[str]:
    text = value if isinstance(value, str) else dumps(value, rng)
    if parameter.trim == "newline":
        text = f"\n{text}\n"
    head = _attribute(parameter.open.text, parameter.key_attribute, key)
    if parameter.key_attribute:
        head += f' string="{str(isinstance(value, str)).lower()}"'
    pieces = [parameter.open.text, head, parameter.key_end.text]
    pieces += [parameter.value_begin.text] if parameter.value_begin else []
    return [*pieces, text, parameter.close.text]


def _attribute(begin: str, attribute: str, value: str) -> str:
    """A bare value, or a tag's attribute whose name may be part of the tag's marker."""
    if not attribute:
        return value
    return f'"{value}"' if begin.endswith("=") else f' {attribute}="{value}"'


@write_calls.register
def _python(syntax: PythonCalls, calls: Sequence[Call], rng: Random) -> list[str]:
    pieces: list[str] = []
    for call in calls:
        values = [f"{key}={value!r}" for key, value in call.arguments.items()]
        pieces += [f"{call.name}(", *_joined(values, ", "), ")", ", "]
    return [*(_begin(syntax, "[")[:1]), *pieces[:-1], "]"]


@write_calls.register
def _notation(syntax: NotationCall, calls: Sequence[Call], rng: Random) -> list[str]:
    pieces: list[str] = []
    for call in calls:
        values = [
            f"{key}:{_notation_value(value, syntax.delimiter.text)}" for key, value in call.arguments.items()
        ]
        pieces += [syntax.prefixes[0], call.name, "{", *_joined(values, ","), "}"]
    return pieces


def _notation_value(value: Any, delimiter: str) -> str:
    if isinstance(value, str):
        return f"{delimiter}{value}{delimiter}"
    if isinstance(value, list):
        return "[" + ",".join(_notation_value(item, delimiter) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{k}:{_notation_value(v, delimiter)}" for k, v in value.items()) + "}"
    return json.dumps(value)


def _joined(values: Sequence[str], comma: str) -> list[str]:
    return [piece for value in values for piece in (value, comma)][:-1]


def write_header(header: Header, channel: str, name: str, rng: Random) -> tuple[str, Route]:
    """The text of a header that the format takes for a body of this channel, and for calls of this name."""
    for shape in rng.sample(header.written, len(header.written)):
        for ending in header.ends:
            text = shape.format(name=name)
            route = header.classify(text, ending.text)
            if route.channel == channel and (channel != "call" or route.name in ("", name)):
                return text, route
    raise Unwritable(f"none of the headers in Header.written begins a body of the channel {channel}")
