"""Gemma's notation: values typed by writing and schema, calls that are none, and the thought channel."""

from __future__ import annotations

from decimal import Decimal
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cuts import CUTS, TEXT_CUTS, Output, characters, text_only, whole
from support.fold import Folded
from support.parsing import family_tokenizer, run

from unified_parser import create_parser

#: What the dialects differ in: opener, closer, delimiter.
DIALECTS = {
    "gemma4": ("<|tool_call>", "<tool_call|>", '<|"|>'),
    "functiongemma": ("<start_function_call>", "<end_function_call>", "<escape>"),
}
SCHEMA = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "count": {"type": "integer"},
        "ratio": {"type": "number"},
        "on": {"type": "boolean"},
        "note": {"type": ["string", "null"]},
        "limit": {"type": ["integer", "null"]},
        "free": {},
        "meta": {"type": "object"},
        "names": {"type": "array", "items": {"type": "string"}},
        "place": {"type": "object", "properties": {"code": {"type": "string"}, "floor": {"type": "integer"}}},
    },
}
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": SCHEMA}}]


def spell(name: str, text: str) -> str:
    """``text``, written with ^ for a delimiter and « » around calls, in a family's own literals."""
    opener, closer, delimiter = DIALECTS[name]
    return text.replace("«", opener).replace("»", closer).replace("^", delimiter)


def parse(name: str, text: str, cut: str = "whole", tools: Any = TOOLS, **options: Any) -> Folded:
    """The message that a family's parser makes of ``text``, which is given without ids."""
    deltas = text_only(CUTS[cut](Output.of(text, family_tokenizer(name))))
    return run(create_parser(name, tools=tools, **options), deltas)


