"""The structural tag of a format: the grammar that constrains a model to the calls of a request.

It is made from the same description that the parser reads with: the blocks' markers and the call syntaxes,
each of which says how it writes a call (``CallSyntax.grammar``). The result is plain data, the JSON of an
xgrammar structural tag. It describes the output behind the reasoning; where headers say what each message is,
it covers the whole output (``covers_reasoning``).

White space that the reader skips may be there or not, as the template has it. What is in a tag beyond the
chat template's own writing are other notations that the parser reads as well: a vocabulary, a version of
the model or an option of its template decides between them, and the model knows which one is its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, product
from typing import Literal, TypeAlias

from .calls.base import CallSyntax
from .calls.grammar import (
    SPACE,
    Format,
    Function,
    Wanted,
    closed,
    const,
    either,
    leads,
    optional,
    sequence,
    several,
    star,
    tag,
    text,
)
from .format import Drop, Header, OutputFormat, Tools

__all__ = ["Choice", "Function", "covers_reasoning", "structural_tag"]

#: "auto": text, and calls in it or not. "required": nothing but calls, one at least.
Choice: TypeAlias = Literal["auto", "required"]


def covers_reasoning(form: OutputFormat) -> bool:
    """Does the tag of this format begin with the output, rather than behind its reasoning?"""
    return form.header is not None


def structural_tag(
    form: OutputFormat, functions: Sequence[Function], choice: Choice = "auto", *, single: bool = False
) -> Format | None:
    """The structural tag for calls to these functions, ``{"type": "structural_tag", "format": ...}``.

    ``single``: one call at most. A named function is ``required`` with that function only, and ``single``.
    None: there is no function, or a call of this format cannot be written as a grammar.
    """
    if not functions:
        return None
    by_name = {function.name: function for function in reversed(functions)}  # of two the first counts
    wanted = Wanted(tuple(reversed(by_name.values())), single)
    required = choice == "required"
    if form.header is not None:
        written = _messages(form.header, wanted, required)
    else:
        written = _calls_only(form, wanted) if required else _text_with_calls(form, wanted)
    return None if written is None else {"type": "structural_tag", "format": written}


# Blocks between text.


def _calls_only(form: OutputFormat, wanted: Wanted) -> Format | None:
    """Calls, and the markers around an answer that are never shown."""
    blocks: list[Format] = []
    lone: list[Format] = []
    for tools in form.tools:
        for call, one in _written(tools, wanted):
            if _stands_alone(tools):
                opener = optional(_opener(tools)) if tools.open else None
                lone.append(sequence(opener, several(one, wanted, *_joints(call)) if call.repeats else one))
            else:
                blocks.append(_block(tools, call, one, wanted))
    if not blocks and not lone:
        return None
    before = _wrappers(drop for drop in form.content.drops if not drop.in_reasoning and not drop.ends_output)
    ways = [several(either(blocks), wanted), *lone] if blocks else lone
    return sequence(SPACE, before, either(ways), SPACE, _behind(form))


def _behind(form: OutputFormat) -> Format | None:
    """The markers that may stand behind the last call."""
    return _wrappers(drop for drop in form.content.drops if not drop.in_reasoning or drop.ends_output)


def _written(tools: Tools, wanted: Wanted) -> list[tuple[CallSyntax, Format]]:
    """The syntaxes of the block that can be written, and how."""
    return [(call, one) for call in tools.calls if (one := call.grammar(wanted)) is not None]


def _stands_alone(tools: Tools) -> bool:
    """May a call of this block stand in the text by itself, with nothing around it?"""
    return tools.open is None or (tools.bare and tools.close is None)


def _joints(call: CallSyntax) -> list[str]:
    """What the template writes between two calls, if it is more than white space."""
    return sorted({text for marker in call.begins for text in marker.before if text.strip()})


def _wrappers(drops: Iterable[Drop]) -> Format | None:
    """Any of these markers, those of a text of their own aside."""
    markers = [const(drop.marker.text) for drop in drops if not drop.until]
    return star(sequence(either(markers), SPACE)) if markers else None


def _opener(tools: Tools) -> Format:
    return sequence(const(tools.open.text if tools.open else ""), SPACE)


def _block(tools: Tools, call: CallSyntax, one: Format, wanted: Wanted) -> Format:
    """A block with as many calls as it may hold. One that nothing closes holds one."""
    if tools.close is None:
        return sequence(_opener(tools), one)
    calls = several(one, wanted) if call.repeats else one
    return sequence(_opener(tools), calls, SPACE, const(tools.close.text))


def _text_with_calls(form: OutputFormat, wanted: Wanted) -> Format | None:
    """Text in which what begins a block, or a call that stands by itself, must be one."""
    tags: list[Format] = []
    triggers: set[str] = set()
    for tools in form.tools:
        written = _written(tools, wanted)
        if tools.open is not None:
            tags += [_opened(tools, call, one, wanted) for call, one in written]
            triggers.add(tools.open.text)
        if _stands_alone(tools):
            for begin, rest in chain.from_iterable(leads(one) for _, one in written):
                tags.append(closed(begin, rest))
                triggers.add(_trigger(begin, wanted))
    if not tags:
        return None
    shortest = [
        one for one in triggers if not any(one != other and one.startswith(other) for other in triggers)
    ]
    mixed = {
        "type": "triggered_tags",
        "triggers": sorted(shortest),
        "tags": tags,
        "at_least_one": False,
        "stop_after_first": wanted.single,
        "excludes": _excludes(form),
    }
    return sequence(mixed, SPACE, _behind(form)) if wanted.single else mixed


def _excludes(form: OutputFormat) -> list[str]:
    """The tokens that begin a call in a block: in the text they would begin one that nothing constrains."""
    blocks = [tools for tools in form.tools if tools.open and tools.close]
    begins = {m.text for tools in blocks for call in tools.calls for m in call.begins if m.special}
    return sorted(begins)


def _opened(tools: Tools, call: CallSyntax, one: Format, wanted: Wanted) -> Format:
    """A block from its opener on."""
    assert tools.open is not None
    if tools.close is None:
        return closed(tools.open.text, sequence(SPACE, one))
    calls = several(one, wanted) if call.repeats else one
    return tag(tools.open.text, sequence(SPACE, calls, SPACE), tools.close.text)


def _trigger(begin: str, wanted: Wanted) -> str:
    """What of a call's beginning makes it one: all before the name, if that is more than brackets."""
    heads = [begin.partition(function.name)[0] for function in wanted.functions if function.name in begin]
    head = max(heads, key=len, default=begin)
    return head if any(char.isalnum() for char in head) else begin


