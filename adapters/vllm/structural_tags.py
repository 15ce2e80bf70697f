"""The structural tag of a vLLM request: its calls, in the family's own format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import vllm.envs as envs

from unified_parser.format import OutputFormat
from unified_parser.structural_tag import Function, covers_reasoning, structural_tag

from .compat import CONSTRAINS_FROM_START
from .requests import forced_tool, function_tools

#: vLLM's strict level from which on the arguments of every tool must fit their schema.
_PARAMETER_LEVEL = 2


def request_tag(form: OutputFormat, request: Any, strict_level: Any = None) -> Any:
    """The ``xgrammar.StructuralTag`` for the calls of a chat or Responses request, or None.

    ``strict_level``: vLLM's floor for all tools. Without one the request decides: named, required calls are
    constrained; where the model may choose, calls are if a tool is strict, or if there may be one call only.
    The arguments of a tool that is not strict are any object.

    None, too, where the format cannot be written as a grammar, where VLLM_ENFORCE_STRICT_TOOL_CALLING is off,
    and where the grammar would have to cover the reasoning but this kind of request cannot say so.
    """
    if not envs.VLLM_ENFORCE_STRICT_TOOL_CALLING or not request.tools:
        return None
    from_start = hasattr(request, CONSTRAINS_FROM_START) or is_constrained_from_start(form)
    if covers_reasoning(form) and not from_start:
        return None
    level = int(strict_level or 0)
    offered = list(_offered(request.tools))
    forced, name = forced_tool(request)
    single = request.parallel_tool_calls is False
    if not forced and not level and not any(strict for _, strict in offered) and not _limits(request):
        return None
    if name is not None:
        offered, single = [(shown, strict) for shown, strict in offered if shown["name"] == name], True
    functions = [
        Function(shown["name"], (shown["parameters"] or {}) if strict or level >= _PARAMETER_LEVEL else None)
        for shown, strict in offered
    ]
    written = structural_tag(form, functions, "required" if forced else "auto", single=single)
    if written is None:
        return None
    from xgrammar import StructuralTag

    return StructuralTag.from_json(written)


def is_constrained_from_start(form: OutputFormat) -> bool:
    """Do the server's own grammars for this format begin with the output, whatever the kind of request?"""
    return form.header is not None and form.header.is_constrained_from_start


def constrain_from_start(request: Any) -> None:
    """Has the grammar begin with the output: it covers the reasoning."""
    if hasattr(request, CONSTRAINS_FROM_START):
        setattr(request, CONSTRAINS_FROM_START, True)


def _limits(request: Any) -> bool:
    """Whether there may be one call only, and nothing else wants a grammar of its own."""
    return request.parallel_tool_calls is False and request.extract_structured_outputs() is None


def _offered(tools: Iterable[Any]) -> Iterator[tuple[dict[str, Any], bool]]:
    """The functions the model was shown, and whether each is strict: one that takes a string always is."""
    for tool in tools:
        inner = getattr(tool, "tools", None) or [tool]
        strict = [_is_strict(one) for one in inner if function_tools([one])]
        for shown, is_strict in zip(function_tools([tool]), strict, strict=True):
            yield shown["function"], is_strict


def _is_strict(tool: Any) -> bool:
    function = getattr(tool, "function", None) or tool
    return getattr(function, "strict", None) is True or getattr(tool, "type", None) == "custom"
