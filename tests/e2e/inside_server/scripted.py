"""Runs inside the server: makes the model say what the request asks for."""

from __future__ import annotations

import torch
from vllm import SamplingParams
from vllm.v1.sample.logits_processor import AdapterLogitsProcessor, RequestLogitsProcessor


class Scripted(AdapterLogitsProcessor):
    """Forces the token ids of a request's ``vllm_xargs={"script": [...]}``, one a step."""

    def is_argmax_invariant(self) -> bool:
        return False

    def new_req_logits_processor(self, params: SamplingParams) -> RequestLogitsProcessor | None:
        script = (params.extra_args or {}).get("script")
        return _forcer([int(token) for token in script]) if script else None


def _forcer(script: list[int]) -> RequestLogitsProcessor:
    def force(output_ids: list[int], logits: torch.Tensor) -> torch.Tensor:
        if len(output_ids) < len(script):
            logits.fill_(float("-inf"))
            logits[script[len(output_ids)]] = 0.0
        return logits

    return force
