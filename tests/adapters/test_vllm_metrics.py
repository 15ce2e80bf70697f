"""The counters on the metrics page; every value is read off the output by hand."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.cuts import Output, tokens
from support.parsing import family_tokenizer

pytest.importorskip("vllm")

from prometheus_client import REGISTRY, CollectorRegistry, multiprocess
from vllm.entrypoints.openai.responses.protocol import ResponsesRequest
from vllm.parser import metrics as vllms
from vllm.parser.metrics import init_parser_metrics
from vllm.v1.metrics.prometheus import unregister_vllm_metrics
from vllm_driver import chat_request, compose, parse_whole, stream

from unified_parser.adapters.vllm import metrics

MODEL = "a-model"
TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
    for name in ("find", "open")
]
SECTION = "<|tool_calls_section_begin|>"
END = "<|tool_call_end|>"


def call(name: str, arguments: str, index: int, end: str = END) -> str:
    return f"<|tool_call_begin|>functions.{name}:{index}<|tool_call_argument_begin|>{arguments}{end}"


#: Two calls of tools that there are, one of a tool that there is not, and one that the end cut off.
OUTPUT = f"why</think>so{SECTION}" + "".join(
    [
        call("find", '{"q": 1}', 0),
        call("open", "{}", 1),
        call("shut", "{}", 2),
        call("find", '{"q": "a', 3, ""),
    ]
)
NOTHING = dict.fromkeys(metrics.COUNTERS, 0)


class ModelConfig:
    """What the parsers ask of vLLM's model configuration."""

    served_model_name = MODEL
    hf_config = hf_text_config = None
    hf_overrides: dict[str, Any] = {}  # noqa: RUF012


@pytest.fixture(params=["direct", "adapters"])
def path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "adapters":
        monkeypatch.setenv("UNIFIED_PARSER_VLLM_DIRECT", "0")
    return str(request.param)


@pytest.fixture
def invocations() -> Iterator[None]:
    """vLLM's own counter, as a server sets it up."""
    unregister_vllm_metrics()
    init_parser_metrics(model_name=MODEL)
    yield
    unregister_vllm_metrics()
    vllms._tool_call_parser_invocations = None


def counted(path: str, family: str = "kimi_k2") -> dict[str, int]:
    """What the page says now."""
    labels = {"model_name": MODEL, "family": family, "path": path}
    values = {n: REGISTRY.get_sample_value(f"unified_parser:{n}_total", labels) for n in metrics.COUNTERS}
    return {name: int(value or 0) for name, value in values.items()}


def served(
    path: str,
    output: str,
    *,
    streamed: bool,
    names: tuple[str | None, str | None] = ("kimi_k2", "kimi_k2"),
    literal: tuple[str, ...] = (),
    **fields: Any,
) -> dict[str, int]:
    """What a response adds to the counters, but for zeros."""
    tokenizer = family_tokenizer("kimi_k2")
    family = "+".join(dict.fromkeys(filter(None, names)))
    request = chat_request(TOOLS, **fields)
    parser_class = compose(*names, tokenizer)
    parser = parser_class(tokenizer, request.tools, chat_template_kwargs={}, model_config=ModelConfig())
    before = counted(path, family)
    if streamed:
        stream(parser, request, tokens(Output.of(output, tokenizer, literal)))
    else:
        parse_whole(parser, request, output, tokenizer.encode(output, literal=literal))
    after = counted(path, family)
    return {name: after[name] - before[name] for name in after if after[name] != before[name]}


def test_a_stream(path: str) -> None:
    assert served(path, OUTPUT, streamed=True) == {
        "responses": 1,
        "tool_calls": 4,
        "incomplete_tool_calls": 1,
        "unknown_tool_names": 1,
    }


def test_a_whole_output() -> None:
    assert served("direct", OUTPUT, streamed=False) == {
        "responses": 1,
        "tool_calls": 4,
        "incomplete_tool_calls": 1,
        "unknown_tool_names": 1,
    }


def test_a_whole_output_through_the_adapters_hides_what_was_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNIFIED_PARSER_VLLM_DIRECT", "0")
    expected = {"responses": 1, "tool_calls": 3, "unknown_tool_names": 1}
    assert served("adapters", OUTPUT, streamed=False) == expected


@pytest.mark.parametrize("streamed", [True, False])
def test_a_plain_answer(path: str, streamed: bool) -> None:
    assert served(path, "why</think>so", streamed=streamed) == {"responses": 1}


def test_arguments_that_are_no_json(path: str) -> None:
    output = "</think>" + SECTION + call("find", '{"q": ]}', 0) + call("open", "{}", 1)
    assert served(path, output, streamed=True) == {
        "responses": 1,
        "tool_calls": 2,
        "invalid_tool_arguments": 1,
    }


def test_a_call_cut_off_before_its_name() -> None:
    output = f"</think>so{SECTION}<|tool_call_begin|>functions.fi"
    assert served("direct", output, streamed=True) == {"responses": 1, "incomplete_tool_calls": 1}


def test_markers_in_content(path: str) -> None:
    # Spelled with ordinary tokens they are text, and sent as such.
    markers = ("<|tool_call_end|>", "</think>")
    output = f"why</think>so {markers[0]} and {markers[1]} and {markers[1]}"
    tokenizer = family_tokenizer("kimi_k2")
    parser_class = compose("kimi_k2", "kimi_k2", tokenizer)
    request = chat_request(TOOLS)
    parser = parser_class(tokenizer, request.tools, model_config=ModelConfig())
    ids = tokenizer.encode("why</think>so ") + tokenizer.encode(
        output[len("why</think>so ") :], literal=markers
    )
    before = counted(path)["markers_in_content"]
    deltas = [(tokenizer.decode([number]), [number]) for number in ids]
    stream(parser, request, deltas)
    assert counted(path)["markers_in_content"] - before == 3


