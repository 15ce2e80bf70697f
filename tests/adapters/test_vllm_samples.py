"""Every sample through vLLM's own composition of the two adapters, whole and streamed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
from support.cuts import CUTS, Output, text_only
from support.fold import Folded
from support.parsing import family_tokenizer
from support.samples import Sample, load

pytest.importorskip("vllm")

from vllm_driver import chat_request, compose, fold_messages, parse_whole, stream, template_kwargs

#: Cuts that come with ids, and those whose text comes alone.
STREAM_CUTS = ("whole", "tokens", "some-tokens-1", "some-tokens-2")
TEXT_CUTS = ("characters-1",)

# What two parsers in series cannot get right: the sample's id -> (in which modes, why).
INEXACT: dict[str, tuple[str, str]] = {}


@dataclass(frozen=True)
class Served:
    """A sample as a server has it: the request, the prompt's and the output's ids, and what makes its parser."""

    sample: Sample
    output: Output
    prompt: Sequence[int]
    request: Any
    make_parser: Callable[[], Any]

    @staticmethod
    def of(sample: Sample) -> Served:
        tokenizer = family_tokenizer(
            sample.parser_name, sample.partner, sample.prompt_tail, sample.absent_markers
        )
        request = chat_request(sample.tools, chat_template_kwargs=sample.chat_template_kwargs)
        parser_class = compose(sample.reasoning_name, sample.tool_name, tokenizer)
        kwargs = template_kwargs(sample)
        return Served(
            sample,
            Output.of(sample.raw, tokenizer, sample.literal),
            tokenizer.encode(sample.prompt_tail),
            request,
            lambda: parser_class(tokenizer, request.tools, chat_template_kwargs=kwargs),
        )

    def whole(self, parser: Any) -> Folded:
        return parse_whole(parser, self.request, self.output.text, self.output.ids, self.prompt)

    def streamed(self, parser: Any, cut: str) -> Folded:
        deltas = CUTS[cut](self.output)
        if cut in TEXT_CUTS:
            deltas = text_only(deltas)
        message = fold_messages(stream(parser, self.request, deltas, self.prompt))
        return _without_cut_off_call(message, self.sample)


def _without_cut_off_call(streamed: Folded, sample: Sample) -> Folded:
    """Without the call that the end of a truncated output cut off: clients have seen its beginning."""
    known = len(sample.expected.calls)
    cut_off = len(streamed.calls) - known
    if cut_off == 1 and sample.truncated:
        return Folded(streamed.reasoning, streamed.content, streamed.calls[:known])
    return streamed


def _by_mode(served: Served) -> dict[str, Folded]:
    """The sample's message in every mode.

    The last two come from one instance: Responses of 0.30 parse the whole output with the parser that
    streamed it, and n > 1 parses several with one.
    """
    found = {"parsed whole": served.whole(served.make_parser())}
    cuts = STREAM_CUTS if served.sample.literal else STREAM_CUTS + TEXT_CUTS
    for cut in cuts:
        found[f"streamed: {cut}"] = served.streamed(served.make_parser(), cut)
    parser = served.make_parser()
    served.whole(parser)
    found["streamed by one that has parsed"] = served.streamed(parser, "tokens")
    found["parsed by one that has streamed"] = served.whole(parser)
    return found


@pytest.mark.parametrize("sample", [pytest.param(sample, id=sample.id) for sample in load()])
def test_sample(sample: Sample) -> None:
    found = {mode: message.spelled() for mode, message in _by_mode(Served.of(sample)).items()}
    expected = sample.expected.spelled()
    wrong = {mode: message for mode, message in found.items() if message != expected}
    modes, why = INEXACT.get(sample.id, ("", ""))
    if modes:
        assert any(modes in mode for mode in wrong), f"exact after all: take it off the list ({why})"
        wrong = {mode: message for mode, message in wrong.items() if modes not in mode}
    assert wrong == {}, f"{expected} is right: {sample.note}"
