"""Writes ``docs/differences.md``: where vLLM's own parsers read a golden sample otherwise than ours.

Both read every sample of the corpus in three modes; a difference is explained by the first reason of a table
whose pattern it has. The page is the same on every run with the same corpus and the same vLLM.
"""

from __future__ import annotations

import html
import json
import logging
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

os.environ["UNIFIED_PARSER_VLLM"] = "off"  # vLLM's own parsers, without ours
os.environ["VLLM_LOGGING_LEVEL"] = "CRITICAL"
sys.path.extend(str(Path(__file__).parent.parent / part) for part in ("", "tests", "tests/adapters"))

import vllm
from registry_diff import MANAGERS, registered
from support import cuts
from support.fold import Folded, loads, message, spell
from support.parsing import family_tokenizer, run
from support.samples import Sample, load
from support.tokenizers import tokenizer_for
from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerFast
from vllm.parser.parser_manager import ParserManager
from vllm_driver import asked_kwargs, chat_request, stream, template_kwargs

from unified_parser import create_parser, get_parser_class

PAGE = Path(__file__).parent.parent / "docs" / "differences.md"
WHOLE, TOKENS, ONE = "whole", "by token", "one delta"
STREAMED: dict[str, cuts.Cut] = {TOKENS: cuts.tokens, ONE: cuts.whole}
MODES = (WHOLE, *STREAMED)
PARTS = ("reasoning", "content", "calls")
WIDTH = 60  # characters of a value that are shown
#: Tokens that vLLM's parser of a family looks up, though they are no special tokens to ours.
MORE_TOKENS = {
    "k2_horizon": {f"<{slash}ifm|think{speed}>" for slash in ("", "/") for speed in ("", "_fast", "_faster")},
    "minimax_m3": {"<mm:think>", "</mm:think>"},
    "poolside_v1": {"<assistant>"},
}
#: Parsers of vLLM that know markers in a stream by ids of the model's own vocabulary, written in their code.
ONLY_WHOLE = {"hunyuan_a13b"}
#: Of all markers of some vocabularies; vLLM reads it from the tokenizer's configuration.
SUFFIX = ":opensource"
#: Cases of a family shown for one reason; the others are named.
SHOWN = 3


class Result(NamedTuple):
    """What came out: empty texts are "", ``calls`` as in ``Folded``, ``error`` is the exception's name."""

    reasoning: str = ""
    content: str = ""
    calls: tuple[tuple[str, Any, bool], ...] = ()
    error: str = ""

    @staticmethod
    def of(folded: Folded, *, truncated: bool) -> Result:
        """A call without its end is no result where the limit cut it: clients know by the finish reason."""
        calls = tuple(call for call in folded.calls if call[2] or not truncated)
        return Result(folded.reasoning or "", folded.content or "", calls)

    def spelled(self, part: str) -> str:
        """A part as text."""
        if part == "calls":
            return ", ".join(
                f"{name}({spell(value) if complete else f'{value}…'})" for name, value, complete in self.calls
            )
        return str(getattr(self, part))


class Difference(NamedTuple):
    """One sample in one mode, read in two ways. ``lacks`` are the flags for which vLLM has no such name."""

    sample: Sample
    mode: str
    ours: Result
    theirs: Result
    lacks: tuple[str, ...]
    markers: tuple[str, ...]
    whole_agrees: bool

    @property
    def parts(self) -> list[str]:
        """The parts that differ."""
        if self.theirs.error:
            return ["calls"]
        return [part for part in PARTS if self.ours.spelled(part) != self.theirs.spelled(part)]


# Running both


@cache
def full_tokenizer(tokenizer: Any) -> PreTrainedTokenizerFast:
    """The same vocabulary with everything that vLLM's parsers ask of a tokenizer."""
    made = PreTrainedTokenizerFast(tokenizer_object=unskipped(tokenizer.backend))
    made.response_template = tokenizer.response_template
    if any(marker.endswith(f"{SUFFIX}>") for marker in tokenizer.markers):
        made.init_kwargs["token_suffix"] = SUFFIX
    return made


