"""The command line: what it prints, its errors and exit codes, as a user meets them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click import unstyle
from support.fold import Folded, loads
from support.parsing import family_tokenizer
from support.samples import CORPUS, Sample, load
from typer.testing import CliRunner

from unified_parser import families, get_parser_class
from unified_parser.cli.app import app
from unified_parser.cli.chunks import Delta, deltas, read_chunks

ROOT = CORPUS.parent.parent
DEMO = CORPUS / "demo_kimi_k2.txt"
# What the demo holds, read off the file.
REASONING = "The user asks for the tides at Brest and Dover.\nTwo calls, one for each port."
CONTENT = "Let me look both ports up."
BREST = {"port": "Brest", "hours": 12, "metric": True}
DOVER = {"port": "Dover", "hours": 12, "note": "a literal </think> in a string is text"}
CUT_CALL = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.tide_table:0"
    '<|tool_call_argument_begin|>{"port": "Bre'
)
CUT_NAME = "<|tool_calls_section_begin|><|tool_call_begin|>functions.tide"
# One sample of every file that text alone decides.
SAMPLES = list(
    {s.family: s for s in load() if not s.literal and s.expected.calls and not s.response_template}.values()
)
# So wide that no cell of a table is folded.
WIDE = {"COLUMNS": "1000"}
KNOWN = [family.parser_class for family in families()]


@pytest.fixture(autouse=True)
def no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing around the tests says how wide a terminal is, or that there is one."""
    for name in ("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)


def run(
    *args: object, stdin: str | bytes | None = None, code: int = 0, env: dict[str, str] | None = None
) -> str:
    """Runs a command in this process; returns its standard output, or its standard error if it fails."""
    result = CliRunner().invoke(app, [str(arg) for arg in args], input=stdin, env=env)
    assert result.exit_code == code, result.output
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return unstyle(result.stderr) if code else result.stdout


def command(*args: object) -> list[str]:
    """The command line of a process of its own, for what only a process shows."""
    return [sys.executable, "-m", "unified_parser", *map(str, args)]


def run_process(*args: object, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*args), capture_output=True, text=True, cwd=ROOT, env=os.environ | env, timeout=60
    )


def json_lines(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines()]


def written(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


# parse


def test_parse_prints_the_message() -> None:
    message = json.loads(run("parse", "kimi_k2", DEMO))
    assert message["reasoning"] == REASONING
    assert message["content"] == CONTENT
    assert message["discarded"] is None
    first, second = message["tool_calls"]
    assert (first["id"], first["name"], first["complete"]) == ("functions.tide_table:0", "tide_table", True)
    assert (json.loads(first["arguments"]), json.loads(second["arguments"])) == (BREST, DOVER)


def test_openai_shape() -> None:
    message = json.loads(run("parse", "kimi_k2", DEMO, "--openai"))
    assert (message["role"], message["reasoning"], message["content"]) == ("assistant", REASONING, CONTENT)
    call = message["tool_calls"][1]
    assert (call["type"], call["id"], call["function"]["name"]) == (
        "function",
        "functions.tide_table:1",
        "tide_table",
    )
    assert json.loads(call["function"]["arguments"]) == DOVER


@pytest.mark.parametrize("chunk", ["1", "char", "7", "100000", "random:3", "random:4"])
def test_the_cut_makes_no_difference(chunk: str) -> None:
    assert run("parse", "kimi_k2", DEMO, "--chunk", chunk) == run("parse", "kimi_k2", DEMO)


def test_standard_input() -> None:
    for args in (["parse", "kimi_k2"], ["parse", "kimi_k2", "-"]):
        assert json.loads(run(*args, stdin="<think>a</think>b"))["content"] == "b"


def folded(message: dict[str, Any]) -> Folded:
    calls = [(call["name"], loads(call["arguments"]), call["complete"]) for call in message["tool_calls"]]
    return Folded(message["reasoning"], message["content"], calls)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.id)
def test_options_carry_the_request(sample: Sample, tmp_path: Path) -> None:
    tools = written(tmp_path / "tools.json", json.dumps(sample.tools))
    args = ["--tools", tools, "--prompt", sample.prompt_tail, "--finish-reason", sample.finish_reason]
    args += ["--reasoning", sample.partner] if sample.partner else []
    if sample.thinking is not None:
        args.append("--thinking" if sample.thinking else "--no-thinking")
    for key, value in (sample.chat_template_kwargs or {}).items():
        args += ["--kwarg", f"{key}={json.dumps(value)}"]
    output = written(tmp_path / "output.txt", "")
    output.write_bytes(sample.raw.encode())
    for chunk in ([], ["--chunk", "char"], ["--atomic"]):
        message = json.loads(run("parse", sample.parser_name, output, *args, *chunk))
        assert folded(message).spelled() == sample.expected.spelled()


