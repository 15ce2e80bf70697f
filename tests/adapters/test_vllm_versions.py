"""Which vLLM is served: the tested releases, newer ones by what they have, older ones not."""

from __future__ import annotations

import logging
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support.parsing import family_tokenizer

pytest.importorskip("vllm")

import vllm
from vllm.parser.abstract_parser import DelegatingParser
from vllm_driver import chat_request, compose, fold_messages, parse_whole, stream

from unified_parser.adapters.vllm import VllmMissingError, register
from unified_parser.adapters.vllm.direct import DirectParser

TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
OUTPUT = (
    "why</think>so<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>"
    "{}<|tool_call_end|><|tool_calls_section_end|>"
)


@pytest.fixture
def warnings(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What the package warns of, as it comes."""
    lines: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("vllm.unified_parser")
    monkeypatch.setattr(logger, "disabled", False)
    logger.addHandler(handler)
    yield lines
    logger.removeHandler(handler)


@pytest.fixture
def claim(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Has vLLM say that it is another version."""
    return lambda version: monkeypatch.setattr(vllm, "__version__", version)


def read_both_ways(parser_class: Any) -> list[tuple[Any, Any, Any]]:
    """Reasoning, content and calls of the output, whole and streamed."""
    tokenizer = family_tokenizer("kimi_k2")
    request = chat_request([TOOL])
    ids = tokenizer.encode(OUTPUT)
    deltas = [(tokenizer.decode([number]), [number]) for number in ids]

    def parser() -> Any:
        return parser_class(tokenizer, request.tools, chat_template_kwargs={})

    found = [
        parse_whole(parser(), request, OUTPUT, ids),
        fold_messages(stream(parser(), request, deltas)),
    ]
    return [(message.reasoning, message.content, message.calls) for message in found]


EXPECTED = [("why", "so", [("f", {}, True)])] * 2


def test_the_installed_one_is_tested(warnings: list[str]) -> None:
    register()
    assert warnings == []


@pytest.mark.parametrize("version", ["0.30.0", "0.31.2", "0.33.0", "0.33.1+cu130", "0.32.0rc2"])
def test_a_tested_release_gives_no_warning(
    version: str, claim: Callable[[str], None], warnings: list[str]
) -> None:
    claim(version)
    register()
    assert warnings == []


@pytest.mark.parametrize("version", ["0.34.0", "1.2.3", "0.33.1.dev7+g0123abc", "0.1.dev1+g0123abc", "dev"])
def test_any_other_is_served_by_what_it_has_with_one_warning(
    version: str, claim: Callable[[str], None], warnings: list[str]
) -> None:
    claim(version)
    register()
    parser_class = compose("kimi_k2", "kimi_k2")  # registers again
    assert issubclass(parser_class, DirectParser)
    assert read_both_ways(parser_class) == EXPECTED
    (line,) = warnings
    assert "0.30 to 0.33" in line and version in line


def test_a_newer_one_that_calls_parsers_in_another_way_gets_the_adapters(
    claim: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    original = DelegatingParser.parse

    def parse(self: Any, *given: Any, **named: Any) -> Any:
        return original(self, *given, **named)

    monkeypatch.setattr(DelegatingParser, "parse", parse)
    claim("0.35.0")
    parser_class = compose("kimi_k2", "kimi_k2")
    assert issubclass(parser_class, DelegatingParser) and not issubclass(parser_class, DirectParser)
    assert read_both_ways(parser_class) == EXPECTED


@pytest.mark.parametrize("version", ["0.29.1", "0.9.2", "0.11.0+cu128"])
def test_one_that_is_too_old_is_one_clear_error(version: str, claim: Callable[[str], None]) -> None:
    claim(version)
    with pytest.raises(VllmMissingError, match=rf"vLLM 0\.30 or later.*this is {re.escape(version)}:"):
        register()


def test_one_that_is_too_old_is_told_before_what_it_lacks_is_imported() -> None:
    code = (
        "import sys, vllm\n"
        "vllm.__version__ = '0.29.0'\n"
        "sys.modules['vllm.parser'] = None\n"
        "from unified_parser.adapters.vllm import register\n"
        "try: register()\n"
        "except RuntimeError as error: print(error)\n"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    last_line = out.splitlines()[-1]  # vLLM's own log may stand before it
    assert last_line.startswith("vLLM 0.30 or later is needed here, and this is 0.29.0")
