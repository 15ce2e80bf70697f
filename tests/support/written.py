"""Calls as each family's chat template writes them, from the description of its format.

``WRITTEN`` has for a family's first name what makes text of calls: the canonical form, that a grammar of the
format must accept. Arguments that are not strings are written as JSON (some templates print Python's
``True``, which is read as well).
"""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

Call: TypeAlias = tuple[str, dict[str, Any]]
Written: TypeAlias = Callable[[Sequence[Call]], str]


def dumps(value: Any) -> str:
    """JSON as templates write it; a number of any length, or a decimal, keeps its digits."""
    if isinstance(value, dict):
        return (
            "{"
            + ", ".join(f"{json.dumps(k, ensure_ascii=False)}: {dumps(v)}" for k, v in value.items())
            + "}"
        )
    if isinstance(value, list):
        return "[" + ", ".join(map(dumps, value)) + "]"
    if isinstance(value, (str, bool)) or value is None:
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def raw(value: Any) -> str:
    return value if isinstance(value, str) else dumps(value)


# One object a call, a list of objects.


def item(key: str = "arguments", name: str = "name") -> Callable[[Call], str]:
    return lambda call: f'{{"{name}": {dumps(call[0])}, "{key}": {dumps(call[1])}}}'


def objects(begin: str, end: str, key: str = "arguments", joint: str = "\n") -> Written:
    return lambda calls: joint.join(begin + item(key)(call) + end for call in calls)


def array(begin: str, end: str = "", joint: str = ", ") -> Written:
    return lambda calls: begin + joint.join(map(item(), calls)) + end


def cohere(calls: Sequence[Call]) -> str:
    items = (
        f'    {{"tool_call_id": "{number}", "tool_name": {dumps(name)}, "parameters": {dumps(arguments)}}}'
        for number, (name, arguments) in enumerate(calls)
    )
    return "<|START_ACTION|>[\n" + ",\n".join(items) + "\n]<|END_ACTION|>"


def apertus(calls: Sequence[Call]) -> str:
    return "<|tools_prefix|>" + dumps([{name: arguments} for name, arguments in calls]) + "<|tools_suffix|>"


# A header before JSON.


def headered(open_: str, call: str, close: str, joint: str = "") -> Written:
    """``call`` has ``{n}`` for the name, ``{a}`` for the arguments, ``{i}`` for the number."""
    return lambda calls: (
        open_
        + joint.join(
            call.replace("{n}", name).replace("{i}", str(number)).replace("{a}", dumps(arguments))
            for number, (name, arguments) in enumerate(calls)
        )
        + close
    )


# Tags.


def tagged(
    open_: str, begin: str, parameter: str, end: str, close: str, joint: str = "", each: bool = False
) -> Written:
    """``begin`` has ``{n}``, ``parameter`` has ``{k}`` and ``{v}``. ``each``: every call has a block."""

    def call(name: str, arguments: dict[str, Any]) -> str:
        body = "".join(parameter.replace("{k}", key).replace("{v}", raw(v)) for key, v in arguments.items())
        return begin.replace("{n}", name) + body + end

    def write(calls: Sequence[Call]) -> str:
        if each:
            return joint.join(open_ + call(*one) + close for one in calls)
        return open_ + joint.join(call(*one) for one in calls) + close

    return write


def coder(open_: str, close: str, parameter: str = "<parameter={k}>\n{v}\n</parameter>\n") -> Written:
    return tagged(open_ + "\n", "<function={n}>\n", parameter, "</function>\n", close, "\n", each=True)


def pairs(open_: str, close: str, joint: str = "", space: str = "") -> Written:
    parameter = f"<arg_key>{{k}}</arg_key>{space}<arg_value>{{v}}</arg_value>{space}"
    return tagged(open_, "{n}" + space, parameter, "", close, joint, each=True)


