"""What a family does with an output that is cut off, and where structured output begins: derived, in words.

``docs/families.md`` says what is the same for all families; these are each family's own lines. A tokenizer
may lack tokens that its family normally has; then the text of those markers is looked for.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator

from ..calls.base import CallSyntax
from ..calls.block import Wrapped
from ..calls.headered import BodyCall, HeaderedCall
from ..calls.json_calls import JsonArray, JsonObject, KeyedObject
from ..calls.notation_call import NotationCall
from ..calls.python_calls import PythonCalls
from ..calls.tagged import TaggedCall
from ..format import Header, Marker, OutputFormat, Tools
from ..machine import Machine
from ..parser import UnifiedParser
from ..start import Start
from ..token_level import TokenLevel
from ..tokens import NO_TOKENS, SpecialTokens
from .console import one_line

#: What completes a call that has no closing marker of its own.
COMPLETED_BY: dict[type[CallSyntax], str] = {
    HeaderedCall: "its arguments",
    JsonArray: "its arguments",
    JsonObject: "its arguments",
    KeyedObject: "its arguments",
    NotationCall: "its closing bracket",
    PythonCalls: "its closing parenthesis",
}
#: A header that addresses a tool, wherever headers do.
TO_A_TOOL = " to=tool"
BY_TOKENIZER = "as the tokenizer's configuration says"


def code(text: str) -> str:
    """A literal as code, in Markdown too."""
    line = one_line(text)
    quoted = set(re.findall("`+", line))  # the fence must not be one of these
    if not quoted:
        return f"`{line}`"
    fence = "``" if "`" in quoted else "`"
    return f"{fence} {line} {fence}"


def one_of(literals: Iterable[str]) -> str:
    """Literals as a choice."""
    return " or ".join(map(code, dict.fromkeys(literals)))


def overrides(parser_class: type[UnifiedParser], name: str) -> bool:
    """Has the class a method of its own, where others have the framework's?"""
    return inspect.getattr_static(parser_class, name) is not inspect.getattr_static(UnifiedParser, name)


def is_by_tokenizer(parser_class: type[UnifiedParser]) -> bool:
    """Is nothing of the format known without a tokenizer?"""
    return not parser_class.format.markers() and overrides(parser_class, "output_format")


def routed_calls(form: OutputFormat) -> tuple[CallSyntax, ...]:
    """How the calls are written to which headers lead."""
    if form.header is None:
        return ()
    routes = [form.header.classify(TO_A_TOOL, end) for marker in form.header.ends for end in marker.spellings]
    return tuple(dict.fromkeys(route.call for route in routes if route.call))


# --- Cut off ------------------------------------------------------------------------------------------------


def truncation(parser_class: type[UnifiedParser]) -> list[str]:
    """What becomes of an output that is cut off."""
    if is_by_tokenizer(parser_class):
        return [BY_TOKENIZER]
    form = parser_class.format
    return [*_cut_text(form), *_cut_calls(form), *_cut_markers(form)]


def _cut_text(form: OutputFormat) -> Iterator[str]:
    if form.header:
        yield "in a body: what came stays what the header made it"
        first = "discarded; the first one is content if no marker stands in it"
        yield f"in a header: {'content' if form.header.loose else first}"
        return
    if form.reasoning is None:
        yield "in a text: content"
        return
    yield f"in reasoning: reasoning; without an opener in output or prompt: {form.start.undecided}"
    opens = form.reasoning.reopens and not form.reasoning.off_text
    yield "thinking off: content" + (", but a block that the model opens is reasoning" if opens else "")
    if form.start.content_required:
        values = [f"{key}={value}" for key, found in form.start.content_required.items() for value in found]
        yield f"nothing but reasoning, with {one_of(values)}: the reasoning is said again as content"


def _cut_calls(form: OutputFormat) -> Iterator[str]:
    known: dict[str, None] = {}
    for tools in form.tools:
        known |= dict.fromkeys(_completions(tools.calls, tools.close))
    known |= dict.fromkeys(_completions(routed_calls(form), None))
    if known:
        yield "a call is complete with " + ", or with ".join(known)
    if form.tools:
        yield from _cut_bare_text(form)


def _completions(calls: Iterable[CallSyntax], close: Marker | None) -> Iterator[str]:
    """What completes calls of these syntaxes, in a block with this closing marker."""
    for call in calls:
        if isinstance(call, Wrapped):
            yield from _completions(call.calls, call.close)
        elif isinstance(call, TaggedCall):
            end = call.end or close
            complete = code(end.text) if end else "its message's closing marker"
            last = " or, behind a parameter, the output's end (not if the finish reason is `length`)"
            yield complete + (last if call.ends_output else "")
        elif isinstance(call, BodyCall):
            yield "its arguments (at the output's end not if the finish reason is `length`)"
        elif isinstance(call, HeaderedCall) and call.ends_output:
            yield "its arguments"
            yield "its name alone at the output's end (not if the finish reason is `length`)"
        elif type(call) in COMPLETED_BY:
            yield COMPLETED_BY[type(call)]
        elif call.markers() and call.strays():
            yield code(call.strays()[0].text)


