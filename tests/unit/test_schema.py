"""What a schema says about a value's type, and text made JSON by it."""

from __future__ import annotations

import ast
import json
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_parser.schema import (
    TYPES,
    Parameters,
    Tools,
    ToolSchemaError,
    literal_to_json,
    quote,
    quote_inner,
    to_json,
    types_of,
)

STRING, NOTHING = ("string",), ()
INTEGER, NUMBER, BOOLEAN, NULL = ("integer",), ("number",), ("boolean",), ("null",)
OBJECT, ARRAY = ("object",), ("array",)


def strict(text: str) -> Any:
    """The value of strict JSON text that UTF-8 can carry; numbers as they were written."""

    def refuse(constant: str) -> Any:
        raise ValueError(constant)

    text.encode("utf-8")
    return json.loads(text, parse_int=str, parse_float=str, parse_constant=refuse)


# --- to_json ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("types", [STRING, NOTHING])
@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "null",
        "None",
        "123",
        "true",
        "[1]",
        '{"a": 1}',
        "  padded\n",
        'say "hi"',
        "a\\nb",
        "tab\t",
        "é 日本 😀",
    ],
)
def test_a_string_keeps_its_text_to_the_letter(text: str, types: tuple[str, ...]) -> None:
    assert json.loads(to_json(text, types)) == text


@pytest.mark.parametrize(
    ("text", "types", "expected"),
    [
        # null
        ("null", NULL, "null"),
        ("None", NULL, "null"),
        (" null\n", NULL, "null"),
        ("NULL", NULL, '"NULL"'),
        ("none", NULL, '"none"'),
        ("", NULL, '""'),
        # integer
        ("5", INTEGER, "5"),
        ("-12", INTEGER, "-12"),
        ("0", INTEGER, "0"),
        (" 42 \n", INTEGER, "42"),
        ("3.0", INTEGER, "3"),
        ("-7.000", INTEGER, "-7"),
        ("123456789012345678901234567890", INTEGER, "123456789012345678901234567890"),
        ("9007199254740993.0", INTEGER, "9007199254740993"),
        ("3.5", INTEGER, '"3.5"'),
        ("007", INTEGER, "7"),
        ("+5", INTEGER, '"+5"'),
        ("1_000", INTEGER, '"1_000"'),
        ("٣", INTEGER, '"٣"'),
        ("3.", INTEGER, '"3."'),
        ("-", INTEGER, '"-"'),
        ("5 apples", INTEGER, '"5 apples"'),
        ("true", INTEGER, '"true"'),
        ("null", INTEGER, '"null"'),
        # number
        ("23.50", NUMBER, "23.50"),
        ("5", NUMBER, "5"),
        ("3.0", NUMBER, "3.0"),
        ("1e3", NUMBER, "1e3"),
        ("-1.5E-05", NUMBER, "-1.5E-05"),
        ("0.1000000000000000055511151231257827", NUMBER, "0.1000000000000000055511151231257827"),
        ("1e999", NUMBER, "1e999"),
        ("NaN", NUMBER, '"NaN"'),
        ("Infinity", NUMBER, '"Infinity"'),
        ("-inf", NUMBER, '"-inf"'),
        (".5", NUMBER, '".5"'),
        ("5.", NUMBER, '"5."'),
        # boolean
        ("true", BOOLEAN, "true"),
        ("True", BOOLEAN, "true"),
        ("FALSE", BOOLEAN, "false"),
        (" False ", BOOLEAN, "false"),
        ("1", BOOLEAN, "true"),
        ("0", BOOLEAN, "false"),
        ("yes", BOOLEAN, '"yes"'),
        ("falsehood", BOOLEAN, '"falsehood"'),
        ("2", BOOLEAN, '"2"'),
        # object, array
        ('{"a": 1.50, "b": [true, null]}', OBJECT, '{"a": 1.50, "b": [true, null]}'),
        ('\n {"a":1}\n', OBJECT, '{"a":1}'),
        ('{\n  "a" : 1\n}', OBJECT, '{\n  "a" : 1\n}'),
        ("{}", OBJECT, "{}"),
        ("[]", ARRAY, "[]"),
        ("[1, 2]", OBJECT, '"[1, 2]"'),
        ("{}", ARRAY, '"{}"'),
        ('"[1]"', ARRAY, '"\\"[1]\\""'),
        ('{"a": 1', OBJECT, '"{\\"a\\": 1"'),
        ('{"a": NaN}', OBJECT, '"{\\"a\\": NaN}"'),
        ("[1] and more", ARRAY, '"[1] and more"'),
        # Python literals
        ("{'a': True, 'b': None, 'c': 'x'}", OBJECT, '{"a": true, "b": null, "c": "x"}'),
        ("[1.10, False]", ARRAY, "[1.10, false]"),
        ("(1, 'two')", ARRAY, '[1, "two"]'),
        ("[(1,), ()]", ARRAY, "[[1], []]"),
        # unions
        ("5", ("number", "string"), "5"),
        ("5", ("integer", "string"), "5"),
        ("five", ("integer", "string"), '"five"'),
        (" five ", ("integer", "string"), '" five "'),
        ("null", ("null", "string"), "null"),
        ("None", ("null", "string"), "null"),
        ("nullify", ("null", "string"), '"nullify"'),
        ("1", ("integer", "boolean"), "1"),
        ("1", ("number", "boolean"), "1"),
        ("true", ("integer", "boolean"), "true"),
        ("3.5", ("integer", "number"), "3.5"),
        ("[1]", ("object", "array", "string"), "[1]"),
        ("null", ("string", "integer", "null"), "null"),
    ],
)
def test_text_is_converted_by_type(text: str, types: tuple[str, ...], expected: str) -> None:
    assert to_json(text, types) == expected


