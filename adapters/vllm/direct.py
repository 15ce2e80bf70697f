"""One parser for the whole response, in place of vLLM's composition of two.

vLLM's serving layer talks to a ``Parser``; the usual one hands each delta from a reasoning parser on to a
tool parser. ``DirectParser`` answers the same calls with one parser of the family, fed with text and token
ids: no hand-over, no second look at the text, literal markers and interleaved blocks exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from vllm.entrypoints.generate.base.protocol import DeltaMessage, FunctionCall
from vllm.parser.abstract_parser import DelegatingParser

from unified_parser.events import Event
from unified_parser.message import MessageBuilder
from unified_parser.parser import UnifiedParser

from .deltas import delta_message
from .forced_json import schema_forced
from .reasoning import ReasoningAdapter
from .watched import Parsed, WatchedParser, one_parser

Feed: TypeAlias = Callable[[str, Sequence[int]], list[Event]]


class DirectParser(WatchedParser):
    """A vLLM ``Parser`` around one ``UnifiedParser``; a subclass names the adapter classes.

    It has the two adapters as well: they adjust the request, answer the questions about ids, and read what a
    JSON schema forced in place of the family's own calls.

    One instance serves one stream, and any number of whole outputs, without touching each other.
    """

    _made = False

    def __init__(self, tokenizer: Any, tools: list[Any] | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(tokenizer, tools, *args, **kwargs)
        self._made = True
        self._stream: UnifiedParser | None = None
        self._feed: Feed | None = None
        self._hides_reasoning = self._hides_calls = self._hides = False

    @property
    def reasoning_parser(self) -> Any:
        """The adapter; none yet while a base is made that insists on vLLM's own halves."""
        return self._reasoning_parser if self._made else None

    @property
    def tool_parser(self) -> Any:
        """The adapter, as above."""
        return self._tool_parser if self._made else None

    # The prompt. vLLM 0.30 tells a whole output's parser nothing of it but asks whether it ended reasoning.

    def set_prompt_token_ids(self, prompt_token_ids: Sequence[int]) -> None:
        self._prompt = prompt_token_ids
        if isinstance(self._reasoning_parser, ReasoningAdapter):
            self._reasoning_parser.set_prompt_token_ids(prompt_token_ids)

    def is_reasoning_end(self, input_ids: list[int]) -> bool:
        if self._prompt is None:
            self.set_prompt_token_ids(input_ids)
        return bool(super().is_reasoning_end(input_ids))

    def _counts_for(self, *, stream: bool) -> None:
        """Says what the ids are whose reasoning tokens will be counted."""
        if isinstance(self._reasoning_parser, ReasoningAdapter):
            self._reasoning_parser.streams = stream

    def parse(
        self,
        model_output: str,
        request: Any,
        enable_auto_tools: bool = False,
        model_output_token_ids: Sequence[int] = (),
    ) -> Parsed:
        if schema_forced(request):
            parsed: Parsed = super().parse(model_output, request, enable_auto_tools, model_output_token_ids)
            return parsed
        self._counts_for(stream=False)
        parser = self._new_parser(request)
        events, last = parser.feed(model_output, model_output_token_ids or ()), parser.finish()
        watch = self._begin_watch(request, parser, streamed=False, direct=True)
        if watch is not None:
            watch.step(model_output, model_output_token_ids or (), events)
            watch.end(last)
        builder = MessageBuilder()
        builder.add([*events, *last])
        message = builder.build()
        calls = [
            FunctionCall(id=call.id, name=call.name, arguments=call.arguments) for call in message.tool_calls
        ]
        return message.reasoning, message.content, None if _hides_calls(request) else calls or None

    def parse_delta(
        self,
        delta_text: str,
        delta_token_ids: list[int],
        request: Any,
        prompt_token_ids: list[int] | None = None,
        *,
        finished: bool,
    ) -> DeltaMessage | None:
        feed = self._feed
        if feed is None:
            if schema_forced(request):
                return super().parse_delta(
                    delta_text, delta_token_ids, request, prompt_token_ids, finished=finished
                )
            feed = self._begin(request, prompt_token_ids)
        events = feed(delta_text, delta_token_ids)
        if self._watch is not None:
            self._watch.step(delta_text, delta_token_ids, events)
        if finished:
            events = [*events, *self._finish()]
        message = delta_message(events)
        return message if message is None or not self._hides else self._visible(message)

    def _begin(self, request: Any, prompt: Sequence[int] | None) -> Feed:
        """Makes the stream's parser, now that the request and the prompt are known."""
        if prompt is not None and self._prompt is None:
            self.set_prompt_token_ids(prompt)
        self._counts_for(stream=True)
        self._streams = True
        self._stream = self._new_parser(request)
        self._watch = self._begin_watch(request, self._stream, streamed=True, direct=True)
        self._stream.feed("")  # from here on ``feed`` is that of the walk itself
        self._feed = self._stream.feed
        self._hides_reasoning = not getattr(request, "include_reasoning", True)
        self._hides_calls = _hides_calls(request)
        self._hides = self._hides_reasoning or self._hides_calls
        return self._feed

    def _finish(self) -> list[Event]:
        """The events of the stream's end."""
        assert self._stream is not None
        events = self._stream.finish()
        watch, self._watch = self._watch, None
        if watch is not None:
            watch.end(events)
        return events

    def _visible(self, message: DeltaMessage) -> DeltaMessage | None:
        """What the request wants to see of a message."""
        if self._hides_reasoning and message.reasoning:
            message.reasoning = None
        if self._hides_calls and message.tool_calls:
            message.tool_calls = []
        return message if message.reasoning or message.content or message.tool_calls else None


def _hides_calls(request: Any) -> bool:
    return getattr(request, "tool_choice", None) == "none"


def direct_parser(composed: type[DelegatingParser]) -> type[DirectParser]:
    """The direct parser in place of a composition of our adapters, one of which may be missing.

    It subclasses the composition, so that what vLLM has set on it, or adds to it for a model type, stays.
    """
    members = {"__module__": __name__, **one_parser(composed)}
    name = f"Direct{members['parser_class'].__name__}"
    return type(name, (DirectParser, composed), members)
