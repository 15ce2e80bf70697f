"""What operators see on the server's metrics page of the responses that were parsed.

The counters are in prometheus_client's default registry, where vLLM has its own; where that library is
missing there are none.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from vllm.parser import metrics as vllms

#: The counters, without the ending ``_total`` that the page adds.
COUNTERS: Mapping[str, str] = {
    "responses": "Responses parsed to their end.",
    "tool_calls": "Tool calls in them, incomplete ones included.",
    "incomplete_tool_calls": "Tool calls that the end of the output cut off.",
    "invalid_tool_arguments": "Tool calls that the model ended although their arguments are not valid JSON.",
    "unknown_tool_names": "Tool calls by a name that is none of the request's tools.",
    "markers_in_content": "The family's special tokens in text sent as content.",
}
LABELS = ("model_name", "family", "path")


def count(labels: Mapping[str, str], amounts: Mapping[str, int]) -> None:
    """Adds a response's amounts, by counter. Those that are not named are there, too, from now on."""
    for name, counter in _counters().items():
        counter.labels(**labels).inc(amounts.get(name, 0))


def are_kept() -> bool:
    """Are there any counters?"""
    return bool(_counters())


@cache
def _counters() -> Mapping[str, Any]:
    try:
        import prometheus_client
    except ImportError:
        return {}
    return {
        name: prometheus_client.Counter(f"unified_parser:{name}", explanation, LABELS)
        for name, explanation in COUNTERS.items()
    }


# vLLM's own counter of what tool parsers are asked. Its composition feeds it, one by one; the direct parser's
# steps are added up and counted here.

#: How that counter names the kinds of requests.
_REQUEST_TYPES = {"ChatCompletionRequest": "chat_completions", "ResponsesRequest": "responses"}


def model_name() -> str:
    """The name by which vLLM's own counter knows the model."""
    return str(getattr(vllms, "_model_name", None) or "")


def count_invocations(request: Any, *, streamed: bool, calling: int, other: int) -> None:
    """Adds steps to vLLM's counter: those with parts of calls, and the others behind the reasoning."""
    for with_call, times in ((True, calling), (False, other)):
        if times:
            _add(request, streamed, with_call, times)


def _add(request: Any, streamed: bool, with_call: bool, times: int) -> None:
    kinds = (_REQUEST_TYPES.get(kind.__name__) for kind in type(request).__mro__)
    try:
        counter = vllms._tool_call_parser_invocations.labels(
            model_name=vllms._model_name,
            mode="streaming" if streamed else "non_streaming",
            outcome="tool_call" if with_call else "no_tool_call",
            request_type=next(filter(None, kinds), "other"),
        )
    except (AttributeError, ValueError):  # it is off, or other than we know it: once is better than never
        vllms.record_tool_parser_invocation(is_tool_called=with_call, is_streaming=streamed, request=request)
    else:
        counter.inc(times)