def test_records_carry_their_request(tmp_path: Path) -> None:
    samples = [s for s in load() if s.family == "kimi_k2" and not s.literal and s.partner is None]
    records = [
        {
            "output": s.raw,
            "tools": s.tools,
            "thinking": s.thinking,
            "prompt": s.prompt_tail,
            "chat_template_kwargs": s.chat_template_kwargs,
            "finish_reason": s.finish_reason,
        }
        for s in samples
    ]
    file = written(tmp_path / "outputs.jsonl", "\n\n".join(map(json.dumps, records)))
    messages = json_lines(run("parse", "kimi_k2", file))
    assert [folded(m).spelled() for m in messages] == [s.expected.spelled() for s in samples]
    events = json_lines(run("parse", "kimi_k2", file, "--stream"))
    assert {event["line"] for event in events} == set(range(1, 2 * len(records), 2))


def test_options_win_over_a_record(tmp_path: Path) -> None:
    file = written(tmp_path / "o.jsonl", json.dumps({"raw": "x", "prompt": "<think>"}))
    assert json.loads(run("parse", "kimi_k2", file))["reasoning"] == "x"
    assert json.loads(run("parse", "kimi_k2", file, "--prompt", "<think></think>"))["content"] == "x"


def test_prompt_file(tmp_path: Path) -> None:
    prompt = written(tmp_path / "prompt", "<think></think>")
    assert json.loads(run("parse", "kimi_k2", "--prompt-file", prompt, stdin="x"))["content"] == "x"


def test_stream_prints_events_with_spans() -> None:
    events = json_lines(run("parse", "kimi_k2", "--stream", "--chunk", "2", stdin="<think>ab</think>cd"))
    kinds = [event["event"] for event in events]
    assert kinds[0] == "ReasoningStart" and kinds.index("ReasoningEnd") < kinds.index("ContentText")
    assert "".join(e["text"] for e in events if e["event"] == "ReasoningText") == "ab"
    assert "".join(e["text"] for e in events if e["event"] == "ContentText") == "cd"
    assert (events[0]["start"], events[-1]["end"]) == (0, len("<think>ab</think>cd"))


def test_stream_in_openai_shape() -> None:
    deltas = json_lines(run("parse", "kimi_k2", DEMO, "--stream", "--openai", "--chunk", "5"))
    assert "".join(delta.get("content", "") for delta in deltas) == CONTENT
    calls = [call for delta in deltas for call in delta.get("tool_calls", ())]
    arguments = "".join(call["function"]["arguments"] for call in calls if call["index"] == 1)
    assert json.loads(arguments) == DOVER


def test_stream_does_not_wait_for_the_end_of_the_input() -> None:
    pipe = subprocess.PIPE
    args = command("parse", "kimi_k2", "--stream")
    with subprocess.Popen(args, stdin=pipe, stdout=pipe, cwd=ROOT) as process:
        assert process.stdin and process.stdout
        process.stdin.write(b"<think>caf" + "é".encode()[:1])
        process.stdin.flush()
        lines = [json.loads(process.stdout.readline()) for _ in range(2)]
        assert lines[1]["text"] == "caf"
        process.stdin.write("é".encode()[1:])
        process.stdin.close()
        assert [json.loads(line).get("text") for line in process.stdout] == ["é"]


@pytest.fixture
def tokenizer(tmp_path: Path) -> Path:
    """A directory with a tokenizer.json in which the markers of kimi_k2 are special tokens."""
    family_tokenizer("kimi_k2").backend.save(str(tmp_path / "tokenizer.json"))
    return tmp_path


@pytest.mark.parametrize("chunk", [None, "1", "char", "random:1"])
def test_tokenizer(tokenizer: Path, chunk: str | None) -> None:
    for path in (tokenizer, tokenizer / "tokenizer.json"):
        args = ["--tokenizer", path, *(["--chunk", chunk] if chunk else [])]
        message = json.loads(run("parse", "kimi_k2", DEMO, *args))
        assert (message["reasoning"], message["content"]) == (REASONING, CONTENT)
        assert [json.loads(call["arguments"]) for call in message["tool_calls"]] == [BREST, DOVER]


