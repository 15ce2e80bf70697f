"""A chat request of a case, and its answer as plain values: whole, or a stream's deltas added up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import openai
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from tokenizers import Tokenizer

from tests.e2e.cases import TOOLS
from tests.e2e.model import EOS
from tests.e2e.server import MODEL_NAME


@dataclass
class Call:
    """One tool call; ``arguments`` is the text as sent."""

    id: str
    name: str
    arguments: str = ""


@dataclass
class Answer:
    """What a client reads from one response."""

    reasoning: str | None = None
    content: str | None = None
    calls: list[Call] = field(default_factory=list)
    finish_reason: str | None = None
    deltas: int = 0


class Client:
    """Asks one server for scripted outputs."""

    def __init__(self, url: str, script: ScriptEncoder) -> None:
        self._openai = openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0, timeout=120)
        self._script = script

    def whole(self, output: str, **request: Any) -> Answer:
        """The answer in one piece."""
        completion = self._openai.chat.completions.create(**self._request(output, **request))
        assert isinstance(completion, ChatCompletion)
        (choice,) = completion.choices
        message = choice.message
        calls = [
            Call(call.id, call.function.name, call.function.arguments) for call in message.tool_calls or ()
        ]
        reasoning = (message.model_extra or {}).get("reasoning")
        return Answer(reasoning, message.content, calls, choice.finish_reason)

    def streamed(self, output: str, tokens_per_delta: int, **request: Any) -> Answer:
        """The answer as a stream, added up as clients do."""
        request = self._request(output, **request)
        request["extra_body"]["stream_interval"] = tokens_per_delta
        return fold(self._openai.chat.completions.create(stream=True, **request))

    def _request(
        self,
        output: str,
        *,
        prompt: str,
        switches: dict[str, Any],
        tool_choice: str = "auto",
        cut_off: bool = False,
    ) -> dict[str, Any]:
        """``cut_off``: the token limit ends the answer right after ``output``, before any end token."""
        ids = self._script(output)
        return {
            "model": MODEL_NAME,
            "messages": [{"role": "user", "content": "How is the weather?"}],
            "tools": TOOLS,
            "tool_choice": tool_choice,
            "temperature": 0,
            "max_tokens": len(ids) - 1 if cut_off else len(ids) + 8,
            "extra_body": {
                "vllm_xargs": {"script": ids},
                "chat_template_kwargs": {"prompt_tail": prompt, **switches},
            },
        }


class ScriptEncoder:
    """Text to the token ids that the model is made to say: the text's, then the end token."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def __call__(self, output: str) -> list[int]:
        return self._tokenizer.encode(output + EOS, add_special_tokens=False).ids


def fold(chunks: Iterable[ChatCompletionChunk]) -> Answer:
    """Adds up a stream, and checks what every client relies on.

    A call's first delta alone has its id, type and name; calls come one after another; only the last delta of
    the choice has a finish reason.
    """
    answer = Answer()
    for chunk in chunks:
        (choice,) = chunk.choices
        assert answer.finish_reason is None, "a delta after the last one"
        answer.finish_reason = choice.finish_reason
        answer.deltas += 1
        delta = choice.delta
        if reasoning := (delta.model_extra or {}).get("reasoning"):
            answer.reasoning = (answer.reasoning or "") + reasoning
        if delta.content:
            answer.content = (answer.content or "") + delta.content
        for call in delta.tool_calls or ():
            assert call.function is not None
            if call.index == len(answer.calls):
                assert call.id and call.function.name and call.type == "function"
                answer.calls.append(Call(call.id, call.function.name))
            else:
                assert call.index == len(answer.calls) - 1
                assert call.id is None and call.function.name is None
            answer.calls[-1].arguments += call.function.arguments or ""
    return answer