def test_the_order_of_the_types_given_does_not_matter() -> None:
    assert to_json("1", ("string", "boolean", "integer")) == "1"


def test_unknown_types_are_strings() -> None:
    assert to_json("5", ("money",)) == '"5"'


def test_raw_control_characters_in_json_strings_are_escaped() -> None:
    converted = to_json('{"a": "x\ny\t\x00"}', OBJECT)
    assert strict(converted) == {"a": "x\ny\t\x00"}


def test_json_escapes_are_kept_as_written() -> None:
    assert to_json(r'["\u00e9 \/ \ud83d\ude00"]', ARRAY) == r'["\u00e9 \/ \ud83d\ude00"]'


def test_a_repeated_key_is_kept_as_written() -> None:
    assert to_json('{"a": 1, "a": 2}', OBJECT) == '{"a": 1, "a": 2}'


# --- literal_to_json ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("'it\\'s'", '"it\'s"'),
        ('"it\'s"', '"it\'s"'),
        ("'say \"hi\"'", '"say \\"hi\\""'),
        (r"'\x41\101\u00e9\U0001F600'", '"Aé😀"'.replace("A", "AA")),
        (r'"\x41"', '"A"'),
        (r"'C:\dir'", r'"C:\\dir"'),
        ("'a\\\nb'", '"ab"'),
        ("[1, 2,]", "[1, 2]"),
        ("{'a': 1 , }", '{"a": 1  }'),
        ("[.5, 1., +3, 1.e5]", "[0.5, 1, 3, 1e5]"),
        ("{1: 'a', None: 2, True: 3}", '{"1": "a", "null": 2, "true": 3}'),
        ("[true, True, null, None]", "[true, true, null, null]"),
        ("((1, 2), 3)", "[[1, 2], 3]"),
        ("-0.0", "-0.0"),
        ("None", "null"),
    ],
)
def test_literals(text: str, expected: str) -> None:
    assert literal_to_json(text) == expected
    strict(expected)


@pytest.mark.parametrize(
    "text",
    [
        "", "x", "[", "]", "[1", "[1}", "(1]", "[,]", "[1,,2]", "[1 2]", "{,}", "{'a'}", "{'a': }",
        "{'a': 1 'b': 2}", "{'a', 'b'}", "{a: 1}", "{'a': 1}}", "{[1]: 2}", "{(1,): 2}", "{'a':: 1}", "[1:2]",
        "(1)", "(,)", "1, 2", "[1], [2]", "'open", "'\\", "'a' 'b'", "b'x'", "[nan]", "[inf]", "[Infinity]",
        "[007]", "[1_000]", "[0x10]", "[1j]", "[--1]", "[-]", "f()", "[1 + 2]", "[TRUE]", "# note\n[1]", ":",
    ],
)  # fmt: skip
def test_what_is_no_literal(text: str) -> None:
    assert literal_to_json(text) is None


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(JSON_VALUES, st.booleans(), st.sampled_from([None, 2]))
def test_json_comes_back_as_written(value: Any, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert literal_to_json(text) == text


@given(JSON_VALUES)
def test_pythons_own_writing_is_read_back(value: Any) -> None:
    converted = literal_to_json(repr(value))
    assert converted is not None
    strict(converted)
    assert json.loads(converted) == value


@given(st.text(alphabet="[](){},:'\"\\ \n0123456789.-+eEnulNoTrFalsx", max_size=24))
def test_what_python_reads_is_read_alike(text: str) -> None:
    converted = literal_to_json(text)
    if converted is None:
        return
    value = json.loads(converted)
    try:
        literal = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError):
        return  # JSON, or a mixture: Python does not read it
    if "\\" not in text and "\r" not in text:  # the escapes of JSON and Python differ
        assert value == json.loads(json.dumps(literal))