def expected(name: str, value: Any) -> Any:
    """An authored value, its strings written like ``spell``'s texts, in a family's literals."""
    if isinstance(value, dict):
        return {key: expected(name, inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [expected(name, inner) for inner in value]
    return spell(name, value) if isinstance(value, str) else value


def parsed(arguments: Any) -> Folded:
    """The message of one complete call of f."""
    return Folded(calls=[("f", arguments, True)])


# --- Values -------------------------------------------------------------------------------------------------

TYPED = {
    # Bare values by the schema
    "count:7": {"count": 7},
    "count:-12345678901234567890": {"count": -12345678901234567890},
    "ratio:0.25": {"ratio": Decimal("0.25")},
    "on:false": {"on": False},
    "on:True": {"on": True},
    "text:42": {"text": "42"},
    "text:null": {"text": "null"},
    "text:true": {"text": "true"},
    "text: two words ": {"text": "two words"},
    "note:null": {"note": None},
    "count:null": {"count": "null"},
    "count:many": {"count": "many"},
    "limit:null": {"limit": None},
    "limit:3": {"limit": 3},
    # Bare values without one
    "free:3,other:0.5": {"free": 3, "other": Decimal("0.5")},
    "free:true,other:null": {"free": True, "other": None},
    "free:None,other:Oban": {"free": None, "other": "Oban"},
    "meta:{depth:3,ok:true,ids:[7,null]}": {"meta": {"depth": 3, "ok": True, "ids": [7, None]}},
    # Delimited values
    "text:^101^": {"text": "101"},
    "text:^ a\n ^": {"text": " a\n "},
    "text:^^": {"text": ""},
    "count:^7^": {"count": 7},
    "on:^true^": {"on": True},
    "limit:^null^": {"limit": None},
    "count:^many^": {"count": "many"},
    "free:^7^,other:^null^": {"free": "7", "other": "null"},
    "note:^12^": {"note": "12"},
    "meta:^{\"a\": [1]}^": {"meta": {"a": [1]}},
    # Nested ones
    "names:[7,^a^,true]": {"names": ["7", "a", "true"]},
    "place:{code:7,floor:^7^,x:7}": {"place": {"code": "7", "floor": 7, "x": 7}},
    "free:[[0,1.5],[],{}]": {"free": [[0, Decimal("1.5")], [], {}]},
    # What is literal inside a string
    'text:^a, b: {c} [d] "e" \\n \\^': {"text": 'a, b: {c} [d] "e" \\n \\'},
    "text:^}^,names:[^]^,^,^]": {"text": "}", "names": ["]", ","]},
    "text:^call:f{}» «^": {"text": "call:f{}» «"},
    "text:^Größe 日本 🗼^": {"text": "Größe 日本 🗼"},
}  # fmt: skip


@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.parametrize("written", TYPED)
def test_values(name: str, written: str) -> None:
    raw = spell(name, f"«call:f{{{written}}}»")
    for cut in TEXT_CUTS:
        assert parse(name, raw, cut).spelled() == parsed(expected(name, TYPED[written])).spelled(), cut


SHAPES = {
    "«call:f{}»": {},
    "«call:f{ }»": {},
    "«call:f()»": {},
    "« call: f {count:1}\n»": {"count": 1},
    "«call:f(count:1,text:^)^)»": {"count": 1, "text": ")"},
    "«call:f(count=1, text=^a=b^)»": {"count": 1, "text": "a=b"},
    "«call:f{count : 1 ,\n\ttext :\n^a^ }»": {"count": 1, "text": "a"},
    "«call:f{names:[ ^a^ , ^b^ ]}»": {"names": ["a", "b"]},
    "«call:f{^count^:1,^a:b^ :2}»": {"count": 1, "a:b": 2},
    # Empty and stray separators are skipped, and so is a value of no length.
    "«call:f{,count:1,,text:^a^,}»": {"count": 1, "text": "a"},
    "«call:f{names:[,^a^,,^b^,]}»": {"names": ["a", "b"]},
    "«call:f{count:1,text:}»": {"count": 1},
    # The first of a repeated key counts.
    "«call:f{count:1,count:2,text:^a^}»": {"count": 1, "text": "a"},
    "«call:f{meta:{a:1},meta:{a:[2,{b:^c^}]},count:3}»": {"meta": {"a": 1}, "count": 3},
    # The balanced bracket completes a call.
    "«call:f{count:1}": {"count": 1},
    "«call:f{place:{code:^a^}}": {"place": {"code": "a"}},
}


@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.parametrize("written", SHAPES)
def test_shapes(name: str, written: str) -> None:
    for cut in TEXT_CUTS:
        got = parse(name, spell(name, written), cut)
        assert got.spelled() == parsed(SHAPES[written]).spelled(), cut


@pytest.mark.parametrize("called", ["save-memo", "archive.fetch", "Über_name", "x"])
def test_names_pass_through(called: str) -> None:
    assert parse("gemma4", f"<|tool_call>call:{called}{{}}<tool_call|>").calls == [(called, {}, True)]
    assert parse("gemma4", f"<|tool_call>:{called}{{}}<tool_call|>").calls == [(called, {}, True)]


@pytest.mark.parametrize("name", DIALECTS)
def test_numbers_keep_their_digits(name: str) -> None:
    raw = spell(name, "«call:f{ratio:1.50,count:12345678901234567890,free:1e400}»")
    [call] = create_parser(name, tools=TOOLS).parse(raw).tool_calls
    assert call.arguments == '{"ratio": 1.50, "count": 12345678901234567890, "free": 1e400}'


# --- Streaming ----------------------------------------------------------------------------------------------


def fragments(name: str, deltas: list[str]) -> list[str]:
    """What each delta adds to the arguments of the calls."""
    parser = create_parser(name, tools=TOOLS)
    return ["".join(getattr(event, "fragment", "") for event in parser.feed(delta)) for delta in deltas]


@pytest.mark.parametrize("name", DIALECTS)
def test_a_string_flows_and_other_values_wait_for_their_end(name: str) -> None:
    start, end = spell(name, "«call:f{text:^"), spell(name, "^,count:")
    assert fragments(name, [start, "a", 'b "', "c\n", end, "1", "2", ",", "on:tr", "ue", "}"]) == [
        '{"text": "', "a", 'b \\"', "c\\n", '"', "", "", ', "count": 12', "", "", ', "on": true}',
    ]  # fmt: skip


def test_a_nested_string_flows_too() -> None:
    assert fragments("gemma4", ['<|tool_call>call:f{place:{code:<|"|>', "a", "b"])[1:] == ["a", "b"]


def test_a_string_that_must_be_another_type_waits_for_its_end() -> None:
    assert fragments("gemma4", ['<|tool_call>call:f{count:<|"|>', "4", "2", '<|"|>']) == [
        "{", "", "", '"count": 42',
    ]  # fmt: skip


CUT = "Hm.«call:f{text:^a } b^,place:{code:1,floor:^2^},names:[^x^,^]^],free:null}"


@pytest.mark.parametrize("name", DIALECTS)
def test_every_prefix_is_a_prefix_of_the_whole(name: str) -> None:
    """A call is announced with its bracket, never complete before its own closing one, and never retyped."""
    raw = spell(name, CUT)
    final = parse(name, raw)
    assert final.calls[0][2]
    whole_text = create_parser(name, tools=TOOLS).parse(raw).tool_calls[0].arguments
    announced_at = raw.index("{") + 1
    for length in range(len(raw)):
        got = parse(name, raw[:length], "characters")
        assert len(got.calls) == (length >= announced_at)
        if length >= announced_at:
            assert got.content == "Hm."
        for _, arguments, complete in got.calls:
            assert not complete
            assert whole_text.startswith(arguments)


def test_atomic_calls_come_whole_or_not_at_all() -> None:
    raw = spell("gemma4", "«call:f{text:^a^,count:1}»«call:f{text:^b")
    parser = create_parser("gemma4", tools=TOOLS, argument_streaming="atomic")
    assert run(parser, [(char, []) for char in raw]).calls == [("f", {"text": "a", "count": 1}, True)]


# --- Token ids ----------------------------------------------------------------------------------------------

SPELLED = '<|tool_call>call:f{}<tool_call|> <|"|> <|channel> <channel|>'


@pytest.mark.parametrize("cut", CUTS)
def test_markers_spelled_with_ordinary_tokens_are_text(cut: str) -> None:
    tokenizer = family_tokenizer("gemma4")
    raw = (
        f"<|channel>thought\nSee {SPELLED}.\n<channel|>Write {SPELLED}!<|tool_call>call:f{{"
        f'text:<|"|>{SPELLED}, {SPELLED}<|"|>,names:[<|"|>{SPELLED}<|"|>]}}<tool_call|>'
    )
    parser = create_parser("gemma4", tokenizer=tokenizer, tools=TOOLS, thinking=True)
    assert run(parser, CUTS[cut](Output.of(raw, tokenizer, [SPELLED]))) == Folded(
        f"See {SPELLED}.",
        f"Write {SPELLED}!",
        [("f", {"text": f"{SPELLED}, {SPELLED}", "names": [SPELLED]}, True)],
    )


def test_a_spelled_delimiter_does_not_open_a_string() -> None:
    tokenizer = family_tokenizer("functiongemma")
    raw = "<start_function_call>call:f{text:<escape>a<escape>}<end_function_call>"
    output = Output.of(raw, tokenizer, ["<escape>a<escape>"])
    parser = create_parser("functiongemma", tokenizer=tokenizer, tools=TOOLS)
    assert run(parser, whole(output)) == parsed({"text": "<escape>a<escape>"})


# --- What is no call ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.parametrize(
    "block",
    [
        "«hello»",
        "«f{count:1}»",
        "«call:{count:1}»",
        "«call:f»",
        "«call:two words{count:1}»",
        "«call: please call me»",
        "«call:^f^{}»",
        "«»",
    ],
)
def test_a_block_that_is_no_call_is_content(name: str, block: str) -> None:
    raw = spell(name, f"A {block} b")
    for cut in TEXT_CUTS:
        assert parse(name, raw, cut) == Folded(None, raw if block != "«»" else "A  b"), cut


@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.parametrize(
    "block",
    [
        "«call:f{count»",
        "«call:f{count:1]}»",
        "«call:f{text:^a^b^c^}»",
        "«call:f{hello world}»",
        "«call:f(1, 2)»",
        "«call:f{text:a^b^}»",
        "«call:f{names:[1}»",
        "«call:f{names:[}»",
        "«call:f{place:{]»",
    ],
)
def test_an_announced_call_that_is_none_is_incomplete_and_the_next_one_stands(name: str, block: str) -> None:
    raw = spell(name, block + " «call:f{count:2}»")
    for cut in TEXT_CUTS:
        got = parse(name, raw, cut)
        assert [call[2] for call in got.calls] == [False, True], cut
        assert got.calls[1] == ("f", {"count": 2}, True)
        assert got.content is None


@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.parametrize("cut_off", ["«", "«ca", "«call:", "«call:f", "«call:f "])
def test_cut_off_in_the_name_is_no_call(name: str, cut_off: str) -> None:
    for cut in TEXT_CUTS:
        assert parse(name, spell(name, "Hm." + cut_off), cut) == Folded(None, "Hm."), cut


@pytest.mark.parametrize("name", DIALECTS)
def test_content_stays_around_calls(name: str) -> None:
    raw = spell(name, "a \n«call:f{}» b «call:f{}»\n«call:f{}»c»d")
    for cut in TEXT_CUTS:
        got = parse(name, raw, cut)
        assert got == Folded(None, "a \n b cd", [("f", {}, True)] * 3), cut


# --- The thought channel ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "reasoning", "content"),
    [
        ("<|channel>thought\nWhy?\n\n<channel|>So.", "Why?\n", "So."),
        ("<|channel>thoughtful\n<channel|>So.", "thoughtful", "So."),
        ("<|channel>thought\n<channel|>So.", None, "So."),
        ("<|channel>Why?<channel|>So.", "Why?", "So."),
        ("<|channel>thought\nWhy", "Why", None),
        ("<|channel>thought\nWhy\n<chan", "Why\n<chan", None),
        ("<|channel>thought", None, None),
        ("<|channel>thought\na<|channel>thought\nb\n<channel|>c", "ab", "c"),
        ("a<|channel>thought\nb\n<channel|>c", "b", "ac"),
        ("So.<channel|> Yes.", None, "So. Yes."),
        ("So.", None, "So."),
        ("thought\nWhy?\n<channel|>So.", "Why?", "So."),
        ("thoughtful", None, "thoughtful"),
    ],
)
def test_the_channel(raw: str, reasoning: str | None, content: str | None) -> None:
    for cut in TEXT_CUTS:
        got = parse("gemma4", raw, cut, prompt_text="<|turn>model\n", thinking=True)
        assert got == Folded(reasoning, content), cut


