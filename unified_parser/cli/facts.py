"""What a family's class says about its format, as plain data: everything, whatever the format is made of."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ..calls.base import CallSyntax, describe
from ..format import Marker, OutputFormat
from ..machine import Machine
from ..parser import UnifiedParser
from ..tokens import NO_TOKENS
from .policies import implicit_markers, structured_output, truncation


class Fact(NamedTuple):
    """A field of a format: where it stands (``tools[0].calls[0].begin``) and its value."""

    path: str
    value: Any


def format_of(parser_class: type[UnifiedParser]) -> OutputFormat:
    """The format of a family where nothing is known of the tokenizer."""
    return parser_class.format


def walk(value: Any, path: str = "") -> Iterator[Fact]:
    """The markers of a format, and every other field but those that are empty by default."""
    if isinstance(value, Marker):
        yield Fact(path, value)
    elif isinstance(value, CallSyntax):
        yield Fact(path, describe(value))
        fields = list(_fields(value, path))
        yield from fields
        shown = {fact.value for fact in fields if isinstance(fact.value, Marker)}
        yield from (Fact(path, marker) for marker in value.markers() if marker not in shown)
    elif dataclasses.is_dataclass(value):
        yield from _fields(value, path)
    elif isinstance(value, tuple) and any(map(dataclasses.is_dataclass, value)):
        for number, inner in enumerate(value):
            yield from walk(inner, f"{path}[{number}]" if len(value) > 1 else path)
    else:
        yield Fact(path, value)


def _fields(value: Any, path: str) -> Iterator[Fact]:
    for field in dataclasses.fields(value) if dataclasses.is_dataclass(value) else ():
        inner = getattr(value, field.name)
        if inner or not _is_default(field, inner):
            yield from walk(inner, f"{path}.{field.name}".lstrip("."))


def _is_default(field: dataclasses.Field[Any], value: Any) -> bool:
    if field.default_factory is not dataclasses.MISSING:
        return bool(value == field.default_factory())
    return bool(value == field.default)


def plain(value: Any) -> Any:
    """A part of a format as JSON has it. Functions are named."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        kind = {"syntax": describe(value)} if isinstance(value, CallSyntax) else {}
        return kind | {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, CallSyntax):
        return {"syntax": describe(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, tuple | list | set | frozenset):
        return [plain(inner) for inner in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return getattr(value, "__name__", None) or describe(value)


def summary(parser_class: type[UnifiedParser]) -> str:
    """The first line of the class's description."""
    return (inspect.getdoc(parser_class) or "").partition("\n")[0]


def implicit_ends(form: OutputFormat) -> list[str]:
    """What ends reasoning besides its closing marker."""
    return [marker.text for marker in implicit_markers(form)]


def machine_rows(form: OutputFormat) -> list[tuple[str, str, str]]:
    """The compiled machine as rows (state, marker, what it does)."""
    return Machine(form, NO_TOKENS).table()


def facts(parser_class: type[UnifiedParser]) -> dict[str, Any]:
    """All of a family, as JSON has it."""
    form = format_of(parser_class)
    rows = [{"state": state, "marker": marker, "does": does} for state, marker, does in machine_rows(form)]
    return {
        "names": list(parser_class.names),
        "models": list(parser_class.models),
        "summary": summary(parser_class),
        "implicit_reasoning_ends": implicit_ends(form),
        "truncation": truncation(parser_class),
        "structured_output": structured_output(parser_class),
        "traps": list(parser_class.traps),
        "needs_special_tokens": bool(parser_class.marker_literals()),
        "format": plain(form),
        "machine": rows,
    }