def test_token_ids_are_evidence(tokenizer: Path) -> None:
    """The first characters of a marker, in ordinary tokens, can be no marker: nothing waits for the end."""
    args = ["parse", "kimi_k2", "--stream", "--chunk", "1"]
    output = "<think>a</thin"
    by_text = json_lines(run(*args, stdin=output))
    by_ids = json_lines(run(*args, "--tokenizer", tokenizer, stdin=output))
    assert by_text[-1] == {"event": "ReasoningText", "text": "</thin", "start": 8, "end": 14}
    assert by_ids[-1]["text"] != "</thin" and by_ids[-1]["end"] == 14
    assert "".join(event.get("text", "") for event in by_ids) == "a</thin"


# Incomplete output


def test_incomplete_calls() -> None:
    assert json.loads(run("parse", "kimi_k2", stdin=CUT_CALL))["tool_calls"] == []
    (call,) = json.loads(run("parse", "kimi_k2", "--keep-incomplete", stdin=CUT_CALL))["tool_calls"]
    assert (call["name"], call["arguments"], call["complete"]) == ("tide_table", '{"port": "Bre', False)
    assert json.loads(run("parse", "kimi_k2", stdin=CUT_NAME))["discarded"] == CUT_NAME


@pytest.mark.parametrize(
    "output, complaint",
    [(CUT_CALL, "call 0 (tide_table) is incomplete"), (CUT_NAME, f"{len(CUT_NAME)} characters")],
)
def test_strict(output: str, complaint: str) -> None:
    for stream in ([], ["--stream"]):
        assert complaint in run("parse", "kimi_k2", "--strict", *stream, stdin=output, code=1)
    run("parse", "kimi_k2", "--strict", DEMO)


@pytest.mark.parametrize("name", [cls.names[0] for cls in KNOWN if cls.format.markers()])
def test_no_output_fails(name: str) -> None:
    markers = [marker.text for marker in get_parser_class(name).format.markers()]
    hostile = "".join(markers).encode() + bytes(range(256)) + "".join(reversed(markers)).encode()
    for args in (["parse", name], ["parse", name, "--stream"], ["trace", name, "--chunk", "9"]):
        run(*args, "-", stdin=hostile)


def test_half_a_surrogate_pair_stays_an_escape(tmp_path: Path) -> None:
    file = written(tmp_path / "o.jsonl", r'{"raw": "a\ud800b"}')
    assert r'"a\ud800b"' in run("parse", "kimi_k2", "--no-thinking", file)
    assert "a\ufffdb" in run("trace", "kimi_k2", "--no-thinking", file)


# trace


def parts_of(drawing: str) -> list[list[str]]:
    """The first table of a drawing: position, channel and text of each part."""
    lines = drawing.partition("\n\n")[0].splitlines()
    return [re.split(r" {2,}", line.strip()) for line in lines]


def test_trace_shows_the_parts() -> None:
    assert parts_of(run("trace", "kimi_k2", stdin="<think>a\nb\n</think>c")) == [
        ["0", "framing", "<think>"],
        ["7", "reasoning", "a"],
        ["b⏎"],
        ["11", "framing", "</think>"],
        ["19", "content", "c"],
    ]


def test_trace_shows_calls() -> None:
    parts = parts_of(run("trace", "kimi_k2", stdin=CUT_CALL))
    assert [part[1] for part in parts] == ["call 0", "arguments 0"]
    assert parts[1][2] == '{"port": "Bre'
    assert [part[1] for part in parts_of(run("trace", "kimi_k2", stdin=CUT_NAME))] == ["discarded"]


def test_trace_shows_what_deltas_hold_back() -> None:
    drawing = run("trace", "kimi_k2", "--chunk", "4", stdin="<think>ab</thin?")
    table = [re.split(r" {2,}", line.strip()) for line in drawing.partition("events")[2].splitlines()[2:]]
    assert table[:4] == [
        ["1", "<thi", "<thi"],
        ["2", "nk>a", "ReasoningStart 0-7"],
        ["ReasoningText 7-8"],
        ["3", "b</t", "</t", "ReasoningText 8-9"],
    ]
    assert table[4] == ["4", "hin?", "ReasoningText 9-16"]
    assert table[5][0] == "end"


def test_trace_of_long_runs_is_short() -> None:
    drawing = run("trace", "kimi_k2", stdin=f"<think>{'word ' * 500}</think>")
    _, _, table = drawing.partition("held back")
    assert len(table.splitlines()) < 12
    assert f"8-{7 + 5 * 500}" in table


def test_control_characters_do_not_reach_the_terminal() -> None:
    drawing = run("trace", "kimi_k2", stdin="<think>\x1b[31m\x07\x9b\u202e")
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", drawing)
    assert "␛[31m␇" in drawing


