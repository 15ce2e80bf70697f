"""Responses on record: what a server's parser was given, and what it made of it, one JSON object a line.

A record has all that is needed to parse the output again (``replay``), without the model's tokenizer, and
nothing of the prompt: of that it says only where the output started (``prompt_tail``). ``docs/operations.md``
describes the fields for those who read the files.
"""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from secrets import token_hex
from typing import Any

from .format import Marker, OutputFormat
from .format import replace as replace_format
from .machine import BETWEEN, Place
from .message import Message, ToolCall
from .parser import UnifiedParser
from .registry import families
from .start import Prompt
from .tokens import NO_TOKENS, vocabulary

#: The version of the file format. A reader takes this one and those before it.
VERSION = 1
#: How the files are called.
PATTERN = "*.jsonl"
#: Longer values of ``chat_template_kwargs`` are no switches, longer headers no headers.
_LONGEST_SWITCH = 32
_LONGEST_HEADER = 200


class RecordError(ValueError):
    """A file of records that cannot be read. The text names file, line and field, and says what to do."""


class RecordsFullError(OSError):
    """The directory holds as much as it may."""


@dataclass(frozen=True, slots=True)
class Record:
    """One response. A line of a file is an object with these keys.

    ``text`` and ``token_ids``: the output. ``deltas``: for each step, how many characters and how many ids it
    brought; a response that was not streamed has one. ``markers``: the format's literals that are one token
    of the vocabulary, None where no tokenizer is known. ``vocabulary``: how it writes the output's other
    tokens; ``special_ids``: those of them that it flags special.

    ``reasoning_parser``, ``tool_parser``: the families, None where the server has no such parser.
    ``prompt_tail``: an end of a prompt, of markers alone, behind which an output starts as this one did.
    ``thinking``: whether it was on. ``chat_template_kwargs``: those that switch thinking.
    ``tools``: name and parameters of each. ``tool_choice``, ``include_reasoning``: as in the request.
    ``forced_json``: the server's grammar forced JSON in place of the family's calls.

    ``result``: what was sent. Of a stream this includes calls that were cut off.
    ``path``: ``direct`` or ``adapters``. ``time``: of the end, UTC. ``package``: the version that wrote it.
    """

    text: str
    token_ids: list[int]
    deltas: list[list[int]]
    streamed: bool
    result: Message
    reasoning_parser: str | None = None
    tool_parser: str | None = None
    markers: dict[str, int] | None = None
    vocabulary: dict[str, int] | None = None
    special_ids: list[int] | None = None
    prompt_tail: str = ""
    thinking: bool | None = None
    chat_template_kwargs: dict[str, Any] | None = None
    tools: list[dict[str, Any]] | None = None
    tool_choice: Any = None
    include_reasoning: bool = True
    forced_json: bool = False
    path: str = ""
    model: str | None = None
    time: str = ""
    package: str = ""
    version: int = VERSION

    def pieces(self) -> Iterator[tuple[str, list[int]]]:
        """The deltas: text and ids."""
        at = first = 0
        for characters, ids in self.deltas:
            yield self.text[at : at + characters], self.token_ids[first : first + ids]
            at, first = at + characters, first + ids


# --- Lines --------------------------------------------------------------------------------------------------


def to_line(record: Record) -> bytes:
    """A record as a line of a file, its newline included."""
    data = {field.name: getattr(record, field.name) for field in fields(record)}
    data["result"] = result_json(record.result)
    line = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return line.encode("utf-8", "backslashreplace") + b"\n"


def result_json(message: Message) -> dict[str, Any]:
    """A result as plain data."""
    calls = [
        {"id": call.id, "name": call.name, "arguments": call.arguments, "complete": call.complete}
        for call in message.tool_calls
    ]
    return {"reasoning": message.reasoning, "content": message.content, "tool_calls": calls}


def read_records(path: str | Path) -> Iterator[tuple[int, Record]]:
    """The records of a file, each with the number of its line. Raises RecordError, OSError.

    A last line without its newline is still being written, and left out.
    """
    with open(path, "rb") as file:
        for number, line in enumerate(file, start=1):
            if line.endswith(b"\n") and line.strip():
                yield number, _from_line(line, f"{path}:{number}")