# --- Totality and cost --------------------------------------------------------------------------------------

ANY_TEXT = st.text(st.characters(exclude_categories=())) | st.text(
    alphabet="[]{}(),:'\"\\\ud800\x00 01.-eNtrueNone"
)
ANY_TYPES = st.lists(st.sampled_from([*TYPES, "money"])).map(tuple)


@given(ANY_TEXT, ANY_TYPES)
def test_any_text_of_any_type_gives_strict_json(text: str, types: tuple[str, ...]) -> None:
    strict(to_json(text, types))


@given(ANY_TEXT, st.sampled_from([STRING, NOTHING]))
def test_any_string_keeps_its_text(text: str, types: tuple[str, ...]) -> None:
    joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")  # as JSON joins pairs
    assert json.loads(to_json(text, types)) == joined


SIZE = 1_000_000  # quadratic work on this would take hours


@pytest.mark.parametrize("types", [("null", "integer", "number", "boolean", "object", "array"), STRING])
@pytest.mark.parametrize(
    "text",
    [
        "[" * 10_000,
        "[" * 10_000 + "]" * 10_000,
        '{"a":' * 10_000,
        "(" * SIZE,
        "[" + "'\\" * SIZE,
        '["' + "\\" * SIZE,
        "['" + "a" * SIZE,
        "[" + "1" * SIZE,
        "[" + "1," * (SIZE // 4) + "x]",
        "1" * SIZE + "x",
        "1." + "0" * SIZE + "x",
        " " * SIZE + "[",
        "[" + " " * SIZE + "x",
    ],
    ids=lambda text: f"{text[:6].strip()}*{len(text)}",
)
def test_hostile_text_stays_a_string_at_linear_cost(text: str, types: tuple[str, ...]) -> None:
    assert json.loads(to_json(text, types)) == text


@pytest.mark.parametrize(
    ("types", "template"), [(INTEGER, "{}"), (NUMBER, "{}"), (ARRAY, "[{}]"), (OBJECT, '{{"a": {}}}')]
)
def test_huge_numbers_keep_their_digits(types: tuple[str, ...], template: str) -> None:
    text = template.format("9" * 100_000)
    assert to_json(text, types) == text


def test_nesting_is_kept_up_to_a_fixed_depth() -> None:
    deep, too_deep = "[" * 256 + "]" * 256, "[" * 257 + "]" * 257
    assert to_json(deep, ARRAY) == deep
    assert to_json(too_deep, ARRAY) == quote(too_deep)


# --- quote --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", '""'),
        ("é 日本 😀", '"é 日本 😀"'),
        ('a"b\\c/', '"a\\"b\\\\c/"'),
        ("\n\t\r\x00\x1f", '"\\n\\t\\r\\u0000\\u001f"'),
        ("\ud83d", '"\\ud83d"'),
        ("x\udc00y", '"x\\udc00y"'),
    ],
)
def test_quote(text: str, expected: str) -> None:
    assert quote(text) == expected
    assert quote_inner(text) == expected[1:-1]


@given(st.text(st.characters(exclude_categories=())), st.integers(0, 20))
def test_pieces_join_to_the_whole(text: str, cut: int) -> None:
    assert quote_inner(text[:cut]) + quote_inner(text[cut:]) == quote_inner(text)


# --- types_of -----------------------------------------------------------------------------------------------

