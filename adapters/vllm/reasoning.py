"""The reasoning half of vLLM's two-parser composition."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

from vllm.entrypoints.generate.base.protocol import DeltaMessage
from vllm.parser.engine.adapters import ParserEngineReasoningAdapter
from vllm.reasoning import ReasoningParser

from unified_parser.events import ContentText, Event, ReasoningText
from unified_parser.message import Message, MessageBuilder
from unified_parser.parser import Phase, UnifiedParser
from unified_parser.start import decode
from unified_parser.token_level import ReasoningCount, ReasoningCountOfText
from unified_parser.tokens import Tokenizer

from .compat import ReasoningEnd
from .deltas import delta_message
from .requests import build_parser, keep_special_tokens
from .structural_tags import is_constrained_from_start

#: How many ids a character may be spread over.
_IDS_OF_A_CHARACTER = 8


class ReasoningAdapter(ParserEngineReasoningAdapter):
    """A family's parser as a vLLM reasoning parser; a subclass names the family's ``parser_class``.

    It reads an output up to the end of its reasoning and hands everything behind it on as it was written,
    tool markup included. It subclasses vLLM's engine adapter because the engine core asks only such a class
    whether the token that ends reasoning is content already; there is no engine in it, so every member that
    would forward to one is overridden.

    One instance serves one request: a stream, whole outputs, and questions about token ids, in any order and
    without touching each other.
    """

    parser_class: ClassVar[type[UnifiedParser]]
    engine_based_streaming = True

    def __init__(self, tokenizer: Any, *args: Any, **kwargs: Any) -> None:
        ReasoningParser.__init__(self, tokenizer, *args, **kwargs)
        self._template_kwargs: Mapping[str, Any] = kwargs.get("chat_template_kwargs") or {}
        self._prompt: Sequence[int] | None = None
        self._prompt_settled = False
        self._stream: UnifiedParser | None = None
        self._ids: list[int] = []  # of the stream, up to the step in which reasoning ends
        self._text_behind = ""  # the content of that step
        #: Are the ids to be counted those of one stream?
        self.streams = False
        self._count: ReasoningCount | ReasoningCountOfText | None = None
        self._counted = 0
        #: Answers questions about any ids: it knows no prompt. Made here for the server's check at start-up.
        self._token_level = self._new_parser(None)
        #: The server asks where reasoning ends to know where its grammar begins.
        self._constrained_from_start = is_constrained_from_start(self._token_level.format_in_use)

    def _new_parser(
        self, prompt: Sequence[int] | None, phase: Phase = "reasoning", tools: Iterable[Any] | None = None
    ) -> UnifiedParser:
        return build_parser(
            self.parser_class,
            self.model_tokenizer,
            tools,
            chat_template_kwargs=self._template_kwargs,
            prompt_token_ids=prompt,
            phase=phase,
        )

    @cached_property
    def _parser(self) -> UnifiedParser:
        """Counts. Made anew when the prompt becomes known."""
        return self._new_parser(self._prompt)

    # The prompt. vLLM hands it over from 0.33 on, before that only to streams. But in all versions the first
    # thing a chat request asks is whether its prompt has ended the reasoning: those ids are the prompt.

    def set_prompt_token_ids(self, prompt_token_ids: Sequence[int]) -> None:
        self._prompt_settled = True
        self._prompt = prompt_token_ids
        self.__dict__.pop("_parser", None)

    def adjust_initial_state_from_prompt(self, prompt_token_ids: Sequence[int]) -> None:
        self.set_prompt_token_ids(prompt_token_ids)

    # Questions about token ids

    def is_reasoning_end(self, input_ids: Sequence[int]) -> bool:
        if not self._prompt_settled:
            self.set_prompt_token_ids(input_ids)
        return self._constrained_from_start or self._token_level.is_reasoning_end(input_ids)

    def is_reasoning_end_streaming(self, input_ids: Sequence[int], delta_ids: Iterable[int]) -> bool:
        if self._constrained_from_start:
            return True
        return self._token_level.is_reasoning_end_streaming(input_ids, list(delta_ids))

    def find_reasoning_end(self, token_ids: Sequence[int]) -> Any:
        end = self._token_level.find_reasoning_end(token_ids)
        return None if end is None else ReasoningEnd(*end)

    def find_reasoning_end_offset(self, token_ids: Sequence[int]) -> int | None:
        end = self._token_level.find_reasoning_end(token_ids)
        return None if end is None else end[0]

    def extract_content_ids(self, input_ids: list[int]) -> list[int]:
        """The ids of content among these; for a stream whose reasoning is over, those of the text handed on.

        These are found by that text: the token that ends reasoning may be missing, or hold more than the end.
        """
        if not self.has_engine_confirmed_reasoning_end():
            return self._token_level.content_ids(input_ids)
        return _last_that_spell(self._text_behind, self._ids, self._token_level.tokenizer)

    def count_reasoning_tokens(self, token_ids: Sequence[int]) -> int:
        """The reasoning tokens among the ids of an output; of a stream, all its ids so far.

        A stream is asked again and again, with continuous usage at each step: only what is new is counted.
        """
        if not self.streams:
            return self._parser.count_reasoning_tokens(token_ids)
        if self._count is None or len(token_ids) < self._counted:
            self._count, self._counted = self._parser.reasoning_count(), 0
        total = self._count.add(token_ids[self._counted :])
        self._counted = len(token_ids)
        return total

    @property
    def reasoning_start_str(self) -> str | None:
        return self._token_level.reasoning_start_str

    @property
    def reasoning_end_str(self) -> str | None:
        return self._token_level.reasoning_end_str

    @property
    def reasoning_end_token_ids(self) -> frozenset[int]:
        """Every id that ends reasoning, implicitly too; empty where the explicit end is no single token."""
        explicit = self._token_level.reasoning_end_token_ids
        return explicit | self._token_level.implicit_reasoning_end_token_ids if explicit else explicit

    @property
    def implicit_reasoning_end_token_ids(self) -> frozenset[int]:
        return self._token_level.implicit_reasoning_end_token_ids

    # Whole outputs

    def adjust_request(self, request: Any) -> Any:
        return keep_special_tokens(request) if self._token_level.needs_special_tokens else request

    def extract_reasoning(self, model_output: str, request: Any) -> tuple[str | None, str | None]:
        """All the reasoning of the output, and what is behind the first of it without the text of the rest.

        vLLM has no place for reasoning that a tool parser finds in a whole output, so none is left for it.
        """
        self._prompt_settled, self.streams = True, False
        events = _read(self._new_parser(self._prompt), model_output)
        first = _message(events)
        behind = next((event.start for event in events if isinstance(event, ContentText)), None)
        tools = getattr(request, "tools", None)
        events = _read(self._new_parser(self._prompt, "whole", tools), model_output)
        if first.content is None or behind is None or not first.content.strip():
            return first.reasoning, _message(events).content  # a family may require that there is some
        later = [event for event in events if isinstance(event, ReasoningText) and event.start >= behind]
        if not later:
            return first.reasoning, first.content
        reasoning = (first.reasoning or "") + "".join(event.text for event in later)
        return reasoning, _without(model_output, later, behind)

    # Streams

    def extract_reasoning_streaming(
        self,
        previous_text: str,
        current_text: str,
        delta_text: str,
        previous_token_ids: Sequence[int],
        current_token_ids: Sequence[int],
        delta_token_ids: Sequence[int],
    ) -> DeltaMessage | None:
        if self._stream is None:
            self._prompt_settled = self.streams = True
            self._stream = self._new_parser(self._prompt)
        self._ids.extend(delta_token_ids)
        message = delta_message(self._stream.feed(delta_text, delta_token_ids))
        self._text_behind = (message.content if message else None) or ""
        return message

    def has_engine_confirmed_reasoning_end(self) -> bool:
        """Whether the stream is past its reasoning, and past the white space that belongs to its end."""
        return self._stream is not None and self._stream.reasoning_settled

    def finish_streaming(self) -> DeltaMessage | None:
        return None if self._stream is None else delta_message(self._stream.finish())

    def get_streaming_fallback_content(self, text: str, request: Any) -> str | None:
        """Nothing: a stream that never left its reasoning is reasoning."""
        return None


def _read(parser: UnifiedParser, text: str) -> list[Event]:
    """The events of a whole output."""
    return [*parser.feed(text), *parser.finish()]


def _message(events: Iterable[Event]) -> Message:
    builder = MessageBuilder()
    builder.add(events)
    return builder.build()


def _without(text: str, events: Iterable[Event], start: int) -> str:
    """The text from ``start`` on, without what the events come from."""
    kept: list[str] = []
    for event in events:
        kept.append(text[start : event.start])
        start = event.end
    return "".join([*kept, text[start:]])


def _last_that_spell(text: str, ids: list[int], tokenizer: Tokenizer | None) -> list[int]:
    """The last ids whose text this is, or ends with this where a token holds more; none if there are no such.

    A character whose last bytes are still to come is in ids but not in the text; so may be its first bytes.
    """

    def spelled(count: int) -> str:
        return decode(tokenizer, ids[len(ids) - count :]).rstrip("\ufffd")

    counts = range(len(ids) + 1)
    fewest = bisect_left(counts, len(text), key=lambda count: len(spelled(count).lstrip("\ufffd")))
    near = counts[fewest : fewest + _IDS_OF_A_CHARACTER]
    exact = [count for count in near if spelled(count) == text]
    longer = [count for count in near if spelled(count).endswith(text)]
    count = exact[-1] if exact else longer[0] if longer else 0
    return ids[len(ids) - count :]