def invoke(open_: str, close: str) -> Written:
    parameter = '<parameter name="{k}">{v}</parameter>\n'
    return tagged(open_ + "\n", '<invoke name="{n}">\n', parameter, "</invoke>\n", close)


def typed_tags(mark: str, wrapper: str, space: str = "") -> Written:
    """Tags with a mark, which say whether a value is text."""

    def tag(name: str, attributes: str = "", end: str = "") -> str:
        return f"<{end}{mark}{space}{name}{attributes}>"

    def call(name: str, arguments: dict[str, Any]) -> str:
        lines = [
            tag("parameter", f' name="{key}" string="{str(isinstance(value, str)).lower()}"')
            + f"{raw(value)}{tag('parameter', end='/')}\n"
            for key, value in arguments.items()
        ]
        return (
            tag("invoke", f' name="{name}"') + "\n" + ("".join(lines) or "\n") + tag("invoke", end="/") + "\n"
        )

    return lambda calls: tag(wrapper) + "\n" + "".join(call(*one) for one in calls) + tag(wrapper, end="/")


def minicpm(calls: Sequence[Call]) -> str:
    """A string with tags in it is put into CDATA."""

    def value(item: Any) -> str:
        return f"<![CDATA[{item}]]>" if isinstance(item, str) and "<" in item else raw(item)

    def call(name: str, arguments: dict[str, Any]) -> str:
        body = "".join(f'<param name="{key}">{value(item)}</param>' for key, item in arguments.items())
        return f'<function name="{name}">{body}</function>'

    return "\n".join(call(*one) for one in calls)


def kimi_k3(calls: Sequence[Call]) -> str:
    def element(tag: str, body: str, attributes: str = "") -> str:
        return f"<|open|>{tag}{attributes}<|sep|>{body}<|close|>{tag}<|sep|>"

    def kind(value: Any) -> str:
        names = {str: "string", bool: "boolean", dict: "object", list: "array", type(None): "null"}
        return names.get(type(value), "number")

    def said(text: str) -> str:
        return html.escape(text, quote=False).replace('"', "&quot;")

    def call(number: int, name: str, arguments: dict[str, Any]) -> str:
        body = "".join(
            element("argument", raw(value), f' key="{said(key)}" type="{kind(value)}"')
            for key, value in arguments.items()
        )
        return element("call", body, f' tool="{said(name)}" index="{number}"')

    return element("tools", "".join(call(number, *one) for number, one in enumerate(calls, 1)))


def suffixed(separator: str, space: str) -> Written:
    """Hunyuan's tags, each with the release's suffix."""

    def tag(name: str) -> str:
        return f"<{name}:opensource>"

    return tagged(
        tag("tool_calls") + space,
        tag("tool_call") + "{n}" + separator + space,
        f"{tag('arg_key')}{{k}}{tag('/arg_key')}{space}{tag('arg_value')}{{v}}{tag('/arg_value')}{space}",
        tag("/tool_call") + space,
        tag("/tool_calls"),
    )


# Notations.


