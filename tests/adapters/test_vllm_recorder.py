"""Responses on record: what is in the files, that they replay, and that serving never notices."""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.cuts import Output, some_tokens, tokens, without_special_tokens
from support.parsing import family_tokenizer
from support.samples import Sample, load

pytest.importorskip("vllm")

from vllm_driver import asked_kwargs, chat_request, compose, parse_whole, stream, template_kwargs

from unified_parser import __version__
from unified_parser.adapters.vllm import recorder as module
from unified_parser.message import Message
from unified_parser.recording import Record, read_records
from unified_parser.replay import replay

TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
CALL = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>"
    "{}<|tool_call_end|><|tool_calls_section_end|>"
)
OUTPUT = f"why</think>so{CALL}"
PROMPT = "the user's secret<|im_end|><|im_assistant|>assistant<|im_middle|><think>"

Start = Callable[..., Path]


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Start]:
    """Switches recording on; returns the directory."""

    def on(directory: Path = tmp_path / "records", **settings: str) -> Path:
        monkeypatch.setenv("UNIFIED_PARSER_RECORD", str(directory))
        for name, value in settings.items():
            monkeypatch.setenv(f"UNIFIED_PARSER_RECORD_{name}", value)
        module._recorder_of.cache_clear()
        return directory

    yield on
    module._recorder_of.cache_clear()


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The lines of our log."""
    lines: list[str] = []
    handler = logging.Handler()
    monkeypatch.setattr(handler, "emit", lambda record: lines.append(record.getMessage()))
    logger = logging.getLogger("vllm.unified_parser")
    monkeypatch.setattr(logger, "disabled", False)
    logger.addHandler(handler)
    yield lines
    logger.removeHandler(handler)


@pytest.fixture(params=["direct", "adapters"])
def path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "adapters":
        monkeypatch.setenv("UNIFIED_PARSER_VLLM_DIRECT", "0")
    return str(request.param)


def written(directory: Path) -> list[Record]:
    """The records, once all are written."""
    recorder = module.recorder()
    assert recorder is not None
    recorder.flush()
    return [record for file in sorted(directory.glob("*.jsonl")) for _, record in read_records(file)]


def serve(request: Any, output: str = OUTPUT, *, streamed: bool = True, prompt: str = PROMPT) -> Any:
    """Serves one response of a kimi_k2 server; returns what was sent."""
    tokenizer = family_tokenizer("kimi_k2", prompt=prompt)
    parser = compose("kimi_k2", "kimi_k2", tokenizer)(tokenizer, request.tools, chat_template_kwargs={})
    ids = tokenizer.encode(output)
    if not streamed:
        return parse_whole(parser, request, output, ids, tokenizer.encode(prompt))
    return stream(parser, request, tokens(Output.of(output, tokenizer)), tokenizer.encode(prompt))


def test_a_stream(start: Start, path: str) -> None:
    directory = start()
    serve(chat_request([TOOL]))
    (record,) = written(directory)
    tokenizer = family_tokenizer("kimi_k2", prompt=PROMPT)
    assert (record.text, record.token_ids) == (OUTPUT, tokenizer.encode(OUTPUT))
    assert [(text, list(ids)) for text, ids in record.pieces()] == tokens(Output.of(OUTPUT, tokenizer))
    assert (record.result.reasoning, record.result.content) == ("why", "so")
    (call,) = record.result.tool_calls
    assert (call.id, call.name, call.arguments, call.complete) == ("functions.f:0", "f", "{}", True)
    assert (record.reasoning_parser, record.tool_parser, record.path) == ("kimi_k2", "kimi_k2", path)
    assert (record.streamed, record.thinking, record.tool_choice) == (True, True, "auto")
    assert (record.include_reasoning, record.forced_json, record.model) == (True, False, "m")
    assert (record.tools, record.package) == ([TOOL], __version__)
    assert record.markers is not None
    vocabulary = tokenizer.get_vocab()
    assert record.markers["</think>"] == vocabulary["</think>"]
    assert record.vocabulary is not None and set(record.vocabulary.values()) <= set(record.token_ids)


def test_a_whole_output(start: Start, path: str) -> None:
    directory = start()
    serve(chat_request([TOOL]), streamed=False)
    (record,) = written(directory)
    assert (record.streamed, record.text, record.deltas) == (
        False,
        OUTPUT,
        [[len(OUTPUT), len(record.token_ids)]],
    )
    assert (record.result.reasoning, record.result.content) == ("why", "so")
    assert [call.name for call in record.result.tool_calls] == ["f"]


def test_every_choice_is_a_response(start: Start, path: str) -> None:
    directory = start()
    tokenizer = family_tokenizer("kimi_k2")
    request = chat_request([TOOL], n=2)
    parser_class = compose("kimi_k2", "kimi_k2", tokenizer)
    shared = parser_class(tokenizer, request.tools, chat_template_kwargs={})  # vLLM 0.30: one for all
    for output in ("a</think>b", "c</think>d"):
        parse_whole(shared, request, output)
    streams = [parser_class(tokenizer, request.tools, chat_template_kwargs={}) for _ in range(2)]
    for parser, output in zip(streams, ("e</think>f", "g</think>h"), strict=True):
        stream(parser, request, tokens(Output.of(output, tokenizer)))
    assert [record.result.content for record in written(directory)] == ["b", "d", "f", "h"]


def test_a_stream_that_is_parsed_again_is_one_response(start: Start, path: str) -> None:
    directory = start()
    tokenizer = family_tokenizer("kimi_k2")
    request = chat_request([TOOL])
    parser = compose("kimi_k2", "kimi_k2", tokenizer)(tokenizer, request.tools, chat_template_kwargs={})
    stream(parser, request, tokens(Output.of(OUTPUT, tokenizer)))
    parse_whole(parser, request, OUTPUT)  # as the Responses API of vLLM 0.30 does
    assert len(written(directory)) == 1


def test_nothing_of_the_prompt_is_in_the_files(start: Start) -> None:
    directory = start()
    tokenizer = family_tokenizer("kimi_k2", prompt=PROMPT)
    request = chat_request([TOOL])
    kwargs = {"documents": ["the secret"], "thinking": True, "persona": "secret", "reasoning_effort": None}
    parser = compose("kimi_k2", "kimi_k2", tokenizer)(tokenizer, request.tools, chat_template_kwargs=kwargs)
    stream(parser, request, tokens(Output.of(OUTPUT, tokenizer)), tokenizer.encode(PROMPT + "\nsecret"))
    (record,) = written(directory)
    (file,) = directory.iterdir()
    assert "secret" not in file.read_text()
    assert record.prompt_tail == "<think>"
    assert record.chat_template_kwargs == {"thinking": True, "reasoning_effort": None}
    assert file.stat().st_mode & 0o077 == 0


def test_what_is_not_sent_is_not_in_the_result(start: Start, path: str) -> None:
    directory = start()
    serve(chat_request([TOOL], include_reasoning=False, tool_choice="none"))
    (record,) = written(directory)
    assert record.result == Message(content="so")
    assert replay(record) == (record.result, record.result)


def test_a_client_that_goes_away_leaves_nothing(start: Start, path: str) -> None:
    directory = start()
    tokenizer = family_tokenizer("kimi_k2")
    request = chat_request([TOOL])
    parser = compose("kimi_k2", "kimi_k2", tokenizer)(tokenizer, request.tools, chat_template_kwargs={})
    for text, ids in tokens(Output.of(OUTPUT, tokenizer))[:3]:
        parser.parse_delta(text, ids, request, [], finished=False)
    del parser
    assert written(directory) == []


def test_a_forced_schema_is_recorded_as_such(start: Start) -> None:
    directory = start()
    schema = {"type": "array", "items": {"type": "object"}}
    request = chat_request([TOOL], tool_choice="required", structured_outputs={"json": schema})
    serve(request, '[{"name": "f", "parameters": {"a": 1}}]', prompt="<think></think>")
    (record,) = written(directory)
    assert (record.forced_json, record.path) == (True, "adapters")
    assert [(call.name, call.arguments) for call in record.result.tool_calls] == [("f", '{"a": 1}')]


EVERY = [sample for sample in load() if sample.response_template is None]
CUTS = {"some": some_tokens(5), "dropped": without_special_tokens(3)}


@pytest.mark.parametrize("family", sorted({sample.family for sample in EVERY}))
def test_records_replay_without_the_tokenizer(start: Start, family: str) -> None:
    """Everything that the parser went by is on record: the sample comes out of the file, cut as it was."""
    directory = start()
    served: list[tuple[str, Sample]] = []
    for sample in (sample for sample in EVERY if sample.family == family):
        tokenizer = family_tokenizer(
            sample.parser_name, sample.partner, sample.prompt_tail, sample.absent_markers
        )
        output = Output.of(sample.raw, tokenizer, sample.literal)
        prompt = tokenizer.encode(sample.prompt_tail)
        request = chat_request(sample.tools, chat_template_kwargs=asked_kwargs(sample))
        parser_class = compose(sample.reasoning_name, sample.tool_name, tokenizer)
        for name, cut in CUTS.items():
            parser = parser_class(tokenizer, request.tools, chat_template_kwargs=template_kwargs(sample))
            stream(parser, request, cut(output), prompt)
            served.append((f"{sample.id} {name}", sample))
        parser = parser_class(tokenizer, request.tools, chat_template_kwargs=template_kwargs(sample))
        parse_whole(parser, request, sample.raw, output.ids, prompt)
        served.append((f"{sample.id} not streamed", sample))
    different: dict[str, Any] = {}
    for (name, _), record in zip(served, written(directory), strict=True):
        streamed, in_one = replay(record)
        now = streamed if record.streamed else in_one
        if essence(now) != essence(record.result):
            different[name] = (record.result, now)
    assert different == {}


def essence(message: Message) -> Any:
    """A message without its ids, which may be made up."""
    calls = [(call.name, call.arguments, call.complete) for call in message.tool_calls]
    return message.reasoning, message.content, calls


def test_the_rate(start: Start) -> None:
    assert start(RATE="0") is not None
    recorder = module.recorder()
    assert recorder is not None and not any(recorder.wants() for _ in range(100))
    start(RATE="0.5")
    recorder = module.recorder()
    assert recorder is not None and 400 < sum(recorder.wants() for _ in range(1000)) < 600


@pytest.mark.parametrize(
    ("setting", "value"), [("RATE", "often"), ("RATE", "1.5"), ("MB", "0"), ("MB", "lots"), ("MB", "inf")]
)
def test_a_bad_setting_is_named_and_nothing_recorded(
    start: Start, log: list[str], setting: str, value: str
) -> None:
    directory = start(**{setting: value})
    assert serve(chat_request([TOOL]))
    assert module.recorder() is None and not directory.exists()
    (line,) = [line for line in log if "UNIFIED_PARSER_RECORD" in line]
    assert f"UNIFIED_PARSER_RECORD_{setting}" in line and "give a number" in line


def test_off_there_is_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UNIFIED_PARSER_RECORD", raising=False)
    module._recorder_of.cache_clear()
    before = set(threading.enumerate())
    serve(chat_request([TOOL]))
    assert set(threading.enumerate()) <= before


def test_a_directory_that_cannot_be_written_fails_no_response(
    start: Start, log: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "a file"
    file.write_text("")
    start(file / "records")
    for _ in range(3):
        assert serve(chat_request([TOOL]))
    assert written(tmp_path) == []
    (line,) = [line for line in log if "not recorded" in line]
    assert str(file) in line


def test_the_size_limit_drops(start: Start, log: list[str]) -> None:
    directory = start(MB="0.01")
    for _ in range(20):
        serve(chat_request([TOOL]))
    records = written(directory)
    assert 0 < len(records) < 20
    assert sum(file.stat().st_size for file in directory.iterdir()) <= 10_000
    assert len([line for line in log if "not recorded" in line]) == 1


def test_a_full_queue_drops(start: Start, log: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_WAITING", 2)
    directory = start()
    recorder = module.recorder()
    assert recorder is not None
    hold, held = threading.Event(), threading.Event()

    def slow() -> Record:
        held.set()
        assert hold.wait(30)
        raise OSError("this one is lost")

    recorder.put(slow)
    assert held.wait(30)
    for _ in range(5):
        assert serve(chat_request([TOOL]))
    hold.set()
    assert len(written(directory)) == 2
    assert len([line for line in log if "not recorded" in line]) == 1


def test_a_forked_process_writes_a_file_of_its_own(start: Start) -> None:
    directory = start()
    serve(chat_request([TOOL]), "a</think>b")
    assert len(written(directory)) == 1

    def child() -> None:
        serve(chat_request([TOOL]), "c</think>d")
        recorder = module.recorder()
        assert recorder is not None
        recorder.flush()

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join(60)
    assert process.exitcode == 0
    serve(chat_request([TOOL]), "e</think>f")
    records = written(directory)
    assert sorted(record.result.content or "" for record in records) == ["b", "d", "f"]
    files = [file.name for file in directory.iterdir()]
    assert len(files) == 2 and sum(f"-{os.getpid()}-" in name for name in files) == 1


def test_a_line_is_json_with_the_documented_keys(start: Start) -> None:
    directory = start()
    serve(chat_request([TOOL]))
    written(directory)
    (file,) = directory.iterdir()
    data = json.loads(file.read_text())
    assert set(data) == set(Record.__dataclass_fields__)
    call = {"id": "functions.f:0", "name": "f", "arguments": "{}", "complete": True}
    assert data["result"] == {"reasoning": "why", "content": "so", "tool_calls": [call]}