DEFS = {
    "$defs": {
        "Port": {"type": "integer"},
        "Alias": {"$ref": "#/$defs/Port"},
        "Loop": {"$ref": "#/$defs/Loop"},
        "Tree": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/Forest"}]},
        "Forest": {"anyOf": [{"type": "array"}, {"$ref": "#/$defs/Tree"}]},
        "a/b~c d": {"type": "boolean"},
    },
    "definitions": {"Old": {"type": "number"}},
    "properties": {"first": {"type": "array", "items": [{"type": "null"}]}},
}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string"}, STRING),
        ({"type": ["string", "null"]}, ("null", "string")),
        ({"type": ["string", "array", "object", "boolean", "number", "integer", "null"]}, TYPES),
        ({"type": "string", "nullable": True}, ("null", "string")),
        ({"type": "string", "nullable": False}, STRING),
        ({"nullable": True}, ()),
        ({}, ()),
        (True, ()),
        (False, ()),
        (None, ()),
        ("string", ()),
        ({"type": 5}, ()),
        ({"type": "money"}, ()),
        ({"type": "any"}, ()),
        ({"description": "free"}, ()),
        # names of other languages
        ({"type": "STRING"}, STRING),
        ({"type": "int"}, INTEGER),
        ({"type": "float"}, NUMBER),
        ({"type": "bool"}, BOOLEAN),
        ({"type": "dict"}, OBJECT),
        ({"type": ["list", "str"]}, ("array", "string")),
        # values
        ({"enum": ["a", "b"]}, STRING),
        ({"enum": ["a", 1, None, True, 0.5, [], {}]}, TYPES),
        ({"const": 3}, INTEGER),
        ({"const": None}, NULL),
        ({"const": False}, BOOLEAN),
        ({"type": "string", "enum": [1, 2]}, STRING),
        ({"type": "number", "enum": [1, 2]}, NUMBER),
        ({"enum": []}, ()),
        # keywords that one type has
        ({"properties": {"a": {}}}, OBJECT),
        ({"items": {"type": "string"}}, ARRAY),
        # compositions
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, ("null", "string")),
        ({"oneOf": [{"type": "array"}, {"type": "integer"}]}, ("integer", "array")),
        ({"anyOf": [{}, {"type": "null"}]}, NULL),
        ({"anyOf": [{"anyOf": [{"type": "number"}]}, {"const": "x"}]}, ("number", "string")),
        ({"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, OBJECT),
        ({"allOf": [{"type": "integer"}, {"description": "d"}]}, INTEGER),
        ({"allOf": [{"type": ["string", "null"]}, {"type": "string"}]}, STRING),
        ({"allOf": [{"type": "number"}, {"type": "integer"}]}, INTEGER),
        ({"allOf": [{"type": ["integer", "number"]}, {"type": "number"}]}, NUMBER),
        ({"allOf": [{"type": ["integer", "number"]}, {"type": "string"}]}, ("integer", "number")),
        ({"allOf": [{"type": "integer"}], "nullable": True}, ("null", "integer")),
        ({"type": "string", "allOf": [{"type": "integer"}]}, STRING),
        ({"anyOf": "broken", "allOf": 3}, ()),
        # references
        ({"$ref": "#/$defs/Port"}, INTEGER),
        ({"$ref": "#/$defs/Alias"}, INTEGER),
        ({"$ref": "#/definitions/Old"}, NUMBER),
        ({"$ref": "#/$defs/a~1b~0c%20d"}, BOOLEAN),
        ({"$ref": "#/properties/first/items/0"}, NULL),
        ({"$ref": "#/properties/first/items/7"}, ()),
        ({"anyOf": [{"$ref": "#/$defs/Port"}, {"type": "null"}]}, ("null", "integer")),
        ({"$ref": "#/$defs/Port", "nullable": True}, ("null", "integer")),
        ({"allOf": [{"$ref": "#/$defs/Port"}], "description": "d"}, INTEGER),
        ({"$ref": "#/$defs/Loop"}, ()),
        ({"$ref": "#/$defs/Tree"}, ("array", "string")),
        ({"$ref": "#"}, OBJECT),
        ({"$ref": "#/$defs/Missing"}, ()),
        ({"$ref": "#/$defs/Port/type/deeper"}, ()),
        ({"$ref": "#anchor"}, ()),
        ({"$ref": "other.json#/x"}, ()),
        ({"$ref": 7}, ()),
    ],
)
def test_types_of(schema: Any, expected: tuple[str, ...]) -> None:
    assert types_of(schema, DEFS) == expected


def test_deep_and_wide_schemas_are_survived() -> None:
    deep: dict[str, Any] = {"type": "integer"}
    for _ in range(5000):
        deep = {"anyOf": [deep]}
    assert types_of(deep, deep) == ()
    doubling = {f"D{i}": {"anyOf": [{"$ref": f"#/$defs/D{i + 1}"}] * 2} for i in range(25)}
    doubling["D25"] = {"type": "integer"}  # type: ignore[dict-item]
    assert types_of({"$ref": "#/$defs/D0"}, {"$defs": doubling}) == INTEGER


