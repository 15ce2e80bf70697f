"""Formats read from a tokenizer's configuration: which templates are refused, and what patterns may match."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.parsing import run
from support.samples import load
from support.tokenizers import MinimalTokenizer, tokenizer_for

from unified_parser import FormatError, OutputFormat, create_parser
from unified_parser.models.hf import HfParser, compile_template
from unified_parser.testing import check_family

START = "<|im_start|>assistant\n"
CALL = {
    "open_pattern": r"<op id=\"(?P<op>[^\"]+)\">\n?",
    "close": "</op>",
    "content": "kv-lines",
    "transform": {"function": {"name": "{op}", "arguments": "{content}"}},
}
TEMPLATE: dict[str, Any] = {
    "start_anchor": START,
    "fields": {"thinking": {"open": "<think>", "close": "</think>"}, "tool_calls": CALL, "content": {}},
}


def changed(path: str, value: Any) -> dict[str, Any]:
    """The template with another value at this path; None takes the key away."""
    template: dict[str, Any] = json.loads(json.dumps(TEMPLATE))
    *way, key = path.split(".")
    place = template
    for step in way:
        place = place[step]
    place[key] = value
    if value is None:
        del place[key]
    return template


def parser(template: dict[str, Any], **options: Any) -> Any:
    return create_parser("hf", tokenizer=tokenizer_for((), template), prompt_text=START, **options)


@pytest.mark.parametrize(
    ("path", "value", "fault"),
    [
        ("version", 2, "version 1"),
        ("colour", "red", "unknown keys"),
        ("start_anchor", None, "start_anchor"),
        ("start_anchor_pattern", "<s>", "start_anchor"),
        ("fields", {}, "fields"),
        ("fields.summary", {"open": "<s>"}, "fields"),
        ("fields.thinking.colour", "red", "thinking"),
        ("fields.thinking.join", "\n", "join"),
        ("fields.thinking.content", "json", "plain text"),
        ("fields.thinking.open", None, "opener"),
        ("fields.thinking.close", None, "closer"),
        ("fields.tool_calls.open_pattern", "(?:a|b)c", "ordinary characters"),
        ("fields.tool_calls.open_pattern", "a|bc", "ordinary characters"),
        ("fields.tool_calls.open_pattern", "a(", "wrong"),
        ("fields.tool_calls.content", "yaml", "content"),
        ("fields.tool_calls.content", "xml-inline", "groups"),
        ("fields.tool_calls.transform", {"function": {"name": "{op}"}}, "arguments"),
        ("fields.tool_calls.transform.function.arguments", "{op}", "content"),
    ],
)
def test_a_template_that_cannot_work_is_refused(path: str, value: Any, fault: str) -> None:
    with pytest.raises(FormatError, match=fault):
        parser(changed(path, value))


@pytest.mark.parametrize("tokenizer", [None, tokenizer_for(())])
def test_without_a_template_the_error_names_it(tokenizer: Any) -> None:
    with pytest.raises(FormatError, match=r"tokenizer_config\.json"):
        create_parser("hf", tokenizer=tokenizer)


def test_the_template_may_be_one_of_the_tokenizers_arguments() -> None:
    class Loaded(MinimalTokenizer):
        response_template = None

        def __init__(self) -> None:
            super().__init__(tokenizer_for(()))
            self.response_template = None
            self.init_kwargs = {"response_template": TEMPLATE}

    message = create_parser("hf", tokenizer=Loaded()).parse("<think>a</think>b")
    assert (message.reasoning, message.content) == ("a", "b")


def test_a_pattern_waits_for_no_more_than_it_may_match() -> None:
    """Text that the pattern does not match is given out at once, and so is one that gets too long."""
    waiting = parser(TEMPLATE)
    assert waiting.feed("a <op") and not waiting.feed(' id="')
    assert [event.text for event in waiting.feed('">')] == [' <op id="', '">']
    long = parser(TEMPLATE)
    long.feed('a<op id="')
    assert sum(len(event.text) for _ in range(20) for event in long.feed("x" * 100)) > 1000


def test_a_match_that_may_go_on_waits_for_what_follows() -> None:
    for deltas in (
        ['<op id="f">', "\n", "a:1\n</op>"],
        ['<op id="f">', "a:1\n</op>"],
        ['<op id="f">\na:1\n</op>'],
    ):
        got = run(parser(TEMPLATE), [(text, []) for text in deltas])
        assert got.calls == [("f", {"a": "1"}, True)]


@pytest.mark.parametrize(
    "body",
    [
        '{"name": "f", "arguments": {"x": NaN}}',
        '{"name": 1, "arguments": {}}',
        '{"name": "", "arguments": {}}',
        '{"arguments": {}}',
        "[]",
        "[1]",
        "[" * 5000,
        '"f"',
        "{} {}",
        "",
    ],
)
def test_a_body_that_is_no_call_is_content(body: str) -> None:
    call = {"open": "<op>", "close": "</op>", "content": "json", "content_args": {"unquoted_keys": True}}
    transform = {"name": "{content.name}", "arguments": "{content.arguments}"}
    raw = f"<op>{body}</op>"
    message = parser(changed("fields.tool_calls", call | {"transform": transform})).parse(raw)
    assert (message.content, message.tool_calls) == (raw, [])


def test_raw_line_breaks_in_json_strings_are_escaped() -> None:
    call = {"open": "<op>", "close": "</op>", "content": "json", "content_args": {"unquoted_keys": True}}
    transform = {"name": "{content.name}", "arguments": "{content.arguments}"}
    parse = parser(changed("fields.tool_calls", call | {"transform": transform})).parse
    assert run_arguments(parse('<op>{name:"f",arguments:{x:"a\nb"}}</op>')) == [{"x": "a\nb"}]


def run_arguments(message: Any) -> list[Any]:
    return [json.loads(call.arguments) for call in message.tool_calls]


def test_every_template_of_the_corpus_reads_its_samples_under_both_names() -> None:
    samples = [sample for sample in load() if sample.response_template and not sample.literal]
    assert len({json.dumps(sample.response_template) for sample in samples}) > 6
    for name in ("hf", "response_template"):
        for sample in samples:
            tokenizer = tokenizer_for((), sample.response_template)
            made = create_parser(
                name, tokenizer=tokenizer, tools=sample.tools, prompt_text=sample.prompt_tail
            )
            message = made.parse(sample.raw, reason=sample.finish_reason)
            assert [call.name for call in message.tool_calls] == [n for n, *_ in sample.expected.calls]


def _written_without_patterns() -> list[dict[str, Any]]:
    """The corpus' templates, each once, but for those whose text has patterns that the kit cannot write."""
    found = {json.dumps(s.response_template): s.response_template for s in load() if s.response_template}
    texts = ("thinking", "content")
    return [
        template
        for template in found.values()
        if not any(key.endswith("_pattern") for name in texts for key in template["fields"].get(name, {}))
    ]


@pytest.mark.parametrize(
    "template", _written_without_patterns(), ids=lambda t: str(t["fields"]["tool_calls"])[:40]
)
def test_the_invariants_hold_for_compiled_templates(template: dict[str, Any]) -> None:
    class Compiled(HfParser):
        names = ("compiled",)
        format = compile_template(template, {})

        @classmethod
        def output_format(cls, tokenizer: Any) -> OutputFormat:
            return cls.format

    raws = [sample.raw for sample in load() if sample.response_template == template]
    check_family(Compiled, raws, outputs=10)
