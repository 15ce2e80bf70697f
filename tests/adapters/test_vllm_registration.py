"""The names in vLLM's registries, and how the package behaves without vLLM."""

from __future__ import annotations

import logging
import pickle
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import unified_parser.adapters.vllm as plugin
from unified_parser import families

vllm = pytest.importorskip("vllm")

from vllm.parser.engine.adapters import (  # noqa: E402
    ParserEngineReasoningAdapter,
    ParserEngineToolAdapter,
)
from vllm.reasoning import ReasoningParser, ReasoningParserManager  # noqa: E402
from vllm.tool_parsers import ToolParser, ToolParserManager  # noqa: E402

NAMES = sorted(name for family in families() for name in family.names)


@pytest.fixture
def registries(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """vLLM's registries as they are without us; put back afterwards."""
    tables = (ReasoningParserManager.reasoning_parsers, ToolParserManager.tool_parsers)
    saved = [dict(table) for table in tables]
    for table in tables:
        table.clear()
    monkeypatch.delenv("UNIFIED_PARSER_VLLM", raising=False)
    yield
    for table, content in zip(tables, saved, strict=True):
        table.clear()
        table.update(content)


def _ours() -> tuple[set[str], set[str]]:
    """The names under which each registry has a class of ours."""
    return (
        {
            n
            for n, c in ReasoningParserManager.reasoning_parsers.items()
            if issubclass(c, plugin.ReasoningAdapter)
        },
        {n for n, c in ToolParserManager.tool_parsers.items() if issubclass(c, plugin.ToolAdapter)},
    )


@pytest.mark.usefixtures("registries")
class TestRegister:
    def test_every_name_is_in_both_registries(self) -> None:
        plugin.register()
        assert _ours() == (set(NAMES), set(NAMES))
        for name in NAMES:
            assert issubclass(ReasoningParserManager.get_reasoning_parser(name), ReasoningParser)
            assert issubclass(ToolParserManager.get_tool_parser(name), ToolParser)

    def test_a_parser_that_vllm_has_loaded_is_replaced(self) -> None:
        theirs = ToolParserManager.get_tool_parser("hermes")
        plugin.register()
        assert ToolParserManager.get_tool_parser("hermes") is not theirs

    def test_again_is_the_same(self) -> None:
        plugin.register()
        before = ReasoningParserManager.get_reasoning_parser("qwen3")
        plugin.register()
        assert ReasoningParserManager.get_reasoning_parser("qwen3") is before

    def test_importing_the_package_where_vllm_is_loaded_registers(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delitem(sys.modules, "unified_parser.adapters.vllm")
        ToolParserManager.import_tool_parser("unified_parser.adapters.vllm")
        assert "kimi_k2" in ReasoningParserManager.reasoning_parsers
        assert "kimi_k2" in ToolParserManager.tool_parsers

    def test_missing_leaves_vllms_names_alone(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("UNIFIED_PARSER_VLLM", "missing")
        lacks_reasoning = set(NAMES) - set(ReasoningParserManager.list_registered())
        lacks_tool = set(NAMES) - set(ToolParserManager.list_registered())
        assert "hermes" in lacks_reasoning and "hermes" not in lacks_tool
        plugin.register()
        assert _ours() == (lacks_reasoning, lacks_tool)

    def test_a_list_limits_the_names(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("UNIFIED_PARSER_VLLM", "kimi_k2, hermes")
        plugin.register()
        assert _ours() == ({"kimi_k2", "hermes"}, {"kimi_k2", "hermes"})

    def test_off(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("UNIFIED_PARSER_VLLM", "off")
        plugin.register()
        assert _ours() == (set(), set())

    def test_an_unknown_name_is_one_clear_error(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("UNIFIED_PARSER_VLLM", "hermes,kimik2")
        with pytest.raises(ValueError, match=r"UNIFIED_PARSER_VLLM.*kimik2.*nearest: kimi_k2"):
            plugin.register()
        assert _ours() == (set(), set())

    def test_one_log_line_says_what_was_replaced(self) -> None:
        lines: list[str] = []
        handler = logging.Handler()
        handler.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
        logger = logging.getLogger("vllm")  # the one that a server shows
        level = logger.level
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        try:
            plugin.register()
            plugin.register()
        finally:
            logger.removeHandler(handler)
            logger.setLevel(level)
        (line,) = [line for line in lines if "unified_parser" in line]
        replaced, added = (
            re.split("reasoning parsers|tool parsers", part) for part in line.split("; it adds ")
        )
        assert "kimi_k2" in replaced[1] and "hermes" not in replaced[1] and "hermes" in replaced[2]
        assert "hermes" in added[1]


class TestClasses:
    def test_two_classes_of_one_parser_class_always_the_same(self) -> None:
        family = next(family for family in families() if "kimi_k2" in family.names)
        reasoning, tool = plugin.make_adapters(family.parser_class)
        assert plugin.make_adapters(family.parser_class) == (reasoning, tool)
        assert (reasoning.__name__, tool.__name__) == ("KimiK2ReasoningAdapter", "KimiK2ToolAdapter")

    @pytest.mark.parametrize("family", families(), ids=lambda family: family.names[0])
    def test_they_are_what_vllm_asks_for(self, family: Any) -> None:
        reasoning, tool = plugin.make_adapters(family.parser_class)
        assert issubclass(reasoning, ParserEngineReasoningAdapter)
        assert issubclass(tool, ParserEngineToolAdapter)
        assert reasoning.engine_based_streaming and tool.engine_based_streaming
        assert tool.supports_required_and_named is False
        for adapter in (reasoning, tool):
            assert adapter.parser_class is family.parser_class
            assert pickle.loads(pickle.dumps(adapter)) is adapter

    def test_no_member_that_forwards_to_an_engine_is_inherited(self) -> None:
        pairs = (
            (plugin.ReasoningAdapter, ParserEngineReasoningAdapter),
            (plugin.ToolAdapter, ParserEngineToolAdapter),
        )
        for ours, theirs in pairs:
            public = {name for name in vars(theirs) if not name.startswith("_")} | {"__init__"}
            assert public <= set(vars(ours))

    def test_an_unknown_attribute_is_an_attribute_error(self) -> None:
        for name in ("nothing", "NobodysToolAdapter"):
            with pytest.raises(AttributeError, match=name):
                getattr(plugin, name)


def _python(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_without_vllm_the_import_works_and_register_says_what_is_missing() -> None:
    out = _python(
        "import sys; sys.modules['vllm'] = None\n"
        "import unified_parser.adapters.vllm as plugin\n"
        "for call in (plugin.register, lambda: plugin.make_adapters, lambda: plugin.ToolAdapter):\n"
        "    try: call()\n"
        "    except RuntimeError as error: print(type(error).__name__, 'pip install' in str(error))\n"
    )
    assert out.splitlines() == ["VllmMissingError True"] * 3


def test_a_plain_import_loads_no_vllm() -> None:
    out = _python(
        "import sys, unified_parser.adapters.vllm; print('vllm' in sys.modules, 'torch' in sys.modules)"
    )
    assert out == "False False"


def test_the_entry_point_is_register() -> None:
    from importlib.metadata import entry_points

    points = [p for p in entry_points(group="vllm.general_plugins") if p.value.startswith("unified_parser.")]
    assert [p.load() for p in points] == [plugin.register]
