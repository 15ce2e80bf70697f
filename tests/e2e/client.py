"""Asks a server for scripted outputs, over each of its three endpoints, with the endpoint's own client.

All of them are asked alike and give an ``Answer``. What the clients rely on in a stream is checked where it
is added up.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import anthropic
import openai
from openai.types.chat import ChatCompletionChunk, ChatCompletionMessage
from openai.types.responses import Response
from tokenizers import Tokenizer

from tests.e2e.answer import Answer, Call, Usage
from tests.e2e.cases import TOOLS
from tests.e2e.model import EOS
from tests.e2e.server import MODEL_NAME

#: Text to the token ids that the model is made to say.
Script: TypeAlias = Callable[[str], list[int]]

QUESTION = "How is the weather?"
PATIENCE = 120


class ScriptEncoder:
    """The ids of a text, then the end token."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def __call__(self, output: str) -> list[int]:
        return self._tokenizer.encode(output + EOS, add_special_tokens=False).ids

    def decode(self, ids: Sequence[int]) -> str:
        return self._tokenizer.decode(ids, skip_special_tokens=False)


class Client(ABC):
    """One endpoint of one server."""

    def __init__(self, url: str, script: Script) -> None:
        self.url = url
        self.script = script

    def whole(self, output: str, **request: Any) -> Answer:
        """The answer in one piece. ``request``: see ``request``."""
        return self._whole(self.request(output, **request))

    def streamed(self, output: str, tokens_per_delta: int = 1, **request: Any) -> Answer:
        """The answer as a stream, added up as clients do."""
        return self._streamed(self.request(output, **request), tokens_per_delta)

    def request(
        self,
        output: str,
        *,
        prompt: str = "",
        switches: Mapping[str, Any] | None = None,
        history: Sequence[Any] = (),
        tools: Sequence[dict[str, Any]] = TOOLS,
        cut_off: bool = False,
        **fields: Any,
    ) -> dict[str, Any]:
        """The endpoint's request for ``output``.

        ``prompt``: how the rendered prompt ends. ``switches``: chat template kwargs. ``history``: the turns
        since the first question. ``tools``: in the form of chat requests. ``cut_off``: the token limit ends
        the answer right after ``output``, before any end token. ``fields``: more fields of the request,
        unknown to the client or not.
        """
        ids = self.script(output)
        extra = {
            "vllm_xargs": {"script": ids},
            "chat_template_kwargs": {"prompt_tail": prompt, **(switches or {})},
            "temperature": 0,
        }
        limit = len(ids) - 1 if cut_off else len(ids) + 32  # the server may add some
        turns = [{"role": "user", "content": QUESTION}, *history]
        request = self._fields(turns, limit) | {"model": MODEL_NAME, "extra_body": extra | fields}
        return request | ({"tools": [self._tool(tool["function"]) for tool in tools]} if tools else {})

    @abstractmethod
    def _fields(self, turns: list[Any], limit: int) -> dict[str, Any]:
        """The conversation and the limit of output tokens, as this endpoint names them."""

    @abstractmethod
    def _tool(self, function: dict[str, Any]) -> dict[str, Any]:
        """A tool in the endpoint's form."""

    @abstractmethod
    def _whole(self, request: dict[str, Any]) -> Answer: ...

    @abstractmethod
    def _streamed(self, request: dict[str, Any], tokens_per_delta: int) -> Answer: ...

    @abstractmethod
    def results(self, calls: Iterable[Call], result: str) -> list[Any]:
        """The turns that give every call this result."""


