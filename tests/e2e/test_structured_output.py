"""Grammars on a real server: where they begin, and that what they forbid is not said.

The model says its script but for what a grammar forbids (``inside_server/scripted.py``).
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.e2e.answer import Answer
from tests.e2e.cases import (
    ANSWER,
    CALLS,
    CONTENT,
    GLM47,
    JSON,
    KIMI_K2,
    QWEN3,
    REASONING,
    TOOLS,
    Case,
)
from tests.e2e.client import CLIENTS, ChatClient, Client, ScriptEncoder

pytestmark = pytest.mark.e2e

VERDICT = {"enum": ["oui", "non"]}
FORBIDDEN, ALLOWED = "Pas de JSON :\n", '"non"'

#: The marker that ends each case's reasoning: a token, several tokens, or a phrase.
ENDS = {
    "kimi_k2": "</think>",
    "qwen3_coder": "</think>",
    "hermes": "</think>",
    "deepseek_v31": "</think>",
    "deepseek_v4": "</think>",
    "glm45": "</think>",
    "glm47": "</think>",
    "gemma4": "<channel|>",
    "granite": "Here is my response:",
    "llama3_json": "</think>",
    "hunyuan_a13b": "</think>",
    "hy_v3": "</think:opensource>",
    "mistral": "[/THINK]",
}

#: The marker that begins it, after which a budget counts.
STARTS = dict.fromkeys(ENDS, "<think>") | {
    "gemma4": "<|channel>",
    "granite": "Here is my thought process:",
    "hy_v3": "<think:opensource>",
    "mistral": "[THINK]",
}
BUDGET = 6

#: Where neither prompt nor switches tell that the model will think: a grammar begins at once.
AT_ONCE = ("mistral",)

endpoints = pytest.mark.parametrize("endpoint", CLIENTS)
both_ways = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
that_think = pytest.mark.cases_where(lambda case: case.reasoning is not None)
closed_in_the_prompt = pytest.mark.cases_where(
    lambda case: case.closed is not None and ENDS.get(case.id, "none") in case.closed.prompt
)
the_three = pytest.mark.cases_where(lambda case: case in (KIMI_K2, QWEN3, GLM47))


def ask(client: Client, streamed: bool, case: Case, **changes: Any) -> Answer:
    request = {"output": case.output, "prompt": case.prompt, "switches": case.switches, **changes}
    return client.streamed(**request) if streamed else client.whole(**request)


def shaped(schema: dict[str, Any], endpoint: str = "chat") -> dict[str, Any]:
    """The fields of a request, without tools, for an answer of this schema."""
    fields: dict[str, Any] = {
        "chat": {"response_format": {"type": "json_schema", "json_schema": {"name": "it", "schema": schema}}},
        "responses": {"text": {"format": {"type": "json_schema", "name": "it", "schema": schema}}},
        "messages": {"output_config": {"format": {"type": "json_schema", "schema": schema}}},
    }[endpoint]
    return {"tools": (), **fields}


def thinking(case: Case) -> str:
    """The case's output up to the end of its reasoning."""
    end = ENDS[case.id]
    return case.output[: case.output.index(end) + len(end)]


def said(answer: Answer) -> tuple[str | None, str | None, list[tuple[str, object]]]:
    """Reasoning, content and calls."""
    calls = [(call.name, json.loads(call.arguments)) for call in answer.calls]
    return answer.reasoning, answer.content, calls


@pytest.mark.cases_where(lambda case: case.reasoning is not None and case.id not in AT_ONCE)
@both_ways
def test_the_grammar_begins_behind_reasoning(client: ChatClient, case: Case, streamed: bool) -> None:
    answer = ask(client, streamed, case, output=thinking(case) + FORBIDDEN + ALLOWED, **shaped(VERDICT))
    assert said(answer) == (case.reasoning, ALLOWED, [])
    assert answer.finish_reason == "stop"


@pytest.mark.cases_where(lambda case: case.id in AT_ONCE)
@both_ways
def test_the_grammar_leaves_no_room_for_thinking(client: ChatClient, case: Case, streamed: bool) -> None:
    answer = ask(client, streamed, case, output=thinking(case) + FORBIDDEN + ALLOWED, **shaped(VERDICT))
    assert said(answer) == (None, ALLOWED, [])


@that_think
def test_without_a_grammar_all_is_said(client: ChatClient, case: Case) -> None:
    """What the other tests here take for the grammar's doing is not the script's."""
    answer = ask(client, False, case, output=thinking(case) + FORBIDDEN + ALLOWED, tools=())
    assert said(answer) == (case.reasoning, FORBIDDEN + ALLOWED, [])


@pytest.mark.cases_where(lambda case: case.closed is not None)
def test_the_grammar_begins_at_once_with_thinking_off(client: ChatClient, case: Case) -> None:
    assert case.closed is not None
    closed = {"prompt": case.closed.prompt, "switches": case.closed.switches}
    answer = ask(client, True, case, output=FORBIDDEN + ALLOWED, **closed, **shaped(VERDICT))
    assert said(answer) == (None, ALLOWED, [])


