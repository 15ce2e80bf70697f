"""No output raises, loses its place, or costs more than its length: every family on input made to hurt."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from support.cuts import CUTS, Output
from support.tokenizers import MarkerTokenizer, tokenizer_for

from unified_parser.testing import (
    TOOLS,
    Call,
    ParserClass,
    Run,
    Unwritable,
    check_accounting,
    check_arguments,
    check_chunks,
    check_linear,
    check_order,
    cut,
    literals,
    stream,
    write_calls,
    write_output,
)

FLOODS = {
    "spaces": " ",
    "newlines": "\n",
    "braces": "{",
    "brackets": "[",
    "quotes": '"',
    "backslashes": "\\",
    "angles": "<",
    "nested": '{"a":[',
    "quoted": '"{',
    "null bytes": "\x00",
}
ENOUGH = (check_order, check_accounting, check_arguments)


def begun_calls(parser_class: ParserClass, value: str) -> list[str]:
    """Outputs that end in the value of an argument: for each way to write a call one. None: bare text."""
    form = parser_class.format
    mark = "@@"
    found = []
    for block in form.tools:
        for syntax in block.calls:
            try:
                pieces = write_calls(syntax, [Call("read_tide", {"note": mark})], Random(0))
            except Unwritable:
                continue
            call = "".join(pieces).partition(mark)[0]
            behind = syntax.begins[0].behind[:1] if syntax.begins else ()
            opener = block.open.text if block.open else "".join(behind)
            found.append(opener + call + value)
    return found or [value]


def judge(run: Run) -> None:
    for check in ENOUGH:
        check(run)


@pytest.mark.parametrize("flood", FLOODS)
def test_floods(written: ParserClass, flood: str) -> None:
    """Very many of one thing, as text and as an argument; ten thousand open braces."""
    rng = Random(5)
    unit = FLOODS[flood]
    many = unit * (10_000 if unit == "{" else 2_000 // len(unit))
    for text in (many, *begun_calls(written, many)):
        runs = [stream(written, deltas, tools=TOOLS) for deltas in ([(text, ())], cut(text, rng, 2000))]
        for run in runs:
            judge(run)
        check_chunks(*runs)


def test_ten_thousand_markers(parser_class: ParserClass) -> None:
    rng = Random(6)
    for literal in literals(parser_class.format):
        judge(stream(parser_class, cut(literal * 2_000, rng, 2_000), tools=TOOLS))
    every = "".join(literals(parser_class.format))
    text = every * (10_000 // max(len(every), 1))
    runs = [stream(parser_class, deltas, tools=TOOLS) for deltas in ([(text, ())], cut(text, rng, 100))]
    judge(runs[0])
    check_chunks(*runs)


def test_a_megabyte_in_one_argument(written: ParserClass) -> None:
    value = "tide {[<table>; " * 65_536
    for text in begun_calls(written, value):
        deltas = [(text[at : at + 4096], ()) for at in range(0, len(text), 4096)]
        run = stream(written, deltas, tools=TOOLS)
        judge(run)


@pytest.mark.parametrize("shape", ["text", "argument", "markers", "spaces"])
def test_cost_is_linear(written: ParserClass, shape: str) -> None:
    """Twice the text, twice the work: in calls made and characters looked at again."""
    unit = {
        "text": "The tide, as it was read. ",
        "argument": "tide < 3 { ",
        "markers": "".join(literals(written.format))[:200],
        "spaces": "\n  \n",
    }[shape]

    def deltas(size: int) -> list[tuple[str, tuple[()]]]:
        many = unit * (size // len(unit) + 1)
        text = begun_calls(written, many)[0] if shape == "argument" else many
        return [(text[at : at + 5], ()) for at in range(0, len(text), 5)]

    check_linear(written, deltas(2_000), deltas(4_000), tools=TOOLS)


def tokenizer_of(parser_class: ParserClass) -> MarkerTokenizer:
    return tokenizer_for({*parser_class.marker_literals(), *parser_class.format.start.boundaries})


def text_of(parser_class: ParserClass, rng: Random) -> str:
    return write_output(parser_class, rng).text[:600]


def test_ids_that_are_not_those_of_the_text(written: ParserClass) -> None:
    rng = Random(7)
    tokenizer = tokenizer_of(written)
    special = tokenizer.all_special_ids or [0]
    for _ in range(5):
        text = text_of(written, rng)
        wrong = [(piece, [rng.choice([*special, 1, 2, 3, 70])]) for piece, _ in cut(text, rng)]
        unknown = [(piece, [10**9, -1, rng.choice(special)]) for piece, _ in cut(text, rng)]
        late = [(text, ()), ("", tuple(tokenizer.encode(text)))]
        early = [("", tuple(tokenizer.encode(text))), (text, ())]
        for deltas in (wrong, unknown, late, early):
            run = stream(written, deltas, tokenizer=tokenizer, tools=TOOLS)
            check_order(run)
            check_arguments(run)


def test_deltas_of_a_real_tokenizer(written: ParserClass) -> None:
    """Tokens that end inside a character; ids before, with and behind their text."""
    rng = Random(8)
    tokenizer = tokenizer_of(written)
    for _ in range(2):
        output = write_output(written, rng)
        as_output = Output.of(output.text, tokenizer)
        options: dict[str, Any] = {"tokenizer": tokenizer, **output.options}
        runs = [stream(written, cut_(as_output), **options) for cut_ in CUTS.values()]
        for run in runs:
            judge(run)
        check_chunks(*runs)


def test_ids_that_only_some_deltas_have(written: ParserClass) -> None:
    rng = Random(9)
    tokenizer = tokenizer_of(written)
    for _ in range(5):
        output = Output.of(text_of(written, rng), tokenizer)
        deltas = [(text, ids if rng.random() < 0.5 else []) for text, ids in CUTS["some-tokens-1"](output)]
        run = stream(written, deltas, tokenizer=tokenizer, tools=TOOLS)
        check_order(run)
        check_arguments(run)
