"""``UnifiedParser``: one class per model family, one instance per output."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar, Literal

from .events import Event
from .evidence import Evidence
from .format import OutputFormat
from .machine import BETWEEN, BODY, CONTENT_ONLY, HEADER, REASONING, UNDECIDED, Machine, Place
from .message import Message, MessageBuilder
from .schema import Tools
from .start import Prompt, Start, decode
from .token_level import EndFound, ReasoningCount, ReasoningCountOfText, TokenLevel
from .tokens import Tokenizer, size_of, special_tokens, wrap
from .walk import CONTENT, Options, Walk

Phase = Literal["whole", "reasoning", "answer"]

#: The attribute of a tokenizer under which the formats compiled for it are kept.
_CACHE = "_unified_parser_compiled"


class _Compiled:
    """A family's format in one vocabulary: shared by every parser made for the two."""

    def __init__(self, form: OutputFormat, tokenizer: Tokenizer | None) -> None:
        self.form = form
        literals = _token_literals(form)
        self.tokens = special_tokens(tokenizer, literals)
        self.all_tokens = special_tokens(tokenizer, (*literals, *form.start.boundaries))
        self.machine = Machine(form, self.tokens)
        self.level = TokenLevel(form, self.tokens, tokenizer)


def _token_literals(form: OutputFormat) -> tuple[str, ...]:
    """The literals of a format that normally are one token each."""
    found: dict[str, None] = {}
    for marker in form.markers():
        if marker.token:
            found[marker.token] = None
        elif marker.special:
            found |= dict.fromkeys(marker.spellings)
    return tuple(found)


