"""Harmony: messages with a header (role, channel, recipient, content type) and a body."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from support.fold import Folded

from readers.grammar import Call, Output, Plan, Tool, dump, edged, json_styles, plans, prose, texts
from readers.values import json_of

_ENDS = ("<|end|>", "<|call|>", "<|return|>")
_MARKERS = (*_ENDS, "<|start|>", "<|channel|>", "<|message|>", "<|constrain|>")
_RECIPIENT = re.compile(r" to=(?:functions\.)?([^\s<]+)")


@dataclass(frozen=True)
class HarmonyChannels:
    """The one dialect there is. The prompt has the first `<|start|>assistant`."""

    def read(self, raw: str, tools: list[Tool]) -> Folded:
        reasoning, content, calls = [], [], []
        for part in re.split("<\\|end\\|>|<\\|call\\|>", raw):
            if not part:
                continue
            header, _, body = part.partition("<|message|>")
            if recipient := _RECIPIENT.search(header):
                calls.append((recipient[1], json_of(body), True))
            elif "<|channel|>analysis" in header:
                reasoning.append(body)
            else:
                content.append(body)
        return Folded("\n".join(reasoning) or None, "\n".join(content) or None, calls)

    def outputs(self, quoted: tuple[str, ...] = ()) -> SearchStrategy[Output]:
        return _outputs(quoted)


@st.composite
def _outputs(draw: DrawFn, quoted: tuple[str, ...]) -> Output:
    inner = edged(prose(_MARKERS, quoted))
    plan: Plan = draw(plans(content=inner, reasoning=inner, after=inner, value_text=texts(_ENDS, quoted)))
    messages = []
    if plan.reasoning:
        messages.append(("<|channel|>analysis<|message|>", plan.reasoning, "<|end|>"))
    for position, text in enumerate((plan.before, plan.after)):
        if position:
            messages += [_call(draw, call) for call in plan.calls]
        if text:
            channel = draw(st.sampled_from(["final", "commentary", "final <|constrain|>json"]))
            messages.append((f"<|channel|>{channel}<|message|>", text, "<|end|>"))
    raw = "<|start|>assistant".join("".join(message) for message in messages)
    # The stop token of the last message is not part of the output.
    last = messages[-1][2] if messages else ""
    visible = "\n".join(filter(None, (plan.before, plan.after)))
    return plan.output(raw.removesuffix(last), quoted, content=visible)


def _call(draw: DrawFn, call: Call) -> tuple[str, str, str]:
    recipient = draw(st.sampled_from(["functions.", "functions.", ""])) + call.name
    channel = draw(st.sampled_from(["commentary", "commentary", "analysis"]))
    kind = draw(st.sampled_from([" <|constrain|>json", "<|constrain|>json", " json", ""]))
    header = draw(
        st.sampled_from(
            [f"<|channel|>{channel} to={recipient}{kind}", f" to={recipient}<|channel|>{channel}{kind}"]
        )
    )
    return header + "<|message|>", dump(call.arguments, **draw(json_styles)), "<|call|>"
