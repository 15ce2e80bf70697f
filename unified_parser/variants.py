"""Variants of a parser class that only a server needs."""

from __future__ import annotations

from .format import OutputFormat, replace
from .parser import UnifiedParser
from .tokens import Tokenizer

_plain: dict[type[UnifiedParser], type[UnifiedParser]] = {}


def without_reasoning(parser_class: type[UnifiedParser]) -> type[UnifiedParser]:
    """The class for a server that has no reasoning parser: the reasoning's markers are plain content.

    A format whose blocks share their markers with content and calls (headers before bodies) stays as it is.
    """
    if parser_class not in _plain:
        _plain[parser_class] = _without_reasoning(parser_class)
    return _plain[parser_class]


def _without_reasoning(parser_class: type[UnifiedParser]) -> type[UnifiedParser]:
    known: dict[int, tuple[OutputFormat, OutputFormat]] = {}  # by id: formats cannot be hashed

    def plain(form: OutputFormat) -> OutputFormat:
        return known.setdefault(id(form), (form, replace(form, reasoning=None)))[1]

    def output_format(cls: type[UnifiedParser], tokenizer: Tokenizer | None) -> OutputFormat:
        return plain(parser_class.output_format(tokenizer))

    members = {"format": plain(parser_class.format), "output_format": classmethod(output_format)}
    return type(parser_class.__name__, (parser_class,), members)
