"""vLLM's composition of a reasoning and a tool parser, one of them ours at least, and watched."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, ClassVar, TypeAlias

from vllm.entrypoints.generate.base.protocol import DeltaMessage, FunctionCall
from vllm.parser.abstract_parser import DelegatingParser

from unified_parser.events import (
    ContentText,
    Event,
    ReasoningText,
    ToolCallArguments,
    ToolCallEnd,
    ToolCallStart,
)
from unified_parser.parser import Phase, UnifiedParser
from unified_parser.registry import pair
from unified_parser.variants import without_reasoning

from .requests import build_parser
from .watch import MANY, Subject, Watch, watch

Parsed: TypeAlias = tuple[str | None, str | None, list[FunctionCall] | None]


class WatchedParser(DelegatingParser):
    """A vLLM ``Parser`` of two adapters, every response of which is watched (``watch``).

    It does what the composition does: what is noted of a response is derived from what is sent. A subclass
    names the composition as a further base, and the one parser that could read its responses.
    """

    parser_class: ClassVar[type[UnifiedParser]]
    phase: ClassVar[Phase] = "whole"
    reads_calls: ClassVar[bool] = True
    families: ClassVar[tuple[str | None, str | None]] = (None, None)  # of reasoning, of calls
    all_ours: ClassVar[bool] = True

    def __init__(self, tokenizer: Any, tools: list[Any] | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(tokenizer, tools, *args, **kwargs)
        self._offered = tools
        self._template_kwargs = kwargs.get("chat_template_kwargs") or {}
        self._prompt: Sequence[int] | None = None
        self._model = _first(getattr(kwargs.get("model_config"), "served_model_name", None))
        self._streams = False
        self._watch: Watch | None = None
        self._sent = SentEvents()

    # The prompt, which only the record asks for. vLLM 0.30 tells a whole output's parser nothing of it but
    # asks whether it ended reasoning.

    def set_prompt_token_ids(self, prompt_token_ids: Sequence[int]) -> None:
        self._prompt = prompt_token_ids
        hand_on = getattr(super(), "set_prompt_token_ids", None)  # from 0.32 on
        if hand_on is not None:
            hand_on(prompt_token_ids)

    def is_reasoning_end(self, input_ids: list[int]) -> bool:
        if self._prompt is None:
            self._prompt = input_ids
        return bool(super().is_reasoning_end(input_ids))

    def _new_parser(self, request: Any) -> UnifiedParser:
        """One parser for the whole response."""
        return build_parser(
            self.parser_class,
            self.model_tokenizer,
            self._offered or getattr(request, "tools", None),
            chat_template_kwargs=self._template_kwargs,
            prompt_token_ids=self._prompt,
            phase=self.phase,
            calls=self.reads_calls,
        )

    def _begin_watch(
        self, request: Any, parser: UnifiedParser, *, streamed: bool, direct: bool = False
    ) -> Watch | None:
        """What watches the response; ``parser`` is one that reads, or could read, it."""
        if self._streams and not streamed:  # vLLM 0.30 may parse again what it has streamed
            return None
        subject = Subject(*self.families, direct, streamed, self._model, self._offered, request, parser)
        return watch(subject, recordable=self.all_ours)

    def parse(
        self,
        model_output: str,
        request: Any,
        enable_auto_tools: bool = False,
        model_output_token_ids: Sequence[int] = (),
    ) -> Parsed:
        parsed: Parsed = super().parse(model_output, request, enable_auto_tools, model_output_token_ids)
        # vLLM 0.30 may parse again what it has streamed.
        watch = (
            None if self._streams else self._begin_watch(request, self._new_parser(request), streamed=False)
        )
        if watch is not None:
            sent = SentEvents()
            watch.step(model_output, model_output_token_ids or (), sent.of_whole(parsed))
            watch.end(sent.end())
        return parsed

    def parse_delta(
        self,
        delta_text: str,
        delta_token_ids: list[int],
        request: Any,
        prompt_token_ids: list[int] | None = None,
        *,
        finished: bool,
    ) -> DeltaMessage | None:
        message: DeltaMessage | None = super().parse_delta(
            delta_text, delta_token_ids, request, prompt_token_ids, finished=finished
        )
        if not self._streams:
            self._streams = True
            if self._prompt is None:
                self._prompt = prompt_token_ids
            self._watch = self._begin_watch(request, self._new_parser(request), streamed=True)
        if self._watch is not None:
            events = self._sent.take(message)
            self._watch.step(
                delta_text, delta_token_ids, [*events, *self._sent.rest()] if finished else events
            )
            if finished:
                self._watch.end(self._sent.end())
                self._watch = None
        return message


class SentEvents:
    """The events that would have made the messages of one response; where they stood is not known.

    The messages of a stream are looked at many at a time. A call is over where the next one begins, or with
    the response. It is complete if its arguments are an object.
    """

    def __init__(self) -> None:
        self._open: int | None = None
        self._arguments: list[str] = []
        self._unread: list[DeltaMessage] = []

    def take(self, message: DeltaMessage | None) -> list[Event]:
        """Takes a streamed message; returns the events of many, or none yet."""
        if message is None:
            return []
        self._unread.append(message)
        return self.rest() if len(self._unread) >= MANY else []

    def rest(self) -> list[Event]:
        """The events of the messages that have been taken: their texts, then their calls."""
        unread, self._unread = self._unread, []
        reasoning = [message.reasoning for message in unread if message.reasoning]
        content = [message.content for message in unread if message.content]
        events = _texts("".join(reasoning), "".join(content))
        for message in unread:
            if message.tool_calls:
                events += self._of_calls(message)
        return events

    def _of_calls(self, message: DeltaMessage) -> list[Event]:
        events: list[Event] = []
        for call in message.tool_calls:
            function = call.function
            if function is not None and function.name:
                events += self._begin(call.index, call.id, function.name)
            if function is not None and function.arguments:
                self._arguments.append(function.arguments)
                events.append(ToolCallArguments(call.index, function.arguments, 0, 0))
        return events

    def of_whole(self, parsed: Parsed) -> list[Event]:
        """The events of a whole message."""
        reasoning, content, calls = parsed
        events = _texts(reasoning, content)
        for index, call in enumerate(calls or ()):
            events += self._begin(index, call.id, call.name)
            self._arguments.append(call.arguments)
            events.append(ToolCallArguments(index, call.arguments, 0, 0))
        return events

    def end(self) -> list[Event]:
        """The end of the open call."""
        if self._open is None:
            return []
        end = ToolCallEnd(self._open, _is_object("".join(self._arguments)), 0, 0)
        self._open = None
        self._arguments.clear()
        return [end]

    def _begin(self, index: int, call_id: str | None, name: str) -> list[Event]:
        events = [*self.end(), ToolCallStart(index, call_id or "", name, 0, 0)]
        self._open = index
        return events


def _texts(reasoning: str | None, content: str | None) -> list[Event]:
    events: list[Event] = []
    if reasoning:
        events.append(ReasoningText(reasoning, 0, 0))
    if content:
        events.append(ContentText(content, 0, 0))
    return events


def _is_object(arguments: str) -> bool:
    try:
        return isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        return False


def _first(names: Any) -> str:
    """The name that a model is served by; vLLM may have several."""
    return names if isinstance(names, str) else next(iter(names or ()), "")


def one_parser(composed: type[DelegatingParser]) -> dict[str, Any]:
    """The class attributes that say which one parser reads what the composition's halves read of ours."""
    reasoning = getattr(composed.reasoning_parser_cls, "parser_class", None)
    tools = getattr(composed.tool_parser_cls, "parser_class", None)
    halves = ((composed.reasoning_parser_cls, reasoning), (composed.tool_parser_cls, tools))
    members: dict[str, Any] = {
        "families": (reasoning and reasoning.names[0], tools and tools.names[0]),
        "all_ours": all(half is None or ours for half, ours in halves),
    }
    if reasoning and tools:
        return members | {"parser_class": pair(reasoning, tools)}
    if reasoning:
        return members | {"parser_class": reasoning, "reads_calls": False}
    assert tools is not None
    return members | {"parser_class": without_reasoning(tools), "phase": "answer"}


def watched_parser(composed: type[DelegatingParser]) -> type[WatchedParser]:
    """The composition, watched. At least one half is ours."""
    members = {"__module__": __name__, **one_parser(composed)}
    return type(f"Watched{composed.__name__}", (WatchedParser, composed), members)