def unskipped(backend: Tokenizer) -> Tokenizer:
    """With markers that are tokens but not special ones, so that no parser loses them when it decodes ids."""
    config = json.loads(backend.to_str())
    for token in config["added_tokens"]:
        token["special"] = False
    return Tokenizer.from_str(json.dumps(config))


@cache
def vllm_names(flag: str) -> frozenset[str]:
    return frozenset(registered(*MANAGERS[flag]))


@cache
def vllm_parser(reasoning: str | None, tool: str | None) -> type[Any]:
    """The class that vLLM composes of two names of its own."""
    composed: type[Any] = ParserManager.get_parser(
        reasoning_parser_name=reasoning, tool_parser_name=tool, enable_auto_tools=True
    )
    return composed


def known_names(sample: Sample) -> tuple[str | None, str | None]:
    """The sample's two names as far as vLLM has them."""
    reasoning, tool = sample.reasoning_name, sample.tool_name
    return (
        reasoning if reasoning in vllm_names("reasoning") else None,
        tool if tool in vllm_names("tool") else None,
    )


def read_call(name: str, arguments: str) -> tuple[str, Any, bool]:
    try:
        return name, loads(arguments), True
    except ValueError:
        return name, arguments, False


def added_up(messages: Iterable[Any]) -> Folded:
    """Streamed messages as a client adds them up, whatever their order."""
    reasoning, content = "", ""
    calls: dict[int, list[str]] = defaultdict(lambda: ["", ""])
    for delta in messages:
        reasoning += delta.reasoning or ""
        content += delta.content or ""
        for call in delta.tool_calls or ():
            if call.function:
                calls[call.index][0] += call.function.name or ""
                calls[call.index][1] += call.function.arguments or ""
    return Folded(reasoning, content, [read_call(name, arguments) for name, arguments in calls.values()])


