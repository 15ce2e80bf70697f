"""Any checkpoint whose tokenizer describes its own format: a response template, compiled into a format."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeAlias

from unified_parser.calls.json_calls import JsonArray, JsonObject
from unified_parser.format import (
    Content,
    Drop,
    FormatError,
    Marker,
    OutputFormat,
    Reasoning,
    Start,
    TextFilter,
    Tools,
)
from unified_parser.parser import UnifiedParser
from unified_parser.tokens import vocabulary

from .hf_bodies import BODIES, Path, WholeBody

Field: TypeAlias = Mapping[str, Any]
Vocabulary: TypeAlias = Mapping[str, int]

FIELDS = ("thinking", "content", "tool_calls")
KEYS = {"version", "defaults", "start_anchor", "start_anchor_pattern", "fields"}
FIELD_KEYS = {
    *("open", "open_pattern", "close", "close_pattern", "content", "content_args"),
    *("repeats", "join", "optional", "transform", "transform_each"),
}
#: A call where no transform says how it is made.
PLAIN_CALL = {"function": {"name": "{content.function.name}", "arguments": "{content.function.arguments}"}}
#: What a pattern begins with: characters that stand for themselves, and are there in every match.
_LITERAL = re.compile(r"(?:\\[^\w\s]|[^\\.^$*+?{}\[\]|()])(?![?*{])")
#: A part of a literal that is likely to be a token.
_TOKEN = re.compile(r"<[^<>\s]+>|\[[^\[\]\s]+\]")
_PLACEHOLDER = re.compile(r"\{([\w.]+)\}")


def require(condition: object, fault: str) -> None:
    """Raises FormatError."""
    if not condition:
        raise FormatError(f"response_template: {fault}")


def check_pattern(pattern: str, *groups: str) -> None:
    """Raises FormatError for what is no regular expression with these groups."""
    try:
        missing = set(groups) - set(re.compile(pattern).groupindex)
    except re.error as error:
        raise FormatError(f"response_template: the pattern {pattern!r} is wrong: {error}") from None
    require(not missing, f"the pattern {pattern!r} lacks the groups {sorted(missing)}")


def compile_template(template: Mapping[str, Any], known: Vocabulary) -> OutputFormat:
    """The format that a response template describes, for a vocabulary. Raises FormatError."""
    require(not set(template) - KEYS, f"unknown keys {sorted(set(template) - KEYS)}")
    require(template.get("version", 1) == 1, "only version 1 is known")
    fields: Mapping[str, Field] = template.get("fields") or {}
    require(fields and not set(fields) - set(FIELDS), f"its fields must be some of {FIELDS}")
    for name, field in fields.items():
        require(not set(field) - FIELD_KEYS, f"unknown keys in {name}: {sorted(set(field) - FIELD_KEYS)}")
        require(not field.get("join"), f"{name}.join is not supported")
        opened = any(key in field for key in ("open", "open_pattern"))
        require(opened or name == "content", f"{name} needs an opener: open or open_pattern")
        plain = name == "tool_calls" or field.get("content", "text") == "text"
        require(plain and (name == "tool_calls" or "transform" not in field), f"{name} must be plain text")
    strip = {name: _args(fields.get(name, {})).get("strip", True) for name in ("thinking", "content")}
    edges = {name: "both" if strips and not all(strip.values()) else "" for name, strips in strip.items()}
    thinking, calls = fields.get("thinking"), fields.get("tool_calls")
    return OutputFormat(
        reasoning=_reasoning(thinking, edges["thinking"], known) if thinking else None,
        content=_content(fields.get("content", {}), edges["content"], known),
        tools=(_tools(calls, known),) if calls else (),
        start=Start(
            boundaries=_anchors(template),
            toggles={"enable_thinking": (False,)},
            undecided="content",
        ),
        text_filter=stripped if all(strip.values()) else None,
    )


def stripped() -> TextFilter:
    """Drops the white space at the edges of all of a channel's text; what stands inside is kept."""
    held = ""
    begun = False

    def strip(text: str, is_last: bool) -> str:
        nonlocal held, begun
        text = held + text if begun else text.lstrip()
        begun = begun or bool(text)
        shown = text.rstrip()
        held = text[len(shown) :]
        return shown

    return strip


def _args(field: Field) -> Mapping[str, Any]:
    return field.get("content_args") or {}


def _texts(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value or ())


def _marker(field: Field, side: str, known: Vocabulary) -> Marker | None:
    """The marker at one side of a field's region."""
    pattern = field.get(f"{side}_pattern")
    if pattern is not None:
        return Marker(_beginning(pattern), special=False, pattern=pattern)
    texts = _texts(field.get(side))
    if not texts:
        return None
    if any(text in known for text in texts):
        return Marker(texts[0], texts[1:])
    parts = [part for part in _TOKEN.findall(texts[0]) if part in known and all(part in t for t in texts)]
    return Marker(texts[0], texts[1:], token=parts[0] if parts else None, special=False)