def test_without_a_reasoning_parser_its_markers_are_no_leak(path: str) -> None:
    output = "<think>why</think>so"
    assert served(path, output, streamed=True, names=(None, "kimi_k2")) == {"responses": 1}


def test_without_a_tool_parser_calls_are_no_leak(path: str) -> None:
    assert served(path, OUTPUT, streamed=True, names=("kimi_k2", None)) == {"responses": 1}


def test_two_families_are_one_label(path: str) -> None:
    output = 'why</think>so<tool_call>\n{"name": "find", "arguments": {}}\n</tool_call>'
    found = served(path, output, streamed=True, names=("kimi_k2", "hermes"))
    assert found == {"responses": 1, "tool_calls": 1}


def test_a_client_that_goes_away_is_not_counted(path: str) -> None:
    tokenizer = family_tokenizer("kimi_k2")
    request = chat_request(TOOLS)
    parser = compose("kimi_k2", "kimi_k2", tokenizer)(tokenizer, request.tools, model_config=ModelConfig())
    before = counted(path)
    for text, ids in tokens(Output.of(OUTPUT, tokenizer))[:9]:
        parser.parse_delta(text, ids, request, [], finished=False)
    assert counted(path) == before


def test_a_forced_schema_counts_on_the_path_that_reads_it() -> None:
    found = served(
        "adapters",
        '</think>[{"name": "find", "parameters": {}}, {"name": "shut", "parameters": {}}]',
        streamed=True,
        tool_choice="required",
        structured_outputs={"json": {"type": "array"}},
    )
    assert found == {"responses": 1, "tool_calls": 2, "unknown_tool_names": 1}


# vLLM's own counter


def asked(request_type: str = "chat_completions") -> dict[tuple[str, str], int]:
    """vLLM's counter of what tool parsers were asked, by mode and outcome."""
    name = "vllm:tool_call_parser_invocations_total"
    found = {}
    for mode in ("streaming", "non_streaming"):
        for outcome in ("tool_call", "no_tool_call"):
            labels = {"model_name": MODEL, "mode": mode, "outcome": outcome, "request_type": request_type}
            if value := REGISTRY.get_sample_value(name, labels):
                found[mode, outcome] = int(value)
    return found


@pytest.mark.usefixtures("invocations")
def test_vllms_counter_has_each_step_behind_the_reasoning(path: str) -> None:
    output = f"</think>so{SECTION}" + call("open", "{}", 0) + "<|tool_calls_section_end|>"
    tokenizer = family_tokenizer("kimi_k2")
    steps = tokens(Output.of(output, tokenizer))  # the first one ends the reasoning
    served(path, output, streamed=True)
    with_call = len(tokenizer.encode("{}"))  # the first of the arguments announces the call
    assert asked() == {
        ("streaming", "tool_call"): with_call,
        ("streaming", "no_tool_call"): len(steps) - with_call,
    }


@pytest.mark.usefixtures("invocations")
def test_vllms_counter_is_the_same_on_both_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    served("direct", OUTPUT, streamed=True)
    served("direct", OUTPUT, streamed=False)
    served("direct", "why</think>so", streamed=True)
    served("direct", "why</think>so", streamed=False)
    direct = asked()
    unregister_vllm_metrics()
    init_parser_metrics(model_name=MODEL)
    monkeypatch.setenv("UNIFIED_PARSER_VLLM_DIRECT", "0")
    served("adapters", OUTPUT, streamed=True)
    served("adapters", OUTPUT, streamed=False)
    served("adapters", "why</think>so", streamed=True)
    served("adapters", "why</think>so", streamed=False)
    assert asked() == direct
    assert direct["non_streaming", "tool_call"] == direct["non_streaming", "no_tool_call"] == 1


@pytest.mark.usefixtures("invocations")
def test_vllms_counter_knows_the_endpoint() -> None:
    tokenizer = family_tokenizer("kimi_k2")
    request = ResponsesRequest(input="?", model="m")
    parser = compose("kimi_k2", "kimi_k2", tokenizer)(tokenizer, model_config=ModelConfig())
    parser.parse("</think>so", request, enable_auto_tools=True)
    assert asked("responses") == {("non_streaming", "no_tool_call"): 1}


def test_several_processes_share_a_page(tmp_path: Path) -> None:
    """As with several API servers: each writes into the directory, any of them serves the sum."""
    here = Path(__file__).parent
    program = (
        f"import sys; sys.path[:0] = [{str(here)!r}, {str(here.parent)!r}]\n"
        "import test_vllm_metrics as tests\n"
        "tests.served('direct', tests.OUTPUT, streamed=True)\n"
    )
    environment = os.environ | {"PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    for _ in range(2):
        subprocess.run([sys.executable, "-c", program], env=environment, check=True, timeout=120)
    registry = CollectorRegistry()
    multiprocess.MultiProcessCollector(registry, path=str(tmp_path))
    labels = {"model_name": MODEL, "family": "kimi_k2", "path": "direct"}
    assert registry.get_sample_value("unified_parser:responses_total", labels) == 2
    assert registry.get_sample_value("unified_parser:tool_calls_total", labels) == 8


def test_without_prometheus_client_there_is_nothing_to_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    monkeypatch.delenv("UNIFIED_PARSER_RECORD", raising=False)
    metrics._counters.cache_clear()
    try:
        assert not metrics.are_kept()
        assert served("direct", OUTPUT, streamed=True) == {}
    finally:
        monkeypatch.undo()
        for name in metrics.COUNTERS:
            REGISTRY.unregister(REGISTRY._names_to_collectors[f"unified_parser:{name}"])
        metrics._counters.cache_clear()
