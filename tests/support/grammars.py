"""Structural tags judged by xgrammar's own matcher, and the samples that say what they must let through."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from random import Random
from typing import Any, NamedTuple

import jsonschema
import numpy as np
import xgrammar
from xgrammar.testing import _is_grammar_accept_string

from support.samples import Sample, load
from support.written import WRITTEN, Call, dumps
from unified_parser import get_parser_class
from unified_parser.format import OutputFormat
from unified_parser.structural_tag import Function, structural_tag

#: A vocabulary of single characters, for walks through a grammar; its last token ends the output.
CHARACTERS = [*map(chr, range(32, 127)), "\n", *"｜▁"]
STOP = len(CHARACTERS)
VOCABULARY = xgrammar.TokenizerInfo([*CHARACTERS, "</s>"], stop_token_ids=[STOP])


@lru_cache(256)
def _grammar(tag: str) -> Any:
    return xgrammar.Grammar.from_structural_tag(tag)


def accepts(tag: Any, output: str) -> bool:
    """Does the tag, as data or as xgrammar's object, let this output through, from beginning to end?"""
    text = json.dumps(tag) if isinstance(tag, Mapping) else tag.model_dump_json()
    return bool(_is_grammar_accept_string(_grammar(text), output))


def walk(tag: Mapping[str, Any], rng: Random, longest: int = 1200) -> str | None:
    """An output made at random of what the grammar allows; None if it does not come to an end.

    Where the output may end it ends more often than not; white space and digits are kept rare.
    """
    compiled = xgrammar.GrammarCompiler(VOCABULARY).compile_structural_tag(json.dumps(tag))
    matcher = xgrammar.GrammarMatcher(compiled)
    mask = xgrammar.allocate_token_bitmask(1, VOCABULARY.vocab_size)
    output: list[str] = []
    for _ in range(longest):
        matcher.fill_next_token_bitmask(mask)
        bits = np.unpackbits(mask[0].numpy().view(np.uint8), bitorder="little")
        allowed = [token for token in range(STOP + 1) if bits[token]]
        if STOP in allowed and (len(allowed) == 1 or rng.random() < 0.6):
            return "".join(output)
        likely = [
            t for t in allowed if t != STOP and not (CHARACTERS[t].isspace() or CHARACTERS[t].isdigit())
        ]
        rare = [t for t in allowed if t != STOP and t not in likely]
        token = rng.choice(likely if likely and (not rare or rng.random() < 0.8) else rare)
        assert matcher.accept_token(token)
        output.append(CHARACTERS[token])
    return None


class Case(NamedTuple):
    """The calls of a sample, its tools, and the calls as the family's template writes them."""

    sample: Sample
    form: OutputFormat
    calls: list[Call]
    tools: list[dict[str, Any]]

    def functions(self, *, strict: bool = True, named: str | None = None) -> list[Function]:
        return [
            Function(tool["name"], (tool.get("parameters") or {}) if strict else None)
            for tool in self.tools
            if named in (None, tool["name"])
        ]

    def tag(self, choice: Any, *, single: bool = False, **functions: Any) -> Mapping[str, Any]:
        written = structural_tag(self.form, self.functions(**functions), choice, single=single)
        assert written is not None
        return written

    @property
    def name(self) -> str:
        """The function of the first call."""
        return self.calls[0][0]


@cache
def cases() -> Mapping[str, list[Case]]:
    """The samples by family, of those whose arguments fit their tools' schemas, the keys in their order."""
    found: dict[str, list[Case]] = {name: [] for name in WRITTEN}
    for sample in load():
        parser_class = get_parser_class(sample.parser_name)
        calls = [(name, arguments) for name, arguments, _ in sample.expected.calls]
        tools = [tool["function"] for tool in sample.tools]
        if calls and parser_class.names[0] in found and all(_fits(call, tools) for call in calls):
            found[parser_class.names[0]].append(Case(sample, parser_class.format, calls, tools))
    return found


def _fits(call: Call, tools: Sequence[Mapping[str, Any]]) -> bool:
    name, arguments = call
    schema = next((tool.get("parameters") or {} for tool in tools if tool["name"] == name), None)
    if schema is None:
        return False
    closed = {"additionalProperties": False, **schema} if "properties" in schema else schema
    valid = jsonschema.Draft202012Validator(closed).is_valid(json.loads(dumps(arguments)))
    return valid and _in_order(schema, arguments)


def _in_order(schema: Any, value: Any) -> bool:
    """Are the keys of objects in the order in which the schema declares them?"""
    if isinstance(value, list):
        return (
            all(_in_order(schema.get("items"), item) for item in value)
            if isinstance(schema, Mapping)
            else True
        )
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(value, dict) or not isinstance(properties, Mapping):
        return True
    declared = [key for key in properties if key in value]
    return list(value) == declared and all(_in_order(properties[key], value[key]) for key in declared)


def answer(case: Case) -> str:
    """The raw output behind its reasoning; a format with headers has none apart."""
    raw, form = case.sample.raw, case.form
    reasoning = get_parser_class(case.sample.parser_name, case.sample.partner).format.reasoning
    if form.header or reasoning is None:
        return raw
    if case.sample.expected.reasoning is None and not raw.startswith(reasoning.close.text):
        return raw
    ends = [raw.find(text) + len(text) for text in reasoning.close.spellings if text in raw]
    opens = [raw.find(block.open.text) for block in form.tools if block.open and block.open.text in raw]
    return raw[min(ends or opens) :]


def squashed(text: str) -> str:
    """Without white space."""
    return "".join(text.split())


def changed(case: Case, name: str, **schema: Any) -> Case:
    """The case with the schema of this function changed: ``required`` is added to, properties replaced."""

    def change(tool: dict[str, Any]) -> dict[str, Any]:
        if tool["name"] != name:
            return tool
        old = tool.get("parameters") or {}
        properties = {**old.get("properties", {}), **schema.get("properties", {})}
        required = [*old.get("required", []), *schema.get("required", [])]
        return {**tool, "parameters": {**old, "properties": properties, "required": required}}

    return case._replace(tools=[change(tool) for tool in case.tools])


def wrong_type(case: Case) -> Case | None:
    """The case with the schema of one argument changed into that of a type that its value has not."""
    for name, arguments in case.calls:
        for key, value in arguments.items():
            other = "object" if isinstance(value, bool) or value in ("true", "false") else "boolean"
            return changed(case, name, properties={key: {"type": other}})
    return None
