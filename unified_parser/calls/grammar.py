"""The parts of a structural tag: what a constrained model may write, as plain data in xgrammar's JSON shape.

A call syntax describes with them how it writes calls to the functions of a request (``CallSyntax.grammar``);
``unified_parser.structural_tag`` puts the blocks together. Nothing here knows xgrammar.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from ..schema import Parameters

#: One format of a structural tag: ``{"type": "const_string", "value": ...}``.
Format: TypeAlias = dict[str, Any]


class Function(NamedTuple):
    """A function that may be called. ``parameters``: the schema that its arguments fit; None: any object."""

    name: str
    parameters: Mapping[str, Any] | None = None


class Wanted(NamedTuple):
    """What may be called, and whether only once."""

    functions: tuple[Function, ...]
    single: bool = False


def const(text: str) -> Format:
    """This text."""
    return {"type": "const_string", "value": text}


def regex(pattern: str) -> Format:
    """Text that the pattern matches as a whole."""
    return {"type": "regex", "pattern": pattern}


def text(*excludes: str) -> Format:
    """Any text without these literals."""
    return {"type": "any_text", "excludes": list(excludes)}


def json_value(schema: Mapping[str, Any] | bool) -> Format:
    """A JSON value that fits the schema."""
    return {"type": "json_schema", "json_schema": dict(schema) if isinstance(schema, Mapping) else schema}


def ebnf(grammar: str) -> Format:
    """What a grammar's ``root`` derives."""
    return {"type": "grammar", "grammar": grammar}


def tag(begin: str, content: Format, end: str | Sequence[str]) -> Format:
    """``begin content end``; text in the content goes up to the end."""
    return {"type": "tag", "begin": begin, "content": content, "end": end if isinstance(end, str) else [*end]}


def sequence(*elements: Format | None) -> Format:
    """One after the other; None is nothing. Neighbouring literals are joined."""
    parts: list[Format] = []
    for element in elements:
        inner = element["elements"] if element and element["type"] == "sequence" else [element]
        for part in inner:
            if part is None or part == const(""):
                continue
            if parts and part["type"] == parts[-1]["type"] == "const_string":
                parts[-1] = const(parts[-1]["value"] + part["value"])
            else:
                parts.append(part)
    if not parts:
        return const("")
    return parts[0] if len(parts) == 1 else {"type": "sequence", "elements": parts}


def either(alternatives: Iterable[Format]) -> Format:
    """One of these, each but once."""
    distinct: list[Format] = []
    for alternative in alternatives:
        if alternative not in distinct:
            distinct.append(alternative)
    return distinct[0] if len(distinct) == 1 else {"type": "or", "elements": distinct}


def optional(content: Format) -> Format:
    """This, or nothing."""
    return {"type": "optional", "content": content}


def plus(content: Format) -> Format:
    """One of these, or more."""
    return {"type": "plus", "content": content}


def star(content: Format) -> Format:
    """Any number of these."""
    return {"type": "star", "content": content}


#: White space where readers skip it. Bounded: some models never stop writing it.
SPACE = regex(r"[ \n]{0,8}")


def several(call: Format, wanted: Wanted, *joints: str) -> Format:
    """One call; with no limit any number more. ``joints``: what may stand between two besides white space."""
    if wanted.single:
        return call
    if not joints:
        return plus(sequence(call, SPACE))  # the call but once: schemas are long
    return sequence(call, star(sequence(either([*map(const, joints), SPACE]), call)))


def listed(call: Format, wanted: Wanted) -> Format:
    """One call; with no limit any number more, commas between them."""
    calls = call["elements"] if call["type"] == "or" else [call]
    return {
        "type": "tags_with_separator",
        "tags": [closed("", sequence(SPACE, one)) for one in calls],
        "separator": ",",
        "at_least_one": True,
        "stop_after_first": wanted.single,
    }


def arguments(function: Function) -> Format:
    """The arguments as a JSON object."""
    schema = function.parameters
    if not schema:
        return json_value({"type": "object"})
    return json_value({"type": "object", **schema} if "properties" in schema else schema)


def quoted(value: Any) -> str:
    """The value as JSON text, as chat templates write it."""
    return json.dumps(value, ensure_ascii=False)


class Member(NamedTuple):
    """A declared parameter: its schema stands alone, definitions included."""

    key: str
    schema: Mapping[str, Any]
    types: tuple[str, ...]
    required: bool


def members(function: Function) -> tuple[tuple[Member, ...], bool]:
    """The declared parameters in their order, and whether others may follow."""
    root = function.parameters
    if root is None:
        return (), True
    properties = root.get("properties")
    if not isinstance(properties, Mapping):
        return (), bool(root.keys() - {"type"}) or root == {}
    required = root.get("required")
    needed = set(required) if isinstance(required, Sequence) else set()
    definitions = {name: root[name] for name in ("$defs", "definitions") if name in root}
    types = Parameters(root)
    found = tuple(
        Member(
            key,
            {**schema, **definitions} if isinstance(schema, Mapping) else definitions,
            types.types_of(schema),
            key in needed,
        )
        for key, schema in properties.items()
    )
    return found, root.get("additionalProperties") not in (None, False)


def closed(begin: str, content: Format) -> Format:
    """A tag whose end is the literal that the content ends with, if it does."""
    *before, last = content["elements"] if content["type"] == "sequence" else [content]
    if last["type"] == "const_string":
        return tag(begin, sequence(*before), last["value"])
    return tag(begin, content, "")


def leads(written: Format) -> list[tuple[str, Format]]:
    """The alternatives of a format, each a literal that it begins with and what follows the literal.

    No alternatives where one of them begins with no literal.
    """
    match written["type"]:
        case "const_string":
            return [(written["value"], const(""))]
        case "tag":
            end = written["end"]
            rest = const(end) if isinstance(end, str) else either(map(const, end))
            if written["content"]["type"] == "any_text":
                return []
            return [(written["begin"], sequence(written["content"], rest))]
        case "or":
            found = [leads(element) for element in written["elements"]]
            return [lead for each in found for lead in each] if all(found) else []
        case "sequence":
            first, *others = written["elements"]
            behind = sequence(*others)
            return [
                (literal + more, rest_of_more)
                for literal, rest in leads(first)
                for more, rest_of_more in _leads_or_all(sequence(rest, behind))
            ]
        case _:
            return []


def _leads_or_all(written: Format) -> list[tuple[str, Format]]:
    return leads(written) or [("", written)]