def _from_line(line: bytes, where: str) -> Record:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"{where}: this is no JSON: {error}. Remove the line.") from None
    if not isinstance(data, dict):
        raise RecordError(f"{where}: expected an object, got {type(data).__name__}.")
    version: Any = data.get("version")
    if not _is(version, int):
        raise RecordError(f"{where}: version: expected a number, got {version!r:.40}. This is no record.")
    if version > VERSION:
        raise RecordError(
            f"{where}: version: {version} is newer than this package, which reads up to {VERSION}. Upgrade."
        )
    known = {field.name: data[field.name] for field in fields(Record) if field.name in data}
    for name, check in _CHECKS.items():
        what = check(known.get(name))
        if what:
            raise RecordError(f"{where}: {name}: expected {what}, got {known.get(name)!r:.40}.")
    known["result"] = _result(known["result"], where)
    record = Record(**known)
    _check_sums(record, where)
    return record


def _is(value: Any, kind: Any) -> bool:
    return isinstance(value, kind) and not (kind is int and isinstance(value, bool))


def _are(values: Any, kind: Any) -> bool:
    return isinstance(values, list) and all(_is(value, kind) for value in values)


def _text(value: Any) -> str:
    return "" if isinstance(value, str) else "a string"


def _name(value: Any) -> str:
    return "" if value is None or isinstance(value, str) else "a family's name or null"


def _flag(value: Any) -> str:
    return "" if isinstance(value, bool) else "true or false"


def _ids(value: Any) -> str:
    return "" if _are(value, int) else "a list of numbers"


def _pairs(value: Any) -> str:
    good = _are(value, list) and all(len(pair) == 2 and _are(pair, int) and min(pair) >= 0 for pair in value)
    return "" if good else "a list of [characters, ids]"


def _numbers(value: Any) -> str:
    good = value is None or (isinstance(value, dict) and all(_is(n, int) for n in value.values()))
    return "" if good else "an object of numbers"


def _object(value: Any) -> str:
    return "" if value is None or isinstance(value, dict) else "an object"


def _objects(value: Any) -> str:
    return "" if value is None or _are(value, dict) else "a list of objects"


#: What each field must be; the answer names it where it is not.
_CHECKS: Mapping[str, Callable[[Any], str]] = {
    "text": _text,
    "token_ids": _ids,
    "deltas": _pairs,
    "streamed": _flag,
    "result": lambda value: "" if isinstance(value, dict) else "an object",
    "reasoning_parser": _name,
    "tool_parser": _name,
    "markers": _numbers,
    "vocabulary": _numbers,
    "special_ids": lambda value: "" if value is None else _ids(value),
    "prompt_tail": lambda value: "" if value is None else _text(value),
    "thinking": lambda value: "" if value is None else _flag(value),
    "chat_template_kwargs": _object,
    "tools": _objects,
    "include_reasoning": lambda value: "" if value is None else _flag(value),
    "forced_json": lambda value: "" if value is None else _flag(value),
}


def _result(data: Mapping[str, Any], where: str) -> Message:
    calls: Any = data.get("tool_calls")
    for name in ("reasoning", "content"):
        if data.get(name) is not None and not isinstance(data[name], str):
            raise RecordError(f"{where}: result.{name}: expected a string or null, got {data[name]!r:.40}.")
    if not _are(calls, dict):
        raise RecordError(f"{where}: result.tool_calls: expected a list of objects, got {calls!r:.40}.")
    return Message(
        data.get("reasoning"), data.get("content"), [_call(n, c, where) for n, c in enumerate(calls)]
    )


def _call(index: int, data: Mapping[str, Any], where: str) -> ToolCall:
    for name, kind in {"id": str, "name": str, "arguments": str, "complete": bool}.items():
        if not isinstance(data.get(name), kind):
            raise RecordError(
                f"{where}: result.tool_calls[{index}].{name}: expected {kind.__name__}, "
                f"got {data.get(name)!r:.40}."
            )
    return ToolCall(index, data["id"], data["name"], data["arguments"], data["complete"])


def _check_sums(record: Record, where: str) -> None:
    for what, of, have in (("characters", 0, len(record.text)), ("ids", 1, len(record.token_ids))):
        said = sum(pair[of] for pair in record.deltas)
        if said != have:
            raise RecordError(f"{where}: deltas: they have {said} {what}, the output has {have}.")


# --- Writing ------------------------------------------------------------------------------------------------


