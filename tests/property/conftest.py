"""The property tests run over every registered family, whatever it is called."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from support.samples import Sample, load

from unified_parser import FormatError, families, get_parser_class
from unified_parser.testing import ParserClass, tokenizer_for, why_unwritable


def _has_its_own_format(parser_class: ParserClass) -> bool:
    """A format that is read from a tokenizer's configuration is none without such a tokenizer."""
    try:
        parser_class(tokenizer=tokenizer_for(parser_class))
    except FormatError:
        return False
    return True


CLASSES = [cls for cls in (family.parser_class for family in families()) if _has_its_own_format(cls)]


class Recorded:
    """The samples of one family as (output, options of its parser class)."""

    def __init__(self, parser_class: ParserClass) -> None:
        self.parser_class = parser_class
        mine = [sample for sample in load() if _class_of(sample) is parser_class]
        self.outputs = [(sample.raw, _options(sample)) for sample in mine]


def _class_of(sample: Sample) -> ParserClass:
    return get_parser_class(sample.parser_name, sample.partner)


def _options(sample: Sample) -> dict[str, Any]:
    return {
        "tools": sample.tools,
        "thinking": sample.thinking,
        "chat_template_kwargs": sample.chat_template_kwargs,
        "prompt_text": sample.prompt_tail or None,
    }


@cache
def _values() -> dict[str, list[Any]]:
    recorded = [Recorded(parser_class) for parser_class in CLASSES]
    return {
        "parser_class": CLASSES,
        "written": [parser_class for parser_class in CLASSES if not why_unwritable(parser_class)],
        "recorded": [record for record in recorded if record.outputs],
    }


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Arguments: ``parser_class``, every family; ``written``, those whose outputs the kit can write;
    ``recorded``, those that have samples."""
    values = _values()
    for name in values.keys() & set(metafunc.fixturenames):
        metafunc.parametrize(name, [pytest.param(value, id=_name(value)) for value in values[name]])


def _name(value: Any) -> str:
    parser_class: ParserClass = getattr(value, "parser_class", value)
    return parser_class.names[0]
