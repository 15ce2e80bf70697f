"""Grammars of arguments that are not written as JSON: Python's literals, and pairs with delimited strings.

A notation is a few rules for any value; the rules of a function are made from its schema. The text is EBNF as
xgrammar reads it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..schema import Parameters
from .grammar import Function

#: A list or an object deeper than this is any value.
_DEEPEST = 8


def terminal(text: str) -> str:
    """A literal in a rule."""
    escapes = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return '"' + "".join(escapes.get(c, f"\\{c}" if c in '"\\' else c) for c in text) + '"'


class Notation(NamedTuple):
    """How values are written.

    ``rules``: what ``text``, ``integer``, ``number``, ``boolean``, ``null``, ``list``, ``dict`` and ``any``
    (a value), ``word`` (a key), ``pair`` (a member of a ``dict``) and ``comma`` (between two) are.
    ``text`` is the rule of a string with ``{}`` for its length, ``quote`` writes one. ``key`` begins an
    argument, ``inner_key`` a member of a nested object. ``words`` are the spellings of constants.
    """

    rules: str
    text: str
    quote: Callable[[str], str]
    key: Callable[[str], str]
    inner_key: Callable[[str], str]
    words: Mapping[Any, str]


PYTHON = Notation(
    r"""
text ::= "\"" ([^"\\] | "\\" [^\n])* "\"" | "'" ([^'\\] | "\\" [^\n])* "'"
integer ::= "-"? [0-9]+
number ::= "-"? [0-9]+ ("." [0-9]+)? ([eE] [+\-]? [0-9]+)?
boolean ::= "True" | "False" | "true" | "false"
null ::= "None" | "null"
comma ::= "," " "?
any ::= text | number | boolean | null | list | dict
list ::= "[" (any (comma any)*)? "]" | "(" any (comma any)* ")"
pair ::= text ":" " "? any
dict ::= "{" (pair (comma pair)*)? "}"
word ::= [a-zA-Z_] [a-zA-Z0-9_]*
""",
    text=r'"\"" [^"\\]{} "\""',
    quote=lambda value: json.dumps(value, ensure_ascii=False),
    key=lambda key: f"{key}=",
    inner_key=lambda key: f"{json.dumps(key, ensure_ascii=False)}: ",
    words={True: "True", False: "False", None: "None"},
)


#: What of JSON is written the same in notations of their own.
JSON_SCALARS = r"""
integer ::= "-"? [0-9]+
number ::= "-"? [0-9]+ ("." [0-9]+)? ([eE] [+\-]? [0-9]+)?
boolean ::= "true" | "false"
null ::= "null"
""".strip()


def delimited(delimiter: str) -> Notation:
    """Bare keys and values, strings between delimiters, which no string holds."""
    mark = terminal(delimiter)
    return Notation(
        rf"""
text ::= {mark} characters {mark}
characters ::= TagDispatch(loop_after_dispatch=false, excludes=({mark}))
{JSON_SCALARS}
comma ::= "," " "?
any ::= text | number | boolean | null | list | dict
list ::= "[" (any (comma any)*)? "]"
pair ::= word ":" any
dict ::= "{{" (pair (comma pair)*)? "}}"
word ::= [a-zA-Z_] [a-zA-Z0-9_\-]*
""",
        text=f"{mark} [^{delimiter[0]}]{{}} {mark}",
        quote=lambda value: f"{delimiter}{value}{delimiter}",
        key=lambda key: f"{key}:",
        inner_key=lambda key: f"{key}:",
        words={True: "true", False: "false", None: "null"},
    )


def arguments_grammar(function: Function, notation: Notation) -> str:
    """The grammar of a function's arguments, without the brackets around them."""
    rules = _Rules(notation, Parameters(function.parameters))
    if function.parameters is None:
        joint = terminal(notation.key("x")[1:])
        root = f"(word {joint} any (comma word {joint} any)*)?"
    else:
        root = rules.members(function.parameters, notation.key, 0)
    made = "".join(f"{name} ::= {rule}\n" for name, rule in rules.made.items())
    return f"root ::= {root}\n{made}{notation.rules.strip()}\n"


def limits(schema: Mapping[str, Any], of: str) -> tuple[int, str]:
    """The least and the most of something, "" for no limit."""
    most = schema.get(f"max{of}")
    return schema.get(f"min{of}", 0), "" if most is None else str(most)


#: The rule for any value of a type.
RULES = {
    "string": "text",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
    "array": "list",
    "object": "dict",
}


@dataclass
class _Rules:
    """The rules made for one function."""

    notation: Notation
    parameters: Parameters
    made: dict[str, str] = field(default_factory=dict)

    def members(self, schema: Mapping[str, Any], key: Callable[[str], str], depth: int) -> str:
        """The members of an object in their order, those that are not required left out or not."""
        properties, required = schema.get("properties") or {}, schema.get("required") or ()
        first, later = '""', '""'  # from a member on: as the first that is there, and behind another one
        for name, inner in reversed(properties.items()):
            member = f"{terminal(key(name))} {self.value(inner, depth + 1)}"
            skips = name not in required
            first, later = (
                self._rule(f"{member} {later}" + (f" | {first}" if skips else "")),
                self._rule(f"comma {member} {later}" + (f" | {later}" if skips else "")),
            )
        return first

    def value(self, schema: Any, depth: int) -> str:
        """The name of the rule for a value."""
        if not isinstance(schema, Mapping) or depth > _DEEPEST:
            return "any"
        values = schema.get("enum") or ([schema["const"]] if "const" in schema else [])
        if values and not any(isinstance(value, (list, dict)) for value in values):
            return self._rule(" | ".join(terminal(self._word(value)) for value in values))
        types = self.parameters.types_of(schema)
        return self._rule(" | ".join(self._typed(kind, schema, depth) for kind in types)) if types else "any"

    def _typed(self, kind: str, schema: Mapping[str, Any], depth: int) -> str:
        if kind == "object" and schema.get("properties"):
            return f'"{{" {self.members(schema, self.notation.inner_key, depth)} "}}"'
        if kind == "array" and not schema.keys().isdisjoint({"items", "minItems", "maxItems"}):
            return self._list(self.value(schema.get("items"), depth + 1), *limits(schema, "Items"))
        if kind == "string" and not schema.keys().isdisjoint({"minLength", "maxLength"}):
            least, most = limits(schema, "Length")
            return self.notation.text.format(f"{{{least},{most}}}")
        return RULES[kind]

    @staticmethod
    def _list(item: str, least: int, most: str) -> str:
        """A list of so many items."""
        if most == "0":
            return '"[" "]"'
        more = f"{{{max(least - 1, 0)},{int(most) - 1 if most else ''}}}"
        items = f"{item} (comma {item}){more}"
        return f'"[" {items} "]"' if least else f'"[" ({items})? "]"'

    def _word(self, value: Any) -> str:
        if isinstance(value, str):
            return self.notation.quote(value)
        known = value is None or isinstance(value, bool)
        return self.notation.words[value] if known else json.dumps(value)

    def _rule(self, rule: str) -> str:
        """The name of this rule, which is made if there is none."""
        for name, made in self.made.items():
            if made == rule:
                return name
        name = f"r{len(self.made)}"
        self.made[name] = rule
        return name
