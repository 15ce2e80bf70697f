"""The pitfalls of ``docs/pitfalls.md`` as a client of a real server meets them, under the same numbers.

Those that need no server are in ``tests/adapters/test_pitfalls.py``. One case marks reasoning with tokens,
which the prompt may write; the other with phrases, which only the model writes.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.e2e.answer import Answer
from tests.e2e.cases import ANSWER, CALLS, GRANITE, KIMI_K2, REASONING, Case
from tests.e2e.client import ChatClient, Script
from tests.e2e.server import Server

pytestmark = [pytest.mark.e2e, pytest.mark.cases_where(lambda case: case in (KIMI_K2, GRANITE))]

kimi_k2 = pytest.mark.cases_where(lambda case: case is KIMI_K2)
granite = pytest.mark.cases_where(lambda case: case is GRANITE)
both_ways = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])

OPENER = {KIMI_K2.id: "", GRANITE.id: "Here is my thought process:"}
CLOSER = {KIMI_K2.id: "</think>", GRANITE.id: "Here is my response:"}
PING = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.ping:0"
    "<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>"
)
VERDICT: dict[str, Any] = {
    "tools": (),
    "response_format": {
        "type": "json_schema",
        "json_schema": {"name": "verdict", "schema": {"enum": ["oui", "non"]}},
    },
}
#: What a script says first that the verdict's grammar forbids, and what it allows.
FORBIDDEN, ALLOWED = "Pas de JSON :\n", '"non"'


def ask(client: ChatClient, streamed: bool, case: Case, output: str, **changes: Any) -> Answer:
    request = {"prompt": case.prompt, "switches": case.switches, **changes}
    return client.streamed(output, **request) if streamed else client.whole(output, **request)


def thought(case: Case, text: str = REASONING) -> str:
    """A thought and its end, as the model writes it."""
    return f"{OPENER[case.id]}{text}{CLOSER[case.id]}"


def said(answer: Answer) -> tuple[str | None, str | None, list[tuple[str, Any]]]:
    """Reasoning, content and calls."""
    calls = [(call.name, json.loads(call.arguments)) for call in answer.calls]
    return answer.reasoning, answer.content, calls


@kimi_k2
@both_ways
def test_pitfall_01_the_prompt_holds_the_opener(client: ChatClient, case: Case, streamed: bool) -> None:
    assert case.prompt.endswith("<think>")
    answer = ask(client, streamed, case, f"{REASONING}</think>{ANSWER}")
    assert said(answer) == (REASONING, ANSWER, [])


@both_ways
def test_pitfall_02_thinking_is_switched_off(client: ChatClient, case: Case, streamed: bool) -> None:
    """By the prompt and the switch, and by the switch alone."""
    assert case.closed is not None
    for prompt in (case.closed.prompt, case.closed.prompt.replace("<think></think>", "")):
        answer = ask(client, streamed, case, ANSWER, prompt=prompt, switches=case.closed.switches)
        assert said(answer) == (None, ANSWER, [])


@kimi_k2
@both_ways
def test_pitfall_03_the_grammar_begins_where_the_prompt_closed_thinking(
    client: ChatClient, case: Case, streamed: bool
) -> None:
    assert case.closed is not None
    answer = ask(client, streamed, case, FORBIDDEN + ALLOWED, prompt=case.closed.prompt, **VERDICT)
    assert said(answer) == (None, ALLOWED, [])


@both_ways
def test_pitfall_03_the_grammar_begins_where_thinking_is_off(
    client: ChatClient, case: Case, streamed: bool
) -> None:
    assert case.closed is not None
    off = {"prompt": case.closed.prompt, "switches": case.closed.switches}
    assert said(ask(client, streamed, case, FORBIDDEN + ALLOWED, **off, **VERDICT)) == (None, ALLOWED, [])


@both_ways
def test_pitfall_04_cut_off_while_thinking(client: ChatClient, case: Case, streamed: bool) -> None:
    answer = ask(client, streamed, case, OPENER[case.id] + "First the forecast", cut_off=True)
    assert said(answer) == ("First the forecast", None, [])
    assert answer.finish_reason == "length"


@both_ways
def test_pitfall_04_cut_off_with_thinking_off(client: ChatClient, case: Case, streamed: bool) -> None:
    assert case.closed is not None
    off = {"prompt": case.closed.prompt, "switches": case.closed.switches}
    answer = ask(client, streamed, case, "First the forecast", cut_off=True, **off)
    assert said(answer) == (None, "First the forecast", [])
    assert answer.finish_reason == "length"


@kimi_k2
@both_ways
def test_pitfall_04_the_budget_ends_the_thought(
    client: ChatClient, script: Script, case: Case, streamed: bool
) -> None:
    budget = 5
    assert len(script(REASONING)) > budget + 1
    answer = ask(client, streamed, case, REASONING, tools=(), thinking_token_budget=budget)
    assert answer.reasoning and REASONING.startswith(answer.reasoning)
    assert answer.usage is not None and answer.usage.reasoning is not None
    assert answer.usage.reasoning <= budget
    assert answer.content, "behind the budget the model goes on with the answer"


@kimi_k2
@both_ways
def test_pitfall_05_a_quoted_marker_is_text(
    server: Server, script: Script, case: Case, streamed: bool
) -> None:
    """The model spells it with ordinary tokens, a character each."""

    def ids(text: str) -> list[int]:
        return script(text)[:-1]

    quote = "the tag </think> ends"
    before, literal, behind = quote.partition("</think>")
    spelled = [number for character in literal for number in ids(character)]
    quoted = [*ids(before), *spelled, *ids(behind)]
    quoting = ChatClient(server.url, lambda _: [*quoted, *ids("</think>"), *quoted, *script("")])
    assert said(ask(quoting, streamed, case, "")) == (quote, quote, [])


@kimi_k2
@both_ways
def test_pitfall_06_a_call_ends_the_reasoning(client: ChatClient, case: Case, streamed: bool) -> None:
    answer = ask(client, streamed, case, REASONING + PING)
    assert said(answer) == (REASONING, None, [("ping", {})])
    assert answer.finish_reason == "tool_calls"


def test_pitfall_07_answers_at_the_same_time(client: ChatClient, case: Case) -> None:
    def one(number: int) -> Answer:
        return ask(client, number % 2 == 0, case, f"{thought(case, f'{number} ' * 20)}{number}.")

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(one, range(16)))
    for number, answer in enumerate(answers):
        assert said(answer) == (f"{number} " * 20, f"{number}.", [])


@granite
@both_ways
def test_pitfall_08_12_the_grammar_begins_behind_a_phrase(
    client: ChatClient, script: Script, case: Case, streamed: bool
) -> None:
    assert len(script(CLOSER[case.id])) > 2
    answer = ask(client, streamed, case, thought(case) + FORBIDDEN + ALLOWED, **VERDICT)
    assert said(answer) == (REASONING, ALLOWED, [])


def test_pitfall_09_no_delta_is_empty(client: ChatClient, case: Case) -> None:
    request = {"prompt": case.prompt, "switches": case.switches}
    first, *middle, last = client.chunks(case.output, **request)
    assert first.choices[0].delta.role == "assistant"
    assert last.choices[0].finish_reason == "tool_calls"
    deltas = [chunk.choices[0].delta for chunk in middle]
    assert len(deltas) > 20
    assert all(
        delta.content or (delta.model_extra or {}).get("reasoning") or delta.tool_calls for delta in deltas
    )


@kimi_k2
@both_ways
def test_pitfall_13_a_forced_call_ends_the_reasoning(client: ChatClient, case: Case, streamed: bool) -> None:
    """The grammar reads the token that ends reasoning, for it is the call's."""
    answer = ask(client, streamed, case, REASONING + FORBIDDEN + PING, tool_choice="required")
    assert said(answer) == (REASONING + FORBIDDEN, None, [("ping", {})])