class RecordWriter:
    """Appends lines to a file of its own in a directory that several processes may share.

    A line is there as a whole once its newline is there: it is written at once, and what was written of a
    line that did not fit is cut off again. ``limit``: how many bytes the directory's files may have in all.

    ``write`` raises OSError; the next line may fit all the same.
    """

    def __init__(self, directory: Path, limit: int) -> None:
        self._directory = directory
        self._limit = limit
        self._file: int | None = None

    def write(self, line: bytes) -> None:
        """Appends a line. Raises OSError, RecordsFullError."""
        file = self._open()
        if len(line) + self._used() > self._limit:
            raise RecordsFullError(errno.EDQUOT, f"its files have {self._limit} bytes or nearly so")
        before = os.fstat(file).st_size
        try:
            written = os.write(file, line)
            if written < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError:
            with suppress(OSError):
                os.ftruncate(file, before)
            raise

    def close(self) -> None:
        """Closes the file; another line begins a new one."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _open(self) -> int:
        if self._file is not None and os.fstat(self._file).st_nlink == 0:  # somebody has removed it
            self.close()
        if self._file is None:
            self._directory.mkdir(parents=True, exist_ok=True)
            name = f"responses-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}-{token_hex(3)}.jsonl"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
            self._file = os.open(self._directory / name, flags, 0o600)
        return self._file

    def _used(self) -> int:
        total = 0
        for path in self._directory.glob(PATTERN):
            with suppress(OSError):  # it may be gone by now
                total += path.stat().st_size
        return total


# --- What a parser knows of its response --------------------------------------------------------------------


def format_of(parser: UnifiedParser) -> OutputFormat:
    """The format that a parser reads, without the calls where they are plain text to it."""
    form = parser.format_in_use
    return replace_format(form, tools=()) if parser._options.calls_are_text else form


def described(parser: UnifiedParser, ids: Collection[int]) -> dict[str, Any]:
    """The fields of a record that say how a parser reads the output with these ids."""
    compiled, tokenizer = parser._compiled, parser.tokenizer
    known = {} if tokenizer is None else _texts(vocabulary(tokenizer))
    others = sorted(number for number in set(ids) - compiled.all_tokens.watched if number in known)
    return {
        "markers": None if tokenizer is None else compiled.all_tokens.id_of,
        "vocabulary": {known[number]: number for number in others},
        "special_ids": [number for number in others if number in compiled.tokens.foreign],
        "prompt_tail": prompt_tail(parser),
        "thinking": parser._start.thinking_is_on,
        "chat_template_kwargs": switches(parser._start.kwargs),
    }


#: The last vocabulary seen, turned round. A server has one.
_turned: tuple[Mapping[str, int], dict[int, str]] = ({}, {})


def _texts(known: Mapping[str, int]) -> dict[int, str]:
    global _turned
    if _turned[0] is not known:
        _turned = known, {number: text for text, number in known.items()}
    return _turned[1]


def switches(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The ``chat_template_kwargs`` that some family asks for. The others may hold anything."""
    return {
        name: value
        for name, value in kwargs.items()
        if name in _switch_names()
        and (value is None or isinstance(value, bool | int | float | str))
        and len(str(value)) <= _LONGEST_SWITCH
    }


@cache
def _switch_names() -> frozenset[str]:
    rules = [family.parser_class.format.start for family in families()]
    tables = [table for rule in rules for table in (rule.toggles, rule.vetoes, rule.content_required)]
    return frozenset(name for table in tables for name in table)


def prompt_tail(parser: UnifiedParser) -> str:
    """An end of a prompt behind which an output starts where this parser's does: markers, and no more.

    Framing behind a marker is there where the output need not begin with it, be it that the prompt went on
    with other text. Of a header that the prompt began or closed, the header itself is there.
    """
    place, form = parser._place, parser._compiled.form
    if parser._phase == "answer":
        return ""
    if form.header:
        return _header_tail(form, place)
    for tail in _tails(form.markers()):
        if parser._start.place(Prompt(tail, None, None, NO_TOKENS)) == place:
            return tail
    return ""


def _tails(markers: Sequence[Marker]) -> Iterator[str]:
    yield ""
    for marker in markers:
        yield marker.text
        yield from (marker.text + frame[:end] for frame in marker.after for end in range(1, len(frame) + 1))


def _header_tail(form: OutputFormat, place: Place) -> str:
    header = form.header
    assert header is not None
    if place.state == BETWEEN:
        return header.open.text + header.ends[0].text + header.close[0].text
    if not place.header and not place.ending:
        return ""
    return header.open.text + place.header[:_LONGEST_HEADER] + place.ending


def visible(message: Message, *, include_reasoning: bool, include_calls: bool) -> Message:
    """A message without what its request does not want to see."""
    reasoning = message.reasoning if include_reasoning else None
    return Message(reasoning, message.content, message.tool_calls if include_calls else [])
