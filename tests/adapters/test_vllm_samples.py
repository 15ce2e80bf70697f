"""Every sample through the direct parser and through vLLM's composition of the two adapters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from support.cuts import CUTS, Output, text_only
from support.fold import Folded
from support.parsing import family_tokenizer
from support.samples import Sample, load

pytest.importorskip("vllm")

from vllm_driver import (
    asked_kwargs,
    chat_request,
    compose,
    compose_adapters,
    fold_messages,
    parse_whole,
    stream,
    template_kwargs,
)

#: Cuts that come with ids, and those whose text comes alone.
STREAM_CUTS = ("whole", "tokens", "some-tokens-1", "some-tokens-2")
TEXT_CUTS = ("characters-1",)

NESTED = "the tool half is not told that the text around a call inside reasoning is reasoning"
NO_REASON = "no parser of a whole output is told that the token limit ended it"
OTHER_FAMILY = "the tool half does not know the framing, strays and spellings of the other half's family"
NO_TOOL_HALF = "without a tool half nothing reads the text behind reasoning"
NO_PROMPT = "the tool half is not told the prompt, which opened a region of content"
APART = "reasoning that comes later is stripped by itself"
NOT_SAID_AGAIN = "the tool half does not know the reasoning that is to be the content"

#: What two parsers in series cannot get right: the modes that contain a word (all: ""), and why. Whole texts
#: of samples with literal markers are not among them: their ids tell, and vLLM drops those.
INEXACT = {
    "beam/golden-truncated-between-parameters": ("parsed", NO_REASON),
    "granite/golden-42-content-required": ("streamed", NOT_SAID_AGAIN),
    "hf/golden-regions-prompt-opens-content": ("", NO_PROMPT),
    "hf/golden-two-thoughts": ("streamed", APART),
    "hf/golden-xml-truncated": ("parsed", NO_REASON),
    "internlm/golden-s1-action-inside-the-thought": ("", NESTED),
    "internlm/golden-s1-unclosed-action-in-the-thought": ("", NESTED),
    "minicpm/golden-v-content-between-calls": ("", OTHER_FAMILY),
    "minicpm/v-reasoning-and-recovered-newlines": ("", NO_TOOL_HALF),
    "minicpm/v-thinking-off": ("", NO_TOOL_HALF),
    "minicpm/v-with-xml-call": ("", OTHER_FAMILY),
    "minimax_m2/append-think-puts-all-in-content": ("", OTHER_FAMILY),
    "minimax_m2/append-think-with-call": ("", OTHER_FAMILY),
    "nemotron_v3/content-then-parallel": ("", OTHER_FAMILY),
    "nemotron_v3/golden-content-required-blank": ("streamed", NOT_SAID_AGAIN),
    "nemotron_v3/golden-with-the-coders-calls": ("", OTHER_FAMILY),
    "nemotron_v3/thinking-off-but-reasons": ("", OTHER_FAMILY),
    "sglang_only/golden-trinity-calls-in-a-thought": ("streamed", NESTED),
    "sglang_only/trinity-call-inside-think": ("", NESTED),
}


Compose = Callable[..., type[Any]]


#: What one parser cannot get right either.
INEXACT_DIRECT = {sample: (mode, why) for sample, (mode, why) in INEXACT.items() if why == NO_REASON}


@dataclass(frozen=True)
class Served:
    """A sample as a server has it: the request, the ids of prompt and output, what makes its parser."""

    sample: Sample
    output: Output
    prompt: Sequence[int]
    request: Any
    make_parser: Callable[[], Any]

    @staticmethod
    def of(sample: Sample, compose: Compose) -> Served:
        tokenizer = family_tokenizer(
            sample.parser_name,
            sample.partner,
            sample.prompt_tail,
            sample.absent_markers,
            sample.response_template,
        )
        request = chat_request(sample.tools, chat_template_kwargs=asked_kwargs(sample))
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
    """Without calls that ended incomplete, or with the output: clients have seen their beginning."""
    message = streamed.complete()
    known = len(sample.expected.calls)
    if sample.truncated and len(streamed.calls) == known + 1:
        message.calls = message.calls[:known]
    return message


def _by_mode(served: Served, *, whole_has_ids: bool) -> dict[str, Folded]:
    """The sample's message in every mode.

    The last two come from one instance: Responses of 0.30 parse the whole output with the parser that
    streamed it, and n > 1 parses several with one.
    """
    literal = served.sample.literal  # only ids tell
    cuts = STREAM_CUTS if literal else STREAM_CUTS + TEXT_CUTS
    found = {f"streamed: {cut}": served.streamed(served.make_parser(), cut) for cut in cuts}
    parser = served.make_parser()
    whole = served.whole(parser)
    found["streamed by one that has parsed"] = served.streamed(parser, "tokens")
    again = served.whole(parser)
    known = whole_has_ids or not literal
    return found | {"parsed": whole, "parsed by one that has streamed": again} if known else found


def _wrong(sample: Sample, found: dict[str, Folded], inexact: dict[str, tuple[str, str]]) -> dict[str, Any]:
    """The modes whose message is not the expected one, without those that cannot be exact."""
    expected = sample.expected.spelled()
    spelled = {mode: message.spelled() for mode, message in found.items()}
    wrong = {mode: message for mode, message in spelled.items() if message != expected}
    if sample.id in inexact:
        modes, why = inexact[sample.id]
        assert any(modes in mode for mode in wrong), f"exact after all: take it off the list ({why})"
        wrong = {mode: message for mode, message in wrong.items() if modes not in mode}
    return wrong


SAMPLES = [pytest.param(sample, id=sample.id) for sample in load()]


@pytest.mark.parametrize("sample", SAMPLES)
def test_sample_through_the_adapters(sample: Sample) -> None:
    served = Served.of(sample, lambda reasoning, tool, _: compose_adapters(reasoning, tool))
    wrong = _wrong(sample, _by_mode(served, whole_has_ids=False), INEXACT)
    assert wrong == {}, f"{sample.expected.spelled()} is right: {sample.note}"


@pytest.mark.parametrize("sample", SAMPLES)
def test_sample_directly(sample: Sample) -> None:
    wrong = _wrong(sample, _by_mode(Served.of(sample, compose), whole_has_ids=True), INEXACT_DIRECT)
    assert wrong == {}, f"{sample.expected.spelled()} is right: {sample.note}"
