"""What the adapters read from a vLLM request, and what they set on it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from vllm.logger import init_logger

from unified_parser.parser import UnifiedParser

from .compat import LOGGER_NAME

logger = init_logger(LOGGER_NAME)

#: The schema of the one-string function that a Responses ``custom`` tool is shown as.
_CUSTOM_PARAMETERS = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}


def build_parser(
    parser_class: type[UnifiedParser], tokenizer: Any, tools: Iterable[Any] | None = None, **options: Any
) -> UnifiedParser:
    """A parser for one request. Tools that it refuses are left out with a warning."""
    try:
        return parser_class(tokenizer=tokenizer, tools=function_tools(tools), **options)
    except (TypeError, ValueError, AttributeError) as error:
        if not tools:
            raise
        logger.warning_once("Tool schemas are not used to type arguments: %s", str(error))
        return parser_class(tokenizer=tokenizer, **options)


def function_tools(tools: Iterable[Any] | None) -> list[dict[str, Any]]:
    """The functions the model was shown, in OpenAI's chat form.

    ``tools`` may hold chat tools, Responses function tools, namespaces (shown as ``namespace__name``) and
    custom tools (shown as a function of one string ``input``), as objects or dictionaries. Other kinds are
    not shown.
    """
    return [function for tool in tools or () for function in _functions(tool)]


def _functions(tool: Any) -> list[dict[str, Any]]:
    kind = _get(tool, "type")
    if kind == "namespace":
        inner = (f for t in _get(tool, "tools") or () for f in _functions(t))
        return [
            _function(f"{_get(tool, 'name')}__{f['function']['name']}", f["function"]["parameters"])
            for f in inner
        ]
    if kind == "custom":
        return [_function(_get(tool, "name"), _CUSTOM_PARAMETERS)]
    if kind != "function":
        return []
    function = _get(tool, "function") or tool
    return [_function(_get(function, "name"), _get(function, "parameters"))]


def _function(name: Any, parameters: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


def _get(item: Any, name: str) -> Any:
    return item.get(name) if isinstance(item, Mapping) else getattr(item, name, None)


def keep_special_tokens(request: Any) -> Any:
    """Asks for special tokens in the output's text, with no spaces around them. Returns the request."""
    request.skip_special_tokens = False
    if hasattr(request, "spaces_between_special_tokens"):
        request.spaces_between_special_tokens = False
    return request


def forced_tool(request: Any) -> tuple[bool, str | None]:
    """(a call is forced, the function it must be); no function where any of the tools will do."""
    choice = getattr(request, "tool_choice", None)
    if choice == "required":
        return True, None
    if choice is None or isinstance(choice, str):
        return False, None
    name = _get(_get(choice, "function") or choice, "name")
    return bool(name), name
