"""What is compared: vLLM's parsers, ours in their place in two ways, ours alone, and the floor.

A contender makes, for one stream, a ``Step``: a function of (text, ids, last?) with all its state inside. The
making is not timed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from streams import Output, Pair, Stream
from vllm.entrypoints.generate.base.protocol import DeltaFunctionCall, DeltaMessage, DeltaToolCall
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.parser.parser_manager import ParserManager

from unified_parser import create_parser

Step: TypeAlias = Callable[[str, list[int], bool], Any]
Maker: TypeAlias = Callable[[], Step]

VLLM, DIRECT, ADAPTERS, CORE, FLOOR = "vllm", "direct", "adapters", "core", "floor"
CONTENDERS = (VLLM, DIRECT, ADAPTERS, CORE, FLOOR)


class Composed(NamedTuple):
    """The classes that vLLM makes of a pair's names: without ours, and with ours in their two ways."""

    vllm: type[Any] | None
    direct: type[Any]
    adapters: type[Any]


def compose(pairs: Sequence[Pair]) -> dict[str, Composed]:
    """The classes of each pair, by its name. Leaves our parsers registered."""
    before = [_composed(pair) for pair in pairs]
    from unified_parser.adapters.vllm import register  # importing it registers
    from unified_parser.adapters.vllm.composition import VARIABLE

    register()
    direct = [_composed_with_ours(pair) for pair in pairs]
    os.environ[VARIABLE] = "0"
    adapters = [_composed_with_ours(pair) for pair in pairs]
    del os.environ[VARIABLE]
    return {
        pair.name: Composed(*classes) for pair, *classes in zip(pairs, before, direct, adapters, strict=True)
    }


def _composed(pair: Pair) -> type[Any] | None:
    names = {"reasoning_parser_name": pair.reasoning, "tool_parser_name": pair.tool}
    composed: type[Any] | None
    try:
        composed = ParserManager.get_parser(**names, enable_auto_tools=True)
    except (TypeError, ImportError):  # vLLM has no parser of that name, or not what it needs
        composed = None
    return composed


def _composed_with_ours(pair: Pair) -> type[Any]:
    composed = _composed(pair)
    assert composed is not None, f"{pair.name} is not registered"
    return composed


def composition(parser_class: type[Any], pair: Pair, stream: Stream, tokenizer: Any) -> Maker:
    """A composed parser, driven as vLLM's chat serving drives it."""
    request = ChatCompletionRequest(
        model="m",
        messages=[{"role": "user", "content": "?"}],
        tools=stream.tools,
        tool_choice="auto",
        chat_template_kwargs=pair.template_kwargs,
    )
    prompt = tokenizer.encode(pair.prompt)

    def make() -> Step:
        parse = parser_class(tokenizer, request.tools, chat_template_kwargs=pair.template_kwargs).parse_delta
        return lambda text, ids, last: parse(text, ids, request, prompt, finished=last)

    return make


def core(pair: Pair, stream: Stream, tokenizer: Any) -> Maker:
    """Our parser without vLLM."""
    prompt = tokenizer.encode(pair.prompt)
    reasoning = pair.reasoning if pair.reasoning != pair.tool else None

    def make() -> Step:
        parser = create_parser(
            pair.tool,
            reasoning=reasoning,
            tokenizer=tokenizer,
            tools=stream.tools,
            chat_template_kwargs=pair.template_kwargs,
            prompt_token_ids=prompt,
        )

        def step(text: str, ids: list[int], last: bool) -> Any:
            events = parser.feed(text, ids)
            return events + parser.finish() if last else events

        return step

    return make


def floor(messages: Sequence[Any]) -> Maker:
    """Nothing but new messages like these, one a delta."""
    builders = [_builder(message) for message in messages]

    def make() -> Step:
        waiting = iter(builders)
        return lambda text, ids, last: next(waiting)()

    return make


def _builder(message: Any) -> Callable[[], Any]:
    if message is None:
        return lambda: None
    reasoning, content, calls = message.reasoning, message.content, message.tool_calls
    if reasoning and not content and not calls:
        return lambda: DeltaMessage(reasoning=reasoning)
    if content and not reasoning and not calls:
        return lambda: DeltaMessage(content=content)
    said = {key: value for key, value in (("reasoning", reasoning), ("content", content)) if value}

    def call(old: Any) -> DeltaToolCall:
        function = old.function.arguments
        if old.id is None:
            return DeltaToolCall(index=old.index, function=DeltaFunctionCall(arguments=function))
        begun = DeltaFunctionCall(name=old.function.name, arguments=function)
        return DeltaToolCall(index=old.index, id=old.id, type="function", function=begun)

    return lambda: DeltaMessage(**said, tool_calls=[call(old) for old in calls])


# What the messages of a stream add up to


def reads_as(messages: Sequence[Any], output: Output) -> bool:
    """Do they say what the output was to say? White space around texts does not count."""
    said = [message for message in messages if message is not None]
    reasoning = "".join(message.reasoning or "" for message in said)
    content = "".join(message.content or "" for message in said)
    calls: dict[int, tuple[list[str], list[str]]] = {}
    for part in (part for message in said for part in message.tool_calls or ()):
        names, arguments = calls.setdefault(part.index, ([], []))
        names.append(part.function.name or "" if part.function else "")
        arguments.append(part.function.arguments or "" if part.function else "")
    read: list[tuple[str, Any]]
    try:
        read = [("".join(names), json.loads("".join(parts))) for names, parts in calls.values()]
    except ValueError:
        return False
    return (
        reasoning.strip() == output.reasoning.strip()
        and content.strip() == output.content.strip()
        and [name for name, _ in read] == [call.name for call in output.calls]
        and all(
            _same_arguments(value, call.arguments)
            for (_, value), call in zip(read, output.calls, strict=True)
        )
    )


def _same_arguments(value: Any, meant: Sequence[tuple[str, Any]]) -> bool:
    """Of a repeated key any value will do: parsers differ."""
    keys = [key for key, _ in meant]
    return set(value) == set(keys) and (len(set(keys)) < len(keys) or value == dict(meant))