# Messages behind headers.


def _messages(header: Header, wanted: Wanted, required: bool) -> Format | None:
    """Messages, the last of them a call or, unless one is required, an answer.

    The output begins in a header. The closing marker of the last message may be a stop token, which no
    grammar can ask for.
    """
    closes = list(chain.from_iterable(marker.spellings for marker in header.close))
    calls = [written for function in wanted.functions if (written := _call_message(header, function))]
    if len(calls) < len(wanted.functions):
        return None
    call, close = either(calls), either(map(const, closes))
    shown = ("reasoning",) if required else ("reasoning", "content")
    before = [tag(head, text(), closes) for head in _text_headers(header, shown)]
    if not wanted.single:
        before.append(sequence(call, close))
    answers = [] if required else _text_headers(header, ("content",))
    last = [sequence(call, optional(close)), *(tag(head, text(), [*closes, ""]) for head in answers)]
    following = sequence(const(header.open.text), optional(const(header.role)) if header.role else None)
    return sequence(star(sequence(either(before), following)) if before else None, either(last))


def _text_headers(header: Header, channels: Iterable[str]) -> list[str]:
    """The headers of messages of these channels, their endings included."""
    return [
        written + ending.text
        for written, ending in product(header.written, header.ends)
        if "{name}" not in written and header.classify(written, ending.text).channel in channels
    ]


def _call_message(header: Header, function: Function) -> Format | None:
    """A message that calls a function, without the marker that closes it."""
    wanted = Wanted((function,), single=True)
    found: list[tuple[str, Format]] = []
    for shape, ending in product(header.written, header.ends):
        written = shape.format(name=function.name)
        route = header.classify(written, ending.text)
        if route.call and route.name in ("", function.name) and (body := route.call.grammar(wanted)):
            found.append((written + ending.text, body))
    if not found:
        return None
    heads, bodies = zip(*found, strict=True)
    return sequence(either(map(const, heads)), SPACE, either(bodies), SPACE)
