"""How a tagged call is written: its tags with the names filled in, each value by its schema."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from .grammar import (
    SPACE,
    Format,
    Function,
    Member,
    Wanted,
    const,
    either,
    json_value,
    members,
    optional,
    quoted,
    regex,
    sequence,
    star,
    tag,
    text,
)

if TYPE_CHECKING:
    from .tagged import Parameter, TaggedCall

#: An attribute that a call's tag may have besides its name (its number).
_NUMBER = regex(r'( [a-z]{1,16}="[0-9]{1,8}")?')
_KEY = regex(r'[^<>"=\n]{1,64}')
_TYPE = regex(r"[a-z]{1,16}(\[[a-z]{1,16}\])?")
_NEWLINE = regex(r"\n?")
_ANY_STRING = text()


def tagged_grammar(call: TaggedCall, wanted: Wanted) -> Format:
    """A call to one of these functions."""
    return either(_call(call, function) for function in wanted.functions)


def _call(call: TaggedCall, function: Function) -> Format:
    declared, others = members(function)
    parts: list[Format] = []
    for member in declared:
        written = sequence(_declared(call.parameter, member), SPACE)
        parts.append(written if member.required else optional(written))
    if others:
        parts.append(star(sequence(_undeclared(call.parameter), SPACE)))
    head = () if call.named_by_header else _head(call, function.name)
    return sequence(*head, SPACE, *parts, const(call.end.text) if call.end else None)


def _head(call: TaggedCall, name: str) -> Iterator[Format]:
    begin = call.begin.text if call.begin else ""
    yield const(begin + _named(begin, call.name_attribute, name))
    if call.name_attribute:
        yield _NUMBER
    if call.name_end and call.name_end[0].text.strip():  # a newline is among the white space
        yield const(call.name_end[0].text)


def _named(begin: str, attribute: str, value: str) -> str:
    """A bare name, or a tag's attribute whose beginning may be part of the tag's marker."""
    if not attribute:
        return value
    value = value.replace("&", "&amp;").replace('"', "&quot;")
    return f'"{value}"' if begin.endswith("=") else f' {attribute}="{value}"'


# A parameter.


def _declared(parameter: Parameter, member: Member) -> Format:
    """A parameter that the function declares, in each way that its value may be written."""
    head = const(parameter.open.text + _named(parameter.open.text, parameter.key_attribute, member.key))
    return either(_element(parameter, head, *value) for value in _values(parameter, member))


def _undeclared(parameter: Parameter) -> Format:
    """A parameter of any name, with any value."""
    before, after = _named(parameter.open.text, parameter.key_attribute, "\0").split("\0")
    head = sequence(const(parameter.open.text + before), _KEY, const(after))
    return either(_element(parameter, head, *value) for value in _any_values(parameter))


def _element(parameter: Parameter, head: Format, kind: str, value: Format) -> Format:
    """``OPEN key KEY_END [TYPE] [VALUE_BEGIN] value CLOSE``."""
    parts = [head, const(_says(parameter, kind)), const(parameter.key_end.text)]
    if parameter.type_tag:
        opens, closes = parameter.type_tag
        parts.append(optional(sequence(SPACE, const(opens.text), _TYPE, const(closes.text))))
    if parameter.value_begin:
        parts += [SPACE, const(parameter.value_begin.text)]
    closed = tag("", value, parameter.close.text)
    if parameter.raw and kind == "string":
        opens, closes = parameter.raw
        closed = either([closed, tag(opens.text, _ANY_STRING, closes.text + parameter.close.text)])
    return sequence(*parts, closed)


def _listens_to(parameter: Parameter) -> str:
    """The attribute of the tag that the parameter's typing asks for the value's type; "" for none."""
    if parameter.key_attribute:
        for attribute, values in (("string", ("true", "false")), ("type", ("string", "object"))):
            one, other = (parameter.typing((), {attribute: value}) for value in values)
            if one != other:
                return attribute
    return ""


def _says(parameter: Parameter, kind: str) -> str:
    """What the tag says of its value's type."""
    match _listens_to(parameter):
        case "string":
            return f' string="{str(kind == "string").lower()}"'
        case "type":
            return f' type="{kind}"'
        case _:
            return ""


# A value.


def _values(parameter: Parameter, member: Member) -> Iterator[tuple[str, Format]]:
    """The types of a value, as far as they are written apart, and how a value of the type is written."""
    schema, types = member.schema, member.types
    if not types:
        yield from _any_values(parameter)
    elif "string" not in types and _listens_to(parameter) != "type":
        yield "any", _framed(parameter, json_value(schema))
    else:
        for kind in types:
            said = "number" if kind == "integer" else kind
            value = _framed(parameter, json_value(_narrowed(schema, kind)))
            yield said, _string(parameter, schema) if kind == "string" else value


#: The types that a tag may tell apart, by the attribute that says them.
_TOLD_APART = {
    "": ("string",),
    "string": ("string", "any"),
    "type": ("string", "number", "boolean", "null", "object", "array"),
}


def _any_values(parameter: Parameter) -> Iterator[tuple[str, Format]]:
    """The same for a value of any type. Text may be anything, where no tag tells it apart."""
    for kind in _TOLD_APART[_listens_to(parameter)]:
        value = _framed(parameter, json_value(True if kind == "any" else {"type": kind}))
        yield kind, _ANY_STRING if kind == "string" else value


def _narrowed(schema: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    """What the schema allows of one type."""
    if "enum" in schema:
        values = [value for value in schema["enum"] if not isinstance(value, str)]
        return {"enum": values} if values else {"type": kind}
    return {**schema, "type": kind} if "type" in schema else {"type": kind}


def _string(parameter: Parameter, schema: Mapping[str, Any]) -> Format:
    """A string as it is, without quotes. With a limit to its length it cannot begin what closes it."""
    values = schema.get("enum") or ([schema["const"]] if "const" in schema else [])
    shortest, longest = schema.get("minLength"), schema.get("maxLength")
    if values:
        written = either(const(value if isinstance(value, str) else quoted(value)) for value in values)
    elif isinstance(schema.get("pattern"), str):
        written = regex(schema["pattern"])
    elif shortest or longest is not None:
        first = re.escape(parameter.close.text[0])
        written = regex(f"[^{first}]{{{shortest or 0},{'' if longest is None else longest}}}")
    else:
        return _ANY_STRING
    return _framed(parameter, written)


def _framed(parameter: Parameter, value: Format) -> Format:
    """With the newlines that the parameter's trim takes off."""
    return sequence(_NEWLINE, value, _NEWLINE) if parameter.trim else value
