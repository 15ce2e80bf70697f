"""The files of recorded responses: written whole, read with helpful errors, and free of prompts."""

from __future__ import annotations

import json
import os
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.parsing import family_tokenizer
from support.samples import Sample, load

from unified_parser import UnknownFamilyError, get_parser_class
from unified_parser.message import Message, ToolCall
from unified_parser.recording import (
    Record,
    RecordError,
    RecordsFullError,
    RecordWriter,
    described,
    prompt_tail,
    read_records,
    to_line,
)
from unified_parser.replay import RecordedTokenizer, parser_for, replay

RECORD = Record(
    text="why</think>so",
    token_ids=[7, 8, 9],
    deltas=[[3, 1], [10, 2]],
    streamed=True,
    result=Message("why", "so"),
    reasoning_parser="kimi_k2",
    tool_parser="kimi_k2",
    markers={"</think>": 8},
    vocabulary={"why": 7, "so": 9},
)


def written(path: Path, *records: Record) -> Path:
    path.write_bytes(b"".join(map(to_line, records)))
    return path


def data_of(record: Record = RECORD) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(to_line(record))
    return found


# Lines


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    odd = replace(RECORD, text="\u2028\n\ud800 é", deltas=[[5, 3]], result=Message(None, None, [CALL]))
    file = written(tmp_path / "a.jsonl", RECORD, odd)
    assert list(read_records(file)) == [(1, RECORD), (2, odd)]
    assert list(RECORD.pieces()) == [("why", [7]), ("</think>so", [8, 9])]


CALL = ToolCall(0, "functions.f:0", "f", '{"a": 1', complete=False)


def test_a_last_line_without_its_end_is_left_for_later(tmp_path: Path) -> None:
    file = written(tmp_path / "a.jsonl", RECORD)
    line = to_line(RECORD)
    for size in (1, len(line) // 2, len(line) - 1):
        file.write_bytes(line + line[:size])
        assert list(read_records(file)) == [(1, RECORD)]


def test_what_a_later_version_adds_is_no_obstacle(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(json.dumps(data_of() | {"weather": "fair"}) + "\n\n")
    assert list(read_records(file)) == [(1, RECORD)]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 2}, "version: 2 is newer than this package, which reads up to 1. Upgrade."),
        ({"version": None}, "version: expected a number, got None. This is no record."),
        ({"text": 5}, "text: expected a string, got 5."),
        ({"token_ids": [1, True]}, "token_ids: expected a list of numbers, got [1, True]."),
        ({"deltas": [[1]]}, "deltas: expected a list of [characters, ids], got [[1]]."),
        ({"deltas": [[3, 1]]}, "deltas: they have 3 characters, the output has 13."),
        ({"deltas": [[13, 1]]}, "deltas: they have 1 ids, the output has 3."),
        ({"streamed": "yes"}, "streamed: expected true or false, got 'yes'."),
        ({"tool_parser": 1}, "tool_parser: expected a family's name or null, got 1."),
        ({"markers": {"a": "b"}}, "markers: expected an object of numbers, got {'a': 'b'}."),
        ({"tools": ["f"]}, "tools: expected a list of objects, got ['f']."),
        ({"result": None}, "result: expected an object, got None."),
        ({"result": {"content": 1}}, "result.content: expected a string or null, got 1."),
        ({"result": {}}, "result.tool_calls: expected a list of objects, got None."),
        (
            {"result": {"tool_calls": [{"id": "1", "name": "f", "arguments": {}}]}},
            "result.tool_calls[0].arguments: expected str, got {}.",
        ),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
