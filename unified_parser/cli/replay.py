"""Recorded responses parsed again: what differs from what was sent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..format import FormatError
from ..message import Message, ToolCall
from ..recording import PATTERN, Record, RecordError, read_records
from ..registry import UnknownFamilyError, get_parser_class
from ..replay import replay
from .console import one_line
from .errors import UserError

FORCED = "its JSON was forced by the server's grammar, no family wrote it"
#: How many characters of a value are shown, and how many of them before the first that differs.
SHOWN, BEFORE = 72, 16


@dataclass(frozen=True, slots=True)
class Difference:
    """A field that is not the same, and its two values: as JSON has them, None where there is none."""

    field: str
    recorded: Any
    now: Any


@dataclass(frozen=True, slots=True)
class Replayed:
    """One response. ``differs``: from the recorded result. ``cuts_differ``: the whole output from the stream.

    ``skipped``: why it was not parsed; empty if it was.
    """

    where: str
    record: Record
    differs: list[Difference]
    cuts_differ: list[Difference]
    skipped: str = ""

    @property
    def same(self) -> bool:
        return not self.differs and not self.cuts_differ

    def to_json(self) -> dict[str, Any]:
        """One line of ``--json``."""
        return {
            "where": self.where,
            "differs": [_as_json(difference, "recorded", "now") for difference in self.differs],
            "streamed_and_whole": [
                _as_json(difference, "streamed", "whole") for difference in self.cuts_differ
            ],
            "skipped": self.skipped or None,
        }


def _as_json(difference: Difference, one: str, other: str) -> dict[str, Any]:
    return {"field": difference.field, one: difference.recorded, other: difference.now}


def read_arguments(arguments: list[str]) -> tuple[list[Path], str | None]:
    """The files of ``FILE... [NAME]``, those of directories among them, and the name. Raises UserError.

    The last argument is a name if it is no path that there is, and does not look like one.
    """
    *paths, last = arguments
    name = None
    if not paths or Path(last).exists() or "/" in last or last.endswith(".jsonl"):
        paths.append(last)
    else:
        name = last
        get_parser_class(name)
    files = [file for path in map(Path, paths) for file in _files(path)]
    return files, name


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        found = sorted(path.glob(PATTERN))
        if not found:
            raise UserError(f"{path}: this directory has no {PATTERN}. Nothing was recorded in it.")
        return found
    if not path.exists():
        raise UserError(f"{path}: there is no such file. Give files of records, or their directory.")
    return [path]


def replay_files(files: Iterable[Path], name: str | None, tokenizer: Any) -> Iterator[Replayed]:
    """Parses the records of files again. Raises UserError."""
    for file in files:
        try:
            for line, record in read_records(file):
                yield _replayed(f"{file}:{line}", record, name, tokenizer)
        except RecordError as error:
            raise UserError(str(error)) from None
        except OSError as error:
            raise UserError(f"{file}: cannot be read: {error.strerror}.") from None


def _replayed(where: str, record: Record, name: str | None, tokenizer: Any) -> Replayed:
    if record.forced_json:
        return Replayed(where, record, [], [], FORCED)
    try:
        streamed, whole = replay(record, name, tokenizer)
    except UnknownFamilyError as error:
        raise UserError(f"{where}: {error} Or give the NAME of another as the last argument.") from None
    except FormatError as error:
        raise UserError(f"{where}: {error} Give it with --tokenizer.") from None
    now = streamed if record.streamed else whole
    # An id that is made up is another one each time: only one that the model wrote can be compared.
    made_up = [a.id != b.id for a, b in zip(streamed.tool_calls, whole.tool_calls, strict=False)]
    return Replayed(
        where,
        record,
        list(_differences(record.result, now, made_up)),
        list(_differences(streamed, whole, made_up)),
    )


def _differences(one: Message, other: Message, made_up: list[bool]) -> Iterator[Difference]:
    for name in ("reasoning", "content"):
        if getattr(one, name) != getattr(other, name):
            yield Difference(name, getattr(one, name), getattr(other, name))
    for index, (first, second) in enumerate(zip_longest(one.tool_calls, other.tool_calls)):
        where = f"tool_calls[{index}]"
        if first is None or second is None:
            yield Difference(where, _call(first), _call(second))
            continue
        for name in ("id", "name", "arguments", "complete"):
            if name == "id" and made_up[index : index + 1] != [False]:
                continue
            if getattr(first, name) != getattr(second, name):
                yield Difference(f"{where}.{name}", getattr(first, name), getattr(second, name))


def _call(call: ToolCall | None) -> dict[str, Any] | None:
    return None if call is None else {name: getattr(call, name) for name in ("name", "arguments", "complete")}


# --- The terminal -------------------------------------------------------------------------------------------


def show(console: Console, response: Replayed) -> None:
    """Draws the differences of a response, if there are any."""
    record = response.record
    families = "+".join(dict.fromkeys(filter(None, (record.reasoning_parser, record.tool_parser))))
    kind = "streamed" if record.streamed else "whole"
    if not response.same:
        console.rule(f"{response.where}  {families}, {kind}, {len(record.text)} characters", align="left")
    if response.differs:
        console.print(_table(response.differs, "recorded", "now"))
    if response.cuts_differ:
        console.print(_table(response.cuts_differ, "streamed", "whole"))


def summary(responses: int, different: int, skipped: int) -> str:
    """The last line."""
    parts = [f"{responses - different - skipped} as recorded", f"{different} different"]
    if skipped:
        parts.append(f"{skipped} skipped ({FORCED})")
    return f"{responses} {'response' if responses == 1 else 'responses'}: {', '.join(parts)}"


def _table(differences: list[Difference], one: str, other: str) -> Table:
    view = Table("field", one, other, box=box.SIMPLE_HEAD, header_style="dim")
    for difference in differences:
        first, second = _spelled(difference.recorded), _spelled(difference.now)
        both = zip(first, second, strict=False)
        at = next((at for at, (a, b) in enumerate(both) if a != b), min(len(first), len(second)))
        view.add_row(difference.field, _window(first, at), _window(second, at))
    return view


def _spelled(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        state = "" if value["complete"] else ", incomplete"
        return f"{value['name']} {value['arguments']}{state}"
    return value if isinstance(value, str) else str(value).lower()


def _window(text: str, at: int) -> Text:
    """The part of a value where it begins to differ; the rest of it from there stands out."""
    start = max(at - BEFORE, 0)
    end = start + SHOWN
    shown = (
        Text("…" if start else "").append(one_line(text[start:at])).append(one_line(text[at:end]), "bold red")
    )
    return shown.append("…") if end < len(text) else shown
