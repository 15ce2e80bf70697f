"""MiniMax M3: arguments are nested elements whose tags begin with a token of their own."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from unified_parser.arguments.json_text import Malformed, drop
from unified_parser.calls.base import CallReader, CallSyntax, Surroundings
from unified_parser.calls.grammar import Format, Function, Wanted, const, ebnf, either, members, sequence
from unified_parser.calls.literals import JSON_SCALARS, RULES, limits, terminal
from unified_parser.calls.tagged import read_attributes
from unified_parser.format import (
    Content,
    Drop,
    Marker,
    OutputFormat,
    Reasoning,
    Start,
    Tools,
    text_marker,
)
from unified_parser.parser import UnifiedParser
from unified_parser.scanner import Marks, Steps, Use
from unified_parser.schema import Parameters, quote, quote_inner, to_json, types_of
from unified_parser.tokens import SpecialTokens
from unified_parser.walk import Walk

#: More open elements than this are no arguments.
MAX_DEPTH = 128

SPACE = "]<]minimax[>["


def tag(text: str) -> Marker:
    """The beginning of a tag, which is structure for the token before it."""
    return Marker(SPACE + text, token=SPACE, special=False)


BEGIN, END = tag("<invoke "), tag("</invoke>")
OPEN, CLOSE = tag("<"), tag("</")


@dataclass(slots=True)
class Element:
    """An element that is being read: its text, and the values of its children by name."""

    key: str
    schema: Any
    text: list[str] = field(default_factory=list)
    children: dict[str, list[str]] = field(default_factory=dict)
    items: list[str] = field(default_factory=list)

    def add(self, key: str, value: str) -> None:
        self.children.setdefault(key, []).append(value)
        self.items.append(value)

    def child(self, key: str, parameters: Parameters) -> Element:
        """A new child. Where the schema wants an array, children are its items, whatever their names."""
        if self._is_array(parameters):
            return Element(key, parameters.items(self.schema, len(self.items)))
        return Element(key, parameters.child(self.schema, key))

    def value(self, parameters: Parameters) -> str:
        """The element as JSON text."""
        types = parameters.types_of(self.schema) or ("string",)
        text = "".join(self.text)
        if not self.items:
            if text.strip() or "string" in types:
                return to_json(text, types)
            return "[]" if "array" in types else "{}" if "object" in types else to_json(text, types)
        if self._is_array(parameters):
            return f"[{', '.join(self.items)}]"
        name = "$text"
        while name in self.children:
            name = "$" + name
        beside = {name: [quote(text.strip())]} if text.strip() else {}
        members = [f"{quote(key)}: {collected(values)}" for key, values in (self.children | beside).items()]
        return f"{{{', '.join(members)}}}"

    def _is_array(self, parameters: Parameters) -> bool:
        types = parameters.types_of(self.schema)
        return "array" in types and "object" not in types


def collected(values: list[str]) -> str:
    """The value of a name: a list, if it was repeated."""
    return values[0] if len(values) == 1 else f"[{', '.join(values)}]"


@dataclass(frozen=True, slots=True)
class ElementCall(CallSyntax):
    """``<invoke name="N"> { element } </invoke>``; an element is ``<key> ( text | { element } ) </key>``."""

    @property
    def begins(self) -> tuple[Marker, ...]:
        return (BEGIN,)

    def markers(self) -> tuple[Marker, ...]:
        return (BEGIN, END, OPEN, CLOSE)

    def strays(self) -> tuple[Marker, ...]:
        return (END,)

    def grammar(self, wanted: Wanted) -> Format | None:
        return either(
            sequence(
                const(f'{BEGIN.text}name="{html.escape(function.name)}">'),
                ebnf(elements_grammar(function)),
                const(END.text),
            )
            for function in wanted.functions
        )

    def compile(self, tokens: SpecialTokens, around: Surroundings) -> CallReader:
        leaves = [Use(marker, "leave") for marker in (*around.ends, BEGIN)]
        inside = Marks([Use(END, "end"), Use(OPEN, "open"), Use(CLOSE, "close"), *leaves], tokens)
        tag_end = Marks([Use(text_marker(">"), "")], tokens)
        return lambda walk: _Reader(walk, inside, tag_end).read()


def element(key: str, value: str) -> str:
    """An element in a grammar, its value by a rule, and the white space behind it."""
    return f"{terminal(f'{OPEN.text}{key}>')} {value} {terminal(f'{CLOSE.text}{key}>')} space"


#: Values of any shape. A tag's name is free, so a closing tag may have another one than its opening tag.
ANY_SHAPE = rf"""
any ::= text | space element element*
dict ::= space element*
list ::= space ({element("item", "any")})*
element ::= {terminal(OPEN.text)} key ">" any {terminal(CLOSE.text)} key ">" space
key ::= [^<>/ \t\n] [^<>/\n]{{0,63}}
text ::= TagDispatch(loop_after_dispatch=false, excludes=({terminal(SPACE)}))
space ::= [ \n]{{0,8}}
{JSON_SCALARS}
"""


def elements_grammar(function: Function) -> str:
    """What stands between the tags of a call, as EBNF."""
    declared, others = members(function)
    rules = _Rules(function.parameters or {})
    root = rules.members(rules.root) if declared else "dict" if others else "space"
    made = "".join(f"{name} ::= {rule}\n" for name, rule in rules.make())
    return f"root ::= {root}\n{made}{ANY_SHAPE.strip()}\n"


@dataclass(slots=True)
class _Rules:
    """The rules of a function's values. A schema has one rule wherever it is used, so recursive ones end."""

    root: Mapping[str, Any]
    names: dict[int, str] = field(default_factory=dict)
    named: list[tuple[str, Mapping[str, Any], tuple[str, ...]]] = field(default_factory=list)

    def make(self) -> Iterator[tuple[str, str]]:
        """The rules that have a name, by it; making one may name more."""
        for name, schema, types in self.named:
            yield name, self._alternatives(schema, types)

    def members(self, schema: Mapping[str, Any]) -> str:
        """The members of an object in their order, and others where it may have them."""
        required = schema.get("required")
        needed = required if isinstance(required, list) else ()
        written = ["space"]
        for key, inner in schema["properties"].items():
            member = element(key, self.value(inner))
            written.append(member if key in needed else f"({member})?")
        if schema.get("additionalProperties") not in (None, False):
            written.append("element*")
        return " ".join(written)

    def value(self, schema: Any) -> str:
        """The name of the rule for a value."""
        types = types_of(schema, self.root)
        if not types:
            return "any"
        if id(schema) not in self.names:
            self.names[id(schema)] = f"r{len(self.names)}"
            self.named.append((self.names[id(schema)], schema, types))
        return self.names[id(schema)]

    def _alternatives(self, schema: Mapping[str, Any], types: tuple[str, ...]) -> str:
        values = schema.get("enum") or ([schema["const"]] if "const" in schema else [])
        if values and not any(isinstance(value, (list, dict)) for value in values):
            words = (value if isinstance(value, str) else json.dumps(value) for value in values)
            return " | ".join(map(terminal, words))
        if isinstance(schema.get("$ref"), str):
            return self.value(self._target(schema["$ref"]))
        branches = schema.get("anyOf") or schema.get("oneOf")
        if branches and "type" not in schema:
            return " | ".join(map(self.value, branches))
        return " | ".join(self._typed(kind, schema) for kind in types)

    def _typed(self, kind: str, schema: Mapping[str, Any]) -> str:
        if kind == "object" and schema.get("properties") and isinstance(schema["properties"], Mapping):
            return self.members(schema)
        if kind == "array" and not schema.keys().isdisjoint({"items", "minItems", "maxItems"}):
            least, most = limits(schema, "Items")
            item = element("item", self.value(schema.get("items")))
            return "space" if most == "0" else f"space ({item}){{{least},{most}}}"
        if kind == "string" and not schema.keys().isdisjoint({"minLength", "maxLength"}):
            least, most = limits(schema, "Length")  # without what may begin the closing tag
            return rf"[^\]]{{{least},{most}}}"
        return RULES[kind]

    def _target(self, reference: str) -> Any:
        """What a reference points to, ``#/$defs/Day``; None if it leads nowhere."""
        found: Any = self.root
        for step in reference.split("/")[1:]:
            found = found.get(step) if isinstance(found, Mapping) else None
        return found