# --- Parameters ---------------------------------------------------------------------------------------------

ROOT: dict[str, Any] = {
    "type": "object",
    "$defs": {
        "Place": {
            "type": "object",
            "properties": {"lat": {"type": "number"}, "tags": {"$ref": "#/$defs/Tags"}},
        },
        "Tags": {"type": "array", "items": {"type": "string"}},
    },
    "properties": {
        "city": {"type": "string"},
        "days": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "place": {"anyOf": [{"$ref": "#/$defs/Place"}, {"type": "null"}]},
        "grid": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
        "pair": {
            "type": "array",
            "prefixItems": [{"type": "string"}, {"type": "boolean"}],
            "items": {"type": "null"},
        },
        "old_pair": {"type": "array", "items": [{"type": "string"}], "additionalItems": {"type": "integer"}},
        "labels": {"type": "object", "additionalProperties": {"type": "integer"}},
        "free": True,
    },
}


def test_types_of_parameters() -> None:
    parameters = Parameters(ROOT)
    assert parameters.types("city") == STRING
    assert parameters.types("days") == ("null", "integer")
    assert parameters.types("place") == ("null", "object")
    assert parameters.types("free") == ()
    assert parameters.types("unknown") == ()
    assert parameters.schema("city") == {"type": "string"}
    assert parameters.schema("unknown") is None


def test_declares() -> None:
    parameters = Parameters(ROOT)
    assert parameters.declares("city") and parameters.declares("free")
    assert not parameters.declares("unknown") and not parameters.declares("lat")
    assert not Parameters({"additionalProperties": {"type": "integer"}}).declares("x")


def test_undeclared_parameters_follow_additional_properties() -> None:
    assert Parameters({"additionalProperties": {"type": "integer"}}).types("x") == INTEGER
    assert Parameters({"additionalProperties": False}).types("x") == ()


def test_the_way_down() -> None:
    parameters = Parameters(ROOT)
    place = parameters.schema("place")
    assert parameters.types_of(parameters.child(place, "lat")) == NUMBER
    tags = parameters.child(place, "tags")
    assert parameters.types_of(tags) == ARRAY
    assert parameters.types_of(parameters.items(tags)) == STRING
    row = parameters.items(parameters.schema("grid"))
    assert parameters.types_of(row) == ARRAY
    assert parameters.types_of(parameters.items(row)) == INTEGER
    assert parameters.types_of(parameters.child(parameters.schema("labels"), "any")) == INTEGER
    assert parameters.child(place, "unknown") is None
    assert parameters.child(None, "x") is None
    assert parameters.items(None) is None
    assert parameters.items(parameters.schema("city")) is None


def test_items_listed_one_by_one() -> None:
    parameters = Parameters(ROOT)
    pair, old_pair = parameters.schema("pair"), parameters.schema("old_pair")
    assert [parameters.types_of(parameters.items(pair, index)) for index in range(3)] == [
        STRING,
        BOOLEAN,
        NULL,
    ]
    assert [parameters.types_of(parameters.items(old_pair, index)) for index in range(2)] == [STRING, INTEGER]


def test_a_parameter_of_several_branches_has_the_types_of_all() -> None:
    branches = [{"properties": {"value": {"type": kind}}} for kind in ("integer", "string")]
    assert Parameters({"oneOf": branches}).types("value") == ("integer", "string")


def test_recursive_parameters() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}, "id": {"type": "integer"}}}
    parameters = Parameters({"$ref": "#/$defs/Node", "$defs": {"Node": node}})
    schema = parameters.schema("next")
    for _ in range(50):
        schema = parameters.child(schema, "next")
    assert parameters.types_of(parameters.child(schema, "id")) == INTEGER


@pytest.mark.parametrize(
    "root", [{"properties": []}, {"properties": None}, {"properties": {"x": 5}}, {"anyOf": 1}, {}]
)
def test_malformed_parameters_say_nothing(root: dict[str, Any]) -> None:
    parameters = Parameters(root)
    assert parameters.types("x") == ()
    assert parameters.types_of(parameters.items(root)) == ()


# --- Tools --------------------------------------------------------------------------------------------------