class ChatClient(Client):
    """``/v1/chat/completions``."""

    def __init__(self, url: str, script: Script) -> None:
        super().__init__(url, script)
        self._openai = openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0, timeout=PATIENCE)

    def _fields(self, turns: list[Any], limit: int) -> dict[str, Any]:
        return {"messages": turns, "max_tokens": limit}

    def _tool(self, function: dict[str, Any]) -> dict[str, Any]:
        return {"type": "function", "function": function}

    def _whole(self, request: dict[str, Any]) -> Answer:
        completion = self._openai.chat.completions.create(**request)
        (choice,) = completion.choices
        answer = read_message(choice.message)
        answer.finish_reason = choice.finish_reason
        answer.usage = read_usage(completion.usage)
        answer.turn = [choice.message.model_dump(exclude_none=True)]
        return answer

    def choices(self, output: str, stream: bool, **request: Any) -> list[Answer]:
        """The answers to a request for several, each read for itself."""
        created = self._openai.chat.completions.create(stream=stream, **self.request(output, **request))
        if not stream:
            return [read_message(choice.message) for choice in created.choices]
        by_choice: dict[int, list[ChatCompletionChunk]] = {}
        for chunk in created:
            (choice,) = chunk.choices
            by_choice.setdefault(choice.index, []).append(chunk)
        return [fold(by_choice[index]) for index in sorted(by_choice)]

    def asynchronous(self) -> openai.AsyncOpenAI:
        """A client of the same server for many requests at once."""
        return openai.AsyncOpenAI(base_url=f"{self.url}/v1", api_key="none", max_retries=0, timeout=PATIENCE)

    def chunks(self, output: str, **request: Any) -> openai.Stream[ChatCompletionChunk]:
        """A stream as it comes; a context manager."""
        return self._openai.chat.completions.create(stream=True, **self.request(output, **request))

    def _streamed(self, request: dict[str, Any], tokens_per_delta: int) -> Answer:
        request["extra_body"] |= {
            "stream_interval": tokens_per_delta,
            "stream_options": {"include_usage": True},
        }
        answer = fold(self._openai.chat.completions.create(stream=True, **request))
        calls = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
            for c in answer.calls
        ]
        said = {"reasoning": answer.reasoning, "content": answer.content, "tool_calls": calls}
        answer.turn = [{"role": "assistant"} | {name: value for name, value in said.items() if value}]
        return answer

    def results(self, calls: Iterable[Call], result: str) -> list[Any]:
        return [{"role": "tool", "tool_call_id": call.id, "content": result} for call in calls]


class ResponsesClient(Client):
    """``/v1/responses``. A stream has a delta for each token."""

    def __init__(self, url: str, script: Script) -> None:
        super().__init__(url, script)
        self._openai = openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0, timeout=PATIENCE)

    def _fields(self, turns: list[Any], limit: int) -> dict[str, Any]:
        return {"input": turns, "max_output_tokens": limit}

    def _tool(self, function: dict[str, Any]) -> dict[str, Any]:
        return {"type": "function", **function}

    def _whole(self, request: dict[str, Any]) -> Answer:
        return read_response(self._openai.responses.create(**request))

    def _streamed(self, request: dict[str, Any], tokens_per_delta: int) -> Answer:
        """The last event's response, which the deltas must have said before."""
        said: dict[int, str] = {}
        final = None
        for event in self._openai.responses.create(stream=True, **request):
            assert final is None, "an event after the last one"
            match event.type:
                case "response.output_item.added":
                    assert event.output_index == len(said), "items come one after another"
                    said[event.output_index] = ""
                case (
                    "response.reasoning_text.delta"
                    | "response.output_text.delta"
                    | "response.function_call_arguments.delta"
                ):
                    assert event.output_index == len(said) - 1
                    said[event.output_index] += event.delta
                case "response.completed":
                    final = event.response
        assert final is not None
        answer = read_response(final)
        texts = [piece.arguments if isinstance(piece, Call) else piece.text for piece in answer.pieces]
        assert texts == list(said.values())
        return answer

    def results(self, calls: Iterable[Call], result: str) -> list[Any]:
        return [{"type": "function_call_output", "call_id": call.id, "output": result} for call in calls]


