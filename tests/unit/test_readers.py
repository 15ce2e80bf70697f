"""The naive readers against what the generators meant."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from readers import SYNTAXES
from readers.grammar import Output, Syntax, lookalikes, texts
from readers.values import typed
from support.fold import Folded, spell

BY_NAME = [pytest.param(syntax, id=syntax.name) for syntax in SYNTAXES]
UNTIL_FOUND = settings(max_examples=2000, phases=[Phase.generate])


def parts(message: Folded) -> Iterator[str]:
    """What there is in a message."""
    if message.content:
        yield "content"
    if message.reasoning:
        yield "reasoning"
    yield ("no call", "one call")[len(message.calls)] if len(message.calls) < 2 else "several calls"
    for _, arguments, _ in message.calls:
        yield "arguments" if arguments else "no arguments"


@pytest.mark.parametrize("syntax", BY_NAME)
def test_a_reader_reads_what_was_meant(syntax: Syntax) -> None:
    """Outputs are generated until there were all parts among them."""
    missing = {"content", "no call", "one call", "several calls", "arguments", "no arguments"}
    if syntax.thinking:
        missing.add("reasoning")

    def complete(output: Output) -> bool:
        assert syntax.read(output.raw, output.tools).spelled() == output.expected.spelled()
        missing.difference_update(parts(output.expected))
        return not missing

    find(syntax.outputs(()), complete, settings=UNTIL_FOUND)


@given(st.data())
def test_texts_have_no_forbidden_piece(data: st.DataObject) -> None:
    quoted = lookalikes(["</think>"])
    text = data.draw(texts(("</think>", "<tool"), quoted))
    assert "<tool" not in text
    assert "</think>" not in text.replace(quoted[0], "")


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("007", "string", '"007"'),
        ("007", "integer", "7"),
        ("None", ["string", "null"], "null"),
        ("null", "string", '"null"'),
        (" True ", "boolean", "true"),
        ("2.50", "number", "decimal 2.5E+0"),
        ("[1, 2]", "array", "[1, 2]"),
        ("[1, 2]", "string", '"[1, 2]"'),
    ],
)
def test_typed(text: str, kind: object, expected: str) -> None:
    assert spell(typed(text, {"type": kind})) == expected