class _Cache(dict[type, _Compiled]):
    """What was compiled for one tokenizer. Where the tokenizer is pickled or copied, it starts empty."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size

    def __reduce__(self) -> tuple[type[_Cache], tuple[int]]:
        return _Cache, (self.size,)


_COMPILED = _Cache(0)


class UnifiedParser:
    """Walks one output of a model family and says what it is made of.

    Subclasses are data: ``names``, ``models`` and ``format``. ``traps``: what someone who serves the family
    must know and the format does not say, a short sentence each.

    ``tokenizer``: where it is given, token ids decide what is a marker (see ``evidence``).
    ``tools``: the request's tools, OpenAI dictionaries or pydantic objects, which type the values.
    ``thinking``: whether thinking is on, if the caller knows; ``chat_template_kwargs`` may say so too.
    ``prompt_token_ids`` / ``prompt_text``: the rendered prompt, or its end: it shows where the output starts.
    ``argument_streaming``: ``"incremental"``, or ``"atomic"`` to hold each call back until it is complete.
    ``phase``: the part of an output this parser is for. ``"reasoning"`` hands on all text behind the (first)
    reasoning as content, tool markup included; ``"answer"`` starts behind it.
    ``calls``: whether tool calls are read; if not they are content, as they were written.
    ``trace``: also report ``Framing``, so that the events account for every character.

    Raises ToolSchemaError for tools that cannot be read, ValueError for an unknown option.
    """

    names: ClassVar[tuple[str, ...]] = ()
    models: ClassVar[tuple[str, ...]] = ()
    traps: ClassVar[tuple[str, ...]] = ()
    format: ClassVar[OutputFormat] = OutputFormat()

    def __init__(
        self,
        *,
        tokenizer: Any = None,
        tools: Iterable[Any] | None = None,
        thinking: bool | None = None,
        chat_template_kwargs: Mapping[str, Any] | None = None,
        prompt_token_ids: Sequence[int] | None = None,
        prompt_text: str | None = None,
        argument_streaming: str = "incremental",
        phase: Phase = "whole",
        calls: bool = True,
        trace: bool = False,
    ) -> None:
        if argument_streaming not in ("incremental", "atomic"):
            raise ValueError(f"argument_streaming={argument_streaming!r}: give 'incremental' or 'atomic'")
        if phase not in ("whole", "reasoning", "answer"):
            raise ValueError(f"phase={phase!r}: give 'whole', 'reasoning' or 'answer'")
        self.tokenizer = None if tokenizer is None else wrap(tokenizer)
        self._compiled = compiled = self._compile(self.tokenizer)
        self._options = Options(
            tools=Tools(tools),
            atomic=argument_streaming == "atomic",
            only_reasoning=phase == "reasoning",
            is_answer=phase == "answer",
            content_required=compiled.form.start.requires_content(chat_template_kwargs or {}),
            calls_are_text=not calls,
            trace=trace,
        )
        self._phase = phase
        self._start = Start(compiled.form, thinking, dict(chat_template_kwargs or {}))
        self._prompt = Prompt(prompt_text, prompt_token_ids, self.tokenizer, compiled.all_tokens)
        self._walk: Walk | None = None

    @classmethod
    def output_format(cls, tokenizer: Tokenizer | None) -> OutputFormat:
        """The format for a tokenizer. A family whose markers depend on the checkpoint overrides this."""
        return cls.format

    @classmethod
    def marker_literals(cls) -> tuple[str, ...]:
        """The literals that normally are one special token."""
        return _token_literals(cls.format)

    @classmethod
    def _compile(cls, tokenizer: Tokenizer | None) -> _Compiled:
        """The format compiled for a tokenizer, once for each; kept with the tokenizer."""
        inner = getattr(tokenizer, "inner", None)
        known = _COMPILED if inner is None else getattr(inner, _CACHE, None)
        if known is None or known.size != size_of(inner):  # tokens may have been added to it
            known = _Cache(size_of(inner))
            with suppress(AttributeError, TypeError, ValueError):  # it may not take attributes
                setattr(inner, _CACHE, known)
        if cls not in known:
            known[cls] = _Compiled(cls.output_format(tokenizer), tokenizer)
        return known[cls]

    # The text

    def feed(self, text: str, token_ids: Sequence[int] = ()) -> list[Event]:
        """The events of the next delta: its text, and the ids of its tokens where they are known.

        Either may be empty. Never raises for what a model writes.
        """
        walk = self._walk
        if walk is None:
            walk = self._walk = self._new_walk(self._options)
            self.feed = walk.feed  # type: ignore[method-assign]  # one call less per delta
        return walk.feed(text, token_ids)

    def finish(self, reason: str | None = None) -> list[Event]:
        """The events of the output's end. ``reason``: the server's finish reason, where there is one."""
        if self._walk is None:
            self._walk = self._new_walk(self._options)
        return self._walk.finish(reason)

    def parse(
        self,
        text: str,
        token_ids: Sequence[int] | None = None,
        *,
        keep_incomplete: bool = False,
        reason: str | None = None,
    ) -> Message:
        """Parses a whole output. The stream that ``feed`` is fed with is left alone."""
        walk = self._new_walk(self._options)
        builder = MessageBuilder(keep_incomplete=keep_incomplete)
        builder.add(walk.feed(text, token_ids or ()))
        builder.add(walk.finish(reason))
        return builder.build()

    @property
    def reasoning_ended(self) -> bool:
        """Is reasoning over, or was there none, at this point of the stream?"""
        if self._walk is None:
            return not self._may_reason(self._place)
        return self._walk.reasoning_over

    @property
    def reasoning_settled(self) -> bool:
        """Is reasoning over, and the framing that may follow its end decided?"""
        return self.reasoning_ended and not (self._walk is not None and self._walk.in_frame)

    def set_prompt(self, token_ids: Sequence[int] | None = None, text: str | None = None) -> None:
        """Gives the prompt later than at construction, but before the first delta."""
        self._prompt = self._prompt._replace(ids=token_ids, text=text)
        self.__dict__.pop("_place_known", None)
        if self._walk is not None and not self._walk.position:
            self._walk = None
            self.__dict__.pop("feed", None)

    def _new_walk(self, options: Options) -> Walk:
        compiled = self._compiled
        evidence = Evidence(compiled.tokens, self.tokenizer)
        return Walk(compiled.machine, evidence, options, compiled.machine.program(self._place))

    @property
    def _place(self) -> Place:
        """Where the output starts."""
        known: Place | None = self.__dict__.get("_place_known")
        if known is None:
            known = self._answer_place() if self._phase == "answer" else self._start.place(self._prompt)
            self.__dict__["_place_known"] = known
        return known

    def _answer_place(self) -> Place:
        form = self._start.form
        if form.header:
            return Place(HEADER)
        if form.reasoning is None:
            return Place(CONTENT)
        if (
            self._start.thinking_is_on
        ):  # a server that takes a silent prompt for the end of reasoning asks nobody
            return Place(CONTENT if self._start.reasons_by_default else UNDECIDED)
        return Place(CONTENT_ONLY if form.reasoning.off_text else CONTENT, form.start.off_frames)

    def _may_reason(self, place: Place) -> bool:
        if place.state == UNDECIDED:
            return self._start.reasons_by_default
        header = self._start.form.header
        if place.state == BODY and header is not None:
            return header.classify(place.header, place.ending).channel == REASONING
        return place.state in (REASONING, HEADER, BETWEEN)

    # The token level. These look at ids only and leave the stream alone.

    def is_reasoning_end(self, ids: Sequence[int]) -> bool:
        """Is reasoning over at the end of these ids: a prompt, or a prompt and the output so far?"""
        prompt = self._prompt.ids
        if prompt and len(ids) > len(prompt):
            walk = self._new_walk(self._options._replace(only_reasoning=False))
            output = ids[len(prompt) :]
            walk.feed(decode(self.tokenizer, output), output)
            return walk.reasoning_over
        asked = self._prompt._replace(text=None, ids=ids)
        return not self._may_reason(self._start.place(asked))

    def is_reasoning_end_streaming(self, ids: Sequence[int], delta_ids: Sequence[int]) -> bool:
        """Does reasoning end inside ``delta_ids``, the last of ``ids``?"""
        return self._compiled.level.ends_in(ids, delta_ids)

    def find_reasoning_end(self, delta_ids: Sequence[int]) -> EndFound | None:
        """The id that ends reasoning, where ends are single tokens."""
        return self._compiled.level.find_end(delta_ids)

    def content_ids(self, ids: Sequence[int]) -> list[int]:
        """The ids behind the end of reasoning; none while it is open, or where its end is no single token."""
        found = self._compiled.level.find_end(ids)
        if found is None:
            return [] if self._may_reason(self._place) else list(ids)
        return list(ids[found.offset + (not found.implicit) :])

    def count_reasoning_tokens(self, ids: Sequence[int]) -> int:
        """How many of an output's ids are reasoning. Markers are not."""
        return self.reasoning_count().add(ids)

    def reasoning_count(self) -> ReasoningCount | ReasoningCountOfText:
        """A count of reasoning tokens for an output whose ids come bit by bit."""
        if self._compiled.level.by_ids:
            return ReasoningCount(self._compiled.level, reasoning=self._may_reason(self._place))
        walk = self._new_walk(self._options._replace(only_reasoning=False))
        return ReasoningCountOfText(walk, self.tokenizer)

    @property
    def reasoning_start_str(self) -> str | None:
        """The marker that begins reasoning, as text."""
        reasoning = self._start.form.reasoning
        return reasoning.open.text if reasoning else None

    @property
    def reasoning_end_str(self) -> str | None:
        """The marker that ends reasoning, as text."""
        reasoning = self._start.form.reasoning
        return reasoning.close.text if reasoning else None

    @property
    def reasoning_end_token_ids(self) -> frozenset[int]:
        """The ids that end reasoning explicitly; empty where such an end is no single token."""
        return self._compiled.level.end_ids

    @property
    def implicit_reasoning_end_token_ids(self) -> frozenset[int]:
        """The ids that end reasoning because they begin something else."""
        return self._compiled.level.implicit_ids

    @property
    def format_in_use(self) -> OutputFormat:
        """The format for this parser's tokenizer."""
        return self._compiled.form

    @property
    def needs_special_tokens(self) -> bool:
        """Are markers special tokens, which the server must then keep in the text?"""
        return bool(_token_literals(self._start.form))