def test_a_call_ends_the_channel() -> None:
    raw = "<|channel>thought\nRoll.\n<|tool_call>call:f{}<tool_call|>"
    assert parse("gemma4", raw, thinking=True) == Folded("Roll.", None, [("f", {}, True)])


@pytest.mark.parametrize(
    ("prompt", "raw", "reasoning", "content"),
    [
        ("<tool_response|><|channel>thought\n", "Four.\n<channel|>4", "Four.", "4"),
        ("<tool_response|><|channel>thought\n", "Fo", "Fo", None),
        ("<tool_response|><|channel>thought\n", "thought\nFo", "thought\nFo", None),
        ("<tool_response|><|channel>", "thought\nFo", "Fo", None),
        ("<|channel>thought\nx\n<channel|><|turn>model\n", "Yes.", None, "Yes."),
        ("<|turn>model\n<|channel>thought\n<channel|>", "Yes.", None, "Yes."),
        ("<|turn>model\n<|channel>thought\n<channel|>", "<|channel>thought\na\n<channel|>b", "a", "b"),
    ],
)
def test_the_prompt_decides(prompt: str, raw: str, reasoning: str | None, content: str | None) -> None:
    tokenizer = family_tokenizer("gemma4", None, "<|turn><tool_response|>")
    prompts: list[dict[str, Any]] = [{"prompt_text": prompt}, {"prompt_token_ids": tokenizer.encode(prompt)}]
    for as_given in prompts:
        parser = create_parser("gemma4", tokenizer=tokenizer, **as_given)
        assert run(parser, text_only(characters()(Output.of(raw, tokenizer)))) == Folded(reasoning, content)


