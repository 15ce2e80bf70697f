"""Runs inside the server: says which of this project's objects are alive."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from vllm.parser import Parser

from unified_parser.parser import UnifiedParser
from unified_parser.walk import Walk

PATH = "/census"


async def census(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
    """A middleware that answers requests for ``PATH``: live objects by kind, and of any kind."""
    if request.url.path != PATH:
        return await call_next(request)
    gc.collect()
    everything = gc.get_objects()
    kinds = {"parsers": UnifiedParser, "walks": Walk, "vllm_parsers": Parser}
    counts = Counter(name for o in everything for name, kind in kinds.items() if isinstance(o, kind))
    return JSONResponse({"objects": len(everything)} | {name: counts[name] for name in kinds})