def test_colours() -> None:
    """Colours are written where they are wanted, and only there."""
    args = ["trace", "kimi_k2", DEMO]
    coloured = run(*args, env={"FORCE_COLOR": "1", "TERM": "xterm-256color"})
    assert "\x1b[36m" in coloured, "reasoning is cyan"
    assert "\x1b[1;35mtide_table" in coloured, "names are bold"
    assert "\x1b[" not in run(*args)
    uncoloured = run(*args, env={"FORCE_COLOR": "1", "TERM": "xterm", "NO_COLOR": "1"})
    assert not re.search(r"\x1b\[[\d;]*3[0-7]m", uncoloured)


# families


def test_the_table_names_every_family() -> None:
    output = run("families", env=WIDE)
    for family in families():
        for name in family.names:
            assert name in output


@pytest.mark.parametrize("name", [parser_class.names[0] for parser_class in KNOWN])
def test_a_page_shows_every_marker(name: str) -> None:
    parser_class = get_parser_class(name)
    page = run("families", name, env=WIDE)
    squeezed = re.sub(r"\s", "", page)
    for marker in parser_class.format.markers():
        if marker.text.strip():
            assert re.sub(r"\s", "", marker.text.replace("\n", "⏎")) in squeezed
    assert all(model in page for model in parser_class.models)


def test_the_page_of_kimi_k2() -> None:
    page = run("families", "kimi_k2", env=WIDE)
    assert re.search(r"tools\.open +<\|tool_calls_section_begin\|> +special token", page)
    assert re.search(r"thinking off by enable_thinking += False", page)
    assert re.search(r"reasoning +</think> +close reasoning", page), "the machine's table"
    assert re.search(r"Cut off\s+in reasoning: reasoning; .*\n +thinking off: content\s", page)
    assert re.search(r"Structured output begins\s+behind `</think>`, a single token id\s", page)
    assert re.search(r"at `<\|tool_calls_section_begin\|>`, a single token id \(implicit end\)", page)
    assert re.search(r"Traps\s+K2-Instruct never thinks", page)


def test_families_as_json() -> None:
    pages = json.loads(run("families", "--json"))
    assert [tuple(page["names"]) for page in pages] == [family.names for family in families()]
    page = json.loads(run("families", "kimi_k2", "--json"))
    assert page in pages
    assert page["format"]["reasoning"]["close"]["text"] == "</think>"
    assert page["format"]["tools"][0]["calls"][0]["begin"]["text"] == "<|tool_call_begin|>"
    assert page["implicit_reasoning_ends"] == ["<|tool_calls_section_begin|>"]
    assert page["format"]["start"]["toggles"]["thinking"] == [False]
    assert page["truncation"][-1] == "a call is complete with its arguments"
    assert page["structured_output"][0] == "behind `</think>`, a single token id"
    assert all(page["traps"] for page in pages)


def test_families_in_markdown() -> None:
    head, rule, *rows = run("families", "--markdown").splitlines()
    assert len(rows) == len(KNOWN)
    assert {len(re.split(r"(?<!\\)\|", line)) for line in (head, rule, *rows)} == {6}, "four cells each"


# What the user must mend

ERRORS: list[tuple[list[object], list[str]]] = [
    (["parse", "kimi2", DEMO], ["'kimi2'", "kimi_k2"]),
    (["trace", "KIMI-K2", DEMO], ["kimi_k2"]),
    (["families", "kimik2"], ["kimi_k2"]),
    (["parse", "kimi_k2", DEMO, "--reasoning", "kimi2"], ["'kimi2'", "kimi_k2"]),
    (["parse", "kimi_k2", "missing.txt"], ["missing.txt", "no such file"]),
    (["parse", "kimi_k2", CORPUS], [str(CORPUS), "directory"]),
    (["parse", "kimi_k2", DEMO, "--tools", "missing.json"], ["missing.json", "no such file"]),
    (["parse", "kimi_k2", DEMO, "--prompt-file", "missing"], ["missing", "no such file"]),
    (["parse", "kimi_k2", DEMO, "--prompt", "a", "--prompt-file", "b"], ["--prompt", "one of the two"]),
    (["parse", "kimi_k2", DEMO, "--kwarg", "thinking"], ["--kwarg thinking", "KEY=JSON"]),
    (["parse", "kimi_k2", DEMO, "--kwarg", "effort=high"], ["--kwarg effort=high", 'effort="high"\'']),
    (["parse", "kimi_k2", DEMO, "--tokenizer", "missing.json"], ["missing.json", "no such file"]),
    (["parse", "kimi_k2", DEMO, "--tokenizer", DEMO], [str(DEMO), "no tokenizer.json"]),
    *(
        (["parse", "kimi_k2", DEMO, "--chunk", size], [f"--chunk {size}", "char", "random:SEED"])
        for size in ("0", "-1", "x", "random", "1.5", "random:")
    ),
]


