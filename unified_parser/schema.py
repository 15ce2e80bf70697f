"""What a tool's JSON schema says about a value's type, and model text made JSON text by it.

Formats that write parameter values as bare text (tags, key and value lists) need the schema to tell the
string ``5`` from the number. ``Tools`` answers which types a parameter may have; ``to_json`` converts the
text. Nothing here parses a number: digits are handed on as they were written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, KeysView, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from json.encoder import encode_basestring as _encode_basestring
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

Schema: TypeAlias = Mapping[str, Any]

TYPES: Final = ("null", "integer", "number", "boolean", "object", "array", "string")
"""The types of JSON schema, in the order in which a union tries them."""

# Type names that schemas generated from other languages use, in lower case.
_TYPE_NAMES: Final[Mapping[str, str]] = {name: name for name in TYPES} | {
    "none": "null",
    "int": "integer",
    "float": "number",
    "double": "number",
    "bool": "boolean",
    "dict": "object",
    "list": "array",
    "tuple": "array",
    "str": "string",
}


class ToolSchemaError(ValueError):
    """The tools of a request are not usable. The text names the tool, the field and the fix."""


# --- JSON strings -------------------------------------------------------------------------------------------

_SURROGATE = re.compile("[\ud800-\udfff]")


_ESCAPED = re.compile('["\\\\\x00-\x1f\ud800-\udfff]').search


def _escape_code(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def quote(text: str) -> str:
    """``text`` as a JSON string. Only what JSON or UTF-8 cannot hold is escaped."""
    quoted = _encode_basestring(text)
    return quoted if quoted.isascii() else _SURROGATE.sub(_escape_code, quoted)


def quote_inner(text: str) -> str:
    """``quote`` without the quotes: for the pieces of a streamed string, which join to the whole."""
    return text if _ESCAPED(text) is None else quote(text)[1:-1]


# --- Literals of JSON and of Python -------------------------------------------------------------------------

_MAX_DEPTH: Final = 256  # deeper values stay strings: the JSON readers of clients recurse, and have limits

# One token, with the blanks before it. Possessive throughout: a token is found or refused in one walk.
_TOKEN = re.compile(
    r"""
    (?P<blank> [ \t\n\r]*+ )
    (?: (?P<string> "[^"\\]*+ (?:\\.[^"\\]*+)*+ " | '[^'\\]*+ (?:\\.[^'\\]*+)*+ ' )
      | (?P<number> [+-]? (?: [0-9]++ (?:\.[0-9]*+)? | \.[0-9]++ ) (?:[eE][+-]?[0-9]++)? )
      | (?P<word> [A-Za-z]++ )
      | (?P<open> [\[{(] )
      | (?P<close> [\]})] )
      | (?P<comma> , )
      | (?P<colon> : )
    )
    """,
    re.VERBOSE | re.DOTALL,
)
_INTEGER = re.compile(r"(-?)0*([1-9][0-9]*+|0)(?:\.0++)?")
_LEADING_ZEROS = re.compile(r"\A(-?)0+([0-9])")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?")
_LOOSE_NUMBER = re.compile(r"([+-]?)([0-9]*+)\.?([0-9]*+)((?:[eE].++)?)", re.DOTALL)
_JSON_STRING = re.compile(r'"[^"\\]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\]*+)*+"')
_UNSAFE = re.compile("[\x00-\x1f\ud800-\udfff]")
_PYTHON_ESCAPE = re.compile(
    r"\\(?: (?P<octal>[0-7]{1,3}) | x(?P<x>[0-9a-fA-F]{2}) | u(?P<u>[0-9a-fA-F]{4})"
    r" | U(?P<U>00(?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4}) | (?P<plain>.) )",
    re.VERBOSE | re.DOTALL,
)
_PLAIN_ESCAPES: Final[Mapping[str, str]] = {
    "\n": "",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
}
_WORDS: Final[Mapping[str, str]] = {
    "null": "null",
    "None": "null",
    "true": "true",
    "True": "true",
    "false": "false",
    "False": "false",
}


def _unescape(match: re.Match[str]) -> str:
    kind = match.lastgroup
    if kind == "plain":
        return _PLAIN_ESCAPES.get(match["plain"], match[0])  # an unknown escape is text, as in Python
    assert kind is not None
    return chr(int(match[kind], 8 if kind == "octal" else 16))


def _string_to_json(token: str) -> str:
    """A quoted string of JSON (kept as written, raw control characters escaped) or else of Python."""
    if _JSON_STRING.fullmatch(token):
        return _UNSAFE.sub(_escape_code, token)
    return quote(_PYTHON_ESCAPE.sub(_unescape, token[1:-1]))


def _number_to_json(token: str) -> str | None:
    """A number as written; Python's ``+1``, ``1.`` and ``.5`` completed. None for ``007``."""
    if _NUMBER.fullmatch(token):
        return token
    loose = _LOOSE_NUMBER.fullmatch(token)
    assert loose is not None
    sign, whole, fraction, exponent = loose.groups()
    token = f"{sign.strip('+')}{whole or '0'}{'.' if fraction else ''}{fraction}{exponent}"
    return token if _NUMBER.fullmatch(token) else None


_SCALARS: Final[Mapping[str, Callable[[str], str | None]]] = {
    "string": _string_to_json,
    "number": _number_to_json,
    "word": _WORDS.get,
}
_CLOSERS: Final[Mapping[str, str]] = {"[": "]", "{": "}", "(": ")"}


@dataclass(slots=True)
class _Container:
    """An open bracket, and how many commas it has had."""

    opener: str
    commas: int = 0


# What may come next. After an opener or a comma, the container may also close.
_VALUE, _ITEM, _KEY, _COLON, _AFTER = "value", "item", "key", "colon", "after"


def literal_to_json(text: str) -> str | None:
    """The JSON or Python literal ``text`` as strict JSON, or None where it is neither.

    JSON comes back as it was written, except for raw control characters in strings, which are escaped.
    Of Python, single quotes, ``True``, ``False``, ``None``, tuples, trailing commas and scalar keys are
    taken, and may be mixed with JSON. Blanks around the text are dropped. Numbers keep their digits.
    There is no recursion; more than 256 open brackets are refused.
    """
    text = text.strip()
    out: list[str] = []
    stack: list[_Container] = []
    expect, position = _VALUE, 0
    while token := _TOKEN.match(text, position):
        position = token.end()
        kind = token.lastgroup
        assert kind is not None
        piece = token[kind]
        if kind in _SCALARS and expect in (_VALUE, _ITEM, _KEY):
            scalar = _SCALARS[kind](piece)
            if scalar is None:
                return None
            if expect == _KEY:  # JSON knows string keys only
                scalar = scalar if kind == "string" else f'"{scalar}"'
            piece, expect = scalar, _COLON if expect == _KEY else _AFTER
        elif kind == "open" and expect in (_VALUE, _ITEM) and len(stack) < _MAX_DEPTH:
            stack.append(_Container(piece))
            piece, expect = ("{", _KEY) if piece == "{" else ("[", _ITEM)
        elif kind == "close" and expect in (_ITEM, _KEY, _AFTER) and stack:
            container = stack.pop()
            if piece != _CLOSERS[container.opener]:
                return None
            if piece == ")" and expect == _AFTER and not container.commas:
                return None  # (1) is no tuple
            if expect != _AFTER and container.commas:
                out[-1] = out[-1][:-1]  # a trailing comma
            piece, expect = ("}" if piece == "}" else "]"), _AFTER
        elif kind == "comma" and expect == _AFTER and stack:
            stack[-1].commas += 1
            expect = _KEY if stack[-1].opener == "{" else _ITEM
        elif kind == "colon" and expect == _COLON:
            expect = _VALUE
        else:
            return None
        out.append(token["blank"] + piece)
    return "".join(out) if expect == _AFTER and not stack and position == len(text) else None


# --- Text to JSON by type -----------------------------------------------------------------------------------


def _null(text: str) -> str | None:
    return "null" if text in ("null", "None") else None


def _integer(text: str) -> str | None:
    match = _INTEGER.fullmatch(text)
    return match[1] + match[2] if match else None


def _number(text: str) -> str | None:
    plain = _LEADING_ZEROS.sub(r"\1\2", text, count=1)
    return plain if _NUMBER.fullmatch(plain) else None


def _json(text: str) -> str | None:
    return text if literal_to_json(text) == text else None


def _boolean(text: str) -> str | None:
    return {"true": "true", "1": "true", "false": "false", "0": "false"}.get(text[:6].lower())


def _object(text: str) -> str | None:
    return literal_to_json(text) if text.startswith("{") else None


def _array(text: str) -> str | None:
    return literal_to_json(text) if text.startswith(("[", "(")) else None


#: "json" is no type of a schema: it says that the format itself writes the value as JSON, of whatever type.
_CONVERTERS: Final[Mapping[str, Callable[[str], str | None]]] = {
    "json": _json,
    "null": _null,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "object": _object,
    "array": _array,
}


def to_json(text: str, types: Sequence[str]) -> str:
    """The JSON text of a value that the model wrote as ``text``, where the schema allows ``types``.

    The types are tried in the order of ``TYPES``, whatever their order here; what fits none of them is a
    string, to the letter. Blanks around other values are dropped. Total: it never raises, and costs time
    linear in the text.
    """
    stripped = text.strip()
    for name, convert in _CONVERTERS.items():
        if name in types and (value := convert(stripped)) is not None:
            return value
    return quote(text)


# --- Schemas ------------------------------------------------------------------------------------------------

_SCHEMA_DEPTH: Final = 64  # how deep compositions ($ref, anyOf, ...) are followed
_UNIONS: Final = ("anyOf", "oneOf")
_NOTHING: Final[frozenset[str]] = frozenset()


def types_of(schema: Any, root: Any) -> tuple[str, ...]:
    """The types that ``schema`` allows, in the order of ``TYPES``; () where it says nothing about them.

    ``root`` is the schema that ``$ref`` points into. Keywords beside each other and the parts of ``allOf``
    narrow the types down, ``anyOf`` and ``oneOf`` unite those of their branches; a part that says nothing
    is left out.
    """
    allowed = _allowed(schema, root, {}, _SCHEMA_DEPTH)
    return tuple(name for name in TYPES if name in allowed)


def _allowed(schema: Any, root: Any, refs: dict[str, frozenset[str]], depth: int) -> frozenset[str]:
    """``refs`` holds what each reference came to; one that is still being followed says nothing (a cycle)."""
    if not isinstance(schema, Mapping) or depth == 0:
        return _NOTHING
    parts = [_declared(schema)]
    ref = schema.get("$ref")
    if isinstance(ref, str):
        if ref not in refs:
            refs[ref] = _NOTHING
            refs[ref] = _allowed(_resolve(ref, root), root, refs, depth - 1)
        parts.append(refs[ref])
    for keyword in _UNIONS:
        branches = _list(schema.get(keyword))
        parts.append(_NOTHING.union(*(_allowed(branch, root, refs, depth - 1) for branch in branches)))
    parts += (_allowed(part, root, refs, depth - 1) for part in _list(schema.get("allOf")))
    allowed = reduce(_narrow, parts)
    return allowed | {"null"} if allowed and schema.get("nullable") is True else allowed


def _declared(schema: Schema) -> frozenset[str]:
    """The types by a schema's own keywords: ``type``, else the values listed, else what only one type has."""
    names = schema.get("type")
    names = [names] if isinstance(names, str) else _list(names)
    if declared := frozenset(_TYPE_NAMES.get(name.lower(), "") for name in names if isinstance(name, str)) - {
        ""
    }:
        return declared
    values = [schema["const"]] if "const" in schema else _list(schema.get("enum"))
    if values:
        return frozenset(map(_type_of_value, values))
    if isinstance(schema.get("properties"), Mapping):
        return frozenset(("object",))
    return frozenset(("array",)) if "items" in schema or "prefixItems" in schema else _NOTHING


def _type_of_value(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):  # before int, whose subclass it is
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    return "object" if isinstance(value, Mapping) else "array"


def _narrow(one: frozenset[str], other: frozenset[str]) -> frozenset[str]:
    """The types that both allow. An empty set says nothing; where the two contradict, the first holds."""
    common = one & other
    if "number" not in common and any(
        "number" in a and "integer" in b for a, b in ((one, other), (other, one))
    ):
        common |= {"integer"}  # an integer is a number
    return common or one or other


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, (list, tuple)) else ()


def _resolve(ref: str, root: Any) -> Any:
    """What a local reference (a JSON pointer behind ``#``) points to; None if it leads nowhere."""
    document, _, pointer = ref.partition("#")
    if document or (pointer and not pointer.startswith("/")):
        return None
    target = root
    for step in unquote(pointer).split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(target, Mapping):
            target = target.get(step)
        elif (
            isinstance(target, (list, tuple))
            and step.isdecimal()
            and len(step) < 6
            and int(step) < len(target)
        ):
            target = target[int(step)]
        else:
            return None
    return target


def _parts(schema: Any, root: Any) -> Iterator[Schema]:
    """``schema`` and the schemas that it is composed of, by reference too, each once and in reading order."""
    pending, seen = [schema], set[int]()
    while pending:
        part = pending.pop()
        if not isinstance(part, Mapping) or id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        inner = [branch for keyword in ("allOf", *_UNIONS) for branch in _list(part.get(keyword))]
        if isinstance(ref := part.get("$ref"), str):
            inner.insert(0, _resolve(ref, root))
        pending.extend(reversed(inner))


def _any_of(schemas: list[Schema]) -> Schema | None:
    """One schema for a place that several branches describe; None for none."""
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas} if schemas else None


