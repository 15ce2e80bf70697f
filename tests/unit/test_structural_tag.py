"""The structural tag of a format, as data."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from support.written import WRITTEN

from unified_parser import families, get_parser_class
from unified_parser.calls.grammar import Wanted, const, either, leads, optional, sequence, star, tag, text
from unified_parser.calls.literals import PYTHON, arguments_grammar, delimited
from unified_parser.structural_tag import Function, covers_reasoning, structural_tag

TIDE = {"type": "object", "properties": {"port": {"type": "string"}, "days": {"type": "integer"}}}
STRICT = Function("tide", {**TIDE, "required": ["port"]})
PING = Function("ping")
SPACE = {"type": "regex", "pattern": r"[ \n]{0,8}"}


def tag_of(family: str, *functions: Function, **options: Any) -> Any:
    return structural_tag(get_parser_class(family).format, functions, **options)


def parts(node: Any, kind: str) -> list[Any]:
    """All nodes of this type."""
    inner = node.values() if isinstance(node, dict) else node if isinstance(node, (list, tuple)) else ()
    own = [node] if isinstance(node, dict) and node.get("type") == kind else []
    return own + [found for child in inner for found in parts(child, kind)]


# Which formats have one.


def test_every_family_but_these_can_be_written() -> None:
    """hf: bodies that a template describes are read whole; kimi: no calls."""
    without = {
        family.names[0]
        for family in families()
        if structural_tag(family.parser_class.format, [STRICT], "required") is None
    }
    assert without == {"hf", "kimi"}
    assert without.isdisjoint(WRITTEN)
    assert without | set(WRITTEN) == {family.names[0] for family in families()}


@pytest.mark.parametrize("family", sorted(WRITTEN))
@pytest.mark.parametrize("choice", ["auto", "required"])
def test_it_is_plain_data(family: str, choice: Any) -> None:
    written = tag_of(family, STRICT, PING, choice=choice)
    assert written["type"] == "structural_tag"
    assert json.loads(json.dumps(written)) == written


def test_no_function_no_tag() -> None:
    assert tag_of("hermes", choice="required") is None
    assert tag_of("hermes") is None


def test_formats_with_headers_cover_the_reasoning() -> None:
    covering = {family.names[0] for family in families() if covers_reasoning(family.parser_class.format)}
    assert covering == {"beam", "inkling", "muse", "muse_glimmer", "openai_gptoss"}


def test_the_page_lists_every_family_once() -> None:
    page = (Path(__file__).parents[2] / "docs" / "structural_tags.md").read_text("utf-8")
    rows = page.partition("## Families")[2].partition("## Limits")[0].splitlines()
    listed = [
        name.strip()
        for row in rows
        if row.startswith("|")
        for name in re.sub(r"\(.*?\)", "", row.split("|")[2]).split(",")
    ]
    known = sorted(family.names[0] for family in families())
    assert sorted(set(listed) - {"families", "---"}) == known
    assert len(listed) == len(known) + 2


# What it looks like.


def test_one_required_call() -> None:
    head = "<|tool_calls_section_begin|>"
    assert tag_of("kimi_k2", PING, choice="required", single=True) == {
        "type": "structural_tag",
        "format": {
            "type": "sequence",
            "elements": [
                SPACE,
                {"type": "const_string", "value": head},
                SPACE,
                {"type": "const_string", "value": "<|tool_call_begin|>functions.ping:"},
                {"type": "regex", "pattern": "[0-9]+"},
                SPACE,
                {"type": "const_string", "value": "<|tool_call_argument_begin|>"},
                SPACE,
                {"type": "json_schema", "json_schema": {"type": "object"}},
                SPACE,
                {"type": "const_string", "value": "<|tool_call_end|>"},
                SPACE,
                {"type": "const_string", "value": "<|tool_calls_section_end|>"},
                SPACE,
            ],
        },
    }


def test_auto_is_text_with_triggers() -> None:
    written = tag_of("kimi_k2", STRICT)["format"]
    assert (written["type"], written["triggers"]) == ("triggered_tags", ["<|tool_calls_section_begin|>"])
    assert written["excludes"] == ["<|tool_call_begin|>"], "a call outside of its section"
    assert (written["at_least_one"], written["stop_after_first"]) == (False, False)
    assert [(one["begin"], one["end"]) for one in written["tags"]] == [
        ("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>")
    ]


def test_auto_with_one_call_stops_behind_it() -> None:
    (triggered,) = parts(tag_of("kimi_k2", STRICT, single=True), "triggered_tags")
    assert triggered["stop_after_first"] and not parts(triggered, "plus")


@pytest.mark.parametrize(
    ("family", "triggers"),
    [
        ("hermes", ["<tool_call>"]),
        ("llama3_json", ["<|python_tag|>", '{"name": "']),
        ("phi4_mini_json", ["functools["]),
        ("pythonic", ["[ping(", "[tide("]),
        ("granite", ["<tool_call>", "<|tool_call|>"]),
    ],
)
def test_what_begins_a_call(family: str, triggers: list[str]) -> None:
    """A bare bracket is text: there the name belongs to the beginning."""
    written = tag_of(family, STRICT, PING)["format"]
    assert written["triggers"] == triggers
    for one in written["tags"]:
        assert sum(one["begin"].startswith(trigger) for trigger in triggers) == 1


def test_one_trigger_is_never_the_beginning_of_another() -> None:
    """A tool called ``name`` stands in what would begin its call."""
    written = tag_of("llama3_json", Function("name"), PING)["format"]
    assert written["triggers"] == ["<|python_tag|>", '{"name": "']


def test_strict_is_by_tool() -> None:
    schemas = [node["json_schema"] for node in parts(tag_of("deepseek_v31", STRICT, PING), "json_schema")]
    assert STRICT.parameters in schemas and {"type": "object"} in schemas


def test_of_two_functions_of_a_name_the_first_counts() -> None:
    written = tag_of("deepseek_v31", STRICT, Function("tide", {"type": "object"}))
    assert [node["json_schema"] for node in parts(written, "json_schema")] == [STRICT.parameters]


def test_a_nested_schema_keeps_its_definitions() -> None:
    definitions = {"$defs": {"Day": {"type": "integer"}}}
    schema = {"type": "object", "properties": {"day": {"$ref": "#/$defs/Day"}}, **definitions}
    (value,) = parts(
        tag_of("qwen3", Function("f", schema), single=True)["format"]["elements"][0]["tags"][0], "tag"
    )[1:]
    assert parts(value, "json_schema")[0]["json_schema"] == {"$ref": "#/$defs/Day", **definitions}


@pytest.mark.parametrize(
    ("family", "name", "text"),
    [
        ("minimax_m2", 'say "hi"', '<invoke name="say &quot;hi&quot;"'),
        ("hermes", 'say "hi"', '"say \\"hi\\"",'),
        ("glm47", "tide", "<tool_call>"),
    ],
)
def test_names_are_written_as_the_notation_wants_them(family: str, name: str, text: str) -> None:
    written = tag_of(family, Function(name), choice="required")
    assert any(text in node["value"] for node in parts(written, "const_string"))


@pytest.mark.parametrize(
    ("family", "spellings"),
    [
        ("deepseek_v32", {' name="port" string="true">', ' name="days" string="false">'}),
        ("kimi_k3", {' key="port" type="string"<|sep|>', ' key="days" type="number"<|sep|>'}),
        ("minimax_m2", {' name="port">', ' name="days">'}),
    ],
)
def test_tags_that_tell_the_type(family: str, spellings: set[str]) -> None:
    literals = [node["value"] for node in parts(tag_of(family, STRICT, choice="required"), "const_string")]
    assert all(any(literal.endswith(spelling) for literal in literals) for spelling in spellings)


# Its parts.


def test_neighbouring_literals_are_one() -> None:
    assert sequence(const("a"), None, sequence(const("b"), const("")), text()) == {
        "type": "sequence",
        "elements": [const("ab"), text()],
    }
    assert sequence() == const("") and sequence(text()) == text()
    assert either([const("a"), const("a")]) == const("a")


def test_leads_are_the_alternatives_with_their_literals() -> None:
    either_way = either([const("[a"), sequence(const("[b"), text())])
    assert leads(sequence(either_way, const("]"))) == [
        ("[a]", const("")),
        ("[b", sequence(text(), const("]"))),
    ]
    assert leads(tag("<", const("x"), ">")) == [("<", const("x>"))]
    assert leads(either([const("a"), text()])) == leads(star(const("a"))) == leads(optional(const("a"))) == []


def _rules(grammar: str) -> dict[str, str]:
    return dict(line.split(" ::= ", 1) for line in grammar.splitlines())


def test_python_arguments_in_their_order() -> None:
    rules = _rules(arguments_grammar(STRICT, PYTHON))
    assert rules["root"] in rules
    first = rules[rules["root"]]
    assert first.startswith('"port=" ') and "|" not in first, "a required one cannot be left out"
    assert any(rule.startswith('comma "days=" ') and rule.endswith('| ""') for rule in rules.values())


def test_arguments_of_any_name() -> None:
    assert _rules(arguments_grammar(PING, PYTHON))["root"] == '(word "=" any (comma word "=" any)*)?'
    assert (
        _rules(arguments_grammar(PING, delimited("<e>")))["root"] == '(word ":" any (comma word ":" any)*)?'
    )


@pytest.mark.parametrize(
    ("schema", "rule"),
    [
        ({"enum": ["a", None, True, 2]}, '"\\"a\\"" | "None" | "True" | "2"'),
        ({"type": ["integer", "null"]}, "null | integer"),
        ({"type": "array", "items": {"type": "boolean"}}, '"[" (r0 (comma r0){0,})? "]"'),
        ({"type": "array", "minItems": 2, "maxItems": 3}, '"[" any (comma any){1,2} "]"'),
        ({"type": "array", "maxItems": 0}, '"[" "]"'),
        ({"type": "string", "maxLength": 3}, r'"\"" [^"\\]{0,3} "\""'),
    ],
)
def test_rules_of_values(schema: dict[str, Any], rule: str) -> None:
    function = Function("f", {"type": "object", "properties": {"x": schema}})
    assert rule in _rules(arguments_grammar(function, PYTHON)).values()


def test_a_recursive_schema_ends() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    schema["properties"]["inner"] = schema
    grammar = arguments_grammar(Function("f", schema), PYTHON)
    assert len(_rules(grammar)) < 60


def test_elements_have_a_rule_for_each_schema() -> None:
    day = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Day"}}}
    schema = {"type": "object", "properties": {"day": {"$ref": "#/$defs/Day"}}, "$defs": {"Day": day}}
    (written,) = parts(tag_of("minimax_m3", Function("f", schema), choice="required"), "grammar")
    rules = _rules(written["grammar"])
    assert rules["root"] == 'space ("]<]minimax[>[<day>" r0 "]<]minimax[>[</day>" space)?'
    assert (rules["r0"], rules["r2"]) == ("r1", "r1"), "the definition, by either reference to it"
    assert rules["r1"] == 'space ("]<]minimax[>[<next>" r2 "]<]minimax[>[</next>" space)?'


def test_syntaxes_without_a_grammar_say_none() -> None:
    """LFM2's echo of a call is read, to be dropped, but never asked for."""
    *_, block = get_parser_class("lfm2").format.tools
    assert block.calls[0].grammar(Wanted((PING,))) is None
