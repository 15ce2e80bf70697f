"""The corpus of golden samples."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from support.fold import Folded
from support.tokenizers import template_tokens
from unified_parser import families

# Markers that a kind of tokenizer has no token for: Mistral's wire format is a property of the tokenizer.
_THINK = frozenset({"[THINK]", "[/THINK]", "<think>", "</think>"})
_CALLS = frozenset({"[ARGS]", "[CALL_ID]"})
ABSENT = {"v3tekken": _THINK | _CALLS, "v7spm": _THINK | _CALLS, "v11": _THINK, "hf-v11": _THINK}

CORPUS = Path(__file__).parent.parent / "corpus"


@dataclass(frozen=True)
class Sample:
    """One line of the corpus; ``tests/corpus/README.md`` explains the keys."""

    id: str
    reasoning_name: str | None
    tool_name: str | None
    thinking: bool | None
    prompt_tail: str
    tools: list[dict[str, Any]]
    raw: str
    expected: Folded
    truncated: bool
    note: str
    literal: tuple[str, ...] = ()
    chat_template_kwargs: dict[str, Any] | None = None
    tokenizer: str | None = None
    response_template: dict[str, Any] | None = None
    more: dict[str, Any] = field(default_factory=dict)

    @property
    def family(self) -> str:
        """The name of the file the sample is in."""
        return self.id.partition("/")[0]

    @property
    def parser_name(self) -> str:
        """The name under which the output is parsed."""
        return self.tool_name or self.reasoning_name or ""

    @property
    def partner(self) -> str | None:
        """The family that gives the reasoning half, where it is another one."""
        both = self.tool_name and self.reasoning_name
        return self.reasoning_name if both and self.reasoning_name != self.tool_name else None

    @property
    def names(self) -> set[str]:
        """The families that the sample needs."""
        return {name for name in (self.reasoning_name, self.tool_name) if name}

    @property
    def absent_markers(self) -> frozenset[str]:
        """Markers of the family that the sample's tokenizer has not."""
        if self.response_template and self.tokenizer:
            return frozenset(template_tokens(self.response_template))
        return ABSENT.get(self.tokenizer or "", frozenset())

    @property
    def finish_reason(self) -> str:
        """The reason a server would give for the end of this output."""
        if self.truncated:
            return "length"
        return "tool_calls" if self.expected.calls else "stop"

    @property
    def strings(self) -> list[str]:
        """The expected texts and string values, where a marker would be a look-alike."""
        found = [self.expected.reasoning or "", self.expected.content or ""]
        waiting: list[Any] = [arguments for _, arguments, _ in self.expected.calls]
        while waiting:
            value = waiting.pop()
            if isinstance(value, str):
                found.append(value)
            elif isinstance(value, dict):
                waiting += [*value, *value.values()]
            elif isinstance(value, list):
                waiting += value
        return found


def _sample(line: str) -> Sample:
    data = json.loads(line, parse_float=Decimal)
    names, expected = data.pop("names"), data.pop("expected")
    calls = [(call["name"], call["arguments"], True) for call in expected["tool_calls"]]
    known = {key: data.pop(key) for key in list(data) if key in Sample.__dataclass_fields__}
    known["literal"] = tuple(known.get("literal", ()))
    return Sample(
        reasoning_name=names["reasoning"],
        tool_name=names["tool"],
        expected=Folded(expected["reasoning"], expected["content"], calls),
        more=data,
        **known,
    )


@cache
def everything(directory: Path = CORPUS) -> tuple[Sample, ...]:
    """All samples of a directory and those below it, in the order of the files' names and lines."""
    files = sorted(directory.rglob("*.jsonl"))
    return tuple(_sample(line) for file in files for line in file.read_text("utf-8").splitlines() if line)


@cache
def load(directory: Path = CORPUS) -> tuple[Sample, ...]:
    """The samples whose families are registered; the others wait until theirs are."""
    registered = {name for family in families() for name in family.names}
    return tuple(sample for sample in everything(directory) if sample.names <= registered)
