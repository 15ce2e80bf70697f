"""The naive readers against what the generators meant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from readers import SYNTAXES
from readers.grammar import Syntax, lookalikes, texts
from readers.values import typed
from support.fold import spell

BY_NAME = [pytest.param(syntax, id=syntax.name) for syntax in SYNTAXES]


@pytest.mark.parametrize("syntax", BY_NAME)
@given(data=st.data())
def test_a_reader_reads_what_was_meant(syntax: Syntax, data: st.DataObject) -> None:
    output = data.draw(syntax.outputs(()))
    assert syntax.read(output.raw, output.tools).spelled() == output.expected.spelled()


@pytest.mark.parametrize("syntax", BY_NAME)
def test_generators_reach_every_part(syntax: Syntax) -> None:
    """Among some outputs there is content, are several calls, and reasoning where the family has any."""
    seen: set[str] = set()

    @given(syntax.outputs(()))
    def collect(output: object) -> None:
        expected = output.expected  # type: ignore[attr-defined]
        seen.update(
            {
                "content" if expected.content else "",
                "reasoning" if expected.reasoning else "",
                "calls" if len(expected.calls) > 1 else "",
                "nothing called" if not expected.calls else "",
                "no arguments" if any(not arguments for _, arguments, _ in expected.calls) else "",
            }
        )

    collect()
    assert {"content", "calls", "nothing called", "no arguments"} <= seen


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