class Case:
    """A sample as both sides get it."""

    def __init__(self, sample: Sample) -> None:
        self.sample = sample
        self.tokenizer = family_tokenizer(
            sample.parser_name,
            sample.partner,
            sample.prompt_tail,
            sample.absent_markers,
            sample.response_template,
        )
        if more := MORE_TOKENS.get(sample.family):
            self.tokenizer = tokenizer_for({*self.tokenizer.markers, *more})
        self.output = cuts.Output.of(sample.raw, self.tokenizer, sample.literal)
        self.prompt = self.tokenizer.encode(sample.prompt_tail)

    def ours(self, mode: str) -> Result:
        sample = self.sample
        parser = create_parser(
            sample.parser_name,
            reasoning=sample.partner,
            tokenizer=self.tokenizer,
            tools=sample.tools,
            thinking=sample.thinking,
            chat_template_kwargs=sample.chat_template_kwargs,
            prompt_token_ids=self.prompt,
        )
        if mode == WHOLE:
            parsed = parser.parse(self.output.text, list(self.output.ids), reason=sample.finish_reason)
            folded = message(parsed)
        else:
            folded = run(parser, STREAMED[mode](self.output), sample.finish_reason)
        return Result.of(folded, truncated=sample.truncated)

    def make_theirs(self) -> Any:
        kwargs = template_kwargs(self.sample)
        request = chat_request(self.sample.tools, chat_template_kwargs=asked_kwargs(self.sample))
        parser = vllm_parser(*known_names(self.sample))(
            full_tokenizer(self.tokenizer),
            request.tools,
            chat_template_kwargs={key: value for key, value in kwargs.items() if value is not None},
        )
        return parser, request

    def refusal(self) -> str:
        """The error of a vLLM parser that needs a library or a real vocabulary to run at all, or ""."""
        try:
            made = self.make_theirs()
        except Exception as error:
            return type(error).__name__
        try:
            self._theirs_whole(*made)
        except NotImplementedError as error:
            return type(error).__name__
        except Exception:
            return ""  # it runs, and fails at this output
        return ""

    def theirs(self, mode: str) -> Result:
        """What vLLM reads, as its chat serving drives its parsers."""
        try:
            parser, request = self.make_theirs()
            if mode == WHOLE:
                folded = self._theirs_whole(parser, request)
            else:
                folded = added_up(stream(parser, request, STREAMED[mode](self.output), self.prompt))
        except Exception as error:  # any of them is a finding
            return Result(error=type(error).__name__)
        return Result.of(folded, truncated=self.sample.truncated)

    def _theirs_whole(self, parser: Any, request: Any) -> Folded:
        parser.is_reasoning_end(list(self.prompt))
        parser.set_prompt_token_ids(list(self.prompt))
        reasoning, content, calls = parser.parse(
            self.output.text, request, enable_auto_tools=True, model_output_token_ids=list(self.output.ids)
        )
        return Folded(reasoning, content, [read_call(call.name, call.arguments) for call in calls or []])

    def differences(self) -> list[Difference]:
        names = (self.sample.reasoning_name, self.sample.tool_name)
        known = known_names(self.sample)
        lacks = tuple(
            flag for flag, name, has in zip(MANAGERS, names, known, strict=True) if name and not has
        )
        modes = (WHOLE,) if ONLY_WHOLE & set(known) else MODES
        pairs = {mode: (self.ours(mode), self.theirs(mode)) for mode in modes}
        agrees = pairs[WHOLE][0] == pairs[WHOLE][1]
        parser_class = get_parser_class(self.sample.parser_name, self.sample.partner)
        markers = tuple(sorted({*parser_class.marker_literals(), *self.tokenizer.markers}))
        found = [
            Difference(self.sample, mode, ours, theirs, lacks, markers, agrees)
            for mode, (ours, theirs) in pairs.items()
        ]
        return [difference for difference in found if difference.parts]


# Why they differ


def bare(text: str) -> str:
    """A text without its white space."""
    return "".join(text.split())


def given_back(it: Difference, part: str) -> bool:
    """All of the output, or nearly, in one text, and with more than its markers."""
    raw, text = bare(it.sample.raw), bare(it.theirs.content or it.theirs.reasoning)
    all_of_it = text in raw and len(text) > 0.95 * len(raw) and text != bare(it.ours.content)
    return all_of_it and not it.theirs.calls and unmarked(it, text) != unmarked(it, both_texts(it.ours))


def both_texts(result: Result) -> str:
    return result.reasoning + result.content


def texts(it: Difference, part: str) -> tuple[str, str]:
    return it.ours.spelled(part), it.theirs.spelled(part)


def unmarked(it: Difference, text: str) -> str:
    """A text without its white space and its markers."""
    for marker in it.markers:
        text = text.replace(marker, "")
    return bare(text)


def only_framing(it: Difference, part: str) -> bool:
    ours, theirs = texts(it, part)
    return part != "calls" and ours.strip() == theirs.strip()


def only_spacing(it: Difference, part: str) -> bool:
    ours, theirs = texts(it, part)
    return part != "calls" and bare(ours) == bare(theirs)


def more_calls(it: Difference, part: str) -> bool:
    return part == "calls" and len(it.theirs.calls) > len(it.ours.calls)


def fewer_calls(it: Difference, part: str) -> bool:
    return len(it.theirs.calls) < len(it.ours.calls)


def call_as_text(it: Difference, part: str) -> bool:
    """Fewer calls, and the name of a missing one is in a text where ours has it not."""
    names = Counter(name for name, *_ in it.ours.calls) - Counter(name for name, *_ in it.theirs.calls)
    ours, theirs = both_texts(it.ours), both_texts(it.theirs)
    return fewer_calls(it, part) and any(theirs.count(name) > ours.count(name) for name in names)


