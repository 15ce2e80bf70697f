"""``unified-parser replay``: what it shows, its exit codes and errors, as a user meets them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click import unstyle
from typer.testing import CliRunner

from unified_parser.cli.app import app
from unified_parser.message import Message, ToolCall
from unified_parser.recording import Record, to_line

SECTION = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>"
    '{"a": 1}<|tool_call_end|><|tool_calls_section_end|>'
)
TEXT = f"why</think>so{SECTION}"
CALL = ToolCall(0, "functions.f:0", "f", '{"a": 1}', complete=True)
RECORD = Record(
    text=TEXT,
    token_ids=[],
    deltas=[[2, 0], [9, 0], [len(TEXT) - 11, 0]],
    streamed=True,
    result=Message("why", "so", [CALL]),
    reasoning_parser="kimi_k2",
    tool_parser="kimi_k2",
)
OTHER = replace(RECORD, result=Message("why", "so and so", [replace(CALL, arguments='{"a": 2}')]))


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("FORCE_COLOR", raising=False)


def run(*args: object, code: int = 0) -> str:
    """Replays; returns the standard output, or the standard error where the user is to mend something."""
    result = CliRunner().invoke(app, ["replay", *map(str, args)])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return unstyle(result.stderr if code == 2 else result.stdout)


def written(file: Path, *records: Record) -> Path:
    file.write_bytes(b"".join(map(to_line, records)))
    return file


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("  ") if cell.strip()]


def test_nothing_differs(tmp_path: Path) -> None:
    file = written(tmp_path / "a.jsonl", RECORD, replace(RECORD, streamed=False, deltas=[[len(TEXT), 0]]))
    assert run(file) == "2 responses: 2 as recorded, 0 different\n"


def test_what_differs_is_shown(tmp_path: Path) -> None:
    file = written(tmp_path / "a.jsonl", RECORD, OTHER)
    lines = run(file, code=1).splitlines()
    assert lines[0].startswith(f"{file}:2  kimi_k2, streamed, {len(TEXT)} characters")
    rows = [cells(line) for line in lines]
    assert ["field", "recorded", "now"] in rows
    assert ["content", "so and so", "so"] in rows
    assert ["tool_calls[0].arguments", '{"a": 2}', '{"a": 1}'] in rows
    assert lines[-1] == "2 responses: 1 as recorded, 1 different"


def test_as_json(tmp_path: Path) -> None:
    file = written(tmp_path / "a.jsonl", RECORD, OTHER)
    first, second = map(json.loads, run(file, "--json", code=1).splitlines())
    nothing: dict[str, Any] = {"differs": [], "streamed_and_whole": [], "skipped": None}
    assert first == {"where": f"{file}:1", **nothing}
    assert second["differs"] == [
        {"field": "content", "recorded": "so and so", "now": "so"},
        {"field": "tool_calls[0].arguments", "recorded": '{"a": 2}', "now": '{"a": 1}'},
    ]


def test_missing_and_new_calls(tmp_path: Path) -> None:
    without = replace(RECORD, result=Message("why", "so"))
    more = replace(RECORD, result=Message("why", "so", [CALL, replace(CALL, index=1, complete=False)]))
    lines = [cells(line) for line in run(written(tmp_path / "a", without, more), code=1).splitlines()]
    assert ["tool_calls[0]", "nothing", 'f {"a": 1}'] in lines
    assert ["tool_calls[1]", 'f {"a": 1}, incomplete', "nothing"] in lines


def test_a_long_value_is_shown_where_it_differs(tmp_path: Path) -> None:
    long = "x" * 500
    text = f"</think>{long}y"
    record = replace(RECORD, text=text, deltas=[[len(text), 0]], result=Message(None, f"{long}z"))
    lines = [cells(line) for line in run(written(tmp_path / "a", record), code=1).splitlines()]
    assert ["content", f"…{'x' * 16}z", f"…{'x' * 16}y"] in lines


def test_ids_that_are_made_up_are_not_compared(tmp_path: Path) -> None:
    text = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
    call = ToolCall(0, "made-up-then", "f", "{}", complete=True)
    record = replace(
        RECORD,
        text=text,
        deltas=[[len(text), 0]],
        result=Message(None, None, [call]),
        reasoning_parser=None,
        tool_parser="hermes",
    )
    run(written(tmp_path / "a", record))
    written_ids = replace(RECORD, result=Message("why", "so", [replace(CALL, id="functions.f:7")]))
    assert "tool_calls[0].id" in run(written(tmp_path / "b", written_ids), code=1)


def test_a_stream_that_is_not_its_whole_is_a_difference(tmp_path: Path) -> None:
    # The text came before the id that makes it a marker: the stream had sent it by then.
    record = replace(
        RECORD,
        text="why</think>so",
        token_ids=[8],
        deltas=[[13, 0], [0, 1]],
        markers={"</think>": 8},
        result=Message("why</think>so", None),
    )
    (line,) = run(written(tmp_path / "a", record), "--json", code=1).splitlines()
    assert json.loads(line)["streamed_and_whole"] != []


def test_another_family(tmp_path: Path) -> None:
    file = written(tmp_path / "a.jsonl", RECORD)
    rows = [cells(line) for line in run(file, "qwen3", code=1).splitlines()]
    assert ["tool_calls[0]", 'f {"a": 1}', "nothing"] in rows


def test_a_directory_is_its_files(tmp_path: Path) -> None:
    written(tmp_path / "a.jsonl", RECORD)
    written(tmp_path / "b.jsonl", RECORD, RECORD)
    (tmp_path / "notes.txt").write_text("not a record")
    assert run(tmp_path).startswith("3 responses: 3 as recorded")
    assert run(tmp_path / "a.jsonl", tmp_path / "b.jsonl").startswith("3 responses")


def test_forced_json_is_left_out(tmp_path: Path) -> None:
    file = written(tmp_path / "a.jsonl", replace(OTHER, forced_json=True), RECORD)
    assert run(file).startswith("2 responses: 1 as recorded, 0 different, 1 skipped (its JSON was forced")


def test_one_response_is_one(tmp_path: Path) -> None:
    assert run(written(tmp_path / "a.jsonl", RECORD)) == "1 response: 1 as recorded, 0 different\n"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{", "a.jsonl:1: this is no JSON"),
        (b'{"raw": "x"}', "a.jsonl:1: version: expected a number, got None. This is no record."),
        (
            to_line(RECORD).replace(b'"streamed":true', b'"streamed":1').strip(),
            "a.jsonl:1: streamed: expected",
        ),
        (to_line(replace(RECORD, tool_parser="kimi_k9")).strip(), "a.jsonl:1: No parser family is called"),
        (to_line(replace(RECORD, tool_parser="hf", reasoning_parser="hf")).strip(), "with --tokenizer."),
    ],
)
def test_a_file_that_is_wrong(tmp_path: Path, line: bytes, message: str) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(line + b"\n")
    assert message in run(file, code=2)


def test_arguments_that_are_wrong(tmp_path: Path) -> None:
    file = written(tmp_path / "a.jsonl", RECORD)
    assert "there is no such file" in run(tmp_path / "b.jsonl", code=2)
    assert "there is no such file" in run(file, tmp_path / "b.jsonl", code=2)
    assert "Did you mean kimi_k2" in run(file, "kimi_k22", code=2)
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "Nothing was recorded in it" in run(empty, code=2)
    assert "there is no such file" in run(file, "--tokenizer", tmp_path / "none", code=2)
