"""What the command line reads: recorded outputs, tools, template arguments, a tokenizer."""

from __future__ import annotations

import codecs
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..schema import Tools, ToolSchemaError
from .errors import UserError, say

STDIN = "-"

#: The keys of a record that hold the output, and those that say how it was made: key, option of the parser.
TEXT_KEYS = ("raw", "text", "output")
REQUEST_KEYS = {
    "tools": "tools",
    "thinking": "thinking",
    "chat_template_kwargs": "chat_template_kwargs",
    "prompt": "prompt_text",
    "prompt_tail": "prompt_text",
}


class Record(NamedTuple):
    """A recorded output. ``request``: what its file says about the request, as options of a parser."""

    text: str
    request: Mapping[str, Any] = {}
    finish_reason: str | None = None
    line: int | None = None


def read_bytes(path: str) -> bytes:
    """A file's bytes, or the standard input's."""
    if path == STDIN:
        _tell_terminal()
        return sys.stdin.buffer.read()
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise UserError(
            f"{path}: there is no such file. Check the path, or give - for standard input."
        ) from None
    except IsADirectoryError:
        raise UserError(f"{path}: this is a directory. Give a file.") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}.") from None


def _tell_terminal() -> None:
    """Whoever forgot the file should not wonder why nothing happens."""
    if sys.stdin.isatty():
        say("reading the standard input up to its end (Ctrl-D).")


def read_text(path: str) -> str:
    """A text file, to the letter. Bytes that are no UTF-8 become replacement characters."""
    return read_bytes(path).decode("utf-8", "replace")


def parse_json(text: str, where: str, line: int = 1) -> Any:
    """JSON text that stands at ``line`` of the file ``where``."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = f"{where}:{error.lineno + line - 1}:{error.colno}"
        raise UserError(f"{place}: this is no JSON: {error.msg} (line, column).") from None
    except (ValueError, RecursionError) as error:  # a number or a nesting beyond all bounds
        raise UserError(f"{where}:{line}: this JSON cannot be read: {error}.") from None


def read_tools(path: str) -> list[Any]:
    """The tools of a request, checked."""
    tools = parse_json(read_text(path), path)
    check_tools(tools, path)
    return list(tools)


def check_tools(tools: Any, where: str) -> None:
    """Raises UserError for tools that a parser would not take."""
    try:
        Tools(tools)
    except ToolSchemaError as error:
        raise UserError(f"{where}: {error}.") from None


def read_kwargs(pairs: Iterable[str]) -> dict[str, Any]:
    """``KEY=JSON`` pairs as ``chat_template_kwargs``."""
    kwargs = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not key or not equals:
            raise UserError(f"--kwarg {pair}: give KEY=JSON, as in --kwarg enable_thinking=false.")
        try:
            kwargs[key] = json.loads(value)
        except ValueError:
            raise UserError(
                f"--kwarg {pair}: the value is no JSON. A string needs its quotes: '{key}=\"{value}\"'."
            ) from None
    return kwargs


def read_outputs(path: str) -> list[Record]:
    """The outputs of a file: one, or one a line of a ``.jsonl`` file."""
    text = read_text(path)
    if not path.endswith(".jsonl"):
        return [Record(text)]
    lines = enumerate(text.split("\n"), start=1)
    return [_record(line, f"{path}:{number}", number, path) for number, line in lines if line.strip()]


def _record(line: str, where: str, number: int, path: str) -> Record:
    data = parse_json(line, path, number)
    if not isinstance(data, dict):
        raise UserError(f"{where}: expected an object, got {type(data).__name__}.")
    key = next((key for key in TEXT_KEYS if key in data), None)
    if key is None:
        raise UserError(f"{where}: no output: give it under one of the keys {', '.join(TEXT_KEYS)}.")
    if not isinstance(data[key], str):
        raise UserError(f"{where}: {key!r}: expected the output as a string, got {type(data[key]).__name__}.")
    request = {option: data[key] for key, option in REQUEST_KEYS.items() if data.get(key) is not None}
    _check_request(request, where)
    return Record(data[key], request, data.get("finish_reason"), number)


def _check_request(request: Mapping[str, Any], where: str) -> None:
    expected = {"thinking": bool, "chat_template_kwargs": dict, "prompt_text": str}
    for option, kind in expected.items():
        if not isinstance(request.get(option, kind()), kind):
            raise UserError(f"{where}: {option}: expected {kind.__name__}, got {request[option]!r:.40}.")
    check_tools(request.get("tools"), where)


def arriving() -> Iterator[str]:
    """The text on the standard input, as it comes."""
    _tell_terminal()
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    read = getattr(sys.stdin.buffer, "read1", sys.stdin.buffer.read)
    while data := read(65536):
        yield decoder.decode(data)
    yield decoder.decode(b"", final=True)


def read_tokenizer(path: str) -> Any:
    """A ``tokenizer.json``, or the one in a model's directory, as a ``tokenizers.Tokenizer``."""
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise UserError("--tokenizer needs the library tokenizers: pip install tokenizers") from None
    file = Path(path)
    if file.is_dir():
        file /= "tokenizer.json"
    try:
        return Tokenizer.from_buffer(read_bytes(str(file)))
    except UserError:
        raise
    except Exception as error:  # the library raises nothing more special
        raise UserError(f"{file}: this is no tokenizer.json: {error}.") from None