class Parameters:
    """The parameters of one tool: the types of each, and the way down into nested ones.

    Schemas are read when they are asked for, and may be malformed: what cannot be read says nothing.
    """

    __slots__ = ("_schemas", "_types", "root")

    def __init__(self, root: Schema | None = None) -> None:
        self.root: Schema = {} if root is None else root
        self._schemas: dict[str, Schema | None] = {}
        self._types: dict[str, tuple[str, ...]] = {}

    def declares(self, key: str) -> bool:
        """Whether the tool has a parameter of this name."""
        return any(key in properties for properties in self._properties(self.root))

    def schema(self, key: str) -> Schema | None:
        """The schema of one parameter, or None."""
        if key not in self._schemas:
            self._schemas[key] = self.child(self.root, key)
        return self._schemas[key]

    def types(self, key: str) -> tuple[str, ...]:
        """The types that one parameter may have, in the order of ``TYPES``; () where nothing says so."""
        if not self.root:
            return ()
        if key not in self._types:
            self._types[key] = self.types_of(self.schema(key))
        return self._types[key]

    def types_of(self, schema: Any) -> tuple[str, ...]:
        """The types that a schema found below this one allows."""
        return types_of(schema, self.root)

    def child(self, schema: Any, key: str) -> Schema | None:
        """The schema of a member of an object: its property, else what additional properties must be."""
        found = [properties[key] for properties in self._properties(schema) if key in properties]
        if not found:
            found = [part.get("additionalProperties") for part in _parts(schema, self.root)]
        return _any_of([part for part in found if isinstance(part, Mapping)])

    def items(self, schema: Any, index: int = 0) -> Schema | None:
        """The schema of an array's item; ``index`` matters only where items are listed one by one."""
        found: list[Any] = []
        for part in _parts(schema, self.root):
            listed = _list(part.get("prefixItems")) or _list(
                part.get("items")
            )  # the latter before draft 2020-12
            rest = (
                part.get("items") if isinstance(part.get("items"), Mapping) else part.get("additionalItems")
            )
            found.append(listed[index] if index < len(listed) else rest)
        return _any_of([part for part in found if isinstance(part, Mapping)])

    def _properties(self, schema: Any) -> Iterator[Schema]:
        for part in _parts(schema, self.root):
            if isinstance(properties := part.get("properties"), Mapping):
                yield properties