def cut_text(it: Difference, part: str) -> bool:
    ours, theirs = texts(it, part)
    more = bare(theirs).removeprefix(bare(ours))
    return it.sample.truncated and part != "calls" and bare(it.sample.raw).endswith(more) and bool(more)


def other_side(it: Difference, part: str) -> bool:
    """The same text in another part, be it with the markers."""
    ours, theirs = both_texts(it.ours), both_texts(it.theirs)
    moved = it.ours.reasoning != it.theirs.reasoning and it.ours.content != it.theirs.content
    return part != "calls" and moved and unmarked(it, ours) == unmarked(it, theirs)


def shows_markers(it: Difference, part: str) -> bool:
    ours, theirs = texts(it, part)
    return part != "calls" and any(theirs.count(marker) > ours.count(marker) for marker in it.markers)


def lost(it: Difference, part: str) -> str:
    """The text that vLLM has not, where what it has is the beginning or the end of ours."""
    ours, theirs = (bare(text) for text in texts(it, part))
    if part == "calls" or len(theirs) >= len(ours):
        return ""
    if ours.startswith(theirs):
        return ours[len(theirs) :]
    return ours[: -len(theirs)] if ours.endswith(theirs) else ""


def lost_behind_call(it: Difference, part: str) -> bool:
    raw, text = bare(it.sample.raw), lost(it, part)
    names = [raw.find(bare(name)) for name, *_ in it.ours.calls]
    return bool(text) and any(0 <= at < raw.rfind(text) for at in names)


def added(it: Difference, part: str) -> bool:
    ours, theirs = texts(it, part)
    return part != "calls" and len(bare(theirs)) > len(bare(ours))


def argument_kinds(ours: Any, theirs: Any) -> Iterator[str]:
    """In which ways two values differ."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        if set(ours) != set(theirs):
            yield "keys"
        for key in [key for key in ours if key in theirs]:
            yield from argument_kinds(ours[key], theirs[key])
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for one, other in zip(ours, theirs, strict=True):
            yield from argument_kinds(one, other)
    elif spell(ours) != spell(theirs):
        yield leaf_kind(ours, theirs)


def leaf_kind(ours: Any, theirs: Any) -> str:
    if ours is None or theirs is None:
        return "null"
    if isinstance(ours, str) and isinstance(theirs, str):
        if ours.strip() == theirs.strip():
            return "trimmed"
        return "escapes" if html.unescape(ours) == html.unescape(theirs) else "string"
    return "number" if is_number(ours) and is_number(theirs) else "type"


def is_number(value: Any) -> bool:
    return isinstance(value, (int, Decimal)) and not isinstance(value, bool)


def arguments(kind: str) -> Callable[[Difference, str], bool]:
    """Whether the same calls differ in such a way; ``broken``: vLLM's arguments are no JSON."""

    def differ(it: Difference, part: str) -> bool:
        ours, theirs = it.ours.calls, it.theirs.calls
        if part != "calls" or [name for name, *_ in ours] != [name for name, *_ in theirs]:
            return False
        if kind == "broken":
            return any(mine[2] and not other[2] for mine, other in zip(ours, theirs, strict=True))
        return any(
            kind in argument_kinds(mine[1], other[1]) for mine, other in zip(ours, theirs, strict=True)
        )

    return differ


class Reason(NamedTuple):
    """A pattern of difference: its name, what vLLM does, what a reader gets here."""

    name: str
    vllm: str
    ours: str
    applies: Callable[[Difference, str], bool]


