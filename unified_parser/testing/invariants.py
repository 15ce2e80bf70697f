"""What holds for every family and every output, as plain functions.

Each takes a ``Run``: ``stream(parser_class, deltas, **options)``, and returns nothing, or raises
AssertionError with a text that shows how to see the failure again. A delta is (text, ids); whatever ids are
given must be those of the text, unless the function says otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..events import (
    ContentText,
    Discarded,
    Event,
    Framing,
    ReasoningEnd,
    ReasoningStart,
    ReasoningText,
    ToolCallArguments,
    ToolCallEnd,
    ToolCallStart,
)
from ..message import Message
from ..parser import UnifiedParser
from . import json_reader
from .latency import excess
from .run import Delta, ParserClass, Run, calls, known_id, parts, stream


def check_chunks(run: Run, *others: Run) -> None:
    """Every partition of an output says the same."""
    first = parts(run.events, run.raw)
    for other in others:
        got = parts(other.events, run.raw)
        if got == first:
            continue
        where = next((n for n, (a, b) in enumerate(zip(first, got, strict=False)) if a != b), -1)
        other.fail(
            f"two partitions differ from part {where} on\n  one: {first[where:]}\n  other: {got[where:]}"
            f"\n  one's deltas: {[text for text, _ in run.deltas]!r:.2000}"
        )


def check_whole_is_streamed(run: Run) -> None:
    """``parse`` of the whole says what the stream says, and leaves a running stream alone."""
    parser = run.new_parser()
    half = len(run.deltas) // 2
    events = [event for text, ids in run.deltas[:half] for event in parser.feed(text, ids)]
    whole = parser.parse(run.raw, run.ids, keep_incomplete=True)
    events += [event for text, ids in run.deltas[half:] for event in parser.feed(text, ids)]
    events += parser.finish()
    if parts(events, run.raw) != parts(run.events, run.raw):
        run.fail("a parse in the middle of a stream changes the stream")
    got, expected = _message(run.events, run.raw), _folded(whole, run.raw)
    if got != expected:
        run.fail(f"streamed and whole differ\n  streamed: {got}\n  whole: {expected}")


def _folded(message: Message, raw: str) -> tuple[Any, ...]:
    found = [
        (call.name, call.arguments, call.complete, known_id(call.id, raw)) for call in message.tool_calls
    ]
    return message.reasoning, message.content, message.discarded, found


def _message(events: Sequence[Event], raw: str) -> tuple[Any, ...]:
    texts = [
        "".join(event.text for event in events if isinstance(event, kind)) or None
        for kind in (ReasoningText, ContentText, Discarded)
    ]
    ids = [known_id(event.id, raw) for event in events if isinstance(event, ToolCallStart)]
    return (*texts, [(*call, known) for call, known in zip(calls(events), ids, strict=True)])


def check_accounting(run: Run) -> None:
    """The spans of the events tile the output, and what is shown as text is the text of its span.

    A format with a text filter shows other text than its spans'; there only the tiling is looked at.
    """
    at, raw, marker_before = 0, run.raw, ""
    form = run.parser_class.output_format(run.new_parser().tokenizer)
    verbatim = Discarded if form.text_filter else ReasoningText | ContentText | Discarded
    added = {form.header.separator if form.header else "", form.content.lead}
    if form.start.content_required:  # reasoning may stand in for the content
        added.add("".join(event.text for event in run.events if isinstance(event, ReasoningText)))
    for event in run.events:
        if event.start != at or event.end < at:
            run.fail(f"{event} should start at {at}")
        at = event.end
        if isinstance(event, verbatim):
            span = raw[event.start : event.end]
            lead = event.text.removesuffix(span)
            same = not lead or lead in added or (lead.isspace() and lead in marker_before)
            if not same or event.text != lead + span:
                run.fail(f"{event} is not the text of its span {span!r}")
        framing = raw[event.start : event.end] if isinstance(event, Framing) else ""
        # White space in front of a marker that is dropped may turn out to be text when text follows it.
        marker_before = framing if framing.strip() else ""
    if at != len(raw):
        run.fail(f"the events end at {at} of {len(raw)}")


def check_nothing_is_lost(run: Run) -> None:
    """Without a call, nothing but markers and the framing around them is left out of the text.

    Formats with headers, and those that drop more than a marker, are not looked at.
    """
    form = run.parser_class.output_format(run.new_parser().tokenizer)
    drops = any(drop.until or drop.ends_output for drop in form.content.drops)
    if (
        form.header
        or drops
        or form.content.open
        or any(isinstance(event, ToolCallStart) for event in run.events)
    ):
        return
    frames = {frame for marker in form.markers() for frame in (*marker.before, *marker.after)}
    spelled = {spelling for marker in form.markers() for spelling in marker.spellings}
    known = sorted(frames | spelled | set(form.start.off_frames), key=len, reverse=True)
    for event in run.events:
        if isinstance(event, Framing | ReasoningStart | ReasoningEnd):
            rest = run.raw[event.start : event.end]
            for literal in known:
                rest = rest.replace(literal, "")
            cut = event.end == len(run.raw) and any(frame.startswith(rest.strip()) for frame in known)
            if rest.strip() and not cut:
                run.fail(f"{event} loses {rest!r}")


def check_latency(run: Run) -> None:
    """No character is held back that could not be framing.

    Deltas without ids, or each with exactly the ids of its text.
    """
    tokenizer = run.new_parser().tokenizer
    tokens = tokenizer.get_vocab() if tokenizer and run.ids else ()
    for found in excess(run, run.parser_class.output_format(tokenizer), tokens):
        run.fail(f"after delta {found.step} {found.held!r} is held back, in {found.where}")


def check_order(run: Run) -> None:
    """Events come in their order: calls begin, go on and end in turn; blocks open before they close."""
    open_call: int | None = None
    begun = 0
    thinking = False
    for event in run.events:
        match event:
            case ReasoningStart():
                fine = not thinking and open_call is None
                thinking = True
            case ReasoningEnd():
                fine = thinking and open_call is None
                thinking = False
            case ReasoningText():
                fine = bool(event.text) and thinking and open_call is None
            case ContentText() | Discarded():
                fine = bool(event.text) and open_call is None
            case ToolCallStart():
                fine = open_call is None and event.index == begun and bool(event.name and event.id)
                open_call = event.index
                begun += 1
            case ToolCallArguments():
                fine = event.index == open_call
            case ToolCallEnd():
                fine = event.index == open_call
                open_call = None
            case _:
                fine = True
        if not fine:
            run.fail(f"{event} is out of order in {run.events}")
    if open_call is not None:
        run.fail("the output ends, the last call does not")


def check_arguments(run: Run) -> None:
    """The fragments of every complete call are one JSON object."""
    for name, arguments, complete in calls(run.events):
        fault = json_reader.fault(arguments) if complete else None
        if fault is not None:
            run.fail(
                f"the arguments of the complete call {name} are no JSON object: {fault}\n  {arguments:.2000}"
            )


def check_calls(run: Run, expected: Iterable[tuple[str, dict[str, Any]]]) -> None:
    """The complete calls are these: (name, arguments)."""
    found = [(name, json.loads(arguments)) for name, arguments, complete in calls(run.events) if complete]
    planned = [(name, arguments) for name, arguments in expected]
    if repr(found) != repr(planned):  # which tells True from 1, and 1 from 1.0
        run.fail(f"the calls are read as\n  {found}\n  and were written as\n  {planned}")


def check_atomic(run: Run) -> None:
    """Held back until they are complete, calls are the same, and only complete ones are seen."""
    incremental = list(calls(run.events))
    other = run.again(argument_streaming="atomic")
    atomic = list(calls(other.events))
    complete = [call for call in incremental if call[2]]
    if atomic != complete:
        run.fail(f"atomic gives {atomic}, incremental {incremental}")
    for step in other.steps:
        begun = [event.index for event in step if isinstance(event, ToolCallStart)]
        ended = [event.index for event in step if isinstance(event, ToolCallEnd)]
        if begun != ended:
            run.fail(f"half a call is seen: {step}")


def check_finish(run: Run) -> None:
    """A second ``finish`` says nothing; text that comes after it is content."""
    parser = run.new_parser()
    for text, ids in run.deltas:
        parser.feed(text, ids)
    parser.finish()
    if parser.finish():
        run.fail("a second finish has events")
    late = run.raw or "late"
    events = parser.feed(late)
    end = len(run.raw)
    if events != [ContentText(late, end, end + len(late))]:
        run.fail(f"text behind the end becomes {events}")
    if parser.feed("") or parser.finish():
        run.fail("the end is not the end")


def check_empty_deltas(run: Run) -> None:
    """Deltas of nothing between the others change nothing."""
    spaced: list[Delta] = [delta for pair in run.deltas for delta in (("", ()), pair)]
    check_chunks(run, run.again([*spaced, ("", ())]))


def check_interleaved(
    parser_class: ParserClass, outputs: Sequence[Sequence[Delta]], instances: int = 1000, **options: Any
) -> None:
    """Many parsers of one class, fed in turn, do not touch each other."""
    alone = [stream(parser_class, deltas, **options) for deltas in outputs]
    runs = [alone[number % len(alone)] for number in range(instances)]
    parsers = [run.new_parser() for run in runs]
    events: list[list[Event]] = [[] for _ in runs]
    for step in range(max(map(len, outputs))):
        for run, parser, seen in zip(runs, parsers, events, strict=True):
            if step < len(run.deltas):
                seen += parser.feed(*run.deltas[step])
    for run, parser, seen in zip(runs, parsers, events, strict=True):
        seen += parser.finish()
        got, expected = parts(seen, run.raw), parts(run.events, run.raw)
        if got != expected:
            run.fail(f"among {instances} parsers it says\n  {got}\n  alone\n  {expected}")


def check_token_level(
    parser_class: ParserClass,
    ids: Sequence[int],
    prompt_ids: Sequence[int],
    decode: Callable[[Sequence[int]], str],
    **options: Any,
) -> None:
    """Ids alone tell where reasoning ends as the text does, on every prefix of an output.

    ``options`` hold the tokenizer; ``decode`` gives the text of one token. The prompt must not be empty: ids
    that no prompt is known for are taken for a prompt. A family that shows its reasoning as content has an
    end of it in the ids alone, which the class answers itself: there is nothing to compare.
    """
    if parser_class.is_reasoning_end is not UnifiedParser.is_reasoning_end:
        return
    options = {**options, "prompt_token_ids": list(prompt_ids)}
    asked, fed = parser_class(**options), parser_class(**options)
    run = Run(parser_class, [], options, [])
    told = asked.is_reasoning_end(prompt_ids)
    if told != fed.reasoning_ended:
        run.fail(f"after the prompt is_reasoning_end is {told}, reasoning_ended {fed.reasoning_ended}")
    deltas: list[Delta] = []
    run = Run(parser_class, deltas, options, [])
    for number, token in enumerate(ids):
        before = fed.reasoning_ended
        deltas.append((decode([token]), [token]))
        closed = any(isinstance(event, ReasoningEnd) for event in fed.feed(*deltas[-1]))
        so_far = [*prompt_ids, *ids[: number + 1]]
        told = asked.is_reasoning_end(so_far)
        if told != fed.reasoning_ended:
            run.fail(
                f"after token {number} is_reasoning_end is {told}, reasoning_ended {fed.reasoning_ended}"
            )
        if before:
            continue
        # An output that turns out to have no reasoning has no token that ends it; and behind a closed block
        # a format with headers may still go on with another one.
        ends = asked.is_reasoning_end_streaming(so_far, [token])
        if (ends and not told) or (told and closed and not ends):
            run.fail(f"at token {number} is_reasoning_end_streaming is {ends}, reasoning_ended {told}")
