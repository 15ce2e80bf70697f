"""The reasoning half of vLLM's two-parser composition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

from vllm.entrypoints.generate.base.protocol import DeltaMessage
from vllm.parser.engine.adapters import ParserEngineReasoningAdapter
from vllm.reasoning import ReasoningParser

from unified_parser.parser import UnifiedParser
from unified_parser.start import decode
from unified_parser.tokens import Tokenizer

from .compat import ReasoningEnd
from .deltas import delta_message
from .requests import build_parser, keep_special_tokens


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
        self._end_seen = False  # the id that ends reasoning, in the stream
        self._ids_behind: list[int] = []  # the stream's ids from there on
        self._text_behind = ""  # the last step's text behind the reasoning

    def _new_parser(self, prompt: Sequence[int] | None) -> UnifiedParser:
        return build_parser(
            self.parser_class,
            self.model_tokenizer,
            chat_template_kwargs=self._template_kwargs,
            prompt_token_ids=prompt,
            phase="reasoning",
        )

    @cached_property
    def _parser(self) -> UnifiedParser:
        """Reads whole outputs and counts. Made anew when the prompt becomes known."""
        return self._new_parser(self._prompt)

    @cached_property
    def _token_level(self) -> UnifiedParser:
        """Answers questions about any ids: it knows no prompt."""
        return self._new_parser(None)

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
        return self._token_level.is_reasoning_end(input_ids)

    def is_reasoning_end_streaming(self, input_ids: Sequence[int], delta_ids: Iterable[int]) -> bool:
        return self._token_level.is_reasoning_end_streaming(input_ids, list(delta_ids))

    def find_reasoning_end(self, token_ids: Sequence[int]) -> Any:
        end = self._token_level.find_reasoning_end(token_ids)
        return None if end is None else ReasoningEnd(*end)

    def find_reasoning_end_offset(self, token_ids: Sequence[int]) -> int | None:
        end = self._token_level.find_reasoning_end(token_ids)
        return None if end is None else end[0]

    def extract_content_ids(self, input_ids: list[int]) -> list[int]:
        """The ids of content among these; for a stream whose reasoning is over, those of the text handed on.

        Where no single token ends reasoning they are the last ids that spell that text; without any the next
        parser goes by the text.
        """
        if not self.has_engine_confirmed_reasoning_end():
            return self._token_level.content_ids(input_ids)
        if self._token_level.reasoning_end_token_ids:
            return self._ids_behind
        return _last_that_spell(self._text_behind, self._ids_behind, self._token_level.tokenizer)

    def count_reasoning_tokens(self, token_ids: Sequence[int]) -> int:
        return self._parser.count_reasoning_tokens(token_ids)

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
        self._prompt_settled = True
        message = self._parser.parse(model_output)
        return message.reasoning, message.content

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
            self._prompt_settled = True
            self._stream = self._new_parser(self._prompt)
        self._follow_ids(self._stream, delta_token_ids)
        message = delta_message(self._stream.feed(delta_text, delta_token_ids))
        self._text_behind = (message.content if message else None) or ""
        return message

    def _follow_ids(self, stream: UnifiedParser, ids: Sequence[int]) -> None:
        """Keeps the ids from the end of reasoning on; all of them as long as there is no end."""
        end = None if self._end_seen else stream.find_reasoning_end(ids)
        if end is None:
            self._ids_behind.extend(ids)
        else:
            self._end_seen = True
            self._ids_behind = list(ids[end.offset + (not end.implicit) :])

    def has_engine_confirmed_reasoning_end(self) -> bool:
        """Whether the stream is past its reasoning, and past the white space that belongs to its end."""
        return self._stream is not None and self._stream.reasoning_settled

    def finish_streaming(self) -> DeltaMessage | None:
        return None if self._stream is None else delta_message(self._stream.finish())

    def get_streaming_fallback_content(self, text: str, request: Any) -> str | None:
        """Nothing: a stream that never left its reasoning is reasoning."""
        return None


def _last_that_spell(text: str, ids: list[int], tokenizer: Tokenizer | None) -> list[int]:
    """The last ids whose text this is, those of a character that is not whole yet among them; or else none."""
    found: list[int] = []
    for count in range(1, len(ids) + 1):
        last = ids[-count:]
        spelled = decode(tokenizer, last).rstrip("\ufffd")
        if spelled == text:
            found = last
        elif len(spelled) > len(text):
            break
    return found
