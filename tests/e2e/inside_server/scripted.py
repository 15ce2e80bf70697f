"""Runs inside the server: makes the model say what the request asks for."""

from __future__ import annotations

import torch
from vllm import SamplingParams
from vllm.v1.sample.logits_processor import AdapterLogitsProcessor, RequestLogitsProcessor

SURELY = 1e4  # far above every logit of the model
FORBIDDEN = float("-inf")


class Scripted(AdapterLogitsProcessor):
    """Says the token ids of a request's ``vllm_xargs={"script": [...]}``, one after the other.

    Where a grammar forbids the next one (its logit is minus infinity by then), the script goes on with the
    first that is allowed: what is left out was forbidden.
    """

    def is_argmax_invariant(self) -> bool:
        return False

    def new_req_logits_processor(self, params: SamplingParams) -> RequestLogitsProcessor | None:
        script = (params.extra_args or {}).get("script")
        return _prompter([int(token) for token in script]) if script else None


def _prompter(script: list[int]) -> RequestLogitsProcessor:
    place, wanted = 0, -1  # of the next token to say, and of the one asked for last

    def prompt(output_ids: list[int], logits: torch.Tensor) -> torch.Tensor:
        nonlocal place, wanted
        if output_ids and wanted >= place and output_ids[-1] == script[wanted]:
            place = wanted + 1  # otherwise the server made the model say something else
        wanted = next((at for at in range(place, len(script)) if logits[script[at]] != FORBIDDEN), -1)
        if wanted >= 0:
            logits[script[wanted]] += SURELY
        return logits

    return prompt