class MessagesClient(Client):
    """``/v1/messages``. A stream has a delta for each token."""

    def __init__(self, url: str, script: Script) -> None:
        super().__init__(url, script)
        self._anthropic = anthropic.Anthropic(base_url=url, api_key="none", max_retries=0, timeout=PATIENCE)

    def _fields(self, turns: list[Any], limit: int) -> dict[str, Any]:
        return {"messages": turns, "max_tokens": limit}

    def _tool(self, function: dict[str, Any]) -> dict[str, Any]:
        return {"name": function["name"], "input_schema": function["parameters"]}

    def _whole(self, request: dict[str, Any]) -> Answer:
        return read_blocks(self._anthropic.messages.create(**request))

    def _streamed(self, request: dict[str, Any], tokens_per_delta: int) -> Answer:
        with self._anthropic.messages.stream(**request) as stream:
            return read_blocks(stream.get_final_message())

    def results(self, calls: Iterable[Call], result: str) -> list[Any]:
        blocks = [{"type": "tool_result", "tool_use_id": call.id, "content": result} for call in calls]
        return [{"role": "user", "content": blocks}]


CLIENTS = {"chat": ChatClient, "responses": ResponsesClient, "messages": MessagesClient}


def read_message(message: ChatCompletionMessage) -> Answer:
    """A whole chat message. Nothing tells how its parts were mixed."""
    answer = Answer()
    answer.add("reasoning", (message.model_extra or {}).get("reasoning"))
    answer.add("content", message.content)
    answer.pieces += [
        Call(call.id, call.function.name, call.function.arguments) for call in message.tool_calls or ()
    ]
    return answer


def fold(chunks: Iterable[ChatCompletionChunk]) -> Answer:
    """Adds up a chat stream, and checks what every client relies on.

    A call's first delta alone has its id, type and name; calls come one after another; only the last delta of
    the choice has a finish reason; behind it there is the usage, if it was asked for.
    """
    answer = Answer()
    for chunk in chunks:
        if chunk.usage is not None:
            answer.usage = read_usage(chunk.usage)
        if not chunk.choices:
            continue
        (choice,) = chunk.choices
        assert answer.finish_reason is None, "a delta after the last one"
        answer.finish_reason = choice.finish_reason
        answer.deltas += 1
        delta = choice.delta
        answer.add("reasoning", (delta.model_extra or {}).get("reasoning"))
        answer.add("content", delta.content)
        for call in delta.tool_calls or ():
            assert call.function is not None
            if call.index == len(answer.calls):
                assert call.id and call.function.name and call.type == "function"
                answer.pieces.append(Call(call.id, call.function.name))
            else:
                assert call.index == len(answer.calls) - 1
                assert call.id is None and call.function.name is None
            answer.calls[-1].arguments += call.function.arguments or ""
    return answer


def read_usage(usage: Any) -> Usage:
    """The usage of a chat completion."""
    details = usage.completion_tokens_details
    return Usage(usage.prompt_tokens, usage.completion_tokens, details.reasoning_tokens if details else None)


def read_response(response: Response) -> Answer:
    """A response of ``/v1/responses``: each item is a piece."""
    answer = Answer(finish_reason=response.status, turn=list(response.output))
    if (usage := response.usage) is not None:
        reasoning = usage.output_tokens_details.reasoning_tokens
        answer.usage = Usage(usage.input_tokens, usage.output_tokens, reasoning)
    for item in response.output:
        match item.type:
            case "reasoning":
                answer.add("reasoning", "".join(part.text for part in item.content or ()))
            case "message":
                answer.add("content", item.content[0].text if item.content else None)
            case "function_call":
                answer.pieces.append(Call(item.call_id, item.name, item.arguments))
            case other:
                raise AssertionError(f"an item of type {other}")
    return answer


def read_blocks(message: Any) -> Answer:
    """A message of ``/v1/messages``: each block is a piece, a call's arguments are an object."""
    answer = Answer(
        finish_reason=message.stop_reason, turn=[{"role": "assistant", "content": message.content}]
    )
    answer.usage = Usage(message.usage.input_tokens, message.usage.output_tokens)
    for block in message.content:
        match block.type:
            case "thinking":
                answer.add("reasoning", block.thinking)
            case "text":
                answer.add("content", block.text)
            case "tool_use":
                answer.pieces.append(Call(block.id, block.name, json.dumps(block.input)))
            case other:
                raise AssertionError(f"a block of type {other}")
    return answer
