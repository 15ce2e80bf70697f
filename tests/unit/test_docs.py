"""Pages made from the classes are up to date, and what the documents show is true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.parsing import family_tokenizer

from unified_parser import create_parser, families, family_names, get_parser_class
from unified_parser.cli.families import markdown_sections, row

ROOT = Path(__file__).parent.parent.parent
KNOWN = [family.parser_class.names[0] for family in families()]

ONE_ID = "a single token id"
TEXT = "found as text of several tokens"
SILENT_IS_REASONING = "in reasoning: reasoning; without an opener in output or prompt: reasoning"
SILENT_IS_CONTENT = "in reasoning: reasoning; without an opener in output or prompt: content"
NOT_LENGTH = "(not if the finish reason is `length`)"
IN_HEADERS = [
    "in a body: what came stays what the header made it",
    "in a header: discarded; the first one is content if no marker stands in it",
]

#: What the descriptions of the formats say of outputs that are cut off.
TRUNCATION = {
    "kimi_k2": [SILENT_IS_REASONING, "thinking off: content", "a call is complete with its arguments"],
    "minimax_m2": [SILENT_IS_REASONING, "thinking off: content", "a call is complete with `</invoke>`"],
    "glm45": [SILENT_IS_CONTENT, "thinking off: content", "a call is complete with `</tool_call>`"],
    "granite": [
        SILENT_IS_CONTENT,
        "thinking off: content",
        "a call is complete with its arguments",
        "before a call's name, behind `<tool_call>`: discarded, content if the finish reason is `stop`",
    ],
    "gemma4": [
        SILENT_IS_CONTENT,
        "thinking off: content, but a block that the model opens is reasoning",
        "a call is complete with its closing bracket",
    ],
    "mistral": [
        SILENT_IS_CONTENT,
        "thinking off: content",
        f"a call is complete with its arguments, or with its name alone at the output's end {NOT_LENGTH}",
    ],
    "openai_gptoss": [
        *IN_HEADERS,
        "a call is complete with its arguments (at the output's end not if the finish reason is `length`)",
    ],
    "beam": [
        *IN_HEADERS,
        "a call is complete with its message's closing marker or, behind a parameter, the output's end "
        + NOT_LENGTH,
    ],
    "llama4_pythonic": [
        "in a text: content",
        "a call is complete with its closing parenthesis, or with its arguments",
        "before a call's name, behind `[` or `{`: discarded, content if the finish reason is `stop`",
    ],
    "kimi_k3": [
        SILENT_IS_REASONING,
        "thinking off: content",
        "a call is complete with `<|close|>call<|sep|>`",
        "in a marker, behind `<|open|>` or `<|close|>`: discarded",
        "what follows `<|close|>message<|sep|>` or `<|end_of_msg|>` is no part of the message",
    ],
    "hf": ["as the tokenizer's configuration says"],
}

#: And of where reasoning ends, by ids or by text.
STRUCTURED_OUTPUT = {
    "kimi_k2": [
        f"behind `</think>`, {ONE_ID}",
        f"at `<|tool_calls_section_begin|>`, {ONE_ID} (implicit end)",
        "at once where thinking is off or the prompt has closed it",
    ],
    "minimax_m2": [
        f"behind `</think>`, {ONE_ID}",
        f"at `<minimax:tool_call>`, {ONE_ID} (implicit end)",
        "at once where thinking is off or the prompt has closed it",
    ],
    "deepseek_r1": [
        f"behind `</think>`, {ONE_ID}",
        "at once where thinking is off or the prompt has closed it",
    ],
    "deepseek_v41": [
        f"behind `</think>`, {ONE_ID}",
        f"at `<｜DSML｜ calls>`, {TEXT}, `｜DSML｜` among them (implicit end)",
        "at once where thinking is off or the prompt has closed it",
    ],
    "granite": [
        f"behind `Here is my response:` or `Here's my response:`, {TEXT}",
        f"at `<|tool_call|>`, {ONE_ID} (implicit end)",
        "at once unless thinking is switched on or the prompt has opened it",
        "never with thinking on, if the output has none of these ends",
    ],
    "mistral": [
        f"behind `[/THINK]` or `</think>`, {ONE_ID} where the vocabulary has one, else found as text",
        f"at `[TOOL_CALLS]`, {ONE_ID} (implicit end)",
        "at once unless the prompt has opened reasoning: the model's own opener is not waited for",
    ],
    "gemma4": [
        f"behind `<channel|>`, {ONE_ID}",
        f"at `<|tool_call>`, {ONE_ID} (implicit end)",
        "at once unless thinking is switched on or the prompt has opened it",
        "never with thinking on, if the output has none of these ends",
    ],
    "minimax_m3": [
        f"behind `</mm:think>`, {TEXT}",
        "at once where thinking is off or the prompt has closed it",
        "never with thinking on, if the output has none of these ends",
    ],
    "openai_gptoss": [
        f"behind a header that `<|message|>` ends ({ONE_ID}), if its body is content or a call"
    ],
    "jamba": ["at once: there is no reasoning"],
    "minimax_m2_append_think": ["by the class's own `is_reasoning_end_streaming`"],
    "hf": ["as the tokenizer's configuration says"],
}


def test_the_page_of_families_is_current() -> None:
    scope: dict = {"__file__": str(ROOT / "tools" / "family_table.py"), "__name__": "family_table"}
    exec((ROOT / "tools" / "family_table.py").read_text(encoding="utf-8"), scope)
    assert (ROOT / "docs" / "families.md").read_text(encoding="utf-8") == scope["page"](), "run make docs"


@pytest.mark.parametrize("name", TRUNCATION)
def test_what_the_page_says_of_cut_outputs(name: str) -> None:
    assert row(get_parser_class(name)).truncation == TRUNCATION[name]


@pytest.mark.parametrize("name", STRUCTURED_OUTPUT)
def test_what_the_page_says_of_structured_output(name: str) -> None:
    assert row(get_parser_class(name)).structured_output == STRUCTURED_OUTPUT[name]


@pytest.mark.parametrize("name", KNOWN)
def test_traps_are_short_sentences_on_the_page(name: str) -> None:
    parser_class = get_parser_class(name)
    assert 1 <= len(parser_class.traps) <= 3
    section = markdown_sections([parser_class])
    for trap in parser_class.traps:
        assert len(trap) <= 110 and trap.endswith(".") and trap.count("`") % 2 == 0
        assert trap in section


# What the page says is so


@pytest.mark.parametrize("name", [name for name in KNOWN if get_parser_class(name).format.reasoning])
def test_an_output_without_an_opener_goes_where_the_page_says(name: str) -> None:
    said = row(get_parser_class(name)).truncation[0].rpartition(": ")[2]
    on = create_parser(name, thinking=True).parse("plain words", reason="length")
    off = create_parser(name, thinking=False).parse("plain words", reason="length")
    assert (on.reasoning, on.content) == {
        "reasoning": ("plain words", None),
        "content": (None, "plain words"),
    }[said]
    assert (off.reasoning, off.content) == (None, "plain words")


@pytest.mark.parametrize("name", [name for name in KNOWN if get_parser_class(name).format.reasoning])
def test_reasoning_ends_for_ids_where_the_page_says(name: str) -> None:
    """Each marker alone ends it, in a vocabulary that has every special marker as one token.

    Of spellings that depend on the vocabulary, this one has the first.
    """
    tokenizer = family_tokenizer(name)
    parser = create_parser(name, tokenizer=tokenizer)
    ends = [
        line for line in row(get_parser_class(name)).structured_output if line.startswith(("behind", "at `"))
    ]
    assert ends
    for line in ends:
        markers, _, how = line.partition(", ")
        found = re.findall("`([^`]+)`", markers)
        for marker in found[:1] if "where the vocabulary has one" in how else found:
            ids = tokenizer.encode(marker)
            assert (len(ids) == 1) == how.startswith(ONE_ID)
            steps = [parser.is_reasoning_end_streaming(ids[: n + 1], ids[n : n + 1]) for n in range(len(ids))]
            assert steps == [False] * (len(ids) - 1) + [True], marker


#: Families, and the ordinary text with which their calls begin.
BEGUN = [
    ("deepseek_v32", "<｜DSML｜function_calls>"),
    ("deepseek_v4", "<｜DSML｜toolcalls>"),
    ("deepseek_v41", "<｜DSML｜ invoke"),
    ("dots", "<dots_function_call>"),
    ("gigachat35", "<｜GCML｜tool_calls>"),
    ("granite", "<tool_call>"),
    ("granite-20b-fc", "<function_call>"),
    ("hunyuan_a13b", "<tool_calls>"),
    ("k2_horizon", "<ifm|tool_calls>"),
    ("llama3_json", "{"),
    ("llama4_pythonic", "["),
    ("olmo3", "<function_calls>"),
    ("phi4_mini_json", "functools["),
    ("pythonic", "["),
    ("xlam", "```json"),
    ("xlam", "[TOOL_CALLS]"),
]


@pytest.mark.parametrize("name, text", BEGUN)
def test_text_that_began_a_call_goes_where_the_page_says(name: str, text: str) -> None:
    said = " ".join(row(get_parser_class(name)).truncation)
    assert re.search(rf"behind .*` ?{re.escape(text)} ?`.*: discarded, content if .* `stop`", said)
    cut = create_parser(name, thinking=False).parse(text, reason="length")
    assert (cut.content, cut.discarded) == (None, text)
    stopped = create_parser(name, thinking=False).parse(text, reason="stop")
    assert (stopped.content, stopped.discarded) == (text, None)


def test_the_page_leaves_no_such_family_out() -> None:
    said = [name for name in KNOWN if "before a call's name" in str(row(get_parser_class(name)).truncation)]
    assert said == sorted({name for name, _ in BEGUN})


#: Families, outputs, and what the trap says of them: reasoning, content, names of the calls.
TRAPS = [
    ("kimi_k2", "An answer.", ("An answer.", None, [])),
    ("qwen3", "An answer.", ("An answer.", None, [])),
    ("kimi_k3", "An answer.<|close|>response<|sep|>", ("An answer.", None, [])),
    ("apertus", "<|inner_prefix|>a<|inner_suffix|>b", ("a", "b", [])),
    ("beam", "<|channel|>commentary<|message|>a<|end|>", (None, None, [])),
    ("cohere_command3", "<co>a</co: 0:[1]>", (None, "a", [])),
    ("granite-20b-fc", '<function_call> {"name": "no_function", "arguments": {}}', (None, None, [])),
    ("glm47", "a</think>b <think> c", ("a c", "b ", [])),
    ("gemma4", "<|channel>plan\na<channel|>b", ("plan\na", "b", [])),
    ("jamba", " Hi", (None, " Hi", [])),
    ("llama3_json", 'a {"name": "f", "parameters": {}}', (None, "a ", ["f"])),
    ("longcat", "a</longcat_think>b", (None, "ab", [])),
    ("mistral", "[TOOL_CALLS]fABCDEFGHI[ARGS]{}", (None, None, ["fABCDEFGHI"])),
    ("muse", "<|message|>a", ("a", None, [])),
    ("muse_glimmer", "<|message|>a", (None, "a", [])),
    ("openai", "<|channel|>analysis to=f<|message|>{}<|call|>", (None, None, ["f"])),
    ("openai", "<|channel|>commentary to=python<|message|>1<|call|>", (None, None, [])),
    ("pythonic", "[f(1)]", (None, "[f(1)]", [])),
    ("spark25", "<|tool_call|>f</tool_call>", (None, "<|tool_call|>f", [])),
    ("xlam", "[]", (None, "[]", [])),
    ("minimax_m2_append_think", "a</think>b", (None, "<think>a</think>b", [])),
]


@pytest.mark.parametrize("name, output, expected", TRAPS)
def test_traps_are_so(name: str, output: str, expected: tuple) -> None:
    message = create_parser(name).parse(output)
    assert (message.reasoning, message.content, [call.name for call in message.tool_calls]) == expected


# Other pages


def test_every_name_leads_to_a_class_that_has_it() -> None:
    for name in family_names():
        assert name in get_parser_class(name).names
    assert sorted(name for family in families() for name in family.names) == sorted(family_names())


@pytest.mark.parametrize("number", range(3))
def test_the_examples_of_the_readme_run(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    examples = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    scope: dict = {"__name__": "example"}
    exec(examples[number], scope)
    if number == 0:
        assert "The user wants the tides.\nOne moment.\n" in capsys.readouterr().out
    if number == 1:
        assert "reasoning: Some" in capsys.readouterr().out.replace("So\nreasoning: me", "Some")
    if number == 2:
        raw = '<think>\na\n</think>\n\nb\n<tool_call>\n{"name": "f"}\n</tool_call>'
        message = scope["AcmeParser"]().parse(raw)
        assert (message.reasoning, message.content, message.tool_calls[0].name) == ("a", "b", "f")


def test_no_family_is_named_in_the_framework() -> None:
    """A family's difference belongs in its own module."""
    names = {name for name in family_names() if "_" in name or len(name) > 6}
    framework = [
        path
        for path in (ROOT / "unified_parser").rglob("*.py")
        if path.relative_to(ROOT / "unified_parser").parts[0] not in ("models", "adapters")
    ]
    for path in [*framework, *(ROOT / "adapters").rglob("*.py")]:
        quoted = set(re.findall(r"""["']([\w-]+)["']""", path.read_text(encoding="utf-8")))
        assert not quoted & names, path


def test_the_demo_is_what_it_says() -> None:
    raw = (ROOT / "tests" / "corpus" / "demo_kimi_k2.txt").read_text(encoding="utf-8").rstrip("\n")
    message = create_parser("kimi_k2").parse(raw)
    assert message.reasoning and message.tool_calls
