"""The JSON that vLLM's grammar forces where a call is required.

``tool_choice`` "required" gives ``[{"name": ..., "parameters": {...}}, ...]``, a named function the bare
arguments object, whatever the family's own format is. The schema fixes the order of the keys. An output that
does not begin like that (the grammar was not in force) is read as the family's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import regex
from vllm.parser.utils import count_history_tool_calls

from unified_parser.events import ContentText, Event, ToolCallArguments, ToolCallEnd, ToolCallStart
from unified_parser.message import Message, MessageBuilder
from unified_parser.parser import UnifiedParser

from .compat import get_tool_call_id_type, make_tool_call_id
from .requests import forced_tool

_ITEM = r'\{\s*"name"\s*:\s*(?P<name>"(?:[^"\\]|\\.)*")\s*,\s*"parameters"\s*:\s*(?=\{)'
#: What stands before the arguments of a named function, of the first call of a list, and of a later one.
_NAMED = regex.compile(r"\s*(?=\{)")
_FIRST = regex.compile(rf"\s*\[\s*(?:{_ITEM}|(?P<last>\]))")
_NEXT = regex.compile(rf"\s*\}}\s*(?:,\s*{_ITEM}|(?P<last>\]))")
#: No head is longer than this many characters.
_LONGEST_HEAD = 4096


def forced_calls(request: Any, native: UnifiedParser, model_config: Any) -> ForcedCalls | None:
    """A reader for the request's output, if the request forces a call by a JSON schema."""
    if not schema_forced(request):
        return None
    _, name = forced_tool(request)
    id_type = "random" if model_config is None else get_tool_call_id_type(model_config)
    before = 0 if id_type == "random" else count_history_tool_calls(request)
    return ForcedCalls(
        name, native, lambda called, index: make_tool_call_id(id_type, func_name=called, idx=before + index)
    )


def schema_forced(request: Any) -> bool:
    """Whether a call is forced by the schema that ``ToolAdapter.adjust_request`` puts on a request."""
    if not forced_tool(request)[0]:
        return False
    structured = getattr(request, "structured_outputs", None)
    if structured is not None:
        return getattr(structured, "json", None) is not None
    output_format = getattr(getattr(request, "text", None), "format", None)
    return getattr(output_format, "type", None) == "json_schema"


class ForcedCalls:
    """Reads one output, in pieces or whole, like a ``UnifiedParser``. Every character is looked at once.

    ``make_id(name, index)`` makes a call's id; ``native`` takes over where the output is no such JSON.
    """

    def __init__(self, name: str | None, native: UnifiedParser, make_id: Callable[[str, int], str]) -> None:
        self._name = name
        self._native = native
        self._make_id = make_id
        self._read: Callable[[str, list[Event]], str] = self._head
        self._expected = _FIRST if name is None else _NAMED
        self._held = ""  # text of a head that is not complete
        self._held_ids: list[int] = []
        self._index = -1
        self._arguments: list[str] | None = None  # of the open call
        self._depth = 0
        self._in_string = self._escaped = False

    def feed(self, text: str, token_ids: Sequence[int] = ()) -> list[Event]:
        """The events of the next piece of output."""
        if self._read == self._other:
            return self._native.feed(text, token_ids)
        self._held_ids.extend(token_ids if self._index < 0 else ())
        events: list[Event] = []
        while text:
            text = self._read(text, events)
        return events

    def finish(self) -> list[Event]:
        """The events of the output's end. Safe to call again."""
        if self._read == self._other:
            return self._native.finish()
        if self._index < 0:
            events: list[Event] = []
            self._give_up(self._held, events)
            return events + self._native.finish()
        return self._close() if self._arguments is not None else []

    def parse(self, text: str) -> Message:
        """The message of a whole output, for a reader that has read nothing else."""
        builder = MessageBuilder()
        builder.add(self.feed(text))
        builder.add(self.finish())
        return builder.build()

    # What reads the text, one after the other. Each returns the text that it leaves to the next.

    def _head(self, text: str, events: list[Event]) -> str:
        self._held += text
        head = self._expected.match(self._held, partial=True)
        if head is None or len(self._held) > _LONGEST_HEAD:
            return self._give_up(self._held, events)
        if head.partial:
            return ""
        rest, self._held = self._held[head.end() :], ""
        if self._expected is not _NAMED and head["last"]:
            self._read = self._rest
            return rest
        self._index += 1
        name = self._name if self._name is not None else json.loads(head["name"], strict=False)
        events.append(ToolCallStart(self._index, self._make_id(name, self._index), name, 0, 0))
        self._read, self._arguments = self._object, []
        return rest

    def _object(self, text: str, events: list[Event]) -> str:
        end = self._object_end(text)
        events.append(ToolCallArguments(self._index, text[:end], 0, 0))
        assert self._arguments is not None
        self._arguments.append(text[:end])
        if not self._depth:
            events += self._close()
            self._read, self._expected = (self._head, _NEXT) if self._name is None else (self._rest, _NAMED)
        return text[end:]

    def _object_end(self, text: str) -> int:
        """Where the arguments object ends in ``text``: behind its last brace, or with the text."""
        for at, character in enumerate(text):
            if self._escaped:
                self._escaped = False
            elif self._in_string:
                self._escaped = character == "\\"
                self._in_string = character != '"'
            elif character == '"':
                self._in_string = True
            elif character in "{[":
                self._depth += 1
            elif character in "}]":
                self._depth -= 1
                if not self._depth:
                    return at + 1
        return len(text)

    def _rest(self, text: str, events: list[Event]) -> str:
        if not text.isspace():
            events.append(ContentText(text, 0, 0))
        return ""

    def _other(self, text: str, events: list[Event]) -> str:
        events += self._native.feed(text, self._held_ids)
        return ""

    def _give_up(self, text: str, events: list[Event]) -> str:
        """No such JSON: the family's parser reads on, or, behind a call, what is left is content."""
        self._held = ""
        self._read = self._other if self._index < 0 else self._rest
        if text:
            self._read(text, events)
        return ""

    def _close(self) -> list[Event]:
        """The end of the open call."""
        arguments, self._arguments = "".join(self._arguments or ()), None
        try:
            complete = isinstance(json.loads(arguments), dict)
        except (ValueError, RecursionError):
            complete = False
        return [ToolCallEnd(self._index, complete, 0, 0)]