@pytest.mark.parametrize(
    ("prompt", "on", "ended"),
    [
        ("<|turn>model\n", False, True),
        ("<|turn>model\n", True, False),
        ("<|channel>thought\nx<channel|><|turn>model\n", True, False),
        ("<|turn>model\n<|channel>thought\n<channel|>", True, True),
        ("<|turn>model\n<|channel>thought\n", False, False),
        ("<|turn>model\n<|tool_call>call:f{", True, True),
        ("<|turn>model\n<|tool_call>call:f{}<tool_call|><|tool_response>x<tool_response|>", True, False),
        ("<|turn>model\n<|tool_call>call:f{}<tool_call|><|tool_response>x<tool_response|>", False, True),
        ("", True, False),
        ("", False, True),
    ],
)
def test_is_reasoning_over_in_the_prompt(prompt: str, on: bool, ended: bool) -> None:
    tokenizer = family_tokenizer("gemma4", None, "<|turn><|tool_response><tool_response|>")
    parser = create_parser("gemma4", tokenizer=tokenizer, chat_template_kwargs={"enable_thinking": on})
    assert parser.is_reasoning_end(tokenizer.encode(prompt)) is ended


def test_thinking_is_off_by_default() -> None:
    tokenizer = family_tokenizer("gemma4")
    assert create_parser("gemma4", tokenizer=tokenizer).is_reasoning_end(tokenizer.encode("Hi"))