def test_an_error_names_file_line_and_field(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(json.dumps(data_of()) + "\n" + json.dumps(data_of() | changes) + "\n")
    with pytest.raises(RecordError) as error:
        list(read_records(file))
    assert str(error.value) == f"{file}:2: {message}"


def test_a_line_that_is_no_record(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    for text, message in (("{", "this is no JSON"), ("[]", "expected an object, got list")):
        file.write_text(text + "\n")
        with pytest.raises(RecordError, match=message):
            list(read_records(file))


# Writing


def test_processes_and_writers_have_files_of_their_own(tmp_path: Path) -> None:
    directory = tmp_path / "new" / "directory"
    for writer in (RecordWriter(directory, 10**6), RecordWriter(directory, 10**6)):
        writer.write(to_line(RECORD))
        writer.write(to_line(RECORD))
        writer.close()
    files = list(directory.glob("*.jsonl"))
    assert [len(list(read_records(file))) for file in files] == [2, 2]


def test_the_limit_is_the_directorys(tmp_path: Path) -> None:
    line = to_line(RECORD)
    first, second = (RecordWriter(tmp_path, 3 * len(line)) for _ in range(2))
    first.write(line)
    second.write(line)
    first.write(line)
    for writer in (first, second):
        with pytest.raises(RecordsFullError):
            writer.write(line)
    next(tmp_path.glob("*.jsonl")).unlink()
    second.write(line)  # there is room again
    first.close()
    second.close()


def test_a_file_that_somebody_removed_is_begun_anew(tmp_path: Path) -> None:
    writer = RecordWriter(tmp_path, 10**6)
    writer.write(to_line(RECORD))
    (file,) = tmp_path.iterdir()
    file.unlink()
    writer.write(to_line(RECORD))
    (file,) = tmp_path.iterdir()
    assert len(list(read_records(file))) == 1
    writer.close()


def test_what_was_written_of_a_line_that_does_not_fit_is_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = RecordWriter(tmp_path, 10**6)
    writer.write(to_line(RECORD))
    write = os.write
    with monkeypatch.context() as disk:
        disk.setattr(os, "write", lambda file, data: write(file, data[: len(data) // 2]))  # it is full
        with pytest.raises(OSError, match="No space left"):
            writer.write(to_line(RECORD))
    writer.write(to_line(RECORD))
    (file,) = tmp_path.iterdir()
    assert file.read_bytes() == to_line(RECORD) * 2
    writer.close()


def test_a_reader_at_work_sees_whole_records(tmp_path: Path) -> None:
    text = "x" * 300_000
    long = replace(RECORD, text=text, deltas=[[len(text), 3]])
    writer = RecordWriter(tmp_path, 10**9)
    writer.write(to_line(long))
    (file,) = tmp_path.iterdir()

    def write() -> None:
        for _ in range(40):
            writer.write(to_line(long))

    thread = threading.Thread(target=write)
    thread.start()
    seen = 0
    while thread.is_alive() or seen < 41:
        records = [record for _, record in read_records(file)]
        assert len(records) >= seen and all(record == long for record in records)
        seen = len(records)
    thread.join()
    writer.close()


# Where an output started


def parser_of(sample: Sample, **prompt: Any) -> Any:
    parser_class = get_parser_class(sample.parser_name, sample.partner)
    tokenizer = family_tokenizer(
        sample.parser_name,
        sample.partner,
        sample.prompt_tail,
        sample.absent_markers,
        sample.response_template,
    )
    return parser_class(
        tokenizer=tokenizer,
        tools=sample.tools,
        thinking=sample.thinking,
        chat_template_kwargs=sample.chat_template_kwargs,
        **prompt,
    )


SAMPLES = list({(s.family, s.prompt_tail): s for s in load()}.values())
SECRET = "Marigold's 4711th secret."


@pytest.mark.parametrize("family", sorted({sample.family for sample in SAMPLES}))
def test_the_tail_starts_the_output_where_the_prompt_did(family: str) -> None:
    for sample in (sample for sample in SAMPLES if sample.family == family):
        for prompt in (sample.prompt_tail, SECRET + sample.prompt_tail, sample.prompt_tail + SECRET):
            parser = parser_of(sample, prompt_text=prompt)
            tail = prompt_tail(parser)
            assert "secret" not in tail or parser._place.header  # a header is structure, whatever it says
            assert parser_of(sample, prompt_text=tail)._place == parser._place, (sample.id, prompt, tail)


@pytest.mark.parametrize(
    ("name", "prompt", "tail"),
    [
        ("kimi_k2", f"{SECRET}<|im_assistant|>assistant<|im_middle|><think>", "<think>"),
        ("kimi_k2", f"<think>{SECRET}</think>", "</think>"),
        ("kimi_k2", SECRET, ""),
        ("qwen3", f"{SECRET}<|im_start|>assistant\n<think>\n", "<think>\n"),
        ("qwen3", "<|im_start|>assistant\n<think>", "<think>"),
        ("qwen3", f"<|im_start|>assistant\n<think>{SECRET}", "<think>\n"),  # no newline to expect
        ("jamba", SECRET, ""),
        ("gpt_oss", f"<|start|>user<|message|>{SECRET}<|end|><|start|>assistant", "<|start|>assistant"),
        (
            "gpt_oss",
            f"<|start|>assistant<|channel|>final<|message|>{SECRET}",
            "<|start|>assistant<|channel|>final<|message|>",
        ),
    ],
)
def test_a_tail_is_markers(name: str, prompt: str, tail: str) -> None:
    assert prompt_tail(get_parser_class(name)(prompt_text=prompt)) == tail


def test_only_the_switches_of_a_template_are_kept() -> None:
    kwargs = {
        "enable_thinking": False,
        "documents": [SECRET],
        "persona": SECRET,
        "reasoning_effort": SECRET * 3,
    }
    fields = described(get_parser_class("qwen3")(chat_template_kwargs=kwargs), [])
    assert fields["chat_template_kwargs"] == {"enable_thinking": False}
    assert (fields["thinking"], fields["markers"]) == (False, None)


# Parsing again


def test_a_record_is_parsed_in_its_deltas_and_as_a_whole() -> None:
    assert replay(RECORD) == (RECORD.result, RECORD.result)


def test_ids_tell_markers_from_their_spelling() -> None:
    spelled = replace(
        RECORD,
        text="a </think>",
        token_ids=[5, 6],
        deltas=[[2, 1], [8, 1]],
        vocabulary={"aĠ": 5, "</think>": 6},
    )
    assert replay(spelled)[0].reasoning == "a </think>"


@pytest.mark.parametrize(
    ("tool", "reasoning", "expected"),
    [
        ("kimi_k2", None, Message(None, "why</think>so")),
        (None, "kimi_k2", Message("why", "so")),
        ("hermes", "kimi_k2", Message("why", "so")),
    ],
)
def test_the_halves_that_the_server_had(tool: str | None, reasoning: str | None, expected: Message) -> None:
    record = replace(RECORD, tool_parser=tool, reasoning_parser=reasoning)
    assert replay(record) == (expected, expected)


def test_another_family_by_name() -> None:
    record = replace(RECORD, text="<think>why</think>so", token_ids=[], deltas=[[20, 0]], markers=None)
    assert replay(record, "qwen3")[0] == Message("why", "so")
    with pytest.raises(UnknownFamilyError):
        parser_for(record, "kimi_k22")


def test_the_recorded_tokenizer_spells_as_vocabularies_do() -> None:
    bytewise = replace(RECORD, vocabulary={"Ġcaf": 1, "Ã": 2, "©": 3, "Ċ": 4}, special_ids=None)
    assert RecordedTokenizer(bytewise).decode([1, 2, 3, 4, 8]) == " café\n</think>"
    blanks = replace(RECORD, vocabulary={"▁café": 1, "s": 2, "<pad▁>": 3}, special_ids=[3])
    assert RecordedTokenizer(blanks).decode([1, 2, 3]) == " cafés<pad▁>"
