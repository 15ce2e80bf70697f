"""Drives the adapters the way vLLM's chat serving does: through a composed ``Parser``."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from typing import Any

from support.cuts import Delta
from support.fold import Folded, loads
from support.samples import Sample
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.parser.abstract_parser import DelegatingParser
from vllm.parser.parser_manager import ParserManager

from unified_parser import get_parser_class
from unified_parser.adapters.vllm import make_adapters, register


def compose(reasoning: str | None, tool: str | None, tokenizer: Any = None, **options: Any) -> type[Any]:
    """The ``Parser`` class that the server gets for two names, checked with a tokenizer where it can."""
    register()
    names = {"tool_parser_name": tool, "reasoning_parser_name": reasoning, "enable_auto_tools": True}
    if "tokenizer" in inspect.signature(ParserManager.get_parser).parameters:
        names["tokenizer"] = tokenizer
    parser_class = ParserManager.get_parser(**names, **options)
    assert parser_class is not None
    return parser_class


def compose_adapters(reasoning: str | None, tool: str | None) -> type[Any]:
    """vLLM's plain composition of two names' adapter classes."""
    halves = {
        "reasoning_parser_cls": reasoning and make_adapters(get_parser_class(reasoning))[0],
        "tool_parser_cls": tool and make_adapters(get_parser_class(tool))[1],
    }
    return type("Composed", (DelegatingParser,), halves)


def asked_kwargs(sample: Sample) -> dict[str, Any] | None:
    """The chat template kwargs that the client sends."""
    if sample.chat_template_kwargs is not None or sample.thinking is None:
        return sample.chat_template_kwargs
    return {"thinking": sample.thinking, "enable_thinking": sample.thinking}


def template_kwargs(sample: Sample) -> dict[str, Any]:
    """The chat template kwargs as vLLM hands them on: the client's, and its own."""
    own = {
        "add_generation_prompt": True,
        "continue_final_message": False,
        "documents": None,
        "reasoning_effort": None,
    }
    return own | (asked_kwargs(sample) or {})


def chat_request(tools: Sequence[dict[str, Any]] = (), **fields: Any) -> ChatCompletionRequest:
    """A chat request; ``tool_choice`` is vLLM's default for these tools unless given."""
    if tools:
        fields = {"tools": list(tools), "tool_choice": "auto"} | fields
    return ChatCompletionRequest(model="m", messages=[{"role": "user", "content": "?"}], **fields)


def parse_whole(
    parser: Any, request: Any, text: str, ids: Sequence[int] = (), prompt: Sequence[int] | None = None
) -> Folded:
    """A whole output, as the server parses it when it does not stream."""
    if prompt is not None:
        parser.is_reasoning_end(list(prompt))
        if hasattr(parser, "set_prompt_token_ids"):
            parser.set_prompt_token_ids(list(prompt))
    reasoning, content, calls = parser.parse(
        text, request, enable_auto_tools=True, model_output_token_ids=ids
    )
    return Folded(reasoning, content, [(call.name, loads(call.arguments), True) for call in calls or []])


def stream(parser: Any, request: Any, deltas: Iterable[Delta], prompt: Sequence[int] = ()) -> list[Any]:
    """The messages of one stream."""
    steps = list(deltas) or [("", [])]
    prompt = list(prompt)
    sent = [
        parser.parse_delta(text, list(ids), request, prompt, finished=number == len(steps) - 1)
        for number, (text, ids) in enumerate(steps)
    ]
    messages = [message for message in sent if message is not None]
    if parser.tool_parser is None:  # then vLLM itself passes the text behind reasoning on, be it empty
        messages = [message for message in messages if message.reasoning or message.content]
    return messages


def fold_messages(messages: Iterable[Any]) -> Folded:
    """Streamed messages added up as a client does it; arguments that are no JSON stay text (incomplete).

    Raises AssertionError where a message breaks the rules of the stream: an empty message, a call without id
    and name in its first delta or with them in a later one, calls that interleave.
    """
    reasoning, content = "", ""
    calls: list[tuple[str, list[str]]] = []
    for message in messages:
        assert message.reasoning or message.content or message.tool_calls, "empty message"
        reasoning += message.reasoning or ""
        content += message.content or ""
        for call in message.tool_calls:
            if call.index == len(calls):
                assert call.id and call.type == "function" and call.function.name, (
                    "call without id, type or name"
                )
                calls.append((call.function.name, []))
            else:
                assert call.index == len(calls) - 1, "calls interleave"
                assert call.id is None and call.function.name is None, "id or name sent twice"
            calls[-1][1].append(call.function.arguments or "")
    return Folded(reasoning or None, content or None, [_call(name, "".join(parts)) for name, parts in calls])


def _call(name: str, arguments: str) -> tuple[str, Any, bool]:
    try:
        return name, loads(arguments), True
    except ValueError:
        return name, arguments, False