class Tools:
    """The function tools of a request, by name.

    Taken are OpenAI's chat tools (``{"type": "function", "function": {...}}``) and Responses tools (name and
    parameters at the top), as mappings or as objects with those attributes. Tools that are no functions, such
    as a server's built-in ones, are left out. Of two tools with one name the first counts.

    Raises ToolSchemaError where a tool cannot be read. The schemas are read when they are asked for.
    """

    __slots__ = ("_parsed", "_schemas")

    def __init__(self, tools: Iterable[Any] | None) -> None:
        self._schemas: dict[str, Schema | None] = {}
        self._parsed: dict[str, Parameters] = {}
        if isinstance(tools, (str, bytes, Mapping)) or not isinstance(tools, (Iterable, type(None))):
            raise ToolSchemaError(
                f"tools: expected a list of tools, got {_kind(tools)}; put the tool in a list"
            )
        for index, tool in enumerate(tools or ()):
            if (function := _function(index, tool)) is not None:
                self._schemas.setdefault(*_read_function(index, function))

    @property
    def names(self) -> KeysView[str]:
        """The names, a set in the order of the request."""
        return self._schemas.keys()

    def __contains__(self, name: object) -> bool:
        return name in self._schemas

    def __len__(self) -> int:
        return len(self._schemas)

    def parameters(self, name: str) -> Parameters:
        """The parameters of a tool; none for a tool that the request does not have."""
        if name not in self._schemas:
            return Parameters()
        if name not in self._parsed:
            self._parsed[name] = Parameters(self._schemas[name])
        return self._parsed[name]