def _cut_bare_text(form: OutputFormat) -> Iterator[str]:
    """Blocks that are ordinary text may have been no call at all."""
    begins: list[str] = []
    for block in Machine(form, NO_TOKENS).blocks:
        if block.bare and any(_is_described(call) for call in block.tools.calls):
            begins += [literal for marker in _openers(block.tools) for literal in marker.spellings]
    if begins:
        stopped = "content if the finish reason is `stop`"
        yield f"before a call's name, behind {one_of(begins)}: discarded, {stopped}"


def _is_described(call: CallSyntax) -> bool:
    return type(call) in COMPLETED_BY or isinstance(call, TaggedCall | Wrapped)


def _openers(tools: Tools) -> list[Marker]:
    """The markers of ordinary text that open a block."""
    begins = [begin for call in tools.calls for begin in call.begins]
    openers = [tools.open] if tools.open else []
    openers += begins if tools.bare or not tools.open else []
    return [marker for marker in openers if not marker.special]


def _cut_markers(form: OutputFormat) -> Iterator[str]:
    parts = [m.token for m in form.markers() if m.token and m.token not in m.spellings]
    if parts:
        yield f"in a marker, behind {one_of(parts)}: discarded"
    last = [drop.marker.text for drop in form.content.drops if drop.ends_output]
    if last:
        yield f"what follows {one_of(last)} is no part of the message"


# --- Structured output --------------------------------------------------------------------------------------


def structured_output(parser_class: type[UnifiedParser]) -> list[str]:
    """Where the part of an output begins that a grammar constrains, and how its place is found."""
    if is_by_tokenizer(parser_class):
        return [BY_TOKENIZER]
    if overrides(parser_class, "is_reasoning_end_streaming"):
        return ["by the class's own `is_reasoning_end_streaming`"]
    form = parser_class.format
    usual = SpecialTokens({text: number for number, text in enumerate(parser_class.marker_literals())})
    if form.header:
        return _behind_headers(form.header, usual)
    if form.reasoning is None:
        return ["at once: there is no reasoning"]
    level = TokenLevel(form, usual, None)
    ids = level.end_ids | level.implicit_ids
    by_id = {text for text, number in usual.id_of.items() if number in ids}
    close = form.reasoning.close
    found = [f"behind {one_of(close.spellings)}, {_how(close, by_id)}"]
    found += [f"at {one_of(m.spellings)}, {_how(m, by_id)} (implicit end)" for m in implicit_markers(form)]
    return [*found, *_from_the_start(form)]


def implicit_markers(form: OutputFormat) -> list[Marker]:
    """What ends reasoning besides its closing marker."""
    if form.reasoning is None:
        return []
    blocks = [block.open for block in form.tools if block.open and block.in_reasoning == "ends"]
    return blocks + [drop.marker for drop in form.content.drops if drop.ends_reasoning]


def _how(marker: Marker, by_id: Iterable[str]) -> str:
    """How a server finds the marker among token ids."""
    if marker.pattern:
        return f"found as text that matches {code(marker.pattern)}"
    if set(marker.spellings) <= set(by_id):
        several = len(marker.spellings) > 1
        return "a single token id" + (" where the vocabulary has one, else found as text" if several else "")
    if marker.token:
        return f"found as text of several tokens, {code(marker.token)} among them"
    return "found as text of several tokens"


def _behind_headers(header: Header, usual: SpecialTokens) -> list[str]:
    ends = [literal for marker in header.ends for literal in marker.spellings]
    how = "a single token id" if set(ends) <= set(usual.id_of) else "found as text"
    return [f"behind a header that {one_of(ends)} ends ({how}), if its body is content or a call"]


def _from_the_start(form: OutputFormat) -> list[str]:
    """Whether it begins with the output, where the prompt does not show it."""
    rule = Start(form, None, {})
    switched = bool(form.start.toggles or form.start.vetoes)
    if rule.reasons_by_default:
        start = "at once where thinking is off or the prompt has closed it"
    elif rule.thinking_is_on:
        start = "at once unless the prompt has opened reasoning: the model's own opener is not waited for"
    else:
        start = "at once unless thinking is switched on or the prompt has opened it"
    if form.start.undecided == "content" and switched:
        return [start, "never with thinking on, if the output has none of these ends"]
    return [start]
