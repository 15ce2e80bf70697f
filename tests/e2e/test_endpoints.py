"""The three endpoints of a real server, streamed and not, asked by their own clients."""

from __future__ import annotations

import json

import pytest

from tests.e2e.answer import Answer, Call, Text
from tests.e2e.cases import (
    ANSWER,
    CALLS,
    CONTENT,
    GLM47,
    INTERLEAVED,
    KIMI_K2,
    QWEN3,
    REASONING,
    Case,
)
from tests.e2e.client import CLIENTS, ChatClient, Client, Script

pytestmark = pytest.mark.e2e

#: What each endpoint calls the end of an answer: its last word, a call, the token limit.
ENDED = {
    "chat": {"said": "stop", "called": "tool_calls", "cut": "length"},
    "responses": {"said": "completed", "called": "completed", "cut": "incomplete"},
    "messages": {"said": "end_turn", "called": "tool_use", "cut": "max_tokens"},
}

endpoints = pytest.mark.parametrize("endpoint", CLIENTS)
chat_and_responses = pytest.mark.parametrize("endpoint", ["chat", "responses"])
both_ways = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
the_three = pytest.mark.cases_where(lambda case: case in (KIMI_K2, QWEN3, GLM47))

#: The framing of each family's reasoning: its tokens are reasoning too.
FRAMING = {KIMI_K2.id: "", QWEN3.id: "\n", GLM47.id: ""}
THINK_MARKS = ("<think>", "</think>")
RESULT = "Rain, then sun."
#: A busy server merges deltas, and one delta has one place for each kind. It does not always.
TRIES = 4


def ask(client: Client, streamed: bool, case: Case, **changes: object) -> Answer:
    request = {"output": case.output, "prompt": case.prompt, "switches": case.switches, **changes}
    return client.streamed(**request) if streamed else client.whole(**request)


def said(answer: Answer) -> tuple[str | None, str | None, list[tuple[str, object]]]:
    """Reasoning, content and calls."""
    calls = [(call.name, json.loads(call.arguments)) for call in answer.calls]
    return answer.reasoning, answer.content, calls


def without_calls(case: Case) -> str:
    """The case's output up to its calls."""
    return case.output[: case.output.index(CONTENT) + len(CONTENT)]


def count(script: Script, text: str) -> int:
    """The tokens of ``text`` alone; a script has an end token behind them."""
    return len(script(text)) - 1


@the_three
@endpoints
@both_ways
def test_the_message(
    clients: dict[str, Client], script: Script, case: Case, endpoint: str, streamed: bool
) -> None:
    answer = ask(clients[endpoint], streamed, case)

    assert said(answer) == (REASONING, CONTENT, CALLS)
    assert [type(piece) for piece in answer.pieces] == [Text, Text, Call, Call]
    assert case.call_ids in (None, tuple(call.id for call in answer.calls))
    assert len({call.id for call in answer.calls} - {""}) == 2
    assert answer.finish_reason == ENDED[endpoint]["called"]
    assert answer.usage is not None
    assert answer.usage.output == len(script(case.output))
    if endpoint != "messages":  # which counts no reasoning tokens
        assert answer.usage.reasoning == count(script, REASONING + FRAMING[case.id])


@pytest.mark.cases_where(lambda case: case.interleaved is not None)
@endpoints
@both_ways
def test_thinking_between_calls(
    clients: dict[str, Client], case: Case, endpoint: str, streamed: bool
) -> None:
    answer = ask(clients[endpoint], streamed, case, output=case.interleaved)
    for _ in range(TRIES if streamed else 0):
        if answer.plain() == INTERLEAVED:
            break
        answer = ask(clients[endpoint], streamed, case, output=case.interleaved)

    if streamed:
        assert answer.plain() == INTERLEAVED
    else:  # a whole answer has one place for each kind
        thoughts = "".join(str(text) for kind, text in INTERLEAVED if kind == "reasoning")
        calls = [piece for piece in INTERLEAVED if piece[0] != "reasoning"]
        assert answer.plain() == [("reasoning", thoughts), *calls]
    assert answer.finish_reason == ENDED[endpoint]["called"]


@the_three
@endpoints
@both_ways
def test_an_answer_without_calls(
    clients: dict[str, Client], case: Case, endpoint: str, streamed: bool
) -> None:
    answer = ask(clients[endpoint], streamed, case, output=without_calls(case))
    assert said(answer) == (REASONING, CONTENT, [])
    assert answer.finish_reason == ENDED[endpoint]["said"]