def _opener(field: Field, known: Vocabulary) -> Marker:
    marker = _marker(field, "open", known)
    assert marker is not None
    return marker


def _beginning(pattern: str) -> str:
    """The literal that a pattern begins with."""
    check_pattern(pattern)
    end, text = 0, ""
    while match := _LITERAL.match(pattern, end):
        text += match[0][-1]
        end = match.end()
    outside = re.sub(r"\\.|\[[^\]]*\]|\([^()]*\)", "", pattern)
    require(text and "|" not in outside, f"the pattern {pattern!r} must begin with ordinary characters")
    return text


def _anchors(template: Mapping[str, Any]) -> tuple[str, ...]:
    """Where the prompt's last message starts."""
    pattern = template.get("start_anchor_pattern")
    require((pattern is None) != ("start_anchor" not in template), "give one start_anchor")
    return _texts(template["start_anchor"]) if pattern is None else (_beginning(pattern),)


def _reasoning(field: Field, strip: Any, known: Vocabulary) -> Reasoning:
    close = _marker(field, "close", known)
    require(close, "thinking needs a closer: close or close_pattern")
    assert close is not None
    return Reasoning(_opener(field, known), close, reopens=True, off_text=False, strip=strip)


def _content(field: Field, strip: Any, known: Vocabulary) -> Content:
    """The answer has markers of its own, or is what stands outside of the other fields."""
    opener, close = _marker(field, "open", known), _marker(field, "close", known)
    if opener is not None:
        return Content(strip=strip, open=opener, close=close)
    return Content(strip=strip, drops=(Drop(close),) if close else ())


def _tools(field: Field, known: Vocabulary) -> Tools:
    """JSON with name and arguments beside each other is read as it comes, all else region by region."""
    kind, options = field.get("content", "text"), _args(field)
    require(kind in BODIES, f"tool_calls.content must be one of {sorted(BODIES)}")
    if kind == "xml-inline":
        check_pattern(options.get("tag_pattern", ""), "key", "value")
    call = field.get("transform") or PLAIN_CALL
    call = call.get("function", call)
    name, arguments = (_path(call.get(key), key) for key in ("name", "arguments"))
    each = bool(field.get("transform_each"))
    opener, close = _opener(field, known), _marker(field, "close", known)
    side_by_side = name[:-1] == arguments[:-1] == (() if each else ("content",))
    if kind == "json" and side_by_side and not any(options.values()) and not opener.pattern:
        item = JsonObject(names=name[-1:], arguments=arguments[-1:])
        return Tools((JsonArray(item), item), opener, close, in_reasoning="text")
    require(each or {name[0], arguments[0]} & {"content"}, "tool_calls.transform must use the content")
    return Tools(
        (WholeBody(opener, close, BODIES[kind](options), name, arguments, each),), in_reasoning="text"
    )


def _path(placeholder: Any, key: str) -> Path:
    match = _PLACEHOLDER.fullmatch(placeholder) if isinstance(placeholder, str) else None
    require(match, f"tool_calls.transform must give the {key} as one placeholder in braces")
    assert match is not None
    return tuple(match[1].split("."))


class HfParser(UnifiedParser):
    """Checkpoints with a ``response_template`` in their tokenizer's configuration (transformers 5).

    There is no format without it: a parser without a tokenizer, or with one that has no usable template,
    raises FormatError.
    """

    names = ("hf", "response_template")
    models = ()
    traps = (
        "Without a tokenizer that has a `response_template` there is no parser, but an error at once.",
        "`response_schema`, the older form, is not read; transformers 5 drops it.",
        "Both texts are stripped at their edges unless the template says `strip: false`.",
    )
    format = OutputFormat()

    @classmethod
    def output_format(cls, tokenizer: Any) -> OutputFormat:
        inner = getattr(tokenizer, "inner", tokenizer)
        template = getattr(inner, "response_template", None)
        template = template or getattr(inner, "init_kwargs", {}).get("response_template")
        if tokenizer is None or not isinstance(template, Mapping):
            raise FormatError(
                "The hf family reads its format from the tokenizer's configuration (tokenizer_config.json), "
                + (
                    "and was given no tokenizer. "
                    if tokenizer is None
                    else "and it has no response_template. "
                )
                + "Give the tokenizer of a checkpoint that has one, or the name of the model's own family."
            )
        return compile_template(template, vocabulary(tokenizer))
