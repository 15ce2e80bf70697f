"""Pages made from the classes are up to date, and what the documents show is true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from unified_parser import create_parser, families, family_names, get_parser_class

ROOT = Path(__file__).parent.parent.parent


def test_the_page_of_families_is_current() -> None:
    scope: dict = {"__file__": str(ROOT / "tools" / "family_table.py"), "__name__": "family_table"}
    exec((ROOT / "tools" / "family_table.py").read_text(encoding="utf-8"), scope)
    assert (ROOT / "docs" / "families.md").read_text(encoding="utf-8") == scope["page"](), "run make docs"


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