#: The first that applies to a part that differs explains it.
REASONS = (
    Reason("error raised", "raises; the request fails", "no output raises",
           lambda it, part: bool(it.theirs.error)),
    Reason("framing", "keeps white space that the template puts around a part, or strips some that it "
           "does not", "the template's framing is removed and nothing else", only_framing),
    Reason("white space", "differs in white space inside a text, such as around a call",
           "text on both sides of a call is kept as the model wrote it", only_spacing),
    Reason("no reasoning parser", "has no reasoning parser of the name: thoughts stay in the content"
           , "one name answers to both flags",
           lambda it, part: "reasoning" in it.lacks and part != "calls"),
    Reason("no tool parser", "has no tool parser of the name: calls stay in the content",
           "one name answers to both flags",
           lambda it, part: "tool" in it.lacks and part in ("content", "calls")),
    Reason("literal marker", "takes text that only looks like a marker for one",
           "token ids tell; a look-alike in ordinary tokens stays text",
           lambda it, part: bool(it.sample.literal)),
    Reason("other side", "puts text on the other side of the border between reasoning and content",
           "the prompt, the thinking switch and the format's implicit ends decide", other_side),
    Reason("given back", "gives the whole output back as one text",
           "what can be read is read: reasoning, content and each good call", given_back),
    Reason("cut call reported", "reports a call that the token limit cut off, completed by guess",
           "only complete calls are in a whole result; a stream has the beginning and the finish reason",
           lambda it, part: it.sample.truncated and more_calls(it, part)),
    Reason("call left as text", "leaves a call in a text", "it is a call", call_as_text),
    Reason("cut markup as text", "shows the beginning of markup that the token limit cut off",
           "no markup in texts: it is dropped, and reported as discarded", cut_text),
    Reason("call lost", "drops a call", "every complete call is reported",
           lambda it, part: fewer_calls(it, part) and part == "calls"),
    Reason("text taken for a call", "reports a call more",
           "markup in a thought, in a string or out of its place is text", more_calls),
    Reason("text behind a call lost", "drops text behind a call", "it is content (or later reasoning)",
           lost_behind_call),
    Reason("text lost", "drops text", "no text is lost",
           lambda it, part: bool(lost(it, part))),
    Reason("marker shown", "shows a marker in a text", "markers are in no text", shows_markers),
    Reason("call name", "names a call otherwise, or has another one", "the name that the model wrote",
           lambda it, part: part == "calls"
           and [name for name, *_ in it.ours.calls] != [name for name, *_ in it.theirs.calls]),
    Reason("broken JSON", "sends arguments that are no JSON",
           "arguments of a complete call are a JSON object",
           arguments("broken")),
    Reason("null", "types a null otherwise", "null where the schema allows it or the model wrote JSON",
           arguments("null")),
    Reason("type", "types a value otherwise: number, boolean, object or string",
           "by the tool's schema; JSON as the model wrote it", arguments("type")),
    Reason("number", "rounds a number", "exact in every digit", arguments("number")),
    Reason("string trimmed", "strips or keeps white space of a string value",
           "a value is what the model wrote, without the format's own framing", arguments("trimmed")),
    Reason("escapes", "decodes character references otherwise", "only where the format says so",
           arguments("escapes")),
    Reason("keys", "has other keys: some lost, or some made up", "the keys that the model wrote",
           arguments("keys")),
    Reason("string", "reads another string value, often cut at a look-alike",
           "a value ends only at its own closing marker", arguments("string")),
    Reason("text added", "has more text than the model meant for it: markup, or a text said twice",
           "each character is in one part, once", added),
    Reason("stream", "reads it right as a whole, not as a stream", "both are the same code",
           lambda it, part: it.whole_agrees),
    Reason("other", "reads it otherwise", "see the note of the sample in the corpus", lambda it, part: True),
)  # fmt: skip


#: Those about values: all that apply are told.
ABOUT_VALUES = {"null", "type", "number", "string trimmed", "escapes", "keys", "string"}


def why(it: Difference) -> tuple[str, ...]:
    """The reasons of a difference, in the order of the table."""
    found: set[str] = set()
    for part in it.parts:
        applying = [reason.name for reason in REASONS if reason.applies(it, part)]
        found |= ABOUT_VALUES & set(applying) if applying[0] in ABOUT_VALUES else {applying[0]}
    return tuple(reason.name for reason in REASONS if reason.name in found)


