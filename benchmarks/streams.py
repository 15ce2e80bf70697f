"""The token streams that are timed: what a model could write, by shape, size and notation.

A shape makes an ``Output`` of a given number of units; a ``Pair`` writes it in the notation of its parsers; a
tokenizer cuts the text into deltas. Everything is made up here and the same in every run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

Delta = tuple[str, list[int]]


class Call(NamedTuple):
    """One tool call. A key may come several times."""

    name: str
    arguments: tuple[tuple[str, Any], ...]


class Output(NamedTuple):
    """What an output is to say. ``content`` comes before the calls."""

    reasoning: str = "A short thought."
    content: str = ""
    calls: tuple[Call, ...] = ()


# Notations: calls as a family writes them


def dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def members(call: Call) -> str:
    """The arguments as the text of a JSON object."""
    return "{" + ", ".join(f"{dumps(key)}: {dumps(value)}" for key, value in call.arguments) + "}"


def bare(value: Any) -> str:
    """A value between tags: a string as it is, another as JSON."""
    return value if isinstance(value, str) else dumps(value)


def json_call(call: Call, arguments: str = "arguments") -> str:
    return f'{{"name": {dumps(call.name)}, "{arguments}": {members(call)}}}'


def json_list(calls: Sequence[Call]) -> str:
    return "[" + ", ".join(map(json_call, calls)) + "]"


def json_tags(calls: Sequence[Call]) -> str:
    return "\n".join(f"<tool_call>\n{json_call(call)}\n</tool_call>" for call in calls)


def kimi_section(calls: Sequence[Call]) -> str:
    inner = "".join(
        f"<|tool_call_begin|>functions.{call.name}:{n}<|tool_call_argument_begin|>{members(call)}"
        "<|tool_call_end|>"
        for n, call in enumerate(calls)
    )
    return f"<|tool_calls_section_begin|>{inner}<|tool_calls_section_end|>"


def deepseek_section(before: str, after: str, between: str) -> Callable[[Sequence[Call]], str]:
    def write(calls: Sequence[Call]) -> str:
        inner = between.join(
            f"<｜tool▁call▁begin｜>{before.format(call.name)}{members(call)}{after}<｜tool▁call▁end｜>"
            for call in calls
        )
        return f"<｜tool▁calls▁begin｜>{inner}<｜tool▁calls▁end｜>"

    return write


def dsml(block: str) -> Callable[[Sequence[Call]], str]:
    def parameter(key: str, value: Any) -> str:
        is_string = dumps(isinstance(value, str))
        return f'<｜DSML｜parameter name="{key}" string="{is_string}">{bare(value)}</｜DSML｜parameter>\n'

    def invoke(call: Call) -> str:
        inner = "".join(parameter(key, value) for key, value in call.arguments)
        return f'<｜DSML｜invoke name="{call.name}">\n{inner}</｜DSML｜invoke>\n'

    def write(calls: Sequence[Call]) -> str:
        return f"\n\n<｜DSML｜{block}>\n{''.join(map(invoke, calls))}</｜DSML｜{block}>"

    return write


def xml_calls(calls: Sequence[Call]) -> str:
    def write(call: Call) -> str:
        inner = "".join(f"<parameter={key}>\n{bare(value)}\n</parameter>\n" for key, value in call.arguments)
        return f"<tool_call>\n<function={call.name}>\n{inner}</function>\n</tool_call>"

    return "\n".join(map(write, calls))


def key_value_tags(newline: str) -> Callable[[Sequence[Call]], str]:
    def write(call: Call) -> str:
        inner = "".join(
            f"<arg_key>{key}</arg_key>{newline}<arg_value>{bare(value)}</arg_value>{newline}"
            for key, value in call.arguments
        )
        return f"<tool_call>{call.name}{newline}{inner}</tool_call>"

    return lambda calls: newline.join(map(write, calls))


def gemma_value(value: Any) -> str:
    if isinstance(value, str):
        return f'<|"|>{value}<|"|>'
    if isinstance(value, list):
        return "[" + ",".join(map(gemma_value, value)) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{gemma_value(inner)}" for key, inner in value.items()) + "}"
    return dumps(value)


def gemma_calls(calls: Sequence[Call]) -> str:
    def write(call: Call) -> str:
        inner = ",".join(f"{key}:{gemma_value(value)}" for key, value in call.arguments)
        return f"<|tool_call>call:{call.name}{{{inner}}}<tool_call|>"

    return "".join(map(write, calls))


def python_list(calls: Sequence[Call]) -> str:
    def write(call: Call) -> str:
        return f"{call.name}({', '.join(f'{key}={value!r}' for key, value in call.arguments)})"

    return "[" + ", ".join(map(write, calls)) + "]"


def cohere_actions(calls: Sequence[Call]) -> str:
    inner = ",\n".join(
        f'    {{"tool_call_id": "{n}", "tool_name": {dumps(call.name)}, "parameters": {members(call)}}}'
        for n, call in enumerate(calls)
    )
    return f"<|START_ACTION|>[\n{inner}\n]<|END_ACTION|>"


@dataclass(frozen=True)
class Pair:
    """The names of a reasoning and a tool parser, and how their model writes.

    ``prompt``: the end of the rendered prompt. ``think``, ``answer``: what reasoning and content are written
    in, around ``{}``. ``template_kwargs``: the request's ``chat_template_kwargs``.
    """

    reasoning: str | None
    tool: str
    prompt: str
    think: str
    calls: Callable[[Sequence[Call]], str]
    answer: str = "{}"
    template_kwargs: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """``reasoning+tool``, or one name where they are the same or there is one."""
        both = self.reasoning and self.reasoning != self.tool
        return f"{self.reasoning}+{self.tool}" if both else self.tool

    def write(self, output: Output) -> str:
        """The text of the output."""
        reasoning = self.think.replace("{}", output.reasoning) if self.reasoning else ""
        content = self.answer.replace("{}", output.content) if output.content else ""
        return reasoning + content + (self.calls(output.calls) if output.calls else "")


_QWEN = "<|im_end|>\n<|im_start|>assistant\n<think>\n"
_QWEN_THINK = "{}\n</think>\n\n"
_DEEPSEEK = "<｜Assistant｜><think>"
_LLAMA = "<|start_header_id|>assistant<|end_header_id|>\n\n"
_GRANITE = "<|start_of_role|>assistant<|end_of_role|>"
_ON = {"thinking": True, "enable_thinking": True}

PAIRS: tuple[Pair, ...] = (
    Pair("kimi_k2", "kimi_k2", "<|im_assistant|>assistant<|im_middle|><think>", "{}</think>", kimi_section),
    Pair("qwen3", "qwen3_coder", _QWEN, _QWEN_THINK, xml_calls),
    Pair("qwen3", "qwen3_json", _QWEN, _QWEN_THINK, json_tags),
    Pair(None, "hermes", "<|im_end|>\n<|im_start|>assistant\n", "", json_tags),
    Pair(
        "deepseek_r1",
        "deepseek_v3",
        _DEEPSEEK,
        "{}</think>",
        deepseek_section("function<｜tool▁sep｜>{}\n```json\n", "\n```", "\n"),
    ),
    Pair(
        "deepseek_v3",
        "deepseek_v31",
        _DEEPSEEK,
        "{}</think>",
        deepseek_section("{}<｜tool▁sep｜>", "", ""),
        template_kwargs=_ON,
    ),
    Pair("deepseek_v3", "deepseek_v32", _DEEPSEEK, "{}</think>", dsml("function_calls"), template_kwargs=_ON),
    Pair("deepseek_v4", "deepseek_v4", _DEEPSEEK, "{}</think>", dsml("tool_calls"), template_kwargs=_ON),
    Pair("glm45", "glm45", "<|assistant|>", "\n<think>{}</think>\n", key_value_tags("\n")),
    Pair("glm47", "glm47", "<|assistant|><think>", "{}</think>", key_value_tags("")),
    Pair(
        "gemma4",
        "gemma4",
        "<|turn>model\n",
        "<|channel>thought\n{}\n<channel|>",
        gemma_calls,
        template_kwargs=_ON,
    ),
    Pair(None, "granite", _GRANITE, "", lambda calls: "<|tool_call|>" + json_list(calls)),
    Pair(None, "granite4", _GRANITE, "", json_tags),
    Pair(None, "llama3_json", _LLAMA, "", lambda c: "; ".join(json_call(x, "parameters") for x in c)),
    Pair(None, "pythonic", _LLAMA, "", python_list),
    Pair(
        "mistral",
        "mistral",
        "[/INST]",
        "[THINK]{}[/THINK]",
        lambda calls: "".join(f"[TOOL_CALLS]{c.name}[ARGS]{members(c)}" for c in calls),
    ),
    Pair(
        "cohere_command3",
        "cohere_command3",
        "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
        "<|START_THINKING|>{}<|END_THINKING|>",
        cohere_actions,
        answer="<|START_RESPONSE|>{}<|END_RESPONSE|>",
    ),
    Pair(
        "hunyuan_a13b",
        "hunyuan_a13b",
        "<|extra_0|>",
        "<think>\n{}\n</think>\n<answer>\n",
        lambda calls: f"<tool_calls>{json_list(calls)}</tool_calls>",
    ),
)


# Shapes


def _prose(units: int) -> str:
    return " ".join(
        f"Sentence {n} says that the harbour opens at {n % 24}:00, and that the tide is {n * 7 % 90} cm high."
        for n in range(units)
    )


def _file(units: int) -> str:
    return "\n".join(
        f'def step_{n}(left, right):\n    """Adds {n}."""\n    return left + right if left < {n} else None\n'
        for n in range(units)
    )


def _one_call(*arguments: tuple[str, Any]) -> Output:
    return Output(calls=(Call("work", arguments),))


def _parameters(units: int) -> Output:
    return _one_call(*((f"field_{n}", f"value {n}" if n % 2 else n) for n in range(units)))


def _array(units: int) -> Output:
    return _one_call(("items", [f"item {n}" if n % 3 == 0 else n * 1.5 for n in range(units)]))


def _object(units: int) -> Output:
    def node(n: int) -> dict[str, Any]:
        return {"name": f"node {n}", "size": {"width": n, "unit": {"of": "cm"}}, "tags": ["a", "b"]}

    return _one_call(("data", {f"node_{n}": node(n) for n in range(units)}))


def _parallel(units: int) -> Output:
    return Output(calls=tuple(Call("work", (("text", f"job {n}"), ("level", n))) for n in range(units)))


def _dense(units: int, markers: Sequence[str]) -> Output:
    """Content in which every other word begins like a marker."""
    alike = [marker.strip()[: max(1, len(marker.strip()) - 2)] for marker in markers]
    alike += ["<", "<<", "</", "<|", "{", "[", "a < b", "<b>", "</p>"]
    return Output(content="So: " + " ".join(f"{alike[n % len(alike)]} and {n}," for n in range(units)))


#: name -> (number of units, the family's marker literals) -> output
SHAPES: dict[str, Callable[[int, Sequence[str]], Output]] = {
    "reasoning": lambda units, _: Output(reasoning=_prose(units), content="Done."),
    "content": lambda units, _: Output(content=_prose(units)),
    "long string": lambda units, _: _one_call(("text", _file(units))),
    "parameters": lambda units, _: _parameters(units),
    "array": lambda units, _: _array(units),
    "object": lambda units, _: _object(units),
    "repeated key": lambda units, _: _one_call(*(("text", f"value {n}") for n in range(units))),
    "parallel": lambda units, _: _parallel(units),
    "dense": _dense,
}


def tools(output: Output) -> list[dict[str, Any]]:
    """A tool that declares the arguments of the calls."""
    kinds = {str: "string", int: "integer", float: "number", list: "array", dict: "object"}
    properties = {key: {"type": kinds[type(value)]} for call in output.calls for key, value in call.arguments}
    schema = {"type": "object", "properties": properties or {"text": {"type": "string"}}}
    return [{"type": "function", "function": {"name": "work", "parameters": schema}}]


# Deltas


def deltas(text: str, tokenizer: Any, size: int) -> list[Delta]:
    """The text in deltas of ``size`` tokens. A token that ends inside a character has no text."""
    encoding = tokenizer.backend.encode(text, add_special_tokens=False)
    return list(_grouped(list(_tokens(text, encoding)), size))


def _tokens(text: str, encoding: Any) -> Iterator[tuple[str, int]]:
    done = 0
    starts = [start for start, _ in encoding.offsets[1:]] + [len(text)]
    for number, (_, end), following in zip(encoding.ids, encoding.offsets, starts, strict=True):
        whole = following >= end
        yield text[done : end if whole else done], number
        done = max(done, end) if whole else done


def _grouped(tokens: list[tuple[str, int]], size: int) -> Iterator[Delta]:
    for at in range(0, len(tokens), size):
        group = tokens[at : at + size]
        yield "".join(piece for piece, _ in group), [number for _, number in group]


@dataclass(frozen=True)
class Stream:
    """One output, ready to be fed."""

    output: Output
    deltas: list[Delta]
    tokens: int
    tools: list[dict[str, Any]]


def stream(
    pair: Pair, shape: str, tokens: int, tokenizer: Any, markers: Sequence[str], per_delta: int
) -> Stream:
    """A stream of about ``tokens`` tokens."""

    def output(units: int) -> Output:
        return SHAPES[shape](units, markers)

    @cache
    def count(units: int) -> int:
        return len(tokenizer.backend.encode(pair.write(output(units)), add_special_tokens=False).ids)

    units = 32
    for _ in range(2):  # the second round corrects for what comes once in an output
        units = max(1, round(units * tokens / count(units)))
    made = output(units)
    if pair.reasoning is None:
        made = made._replace(reasoning="")
    return Stream(made, deltas(pair.write(made), tokenizer, per_delta), count(units), tools(made))
