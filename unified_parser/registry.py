"""Families by name. Their modules are imported only when one is asked for.

The families of this package are listed in ``unified_parser.models.FAMILIES``; other packages add theirs with
an entry point of the group ``unified_parser.families``: its name is the family's, its value the parser class.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, NamedTuple

from .format import OutputFormat
from .format import replace as replace_format
from .parser import UnifiedParser

ENTRY_POINTS = "unified_parser.families"


class UnknownFamilyError(ValueError):
    """No family has this name. The text lists the nearest names."""


class Family(NamedTuple):
    """One parser class and what it answers to."""

    names: tuple[str, ...]
    models: tuple[str, ...]
    parser_class: type[UnifiedParser]


@cache
def _targets() -> Mapping[str, str]:
    """Every name, and the ``module:Class`` behind it. A third party's name replaces ours."""
    own: Mapping[str, str] = import_module("unified_parser.models").FAMILIES
    return dict(own) | {entry.name: entry.value for entry in entry_points(group=ENTRY_POINTS)}


def family_names() -> tuple[str, ...]:
    """Every name that a family answers to."""
    return tuple(_targets())


def nearest_names(name: str, known: tuple[str, ...] | None = None) -> list[str]:
    """The known names most like this one."""
    known = known or family_names()
    return difflib.get_close_matches(name.lower().replace("-", "_"), known, n=4, cutoff=0.5)


@cache
def get_parser_class(name: str, reasoning: str | None = None) -> type[UnifiedParser]:
    """The parser class that answers to a name.

    ``reasoning``: take the reasoning half from the family of this name, as a server does that is given two
    different names. Raises UnknownFamilyError.
    """
    target = _targets().get(name)
    if target is None:
        near = nearest_names(name)
        hint = (
            f"Did you mean {', '.join(near)}?" if near else f"Known are: {', '.join(sorted(family_names()))}."
        )
        raise UnknownFamilyError(f"No parser family is called {name!r}. {hint}")
    module, _, attribute = target.partition(":")
    parser_class: type[UnifiedParser] = getattr(import_module(module), attribute)
    if reasoning is None or reasoning in parser_class.names:
        return parser_class
    return pair(get_parser_class(reasoning), parser_class)


def pair(reasoning: type[UnifiedParser], tools: type[UnifiedParser]) -> type[UnifiedParser]:
    """A parser class with the reasoning half of one family and the tool half of another."""
    if reasoning is tools:
        return tools
    known = _PAIRS.get((reasoning, tools))
    if known is None:
        known = _PAIRS[reasoning, tools] = _make_pair(reasoning, tools)
    return known


_PAIRS: dict[tuple[type[UnifiedParser], type[UnifiedParser]], type[UnifiedParser]] = {}


def _make_pair(reasoning: type[UnifiedParser], tools: type[UnifiedParser]) -> type[UnifiedParser]:
    class Pair(reasoning):  # type: ignore[misc, valid-type]  # its answers about reasoning
        names = (f"{reasoning.names[0]}+{tools.names[0]}",)
        format = join(reasoning.format, tools.format)

        @classmethod
        def output_format(cls, tokenizer: Any) -> OutputFormat:
            return join(reasoning.output_format(tokenizer), tools.output_format(tokenizer))

    Pair.__name__ = Pair.__qualname__ = f"{reasoning.__name__}With{tools.__name__}"
    return Pair


def join(reasoning: OutputFormat, tools: OutputFormat) -> OutputFormat:
    """One family's reasoning and start rule, another's content and calls.

    The framing around a tool block that both families know is the reasoning family's, whose chat template
    writes it, as long as both write the same calls in it. A tool opener ends reasoning only where it ends it
    in the reasoning family. What the reasoning family's model writes in content besides, is dropped as there.
    """
    own = {block.open.text: block for block in reasoning.tools if block.open}
    blocks = []
    for block in tools.tools:
        known = own.get(block.open.text) if block.open else None
        if known is not None:
            same = known.calls[0] == block.calls[0]
            framed = (
                replace_format(block, open=known.open, close=known.close or block.close) if same else block
            )
            blocks.append(replace_format(framed, in_reasoning=known.in_reasoning))
        elif block.in_reasoning == "ends":
            blocks.append(replace_format(block, in_reasoning="text"))
        else:
            blocks.append(block)
    drops = dict.fromkeys((*tools.content.drops, *reasoning.content.drops))
    return replace_format(
        tools,
        reasoning=reasoning.reasoning,
        start=reasoning.start,
        tools=tuple(blocks),
        content=replace_format(tools.content, lead=reasoning.content.lead, drops=tuple(drops)),
        text_filter=reasoning.text_filter or tools.text_filter,
    )


@cache
def families() -> tuple[Family, ...]:
    """Every family, in the order of its first name."""
    classes = {parser_class.names: parser_class for parser_class in map(get_parser_class, _targets())}
    return tuple(Family(names, classes[names].models, classes[names]) for names in sorted(classes))


def create_parser(name: str, *, reasoning: str | None = None, **options: Any) -> UnifiedParser:
    """A parser for one output of the family ``name``; the options are those of ``UnifiedParser``.

    ``reasoning``: the name of another family whose reasoning half is wanted, as where a server is given
    ``--reasoning-parser REASONING --tool-call-parser NAME``. Raises UnknownFamilyError.
    """
    return get_parser_class(name, reasoning)(**options)