# The page


class Row(NamedTuple):
    case: str
    mode: str
    theirs: str
    ours: str
    reasons: tuple[str, ...]


def code(text: str) -> str:
    """A text as a code span in a table's cell."""
    text = text.replace("|", "\\|")
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def excerpt(text: str, start: int) -> str:
    """At most ``WIDTH`` characters, from a little before ``start``."""
    first = max(0, start - 15) if len(text) > WIDTH else 0
    cut = text[first : first + WIDTH]
    shown = json.dumps(cut, ensure_ascii=False)[1:-1].replace('\\"', '"').replace("\\\\", "\\")
    return ("…" if first else "") + shown + ("…" if first + WIDTH < len(text) else "")


def cells(it: Difference) -> tuple[str, str]:
    """The parts that differ, vLLM's and ours, from where they begin to."""
    if it.theirs.error:
        return it.theirs.error, "a message"
    shown: list[tuple[str, str]] = []
    for part in it.parts:
        ours, theirs = (text.replace(": decimal ", ": ") for text in texts(it, part))
        start = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(ours, theirs, strict=False))))
        shown.append(
            (
                f"{part} {code(excerpt(theirs, start)) if theirs else 'none'}",
                f"{part} {code(excerpt(ours, start)) if ours else 'none'}",
            )
        )
    theirs_cells, ours_cells = zip(*shown, strict=True)
    return "<br>".join(theirs_cells), "<br>".join(ours_cells)


def all_or(modes: Sequence[str]) -> str:
    """Modes by name."""
    names = ", ".join(modes)
    return "all" if set(names.split(", ")) == set(MODES) else names


def rows(found: Sequence[Difference]) -> list[Row]:
    """One row for each case and result; modes with the same result are one."""
    modes: dict[tuple[Any, ...], list[str]] = defaultdict(list)
    for it in found:
        case = it.sample.id.partition("/")[2]
        modes[(case, *cells(it), why(it))].append(it.mode)
    return [
        Row(case, all_or(names), theirs, ours, reasons)
        for (case, theirs, ours, reasons), names in modes.items()
    ]


def pair(names: tuple[str | None, str | None]) -> str:
    return " + ".join(name or "none" for name in names)