@the_three
@endpoints
@both_ways
def test_cut_off_in_the_answer(clients: dict[str, Client], case: Case, endpoint: str, streamed: bool) -> None:
    answer = ask(clients[endpoint], streamed, case, output=without_calls(case), cut_off=True)
    assert said(answer) == (REASONING, CONTENT, [])
    assert answer.finish_reason == ENDED[endpoint]["cut"]


@the_three
@chat_and_responses
@both_ways
def test_reasoning_is_left_out(clients: dict[str, Client], case: Case, endpoint: str, streamed: bool) -> None:
    answer = ask(clients[endpoint], streamed, case, include_reasoning=False)
    assert said(answer) == (None, CONTENT, CALLS)


@the_three
@endpoints
@both_ways
def test_no_tools_wanted(clients: dict[str, Client], case: Case, endpoint: str, streamed: bool) -> None:
    choice = {"type": "none"} if endpoint == "messages" else "none"
    answer = ask(clients[endpoint], streamed, case, tool_choice=choice)
    assert said(answer) == (REASONING, CONTENT, [])
    assert answer.finish_reason == ENDED[endpoint]["said"]


@the_three
@both_ways
def test_thinking_switched_off_by_a_message(clients: dict[str, Client], case: Case, streamed: bool) -> None:
    """The prompt says nothing, the Anthropic client's own switch does."""
    turn = case.prompt.partition("<think>")[0]
    answer = ask(
        clients["messages"], streamed, case, prompt=turn, output=ANSWER, thinking={"type": "disabled"}
    )
    assert said(answer) == (None, ANSWER, [])


@the_three
@both_ways
def test_two_answers(client: ChatClient, case: Case, streamed: bool) -> None:
    answers = client.choices(
        case.output, streamed, prompt=case.prompt, switches=case.switches, n=2, temperature=1
    )
    assert [said(answer) for answer in answers] == [(REASONING, CONTENT, CALLS)] * 2


@the_three
@both_ways
@pytest.mark.parametrize(
    ("begun", "output", "expected"),
    [
        ("<think>It may ", f"rain.</think>{ANSWER}", ("rain.", ANSWER, [])),
        ("<think>It may rain.</think>I say: ", ANSWER, (None, ANSWER, [])),
    ],
    ids=["in_reasoning", "in_content"],
)
def test_a_message_is_continued(
    client: ChatClient,
    case: Case,
    streamed: bool,
    begun: str,
    output: str,
    expected: tuple[str | None, str | None, list[tuple[str, object]]],
) -> None:
    answer = ask(
        client,
        streamed,
        case,
        output=output,
        prompt="",
        history=[{"role": "assistant", "content": begun}],
        add_generation_prompt=False,
        continue_final_message=True,
    )
    assert said(answer) == expected


@the_three
@endpoints
@both_ways
def test_several_turns(
    clients: dict[str, Client], script: Script, case: Case, endpoint: str, streamed: bool
) -> None:
    """The model thinks, calls, gets results, thinks and calls again, gets results, thinks and answers.

    What the client got is what it sends back; its reasoning stands in the next prompt, as a closed block.
    """
    client = clients[endpoint]
    history: list[object] = []
    lengths = []
    for output, calls in [(case.output, CALLS), (case.output, CALLS), (without_calls(case), [])]:
        answer = ask(
            client,
            streamed,
            case,
            output=output,
            history=history,
            switches={**case.switches, "think_marks": THINK_MARKS},
        )
        assert said(answer) == (REASONING, CONTENT, calls)
        assert answer.usage is not None
        lengths.append(answer.usage.prompt)
        history += [*answer.turn, *client.results(answer.calls, RESULT)]
    turn = count(script, THINK_MARKS[0] + REASONING + THINK_MARKS[1]) + 2 * count(script, RESULT)
    assert lengths[0] + 2 * turn < lengths[1] + turn < lengths[2]


@the_three
def test_usage_as_a_stream_goes_on(client: ChatClient, script: Script, case: Case) -> None:
    options = {"include_usage": True, "continuous_usage_stats": True}
    chunks = client.chunks(case.output, prompt=case.prompt, switches=case.switches, stream_options=options)
    counts = [
        (chunk.usage.completion_tokens, chunk.usage.completion_tokens_details.reasoning_tokens)
        for chunk in chunks
    ]

    assert counts == sorted(counts)
    reasoning = count(script, REASONING + FRAMING[case.id])
    assert counts[-1] == (len(script(case.output)), reasoning)
    # Every token is reasoning until all of it is there, and none after that; some deltas bear several tokens.
    assert all(counted == min(done, reasoning) for done, counted in counts)