def _get(record: Any, field: str) -> Any:
    return record.get(field) if isinstance(record, Mapping) else getattr(record, field, None)


def _is_record(value: Any) -> bool:
    return not isinstance(value, (type(None), str, bytes, int, float, list, tuple, set, frozenset))


def _kind(value: Any) -> str:
    return type(value).__name__


def _function(index: int, tool: Any) -> Any:
    """The part of a tool that has its name and parameters; None for a tool that is no function."""
    if not _is_record(tool):
        raise ToolSchemaError(
            f"tools[{index}]: expected a mapping or an object, got {_kind(tool)}; write it as "
            '{"type": "function", "function": {"name": ..., "parameters": {...}}}'
        )
    function = _get(tool, "function")
    if function is not None:
        if not _is_record(function):
            raise ToolSchemaError(
                f"tools[{index}].function: expected a mapping or an object, got {_kind(function)}; "
                'write it as {"name": ..., "parameters": {...}}'
            )
        return function
    kind = _get(tool, "type")
    is_function = kind == "function" or (kind is None and _get(tool, "name") is not None)
    return tool if is_function else None


def _read_function(index: int, function: Any) -> tuple[str, Schema | None]:
    """The name and the parameters' schema of a function tool."""
    name, parameters = _get(function, "name"), _get(function, "parameters")
    if not isinstance(name, str) or not name:
        raise ToolSchemaError(
            f"tools[{index}]: field 'name': expected a string that is not empty, got {name!r:.40}; "
            "give the function a name"
        )
    if parameters is not None and not isinstance(parameters, Mapping):
        raise ToolSchemaError(
            f"tools[{index}] ({name}): field 'parameters': expected a JSON schema object, "
            f"got {_kind(parameters)}; leave it out for a tool without parameters"
        )
    return name, parameters