def section(family: str, found: Sequence[Difference], cases: int) -> Iterator[str]:
    """A family's table: the first cases of each reason in full, then the names of the others."""
    differing = len({it.sample.id for it in found})
    yield f"## {family}\n"
    yield f"<details><summary>{differing} of {cases} cases differ</summary>\n"
    pairs = sorted({pair(known_names(it.sample)) for it in found})
    yield f"vLLM's parsers (reasoning + tool): {', '.join(pairs)}.\n"
    yield "| case | mode | vLLM | ours | reason |\n|---|---|---|---|---|"
    shown: Counter[tuple[str, ...]] = Counter()
    others: dict[tuple[str, ...], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for row in rows(found):
        shown[row.reasons] += 1
        if shown[row.reasons] > SHOWN:
            others[row.reasons][row.case].append(row.mode)
        else:
            yield f"| {row.case} | {row.mode} | {row.theirs} | {row.ours} | {', '.join(row.reasons)} |"
    yield ""
    for reasons, names in others.items():
        listed = ", ".join(f"{case} ({all_or(modes)})" for case, modes in names.items())
        yield f"Also *{', '.join(reasons)}*: {listed}.\n"
    yield "</details>\n"


def summary(found: Sequence[Difference], cases: int) -> Iterator[str]:
    """What a reader needs who replaces the old parser."""
    ids = {it.sample.id for it in found}
    by_reason: dict[str, set[str]] = defaultdict(set)
    for it in found:
        for name in why(it):
            by_reason[name].add(it.sample.id)
    streamed = {it.sample.id for it in found if it.whole_agrees}
    yield f"""# Differences from vLLM

For who replaces vLLM's parsers with these: where the result changes, and why. Made by `make differences`,
which gives every case of `tests/corpus/` to the parsers of vLLM {vllm.__version__}, composed as its chat
server composes them, and to ours: as a whole output, token by token, and in one delta. The text has the
special tokens, and the ids come with it. The expected results of the corpus were written by hand from
descriptions of the formats, and the tests hold ours to them in every mode.

Of {cases} cases that vLLM has a parser for, {len(ids)} come out otherwise in some mode, {len(streamed)} of
them only when streamed. Many cases are there because they are hard: the numbers say nothing of everyday
outputs. A whole output in one delta is what a server sends that decodes many tokens at a time.

What to expect after the change:

- Texts lose the white space that belongs to the template, and nothing else: text between and behind calls
  is there, line breaks at the border of reasoning or before a call are not.
- There are more calls: those in unusual spelling, with look-alikes in their strings, or streamed in large
  deltas. There are fewer where the token limit cut one off: look at the finish reason.
- Arguments are always JSON, and typed by the tools' schemas.
- A stream adds up to the result of the whole output.

Not counted: None for an empty text, the ids of calls, another spelling of the same JSON, and in an output
that the token limit cut off, calls without their end.

| kind | vLLM | here | cases |
|---|---|---|---|"""
    for reason in REASONS:
        if by_reason[reason.name]:
            yield f"| {reason.name} | {reason.vllm} | {reason.ours} | {len(by_reason[reason.name])} |"
    yield """
In the tables *mode* says in which of the three the result is the one shown (*all*: in all three). Only the
parts that differ are shown, long ones from where they begin to. Arguments are shown with sorted keys. A case
is a line of the corpus file of its family; its `note` says what it is there for.
"""


def names_that_vllm_lacks(samples: Sequence[Sample]) -> Iterator[str]:
    """The corpus's names that vLLM does not register, by flag: what has nothing to be compared with."""
    reasoning, tool = vllm_names("reasoning"), vllm_names("tool")
    asked = {flag: {getattr(sample, f"{flag}_name") for sample in samples} - {None} for flag in MANAGERS}
    listed = {
        "no parser named": (asked["reasoning"] | asked["tool"]) - reasoning - tool,
        "only a tool parser named": (asked["reasoning"] - reasoning) & tool,
        "only a reasoning parser named": (asked["tool"] - tool) & reasoning,
    }
    for what, names in listed.items():
        if names:
            yield f"- vLLM has {what} {', '.join(map(code, sorted(names)))}."


def page(samples: Sequence[Sample]) -> Iterator[str]:
    """The page's lines, or blocks of them."""
    found: dict[str, list[Difference]] = defaultdict(list)
    compared: Counter[str] = Counter()
    refused: set[str] = set()
    for sample in samples:
        names = known_names(sample)
        if not any(names):
            continue
        case = Case(sample)
        if refusal := case.refusal():
            refused.add(f"{pair(names)} ({refusal})")
            continue
        compared[sample.family] += 1
        found[sample.family] += case.differences()
    yield from summary([it for family in compared for it in found[family]], compared.total())
    yield from names_that_vllm_lacks(samples)
    if refused:
        yield (
            "- Not compared, since vLLM's parsers do not run without another library or a real vocabulary: "
            f"{', '.join(sorted(refused))}."
        )
    yield (
        "- Compared as a whole output only, since vLLM's code has ids of the model's vocabulary: "
        f"{', '.join(map(code, sorted(ONLY_WHOLE)))}."
    )
    same = sorted(family for family in compared if not found[family])
    if same:
        yield f"- No differences: {', '.join(same)}."
    yield ""
    for family in sorted(compared):
        if found[family]:
            yield from section(family, found[family], compared[family])


def main() -> None:
    logging.disable(logging.CRITICAL)  # vLLM's parsers log what they cannot read
    PAGE.write_text("\n".join(page(load())).rstrip() + "\n", "utf-8")


if __name__ == "__main__":
    main()