@closed_in_the_prompt
def test_the_grammar_begins_at_once_where_the_prompt_closed_thinking(client: ChatClient, case: Case) -> None:
    assert case.closed is not None
    answer = ask(
        client,
        True,
        case,
        output=FORBIDDEN + ALLOWED,
        prompt=case.closed.prompt,
        **shaped(VERDICT),
    )
    assert said(answer) == (None, ALLOWED, [])


@closed_in_the_prompt
def test_an_earlier_turn_does_not_begin_the_grammar(client: ChatClient, case: Case) -> None:
    assert case.closed is not None
    answer = ask(
        client,
        False,
        case,
        output=thinking(case) + FORBIDDEN + ALLOWED,
        prompt=case.closed.prompt + ANSWER + "\n" + case.prompt,
        **shaped(VERDICT),
    )
    assert said(answer) == (case.reasoning, ALLOWED, [])


@the_three
@endpoints
@both_ways
def test_every_endpoint_has_the_grammar_begin_there(
    clients: dict[str, Client], case: Case, endpoint: str, streamed: bool
) -> None:
    script = thinking(case) + FORBIDDEN + ALLOWED
    answer = ask(clients[endpoint], streamed, case, output=script, **shaped(VERDICT, endpoint))
    assert said(answer) == (case.reasoning, ALLOWED, [])


@the_three
def test_an_object_goes_through_as_written(client: ChatClient, case: Case) -> None:
    schema = TOOLS[0]["function"]["parameters"]
    answer = ask(client, True, case, output=thinking(case) + JSON, **shaped(schema))
    assert said(answer) == (case.reasoning, JSON, [])


@the_three
def test_reasoning_that_is_left_out_is_none_for_the_grammar(client: ChatClient, case: Case) -> None:
    """vLLM takes reasoning for over from the start if it is not wanted."""
    answer = ask(
        client,
        False,
        case,
        output=thinking(case) + FORBIDDEN + ALLOWED,
        prompt=case.closed.prompt if case.closed else "",
        include_reasoning=False,
        **shaped(VERDICT),
    )
    assert said(answer) == (None, ALLOWED, [])


# Calls that the request forces.


@both_ways
def test_a_call_is_required(client: ChatClient, case: Case, streamed: bool) -> None:
    """The script has text before its calls, which the grammar forbids."""
    answer = ask(client, streamed, case, tool_choice="required")
    assert said(answer) == (None if case.id in AT_ONCE else case.reasoning, None, CALLS)
    assert answer.finish_reason == "tool_calls"


def test_one_call_at_most(client: ChatClient, case: Case) -> None:
    answer = ask(client, True, case, parallel_tool_calls=False)
    assert said(answer) == (case.reasoning, case.content, CALLS[:1])


#: A call of ``ping`` with another name before it that no tool has.
PING = {
    "kimi_k2": (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.{}ping:0"
        "<|tool_call_argument_begin|>{{}}<|tool_call_end|><|tool_calls_section_end|>"
    ),
    "qwen3_coder": "<tool_call>\n<function={}ping>\n</function>\n</tool_call>",
    "glm47": "<tool_call>{}ping</tool_call>",
}


@the_three
@endpoints
@both_ways
def test_a_named_call(clients: dict[str, Client], case: Case, endpoint: str, streamed: bool) -> None:
    choice = {
        "chat": {"type": "function", "function": {"name": "ping"}},
        "responses": {"type": "function", "name": "ping"},
        "messages": {"type": "tool", "name": "ping"},
    }[endpoint]
    script = thinking(case) + FORBIDDEN + PING[case.id].format("nonesuch")
    answer = ask(clients[endpoint], streamed, case, output=script, tool_choice=choice)
    assert said(answer) == (REASONING, None, [("ping", {})])
    ended = {"chat": "stop", "responses": "completed", "messages": "tool_use"}
    assert answer.finish_reason == ended[endpoint]


@pytest.mark.cases_where(lambda case: case in (KIMI_K2, GLM47))
def test_a_required_call_ends_reasoning_itself(client: ChatClient, case: Case) -> None:
    """The call's marker ends reasoning, and it is the first token that the grammar reads."""
    script = REASONING + PING[case.id].format("nonesuch")
    answer = ask(client, True, case, output=script, tool_choice="required")
    assert said(answer) == (REASONING, None, [("ping", {})])


# The thinking budget.


@that_think
def test_the_thinking_budget(client: ChatClient, script: ScriptEncoder, case: Case) -> None:
    """Once it is used up the server makes the model say the end of reasoning, and the model goes on."""
    opening = thinking(case).partition(REASONING)[0]
    thought = (case.prompt + opening).rpartition(STARTS[case.id])[2] + REASONING
    kept = script.decode(script(thought)[:BUDGET])
    answer = ask(
        client,
        True,
        case,
        output=opening + REASONING + CONTENT,
        tools=(),
        thinking_token_budget=BUDGET,
    )

    assert answer.reasoning is not None and answer.content is not None
    assert answer.reasoning.strip() == kept.strip()
    assert answer.content.strip() == (thought.removeprefix(kept) + CONTENT).strip()
    assert answer.finish_reason == "stop"
