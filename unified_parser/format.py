"""The vocabulary in which a model family's output format is written down. Data only; nothing here reads text.

A format names the markers a model writes, the blocks they open and close, how a tool call is written inside a
block, and in which block an output starts. ``machine`` compiles it, ``parser`` walks an output with it, and
everything else (token-level answers, pages about the family) is derived from the same description.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from uuid import uuid4

if TYPE_CHECKING:
    from .calls.base import CallSyntax

__all__ = [
    "Content",
    "Drop",
    "FormatError",
    "Header",
    "Marker",
    "OutputFormat",
    "Reasoning",
    "Route",
    "Start",
    "Tools",
    "replace",
    "text_marker",
]

Strip = Literal["", "trailing", "both"]
TextFilter = Callable[[str, bool], str]
T = TypeVar("T")


class FormatError(ValueError):
    """A format that cannot work. The text names the field and says what to do."""


def _require(condition: object, where: str, fix: str) -> None:
    if not condition:
        raise FormatError(f"{where}: {fix}")


@dataclass(frozen=True, slots=True)
class Marker:
    """A literal that is structure.

    ``token`` is the part of the literal that is one token where the vocabulary has it; its id is then the
    evidence that this spelling is a marker and not a quotation. By default it is the whole literal.
    ``special`` says whether models of the family normally have it as one token: only such a marker is dropped
    where it strays, and only for such markers must a server keep special tokens in the text.
    ``pattern``: a regular expression that begins with the literal. What it matches is the marker, its named
    groups are the walk's ``captures``; where it does not match, the literal is text.
    ``behind``: it acts only at the beginning of a piece of content, or behind one of these literals.
    ``before`` and ``after`` are the white-space literals that the chat template writes around it. The longest
    one that is there in full is framing and dropped; anything else is kept.
    """

    text: str
    aliases: tuple[str, ...] = ()
    token: str | None = None
    special: bool = True
    pattern: str = ""
    behind: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _require(self.text, "Marker.text", "give the literal that the model writes")
        for name in ("aliases", "behind", "before", "after"):
            value = getattr(self, name)
            _require(isinstance(value, tuple), f"Marker({self.text!r}).{name}", "give a tuple of strings")
        if self.token is not None:
            for spelling in self.spellings:
                _require(
                    self.token in spelling,
                    f"Marker({spelling!r}).token",
                    f"{self.token!r} must be part of every spelling",
                )

    @property
    def spellings(self) -> tuple[str, ...]:
        """Every literal of the marker, the canonical one first."""
        return (self.text, *self.aliases)


def text_marker(text: str, *aliases: str, **options: Any) -> Marker:
    """A marker that is ordinary text in the vocabularies of its family (``<function=``)."""
    return Marker(text, aliases, special=False, **options)


@dataclass(frozen=True, slots=True)
class Reasoning:
    """The thinking block.

    ``reopens``: an opener in later content starts a further block (interleaved thinking); else it is text.
    ``off_text``: with thinking switched off the block's markers are text (else stray ones are dropped).
    ``strip``: white space at the block's edges that is framing whatever its length.
    ``bare``: what an output that may begin with reasoning begins with where the opener itself is missing.
    """

    open: Marker
    close: Marker
    reopens: bool = False
    off_text: bool = True
    strip: Strip = ""
    bare: tuple[Marker, ...] = ()


@dataclass(frozen=True, slots=True)
class Drop:
    """A marker that is removed wherever it stands in content (and in reasoning, if ``in_reasoning``).

    ``until``: everything up to and including this literal goes too (``</co: 0:[1]>``).
    ``trims``: white space before it is framing where the content's ``strip`` says so (a wrapper's closing).
    ``ends_reasoning``: standing in a reasoning block, it ends the block.
    ``ends_output``: what follows it is no part of the message.
    """

    marker: Marker
    until: str = ""
    in_reasoning: bool = False
    trims: bool = False
    ends_reasoning: bool = False
    ends_output: bool = False


@dataclass(frozen=True, slots=True)
class Content:
    """The answer: all text outside the blocks. ``drops`` are wrappers and marks that are never shown.

    ``lead``: text that a message begins with although the prompt has it and the output does not.
    ``open`` / ``close``: the markers around each piece of it, where text outside of them is dropped.
    """

    lead: str = ""
    open: Marker | None = None
    close: Marker | None = None
    strip: Strip = ""
    drops: tuple[Drop, ...] = ()


@dataclass(frozen=True, slots=True)
class Tools:
    """A block of tool calls.

    ``open`` / ``close``: its markers. No ``open``: calls stand in the content by themselves. No ``close``:
    the block is over with its last call.
    ``calls``: the ways a call may be written, told apart by what stands at its beginning.
    ``bare``: a call's own beginning opens the block where the wrapper is missing.
    ``in_reasoning``: what an opener inside reasoning does: it ends the block (``"ends"``), it is read and the
    reasoning goes on behind it (``"nests"``), or it is text (``"text"``).
    """

    calls: tuple[CallSyntax, ...]
    open: Marker | None = None
    close: Marker | None = None
    bare: bool = False
    in_reasoning: Literal["ends", "nests", "text"] = "ends"

    def __post_init__(self) -> None:
        _require(self.calls, "Tools.calls", "give at least one call syntax")
        if self.open is None or self.bare:
            _require(
                any(call.begins for call in self.calls),
                "Tools.open",
                "without an opener at least one call syntax must have a beginning of its own",
            )


@dataclass(frozen=True, slots=True)
class Route:
    """What a header's block is: a channel, or a call with the syntax of its body."""

    channel: Literal["reasoning", "content", "ignored", "call"]
    call: CallSyntax | None = None
    name: str = ""