def test_pitfall_15_the_field_is_called_reasoning(client: ChatClient, case: Case) -> None:
    (turn,) = ask(client, False, case, thought(case) + ANSWER).turn
    assert turn["reasoning"] == REASONING
    assert not turn.get("reasoning_content")


def test_pitfall_15_history_may_use_the_old_name(client: ChatClient, case: Case) -> None:
    def prompt_tokens(**reasoning: str) -> int:
        turn = {"role": "assistant", "content": ANSWER, **reasoning}
        switches = case.switches | {"think_marks": ["(", ")"]}
        history = [turn, {"role": "user", "content": "And?"}]
        answer = ask(client, False, case, thought(case) + ANSWER, history=history, switches=switches)
        assert answer.usage is not None
        return answer.usage.prompt

    new = prompt_tokens(reasoning=REASONING)
    assert prompt_tokens(reasoning_content=REASONING) == new > prompt_tokens()


# The checklist of the server. Several answers and usage in detail: test_endpoints.py.


@both_ways
@pytest.mark.parametrize(
    "choice, reason", [("auto", "tool_calls"), ("required", "tool_calls"), ("none", "stop")]
)
def test_server_tool_choice_and_finish_reason(
    client: ChatClient, case: Case, streamed: bool, choice: str, reason: str
) -> None:
    answer = ask(client, streamed, case, case.output, tool_choice=choice)
    content = None if choice == "required" else case.content
    assert said(answer) == (case.reasoning, content, [] if choice == "none" else CALLS)
    assert answer.finish_reason == reason


@both_ways
def test_server_one_call_at_most(client: ChatClient, case: Case, streamed: bool) -> None:
    answer = ask(client, streamed, case, case.output, parallel_tool_calls=False)
    assert said(answer) == (case.reasoning, case.content, CALLS[:1])


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_server_two_answers(client: ChatClient, case: Case, stream: bool) -> None:
    request = {"prompt": case.prompt, "switches": case.switches, "n": 2, "temperature": 1, "seed": 1}
    answers = client.choices(case.output, stream, **request)
    assert [said(answer) for answer in answers] == [(case.reasoning, case.content, CALLS)] * 2


@kimi_k2
@both_ways
def test_server_usage(client: ChatClient, script: Script, case: Case, streamed: bool) -> None:
    output = thought(case) + ANSWER
    usage = ask(client, streamed, case, output).usage
    assert usage is not None
    assert usage.output == len(script(output))
    assert usage.reasoning == len(script(REASONING)) - 1


@pytest.mark.parametrize(
    "pieces",
    [(), ("thought",), ("answer",), ("thought", "answer"), ("thought", "answer", "cut"), ("cut",)],
    ids=lambda pieces: "-".join(pieces) or "nothing",
)
def test_server_a_stream_adds_up_to_the_whole(
    client: ChatClient, case: Case, pieces: tuple[str, ...]
) -> None:
    texts = {"thought": thought(case), "answer": ANSWER, "cut": "<|tool_ca Here is my th"}
    output = "".join(texts[piece] for piece in pieces)
    whole, streamed = (ask(client, streamed, case, output) for streamed in (False, True))
    assert said(streamed) == said(whole)
    assert streamed.finish_reason == whole.finish_reason
    assert streamed.usage == whole.usage