CITY = {"type": "object", "properties": {"city": {"type": "string"}}}
FUNCTION = {"name": "weather", "parameters": CITY}


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "function", "function": FUNCTION},
        {"function": FUNCTION},
        SimpleNamespace(type="function", function=SimpleNamespace(**FUNCTION)),
        SimpleNamespace(function=FUNCTION),
        {"type": "function", **FUNCTION},
        FUNCTION,
        SimpleNamespace(type="function", **FUNCTION),
    ],
)
def test_the_shapes_of_a_tool(tool: Any) -> None:
    tools = Tools([tool])
    assert "weather" in tools and "other" not in tools
    assert tools.names == {"weather"}
    assert tools.parameters("weather").types("city") == STRING


def test_tools_of_openais_client_library() -> None:
    chat = pytest.importorskip("openai.types.chat.chat_completion_function_tool")
    responses = pytest.importorskip("openai.types.responses")
    tools = Tools(
        [
            chat.ChatCompletionFunctionTool(type="function", function=FUNCTION),
            responses.FunctionTool(type="function", name="flat", parameters=CITY, strict=None),
            responses.WebSearchTool(type="web_search"),
        ]
    )
    assert list(tools.names) == ["weather", "flat"]
    assert tools.parameters("flat").declares("city")


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "web_search"},
        {"type": "mcp", "server_label": "docs"},
        {"type": "custom", "name": "shell"},
        SimpleNamespace(type="code_interpreter"),
        {},
    ],
)
def test_tools_that_are_no_functions_are_left_out(tool: Any) -> None:
    assert list(Tools([tool, {"function": FUNCTION}]).names) == ["weather"]


@pytest.mark.parametrize("tools", [None, [], (), iter(())])
def test_no_tools(tools: Any) -> None:
    assert len(Tools(tools)) == 0


@pytest.mark.parametrize(
    "function", [{"name": "now"}, {"name": "now", "parameters": None}, {"name": "now", "parameters": {}}]
)
def test_a_tool_without_parameters(function: dict[str, Any]) -> None:
    tools = Tools([{"type": "function", "function": function}])
    assert "now" in tools
    assert tools.parameters("now").types("zone") == ()


def test_an_unknown_tool_has_no_parameters() -> None:
    parameters = Tools([{"function": FUNCTION}]).parameters("other")
    assert not parameters.declares("city")
    assert parameters.types("city") == ()


def test_parameters_are_read_once() -> None:
    tools = Tools([{"function": FUNCTION}])
    assert tools.parameters("weather") is tools.parameters("weather")


def test_of_two_tools_with_one_name_the_first_counts() -> None:
    tools = Tools([{"function": FUNCTION}, {"function": {"name": "weather"}}])
    assert len(tools) == 1
    assert tools.parameters("weather").declares("city")


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        ("weather", ["tools[1]", "str", "mapping"]),
        (None, ["tools[1]", "NoneType"]),
        (3, ["tools[1]", "int"]),
        ([FUNCTION], ["tools[1]", "list"]),
        ({"type": "function"}, ["tools[1]", "'name'", "None"]),
        ({"type": "function", "function": None}, ["tools[1]", "'name'"]),
        ({"type": "function", "function": {}}, ["tools[1]", "'name'"]),
        ({"type": "function", "function": "weather"}, ["tools[1].function", "str"]),
        ({"type": "function", "function": {"name": ""}}, ["tools[1]", "'name'", "empty"]),
        ({"type": "function", "function": {"name": 5}}, ["tools[1]", "'name'", "5"]),
        ({"type": "function", "name": 5}, ["tools[1]", "'name'", "5"]),
        ({"function": {"name": "w", "parameters": []}}, ["tools[1]", "(w)", "'parameters'", "list"]),
        ({"function": {"name": "w", "parameters": "{}"}}, ["tools[1]", "(w)", "'parameters'", "str"]),
        ({"function": {"name": "w", "parameters": True}}, ["tools[1]", "(w)", "'parameters'", "bool"]),
        (SimpleNamespace(function=SimpleNamespace(name=None)), ["tools[1]", "'name'"]),
    ],
)
def test_unusable_tools_are_refused_with_one_clear_message(tool: Any, words: list[str]) -> None:
    with pytest.raises(ToolSchemaError) as raised:
        Tools([{"function": FUNCTION}, tool])
    message = str(raised.value)
    assert "\n" not in message
    assert [word for word in words if word not in message] == []


@pytest.mark.parametrize("tools", [{"function": FUNCTION}, "weather", 5])
def test_tools_that_are_no_list_are_refused(tools: Any) -> None:
    with pytest.raises(ToolSchemaError, match="list"):
        Tools(tools)