@dataclass(frozen=True, slots=True)
class Header:
    """Formats in which a header precedes every body and decides what the body is.

    ``open`` starts a header, one of ``ends`` completes it, ``classify(header, ending)`` says what follows
    (the header is the text between, markers included; ``ending`` the literal that completed it).
    ``inner``: further markers that stand in a header.
    ``written``: how the model writes headers; one with ``{name}`` is that of a call. ``role``: what the chat
    template writes between the opener and the header.
    ``close``: the markers that end any body. ``separator`` joins two bodies of the same channel.
    ``open_in_body``: an opener inside a body means that the close is missing (else it is text there).
    ``ends_in_body``: so does a marker that ends headers; of the same channel, it is dropped.
    ``bare``: so does one of these, if a word and an ending follow: a header without its opener.
    ``loose``: text between blocks is content (else it is dropped).
    ``constrained``: what a server's grammar for structured output describes: the body of an answer, or whole
    messages, headers included. Then it begins with the output.
    """

    open: Marker
    ends: tuple[Marker, ...]
    close: tuple[Marker, ...]
    classify: Callable[[str, str], Route]
    inner: tuple[Marker, ...] = ()
    written: tuple[str, ...] = ("", "{name}")
    role: str = ""
    separator: str = ""
    open_in_body: bool = False
    ends_in_body: bool = False
    bare: tuple[Marker, ...] = ()
    loose: bool = False
    constrained: Literal["body", "messages"] = "body"

    @property
    def is_constrained_from_start(self) -> bool:
        """Does structured output begin with the output, not with an answer's body?"""
        return self.constrained == "messages"


@dataclass(frozen=True, slots=True)
class Start:
    """In which block an output starts, where the prompt does not show it.

    ``boundaries``: literals that begin or end a turn; the prompt is read back to the last of them.
    ``toggles``: the ``chat_template_kwargs`` that switch thinking, with the values that mean off; any other
    value of any of them means on. ``vetoes``: values that mean off whatever the toggles say.
    ``thinking``: whether thinking is on if no toggle is given.
    ``undecided``: the channel of an output that shows no opener, thinking being on and the prompt silent.
    ``content_required``: values of ``chat_template_kwargs`` with which an output that has nothing but
    reasoning says it again as content.
    ``off_frames``: the framing that an output begins with where thinking is off and the prompt ends with the
    closing marker alone.
    """

    boundaries: tuple[str, ...] = ()
    toggles: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    vetoes: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    thinking: bool = True
    undecided: Literal["reasoning", "content"] = "reasoning"
    off_frames: tuple[str, ...] = ()
    content_required: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    def requires_content(self, kwargs: Mapping[str, Any]) -> bool:
        """Must a message of this request have content?"""
        return any(kwargs.get(name) in values for name, values in self.content_required.items())

    def thinking_is_on(self, kwargs: Mapping[str, Any]) -> bool:
        """What the request's ``chat_template_kwargs`` say; a kwarg that is None counts as absent."""
        if any(kwargs.get(name) in off for name, off in self.vetoes.items() if kwargs.get(name) is not None):
            return False
        votes = [
            kwargs[name] not in off for name, off in self.toggles.items() if kwargs.get(name) is not None
        ]
        return any(votes) if votes else self.thinking


#: The usual switches of a chat template.
THINKING_TOGGLES: Mapping[str, tuple[Any, ...]] = {"enable_thinking": (False,), "thinking": (False,)}


def random_call_id() -> str:
    """A call's id, unique among all outputs."""
    return f"call_{uuid4().hex[:24]}"


@dataclass(frozen=True, slots=True)
class OutputFormat:
    """A model family's output format.

    ``text_filter`` makes, for each channel of a request, a function that rewrites its text as it comes:
    ``(text, is_last) -> text``; it may hold text back until the last call.
    ``make_call_id`` makes the id of a call for which the model wrote none.
    """

    reasoning: Reasoning | None = None
    tools: tuple[Tools, ...] = ()
    content: Content = Content()
    start: Start = Start()
    header: Header | None = None
    text_filter: Callable[[], TextFilter] | None = None
    make_call_id: Callable[[], str] = random_call_id

    def markers(self) -> tuple[Marker, ...]:
        """Every marker of the format, each once."""
        found: dict[Marker, None] = {}
        if self.reasoning:
            found |= dict.fromkeys((self.reasoning.open, self.reasoning.close))
        if self.header:
            header = self.header
            found |= dict.fromkeys((header.open, *header.inner, *header.ends, *header.close))
        for block in self.tools:
            found |= dict.fromkeys(m for m in (block.open, block.close) if m)
            for call in block.calls:
                found |= dict.fromkeys(call.markers())
        found |= dict.fromkeys(m for m in (self.content.open, self.content.close) if m)
        found |= dict.fromkeys(drop.marker for drop in self.content.drops)
        return tuple(found)