class _Reader:
    """Reads one call. A value that is surely a string is passed on as it comes, another one at its close.

    What the tool does not declare waits for the call's end: its name may come again, and make a list of it.
    """

    def __init__(self, walk: Walk, inside: Marks[str], tag_end: Marks[str]) -> None:
        self.walk = walk
        self.inside = inside
        self.tag_end = tag_end
        self.name = ""
        self.parameters = Parameters()
        self.said: set[str] = set()
        self.waiting: dict[str, list[str]] = {}

    def read(self) -> Steps[None]:
        walk = self.walk
        self.name = read_attributes((yield from self._tag())).get("name", "").strip()
        if not self.name:
            raise Malformed
        self.parameters = walk.tools.parameters(self.name)
        while True:
            yield from walk.skip_space()
            found = yield from walk.at_mark(self.inside)
            if found is None:
                if walk.call is None:
                    raise Malformed
                found = yield from walk.read_until(self.inside, drop)
            if found.does == "open":
                yield from self._argument()
            elif found.does == "close":  # of no element that is open
                yield from self._tag()
            else:
                break
        if found.does == "leave":
            walk.pos -= walk.matched
        for key, values in self.waiting.items():
            walk.argument(self._lead(key) + collected(values))
        self._announce()
        walk.argument("}" if self.said else "{}")
        walk.end_call()

    def _argument(self) -> Steps[None]:
        key = yield from self._key()
        self._announce()
        types = self.parameters.types(key)
        if types == ("string",) and key not in self.said:
            yield from self._pass_string(key)
            return
        value = yield from self._element(Element(key, self.parameters.schema(key)))
        if not types:
            self.waiting.setdefault(key, []).append(value)
        elif key not in self.said:
            self.walk.argument(self._lead(key) + value)

    def _pass_string(self, key: str) -> Steps[None]:
        """Passes a string on, in which tags of other names are text."""
        walk = self.walk

        def write(text: str) -> None:
            walk.argument(quote_inner(text))

        def flow(search: Callable[[str], object]) -> None:
            walk.let_arguments_flow(search, quoted=True)

        walk.argument(self._lead(key) + '"')
        while True:
            found = yield from walk.read_until(self.inside, write, flow)
            if found.does == "close":
                name = yield from self._tag()
                if name.strip() == key:
                    break
                write(f"{found.literal}{name}>")
            elif found.does == "open":
                write(found.literal)
            else:
                walk.pos -= walk.matched
                break
        walk.argument('"')

    def _element(self, root: Element) -> Steps[str]:
        """Reads an element to its close, or that of what encloses it. Another close is dropped."""
        walk, stack = self.walk, [root]
        while True:
            found = yield from walk.read_until(self.inside, stack[-1].text.append)
            closes = root.key
            if found.does == "open":
                if len(stack) == MAX_DEPTH:
                    raise Malformed
                stack.append(stack[-1].child((yield from self._key()), self.parameters))
                continue
            if found.does == "close":
                closes = (yield from self._tag()).strip()
                if all(element.key != closes for element in stack):
                    continue
            else:
                walk.pos -= walk.matched
            while True:
                inner = stack.pop()
                value = inner.value(self.parameters)
                if not stack:
                    return value
                stack[-1].add(inner.key, value)
                if inner.key == closes and found.does == "close":
                    break

    def _tag(self) -> Steps[str]:
        """The rest of a tag."""
        pieces: list[str] = []
        yield from self.walk.read_until(self.tag_end, pieces.append)
        return "".join(pieces)

    def _key(self) -> Steps[str]:
        key = (yield from self._tag()).strip()
        if not key:
            raise Malformed
        return key

    def _announce(self) -> None:
        if self.walk.call is None:
            self.walk.start_call(self.name)

    def _lead(self, key: str) -> str:
        """What stands before an argument's value; announces the call."""
        self._announce()
        before = ", " if self.said else "{"
        self.said.add(key)
        return before + quote(key) + ": "


class MiniMaxM3Parser(UnifiedParser):
    """MiniMax M3. Its think tags are no special tokens, and may be written in pieces."""

    names = ("minimax_m3", "minimax-m3")
    models = ("MiniMaxAI/MiniMax-M3*",)
    traps = (
        "The switch is `thinking_mode`: `enabled`, `disabled`, or nothing, where the model decides.",
        "Think tags are ordinary text: a quoted one cannot be told from a real one.",
        "Arguments that the tool does not declare come at the call's end: their names may be repeated.",
    )
    format = OutputFormat(
        reasoning=Reasoning(text_marker("<mm:think>"), text_marker("</mm:think>")),
        # An answer without thinking may begin with the closing tag, even where the prompt does not end so.
        content=Content(drops=(Drop(text_marker("</mm:think>", behind=("]~b]ai\n",))),)),
        tools=(
            Tools(
                open=tag("<tool_call>"),
                close=tag("</tool_call>"),
                calls=(ElementCall(),),
                in_reasoning="text",
            ),
        ),
        start=Start(
            boundaries=("]~b]", "[e~["),
            toggles={"thinking_mode": ("disabled",)},
            undecided="content",
        ),
    )
