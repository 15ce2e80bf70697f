"""The table of all families, and the page of one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..calls.base import describe
from ..format import Marker, OutputFormat
from ..parser import UnifiedParser
from .console import one_line
from .facts import Fact, format_of, implicit_ends, machine_rows, summary, walk
from .policies import BY_TOKENIZER, code, is_by_tokenizer, routed_calls, structured_output, truncation

COLUMNS = ("family", "reasoning", "calls", "thinking")


class Row(NamedTuple):
    """What the table says of a family, each a list of lines."""

    names: list[str]
    models: list[str]
    reasoning: list[str]
    calls: list[str]
    thinking: list[str]
    truncation: list[str]
    structured_output: list[str]
    traps: list[str]


def row(parser_class: type[UnifiedParser]) -> Row:
    """The row of a family, from its class."""
    form = format_of(parser_class)
    unknown = [BY_TOKENIZER] if is_by_tokenizer(parser_class) else []
    return Row(
        names=list(parser_class.names),
        models=list(parser_class.models),
        reasoning=unknown or _reasoning(form),
        calls=unknown or _calls(form),
        thinking=unknown or _thinking(form),
        truncation=truncation(parser_class),
        structured_output=structured_output(parser_class),
        traps=list(parser_class.traps),
    )


def _reasoning(form: OutputFormat) -> list[str]:
    if form.header:
        return [f"by header {form.header.open.text}"]
    if form.reasoning is None:
        return ["none"]
    return [f"{form.reasoning.open.text} … {form.reasoning.close.text}"]


def _calls(form: OutputFormat) -> list[str]:
    lines = ["by header"] if form.header and not form.tools else []
    lines += [f"  {syntax}" for syntax in dict.fromkeys(map(describe, routed_calls(form)))]
    for block in form.tools:
        around = [marker.text for marker in (block.open, block.close) if marker]
        syntaxes = dict.fromkeys(describe(call) for call in block.calls)
        lines.append(" … ".join(around) if around else "in the content")
        lines += [f"  {syntax}" for syntax in syntaxes]
    return lines or ["none"]


def _thinking(form: OutputFormat) -> list[str]:
    """Whether thinking is on by default, and what switches it the other way."""
    rule = form.start
    off = [f"off by {key}={_values(values)}" for key, values in rule.toggles.items()]
    vetoes = [f"off by {key}={_values(values)}" for key, values in rule.vetoes.items()]
    if form.reasoning is None and not off + vetoes:
        return ["-"]
    if rule.thinking:
        return ["on by default", *off, *vetoes]
    return ["off by default", *(f"on by {key}" for key in rule.toggles), *vetoes]


def _values(values: tuple[Any, ...]) -> str:
    return ", ".join(map(str, values))


def table(known: Iterable[type[UnifiedParser]]) -> Table:
    """All families, for a terminal."""
    view = Table(*COLUMNS, box=box.SIMPLE_HEAD, header_style="bold")
    for column in view.columns:
        column.overflow = "fold"
    for parser_class in known:
        family = row(parser_class)
        ends = [f"ended by {marker} too" for marker in implicit_ends(format_of(parser_class))]
        view.add_row(
            Text("\n").join([*_lines(family.names, "bold cyan"), *_lines(family.models, "dim")]),
            *(Text("\n").join(_lines(c)) for c in (family.reasoning + ends, family.calls, family.thinking)),
        )
        view.add_section()
    return view


def _lines(cell: Iterable[str], style: str = "") -> list[Text]:
    return [Text(one_line(line), style) for line in cell]


def markdown_table(known: Iterable[type[UnifiedParser]]) -> str:
    """All families, as a table in Markdown."""
    lines = [_markdown_row(COLUMNS), _markdown_row(["---"] * len(COLUMNS))]
    for parser_class in known:
        family = row(parser_class)
        parts = (family.names, family.reasoning, family.calls, family.thinking)
        cells = ("<br>".join(code(line.strip()) for line in part) for part in parts)
        lines.append(_markdown_row(cell.replace("|", "\\|") for cell in cells))
    return "\n".join(lines)


def _markdown_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def markdown_sections(known: Iterable[type[UnifiedParser]]) -> str:
    """A section on each family in Markdown, with what the table has no room for."""
    return "\n\n".join(map(_markdown_section, known))


def _markdown_section(parser_class: type[UnifiedParser]) -> str:
    family = row(parser_class)
    others = f" Also called {', '.join(map(code, family.names[1:]))}." if family.names[1:] else ""
    parts = {
        "models": [", ".join(map(code, family.models))] if family.models else [],
        "cut off": family.truncation,
        "structured output begins": family.structured_output,
        "traps": family.traps,
    }
    lines = [f"### {family.names[0]}", "", summary(parser_class) + others, ""]
    for title, found in parts.items():
        if len(found) == 1:
            lines.append(f"- **{title}**: {found[0]}")
        elif found:
            lines += [f"- **{title}**:", *(f"  - {line}" for line in found)]
    return "\n".join(lines)


def family_page(parser_class: type[UnifiedParser]) -> Group:
    """All about one family."""
    form = format_of(parser_class)
    found = list(walk(form))
    markers = [fact for fact in found if isinstance(fact.value, Marker)]
    settings = [fact for fact in found if not isinstance(fact.value, Marker) and not _of_start(fact)]
    return Group(
        Text(", ".join(parser_class.names), style="bold cyan"),
        Text(summary(parser_class)),
        *(Text(f"  {model}", style="dim") for model in parser_class.models),
        *_part(
            "Markers",
            ("where", "marker", "in the vocabulary", "framing before", "after"),
            map(_marker, markers),
        ),
        *_part("Format", ("field", "value"), ((path, _show(value)) for path, value in settings)),
        *_part("Where an output starts", ("rule", "value"), _start_rows(form)),
        *_list("Cut off", truncation(parser_class)),
        *_list("Structured output begins", structured_output(parser_class)),
        *_list("Traps", parser_class.traps),
        *_part("Machine", ("in", "marker", "does"), machine_rows(form)),
    )


def _of_start(fact: Fact) -> bool:
    return fact.path.partition(".")[0] == "start"


def _part(title: str, columns: tuple[str, ...], rows: Iterable[Iterable[str]]) -> list[RenderableType]:
    """A titled table; nothing if it has no rows."""
    view = Table(*columns, box=box.SIMPLE_HEAD, header_style="dim")
    for column in view.columns:
        column.overflow = "fold"
    for cells in rows:
        view.add_row(*(Text(one_line(cell)) for cell in cells))
    return [Text(f"\n{title}", style="bold"), view] if view.row_count else []


def _list(title: str, lines: Iterable[str]) -> list[RenderableType]:
    """A titled list; nothing if it has no lines."""
    items = [Padding(Text(one_line(line)), (0, 0, 0, 2)) for line in lines]
    return [Text(f"\n{title}\n", style="bold"), *items] if items else []


def _marker(fact: Fact) -> tuple[str, ...]:
    marker: Marker = fact.value
    spellings = "  or  ".join(marker.spellings) + (f"  (behind {marker.behind})" if marker.behind else "")
    kind = "special token" if marker.special else "text"
    if marker.token:
        kind = f"{marker.token} is a token"
    return fact.path, spellings, kind, _literals(marker.before), _literals(marker.after)


def _literals(values: Iterable[str]) -> str:
    return "  or  ".join(repr(value) for value in values)


def _show(value: Any) -> str:
    if isinstance(value, str):
        return value if value.strip() else repr(value)
    if isinstance(value, tuple):
        return ", ".join(map(_show, value))
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_show(inner)}" for key, inner in value.items())
    return str(getattr(value, "__name__", value))


def _start_rows(form: OutputFormat) -> list[tuple[str, str]]:
    """The start rule, strongest first."""
    rule = form.start
    rows = [("the prompt's last marker, back to", "  ".join(rule.boundaries))]
    rows += [(f"off whatever else says: {key}", f"= {_values(off)}") for key, off in rule.vetoes.items()]
    rows += [(f"thinking off by {key}", f"= {_values(off)}") for key, off in rule.toggles.items()]
    if form.reasoning:
        rows.append(("thinking by default", "on" if rule.thinking else "off"))
        rows.append(("without an opener the output is", rule.undecided))
    if rule.off_frames:
        rows.append(("framing where thinking is off", _literals(rule.off_frames)))
    return [cells for cells in rows if cells[1]]