@pytest.mark.parametrize("args, words", ERRORS, ids=lambda value: " ".join(map(str, value))[:60])
def test_errors_say_what_to_do(args: list[object], words: list[str]) -> None:
    message = run(*args, code=2)
    assert message.startswith("unified-parser: ") and message.count("\n") == 1
    assert all(word in message for word in words), message


@pytest.mark.parametrize(
    "tools, words",
    [
        ('[\n  {"type": }]', [":2:12:", "no JSON"]),
        ('{"type": "function"}', ["list of tools"]),
        ("[5]", ["tools[0]"]),
        ('[{"type": "function", "function": {"parameters": {}}}]', ["tools[0]", "'name'"]),
        ('[{"type": "function", "function": {"name": "x", "parameters": []}}]', ["(x)", "'parameters'"]),
        ("[" * 100_000, ["JSON"]),
    ],
)
def test_errors_in_tools_name_the_place(tools: str, words: list[str], tmp_path: Path) -> None:
    file = written(tmp_path / "tools.json", tools)
    message = run("parse", "kimi_k2", DEMO, "--tools", file, code=2)
    assert all(word in message for word in [str(file), *words]), message


@pytest.mark.parametrize(
    "line, words",
    [
        ('{"raw": ', [":2:", "no JSON"]),
        ("[]", [":2:", "object"]),
        ('{"x": 1}', [":2:", "raw, text, output"]),
        ('{"raw": 1}', [":2:", "'raw'", "string"]),
        ('{"raw": "", "thinking": "yes"}', [":2:", "thinking"]),
        ('{"raw": "", "tools": [1]}', [":2:", "tools[0]"]),
    ],
)
def test_errors_in_records_name_the_line(line: str, words: list[str], tmp_path: Path) -> None:
    file = written(tmp_path / "outputs.jsonl", f'{{"raw": "a"}}\n{line}\n')
    message = run("parse", "kimi_k2", file, code=2)
    assert all(word in message for word in [str(file), *words]), message


def test_unknown_commands_and_options() -> None:
    assert "--tools" in run("parse", "kimi_k2", "--tool", "x", code=2)
    assert "parse" in run("pars", code=2)


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    assert "pip install tokenizers" in run("parse", "kimi_k2", DEMO, "--tokenizer", "x", code=2)


def test_help_names_the_commands() -> None:
    assert all(command in run("--help") for command in ("families", "parse", "trace"))


# The process


def test_a_terminal_without_unicode() -> None:
    result = run_process("trace", "kimi_k2", DEMO, PYTHONIOENCODING="ascii")
    assert (result.returncode, result.stderr) == (0, "")
    assert "tide_table" in result.stdout


def test_errors_go_to_standard_error() -> None:
    failed = run_process("parse", "kimi2", DEMO)
    assert (failed.returncode, failed.stdout) == (2, "")
    assert failed.stderr.startswith("unified-parser: ")


@pytest.mark.parametrize("args", [["parse", "--stream", "--chunk", "9"], ["trace", "--chunk", "999"]])
def test_a_reader_that_leaves_is_no_error(args: list[str], tmp_path: Path) -> None:
    """Both print far more than a pipe holds."""
    long = written(tmp_path / "long.txt", "<think>" + "word\n" * 8_000)
    name, *options = args
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command(name, "kimi_k2", long, *options), stdout=pipe, stderr=pipe, cwd=ROOT
    ) as process:
        assert process.stdout and process.stderr
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""


# Cuts


def test_random_sizes_are_their_seed_s() -> None:
    text = "".join(map(chr, range(0x4E00, 0x4E00 + 500)))
    first, again, other = (list(deltas(text, read_chunks(f"random:{seed}"))) for seed in ("a", "a", "b"))
    assert first == again != other
    assert "".join(delta.text for delta in first) == text
    assert len({len(delta.text) for delta in first}) > 3


def test_tokens_of_part_of_a_character_give_their_text_late() -> None:
    tokenizer = family_tokenizer("kimi_k2", None, "").backend
    text = "<think>é🗼</think>"
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    assert len(ids) == 2 + 2 + 4, "this vocabulary has no token for either character"
    pieces = list(deltas(text, read_chunks("1"), tokenizer))
    assert [piece.text for piece in pieces] == ["<think>", "", "é", "", "", "", "🗼", "</think>"]
    assert [number for piece in pieces for number in piece.ids] == ids
    assert list(deltas(text, read_chunks("char"), tokenizer))[:2] == [Delta("<", (ids[0],)), Delta("t")]
