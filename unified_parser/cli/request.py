"""What the options of one command say, and an output run through a parser made from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..events import Event
from ..parser import UnifiedParser
from ..registry import create_parser, get_parser_class
from .chunks import Chunks, Delta, deltas
from .errors import UserError
from .inputs import Record, read_kwargs, read_text, read_tokenizer, read_tools


@dataclass(frozen=True, slots=True)
class Request:
    """``options`` are the parser's; they win over what a record says. ``tokenizer``: of ``tokenizers``."""

    name: str
    reasoning: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    tokenizer: Any = None
    chunks: Chunks | None = None
    finish_reason: str | None = None

    def parser(self, record: Record, **options: Any) -> UnifiedParser:
        """A parser for one output."""
        given = {**record.request, **self.options, **options}
        return create_parser(self.name, reasoning=self.reasoning, tokenizer=self.tokenizer, **given)

    def deltas(self, record: Record) -> Iterable[Delta]:
        """The deltas that the output comes in."""
        return deltas(record.text, self.chunks, self.tokenizer)

    def run(
        self, parser: UnifiedParser, pieces: Iterable[Delta], record: Record
    ) -> Iterator[tuple[Delta, list[Event]]]:
        """The deltas with their events; last an empty delta with the events of the end."""
        for delta in pieces:
            yield delta, parser.feed(delta.text, delta.ids)
        yield Delta(""), parser.finish(self.finish_reason or record.finish_reason)


def make_request(
    name: str,
    *,
    reasoning: str | None,
    tools: str | None,
    thinking: bool | None,
    prompt: str | None,
    prompt_file: str | None,
    kwargs: Iterable[str],
    atomic: bool,
    chunks: Chunks | None,
    tokenizer: str | None,
    finish_reason: str | None,
) -> Request:
    """Reads what the options name. Raises UserError, UnknownFamilyError."""
    get_parser_class(name, reasoning)
    if prompt is not None and prompt_file is not None:
        raise UserError("--prompt and --prompt-file: give one of the two.")
    options = {
        "tools": None if tools is None else read_tools(tools),
        "thinking": thinking,
        "prompt_text": prompt if prompt_file is None else read_text(prompt_file),
        "chat_template_kwargs": read_kwargs(kwargs) or None,
        "argument_streaming": "atomic" if atomic else None,
    }
    return Request(
        name,
        reasoning,
        {key: value for key, value in options.items() if value is not None},
        None if tokenizer is None else read_tokenizer(tokenizer),
        chunks,
        finish_reason,
    )