def test_the_ids_that_end_reasoning() -> None:
    tokenizer = family_tokenizer("gemma4")
    parser = create_parser("gemma4", tokenizer=tokenizer, thinking=True)
    vocabulary = tokenizer.get_vocab()
    assert parser.reasoning_end_token_ids == {vocabulary["<channel|>"]}
    assert parser.implicit_reasoning_end_token_ids == {vocabulary["<|tool_call>"]}


# --- Hostile input ------------------------------------------------------------------------------------------

PIECES = ["«", "»", "^", "call:", "f", "1", "null", "text:", "\n", *":{}[](),= "]


@pytest.mark.parametrize("name", DIALECTS)
@given(pieces=st.lists(st.sampled_from(PIECES), max_size=25), in_call=st.booleans())
def test_anything_is_read_the_same_in_every_cut(name: str, pieces: list[str], in_call: bool) -> None:
    raw = spell(name, "«call:f{" * in_call + "".join(pieces))
    got = [parse(name, raw, cut).complete() for cut in TEXT_CUTS]
    assert all(folded == got[0] for folded in got)


HOSTILE = {
    "deep arrays": ("free:", "["),
    "deep objects": ("", "a:{"),
    "separators": ("", ","),
    "endless key": ("", "a"),
    "endless bare value": ("free:", "a"),
    "endless string": ("text:^", "a"),
    "half a delimiter": ("text:^", "<|"),
    "typed string": ("count:^", "7"),
    "items": ("names:[", "1,"),
    "repeated key": ("", "a:1,"),
    "many keys in brackets": ("free:[", "{a:1},"),
    "spaces": ("text:", " "),
}


@pytest.mark.parametrize("shape", HOSTILE)
def test_cost_is_linear(shape: str) -> None:
    start, unit = (spell("gemma4", part) for part in HOSTILE[shape])

    def cost(units: int) -> float:
        raw = "<|tool_call>call:f{" + start + unit * units
        deltas = [(raw[at : at + 3], []) for at in range(0, len(raw), 3)]
        parser = create_parser("gemma4", tools=TOOLS)
        begun = process_time()
        for delta in deltas:
            parser.feed(*delta)
        parser.finish("length")
        return process_time() - begun

    small = min(cost(1_000) for _ in range(3))
    assert min(cost(8_000) for _ in range(2)) < 8 * 4 * small


def test_brackets_deeper_than_any_json_reader_goes_are_no_arguments() -> None:
    got = parse("gemma4", "<|tool_call>call:f{free:" + "[" * 5_000 + "]" * 5_000 + "}<tool_call|>")
    assert [call[2] for call in got.calls] == [False]