def python_value(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{dumps(k)}: {python_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(python_value, value)) + "]"
    return str(value) if value is None or isinstance(value, bool) else dumps(value)


def python(begin: str, end: str, joint: str = ", ") -> Written:
    def call(name: str, arguments: dict[str, Any]) -> str:
        return f"{name}({', '.join(f'{key}={python_value(value)}' for key, value in arguments.items())})"

    return lambda calls: begin + joint.join(call(*one) for one in calls) + end


def gemma(open_: str, close: str, quote: str) -> Written:
    def value(item: Any) -> str:
        if isinstance(item, dict):
            return "{" + ",".join(f"{k}:{value(v)}" for k, v in item.items()) + "}"
        if isinstance(item, list):
            return "[" + ",".join(map(value, item)) + "]"
        return f"{quote}{item}{quote}" if isinstance(item, str) else dumps(item)

    return lambda calls: "".join(f"{open_}call:{name}{value(arguments)}{close}" for name, arguments in calls)


# Messages.


def messages(header: str, body: Callable[[Call], str], joint: str) -> Written:
    return lambda calls: joint.join(header.replace("{n}", call[0]) + body(call) for call in calls)


def beam_body(call: Call) -> str:
    return "\n".join(
        f'<rfl:parameter name="{key}">\n{raw(value)}\n</rfl:parameter>' for key, value in call[1].items()
    )


def muse_body(call: Call) -> str:
    parameter = '<atem:parameter name="{k}">{v}</atem:parameter>\n'
    return tagged(
        "<atem:function_calls>\n",
        '<atem:invoke name="{n}">\n',
        parameter,
        "</atem:invoke>\n",
        "</atem:function_calls>",
    )([call])


def minimax_m3(calls: Sequence[Call]) -> str:
    """Elements in elements; ``item`` is the name of what a list holds."""
    space = "]<]minimax[>["

    def element(key: str, value: Any) -> str:
        return f"{space}<{key}>{body(value)}{space}</{key}>"

    def body(value: Any) -> str:
        if isinstance(value, list):
            return "".join(element("item", one) for one in value)
        return "".join(element(*one) for one in value.items()) if isinstance(value, dict) else raw(value)

    invokes = (
        f'{space}<invoke name="{name}">{body(arguments)}{space}</invoke>\n' for name, arguments in calls
    )
    return f"{space}<tool_call>\n{''.join(invokes)}{space}</tool_call>"


HERMES = objects("<tool_call>\n", "\n</tool_call>")
CODER = coder("<tool_call>", "</tool_call>")
GLM47 = pairs("<tool_call>", "</tool_call>")
V3 = headered(
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁call▁begin｜>function<｜tool▁sep｜>{n}\n```json\n{a}\n```<｜tool▁call▁end｜>",
    "<｜tool▁calls▁end｜>",
    "\n",
)
M2 = invoke("<minimax:tool_call>", "</minimax:tool_call>")
MUSE = messages(" to={n}<|message|>", muse_body, "<|eom|><|start|>assistant")
INTERNLM = objects("<|action_start|><|plugin|>\n", "<|action_end|>", joint="")

WRITTEN: dict[str, Written] = {
    "apertus": apertus,
    "beam": messages(
        " to={n}<|channel|>analysis <|constrain|>xml<|message|>", beam_body, "<|end|><|start|>assistant"
    ),
    "cohere_command3": cohere,
    "cohere_command4": cohere,
    "deepseek_r1": V3,
    "deepseek_v3": V3,
    "deepseek_v31": headered(
        "<｜tool▁calls▁begin｜>",
        "<｜tool▁call▁begin｜>{n}<｜tool▁sep｜>{a}<｜tool▁call▁end｜>",
        "<｜tool▁calls▁end｜>",
    ),
    "deepseek_v32": typed_tags("｜DSML｜", "function_calls"),
    "deepseek_v4": typed_tags("｜DSML｜", "tool_calls"),
    "deepseek_v41": typed_tags("｜DSML｜", "calls", space=" "),
    "dots": invoke("<dots_function_call>", "</dots_function_call>"),
    "ernie45": objects("<tool_call>\n", "\n</tool_call>\n"),
    "functiongemma": gemma("<start_function_call>", "<end_function_call>", "<escape>"),
    "gemma4": gemma("<|tool_call>", "<tool_call|>", '<|"|>'),
    "gigachat3": lambda calls: "<|function_call|>" + item()(calls[0]),
    "gigachat35": typed_tags("｜GCML｜", "tool_calls"),
    "glm45": pairs("<tool_call>", "</tool_call>", joint="\n", space="\n"),
    "glm47": GLM47,
    "granite": array("<|tool_call|>[", "]"),
    "granite-20b-fc": objects("<function_call> ", "", joint=" "),
    "granite4": HERMES,
    "granite_thinking_parser": CODER,
    "hermes": HERMES,
    "holo2": HERMES,
    "hunyuan_a13b": array("<tool_calls>[", "]</tool_calls>"),
    "hy_v3": suffixed("<tool_sep:opensource>", "\n"),
    "hy_v4": suffixed("", ""),
    "inkling": messages(
        "{n}<|content_invoke_tool_json|>",
        lambda call: f'{{"name":{dumps(call[0])},"args":{dumps(call[1])}}}',
        "<|end_message|><|message_model|>",
    ),
    "internlm": INTERNLM,
    "interns1": INTERNLM,
    "iquest_q1": pairs("<iquest_tool_call>", "</iquest_tool_call>"),
    "jamba": array("<tool_calls>[\n    ", "\n]</tool_calls>", ",\n    "),
    "k2_horizon": tagged(
        "<ifm|tool_calls>\n",
        "<ifm|tool_call>{n}\n",
        "<ifm|arg_key>{k}</ifm|arg_key>\n<ifm|arg_value>{v}</ifm|arg_value>\n",
        "</ifm|tool_call>\n",
        "</ifm|tool_calls>",
    ),
    "kimi_k2": headered(
        "<|tool_calls_section_begin|>",
        "<|tool_call_begin|>functions.{n}:{i}<|tool_call_argument_begin|>{a}<|tool_call_end|>",
        "<|tool_calls_section_end|>",
    ),
    "kimi_k3": kimi_k3,
    "lfm2": python("<|tool_call_start|>[", "]<|tool_call_end|>"),
    "ling3": GLM47,
    "llama3_json": objects("", "", "parameters", joint="; "),
    "llama4_pythonic": python("[", "]"),
    "longcat": objects("<longcat_tool_call>\n", "\n</longcat_tool_call>"),
    "mimo": tagged(
        "<tool_call>",
        "<function={n}>",
        "<parameter={k}>{v}</parameter>",
        "</function>",
        "</tool_call>",
        each=True,
    ),
    "minicpm5": minicpm,
    "minicpmv": CODER,
    "minimax_m2": M2,
    "minimax_m2_append_think": M2,
    "minimax_m3": minimax_m3,
    "mistral": headered("", "[TOOL_CALLS]{n}[ARGS]{a}", ""),
    "muse": MUSE,
    "muse_glimmer": MUSE,
    "nemotron_v3": CODER,
    "olmo3": python("<function_calls>", "</function_calls>", "\n"),
    "openai_gptoss": messages(
        "<|channel|>commentary to=functions.{n} <|constrain|>json<|message|>",
        lambda call: dumps(call[1]),
        "<|call|><|start|>assistant",
    ),
    "phi4_mini_json": array("functools[", "]"),
    "plamo3": headered(
        "<|plamo:begin_tool_requests:plamo|>",
        "<|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>{n}<|plamo:end_tool_name:plamo|>"
        "<|plamo:begin_tool_arguments:plamo|><|plamo:constrain|>json<|plamo:msg|>{a}"
        "<|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|>",
        "<|plamo:end_tool_requests:plamo|>",
    ),
    "poolside_v1": pairs("<tool_call>", "</tool_call>", joint="\n", space="\n"),
    "pythonic": python("[", "]"),
    "qwen3": CODER,
    "qwen3_json": HERMES,
    "seed_oss": coder("<seed:tool_call>", "</seed:tool_call>", "<parameter={k}>{v}</parameter>\n"),
    "spark25": GLM47,
    "step3": tagged(
        "<｜tool_calls_begin｜>",
        '<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="{n}">',
        '<steptml:parameter name="{k}">{v}</steptml:parameter>',
        "</steptml:invoke><｜tool_call_end｜>",
        "<｜tool_calls_end｜>",
    ),
    "step3p5": CODER,
    "step5": CODER,
    "trinity": HERMES,
    "xlam": array("[", "]"),
}
