"""One output per call syntax, and the message it means, written by hand.

Every output thinks (where its model does), says something (where its format allows text beside calls), and
calls the same two tools: ``forecast`` with values of every type, and ``ping`` with none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "forecast",
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"type": "string"},
                    "days": {"type": "integer"},
                    "limit": {"type": "number"},
                    "metric": {"type": "boolean"},
                    "tags": {"type": "array", "items": {"type": "string"}},
                    "options": {"type": "object", "properties": {"deep": {"type": "boolean"}}},
                },
                "required": ["city"],
            },
        },
    },
    {"type": "function", "function": {"name": "ping", "parameters": {"type": "object", "properties": {}}}},
]

CITY = 'Saint-Malo "intra" → 🗼'
CALLS: list[tuple[str, dict[str, Any]]] = [
    (
        "forecast",
        {
            "city": CITY,
            "days": 3,
            "limit": 2.5,
            "metric": True,
            "tags": ["a]", "b}"],
            "options": {"deep": True},
        },
    ),
    ("ping", {}),
]
JSON = (
    '{"city": "Saint-Malo \\"intra\\" → 🗼", "days": 3, "limit": 2.5, "metric": true, '
    '"tags": ["a]", "b}"], "options": {"deep": true}}'
)

REASONING = "First the forecast → then a ping."
CONTENT = "Looking both up 🗼."
ANSWER = "La réponse : {42} [1] → oui."
"""A plain answer, with a brace and a bracket that open no call."""


FIRST_THOUGHT = "First the ping → then a forecast."
SECOND_THOUGHT = "It answers: now the other one."
INTERLEAVED: list[tuple[str, Any]] = [
    ("reasoning", FIRST_THOUGHT),
    ("ping", {}),
    ("reasoning", SECOND_THOUGHT),
    ("forecast", {"city": "Brest"}),
]
"""An output that thinks, calls, thinks again and calls again: its pieces in order."""


@dataclass(frozen=True)
class Closed:
    """A request with thinking switched off: the end of its prompt, its switches, and the raw output."""

    prompt: str
    switches: dict[str, Any]
    output: str = ANSWER


@dataclass(frozen=True)
class Case:
    """One pair of parser names, its vocabulary and its output. ``id`` has no hyphen.

    ``special`` and ``added`` are the markers that the model's tokenizer has as single tokens, flagged special
    or not. ``prompt`` is how the rendered prompt ends, ``switches`` the request's chat_template_kwargs.
    ``interleaved`` is the output of INTERLEAVED, where the model may think between calls.
    """

    id: str
    reasoning_parser: str | None
    tool_parser: str
    output: str
    prompt: str = ""
    switches: dict[str, Any] = field(default_factory=dict)
    special: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    reasoning: str | None = REASONING
    content: str | None = CONTENT
    call_ids: tuple[str, str] | None = None
    closed: Closed | None = None
    interleaved: str | None = None


def _tags(names: str, suffix: str = "") -> tuple[str, ...]:
    """Opening and closing tags of the space-separated ``names``."""
    return tuple(f"{left}{name}{suffix}>" for name in names.split() for left in ("<", "</"))


def _bars(names: str) -> tuple[str, ...]:
    return tuple(f"<|{name}|>" for name in names.split())


def _wide_bars(names: str) -> tuple[str, ...]:
    return tuple(f"<｜{name}｜>" for name in names.split())


def _hermes_call(name: str, arguments: str) -> str:
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


HERMES_CALLS = "\n" + _hermes_call("forecast", JSON) + "\n" + _hermes_call("ping", "{}")
JSON_LIST = f'[{{"name": "forecast", "arguments": {JSON}}}, {{"name": "ping", "arguments": {{}}}}]'

# The values of ``forecast`` as the tag formats write them, in the order of CALLS.
TAG_VALUES = {
    "city": CITY,
    "days": "3",
    "limit": "2.5",
    "metric": "true",
    "tags": '["a]", "b}"]',
    "options": '{"deep": true}',
}

KIMI_K2 = Case(
    id="kimi_k2",
    reasoning_parser="kimi_k2",
    tool_parser="kimi_k2",
    special=(
        "<think>",
        "</think>",
        *_bars("tool_calls_section_begin tool_calls_section_end tool_call_begin tool_call_end"),
        *_bars("tool_call_argument_begin im_user im_assistant im_system im_middle im_end"),
    ),
    prompt="<|im_assistant|>assistant<|im_middle|><think>",
    output=(
        f"{REASONING}</think>{CONTENT}<|tool_calls_section_begin|>"
        f"<|tool_call_begin|>functions.forecast:0<|tool_call_argument_begin|>{JSON}<|tool_call_end|>"
        "<|tool_call_begin|>functions.ping:1<|tool_call_argument_begin|>{}<|tool_call_end|>"
        "<|tool_calls_section_end|>"
    ),
    call_ids=("functions.forecast:0", "functions.ping:1"),
    closed=Closed("<|im_assistant|>assistant<|im_middle|><think></think>", {"thinking": False}),
)

QWEN3_SPECIAL = _bars("im_start im_end")
QWEN3_ADDED = _tags("think tool_call")
QWEN3_OPEN = "<|im_start|>assistant\n<think>\n"
QWEN3_CLOSED = Closed("<|im_start|>assistant\n<think>\n\n</think>\n\n", {"enable_thinking": False})

QWEN3 = Case(
    id="qwen3_coder",
    reasoning_parser="qwen3",
    tool_parser="qwen3_coder",
    special=QWEN3_SPECIAL,
    added=QWEN3_ADDED,
    prompt=QWEN3_OPEN,
    output=(
        f"{REASONING}\n</think>\n\n{CONTENT}\n\n<tool_call>\n<function=forecast>\n"
        + "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in TAG_VALUES.items())
        + "</function>\n</tool_call>\n<tool_call>\n<function=ping>\n</function>\n</tool_call>"
    ),
    closed=QWEN3_CLOSED,
)

HERMES = Case(
    id="hermes",
    reasoning_parser="qwen3",
    tool_parser="hermes",
    special=QWEN3_SPECIAL,
    added=QWEN3_ADDED,
    prompt=QWEN3_OPEN,
    output=f"{REASONING}\n</think>\n\n{CONTENT}{HERMES_CALLS}",
    closed=QWEN3_CLOSED,
)

DEEPSEEK_TURNS = _wide_bars("User Assistant")

DEEPSEEK_V31 = Case(
    id="deepseek_v31",
    reasoning_parser="deepseek_v3",
    tool_parser="deepseek_v31",
    added=(
        *_tags("think"),
        *DEEPSEEK_TURNS,
        *_wide_bars("tool▁calls▁begin tool▁calls▁end tool▁call▁begin tool▁call▁end tool▁sep"),
    ),
    prompt="<｜Assistant｜><think>",
    switches={"thinking": True},
    output=(
        f"{REASONING}</think>{CONTENT}<｜tool▁calls▁begin｜>"
        f"<｜tool▁call▁begin｜>forecast<｜tool▁sep｜>{JSON}<｜tool▁call▁end｜>"
        "<｜tool▁call▁begin｜>ping<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
    ),
    closed=Closed("<｜Assistant｜></think>", {"thinking": False}),
)


def _dsml_parameter(key: str, value: str) -> str:
    string = "true" if key == "city" else "false"
    return f'<｜DSML｜parameter name="{key}" string="{string}">{value}</｜DSML｜parameter>\n'


DEEPSEEK_V4 = Case(
    id="deepseek_v4",
    reasoning_parser="deepseek_v4",
    tool_parser="deepseek_v4",
    added=(*_tags("think"), *DEEPSEEK_TURNS, "｜DSML｜"),
    prompt="<｜Assistant｜><think>",
    switches={"thinking": True},
    output=(
        f'{REASONING}</think>{CONTENT}\n\n<｜DSML｜tool_calls>\n<｜DSML｜invoke name="forecast">\n'
        + "".join(_dsml_parameter(key, value) for key, value in TAG_VALUES.items())
        + '</｜DSML｜invoke>\n<｜DSML｜invoke name="ping">\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>'
    ),
    closed=Closed("<｜Assistant｜></think>", {"thinking": False}),
    interleaved=(
        f'{FIRST_THOUGHT}</think>\n\n<｜DSML｜tool_calls>\n<｜DSML｜invoke name="ping">\n</｜DSML｜invoke>\n'
        f"</｜DSML｜tool_calls><think>{SECOND_THOUGHT}</think>\n\n"
        '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="forecast">\n'
        '<｜DSML｜parameter name="city" string="true">Brest</｜DSML｜parameter>\n</｜DSML｜invoke>\n'
        "</｜DSML｜tool_calls>"
    ),
)

GLM_ADDED = _tags("think tool_call arg_key arg_value")
GLM_SPECIAL = _bars("system user assistant observation")

GLM45 = Case(
    id="glm45",
    reasoning_parser="glm45",
    tool_parser="glm45",
    special=GLM_SPECIAL,
    added=GLM_ADDED,
    prompt="<|assistant|>",
    output=(
        f"\n<think>{REASONING}</think>\n{CONTENT}\n<tool_call>forecast\n"
        + "".join(
            f"<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n" for key, value in TAG_VALUES.items()
        )
        + "</tool_call>\n<tool_call>ping\n</tool_call>"
    ),
    closed=Closed("<|assistant|>\n<think></think>", {"enable_thinking": False}),
)

GLM47 = Case(
    id="glm47",
    reasoning_parser="glm47",
    tool_parser="glm47",
    special=GLM_SPECIAL,
    added=GLM_ADDED,
    prompt="<|assistant|><think>",
    output=(
        f"{REASONING}</think>{CONTENT}<tool_call>forecast"
        + "".join(
            f"<arg_key>{key}</arg_key><arg_value>{value}</arg_value>" for key, value in TAG_VALUES.items()
        )
        + "</tool_call><tool_call>ping</tool_call>"
    ),
    closed=Closed("<|assistant|></think>", {"enable_thinking": False}),
    interleaved=(
        f"{FIRST_THOUGHT}</think><tool_call>ping</tool_call><think>{SECOND_THOUGHT}</think>"
        "<tool_call>forecast<arg_key>city</arg_key><arg_value>Brest</arg_value></tool_call>"
    ),
)

GEMMA4 = Case(
    id="gemma4",
    reasoning_parser="gemma4",
    tool_parser="gemma4",
    special=(
        *("<|channel>", "<channel|>", "<|tool_call>", "<tool_call|>", '<|"|>', "<|turn>", "<turn|>"),
        *("<|tool_response>", "<tool_response|>", "<|think|>"),
    ),
    prompt="<|turn>model\n",
    switches={"enable_thinking": True},
    output=(
        f"<|channel>thought\n{REASONING}\n<channel|>{CONTENT}"
        f'<|tool_call>call:forecast{{city:<|"|>{CITY}<|"|>,days:3,limit:2.5,metric:true,'
        'tags:[<|"|>a]<|"|>,<|"|>b}<|"|>],options:{deep:true}}<tool_call|>'
        "<|tool_call>call:ping{}<tool_call|>"
    ),
    closed=Closed("<|turn>model\n<|channel>thought\n<channel|>", {"enable_thinking": False}),
)

GRANITE_TAIL = "<|start_of_role|>assistant<|end_of_role|>"

GRANITE = Case(
    id="granite",
    reasoning_parser="granite",
    tool_parser="granite",
    special=_bars("tool_call start_of_role end_of_role"),
    prompt=GRANITE_TAIL,
    switches={"thinking": True},
    output=(
        f"Here is my thought process: {REASONING}\n\nHere is my response: {CONTENT}<|tool_call|>{JSON_LIST}"
    ),
    reasoning=f" {REASONING}\n\n",
    content=f" {CONTENT}",
    closed=Closed(GRANITE_TAIL, {"thinking": False}),
)

GRANITE4 = Case(
    id="granite4",
    reasoning_parser=None,
    tool_parser="granite4",
    special=_bars("start_of_role end_of_role"),
    added=_tags("tool_call"),
    prompt=GRANITE_TAIL,
    output=f"{CONTENT}{HERMES_CALLS}",
    reasoning=None,
    closed=Closed(GRANITE_TAIL, {}),
)

LLAMA3_JSON = Case(
    id="llama3_json",
    reasoning_parser="deepseek_r1",
    tool_parser="llama3_json",
    special=_bars("python_tag"),
    added=(*_tags("think"), *DEEPSEEK_TURNS),
    prompt="<｜Assistant｜><think>\n",
    output=(
        f'{REASONING}</think>\n\n{{"name": "forecast", "parameters": {JSON}}}; '
        '{"name": "ping", "parameters": {}}'
    ),
    content=None,
)

PYTHONIC = Case(
    id="pythonic",
    reasoning_parser=None,
    tool_parser="pythonic",
    special=_bars("start_header_id end_header_id"),
    prompt="<|start_header_id|>assistant<|end_header_id|>\n\n",
    output=(
        '[forecast(city="Saint-Malo \\"intra\\" → 🗼", days=3, limit=2.5, metric=True, '
        'tags=["a]", "b}"], options={"deep": True}), ping()]'
    ),
    reasoning=None,
    content=None,
    closed=Closed("<|start_header_id|>assistant<|end_header_id|>\n\n", {}),
)

HUNYUAN_A13B = Case(
    id="hunyuan_a13b",
    reasoning_parser="hunyuan_a13b",
    tool_parser="hunyuan_a13b",
    special=_bars("extra_0"),
    prompt="<|extra_0|>",
    output=(
        f"<think>\n{REASONING}\n</think>\n<answer>\n{CONTENT}<tool_calls>{JSON_LIST}</tool_calls>\n</answer>"
    ),
    closed=Closed(
        "<|extra_0|><think>\n\n</think>\n",
        {"enable_thinking": False},
        output=f"<answer>\n{ANSWER}\n</answer>",
    ),
)

HY_SUFFIX = ":opensource"


def _hy(template: str) -> str:
    """``template`` with the checkpoint's suffix in every tag, which is written ``<name:S>``."""
    return template.replace(":S>", f"{HY_SUFFIX}>")


HY_V3 = Case(
    id="hy_v3",
    reasoning_parser="hy_v3",
    tool_parser="hy_v3",
    special=("<｜hy_Assistant:opensource｜>", "<｜hy_User:opensource｜>", "<｜hy_eos:opensource｜>"),
    added=(
        *_tags("think tool_calls tool_call arg_key arg_value", HY_SUFFIX),
        _hy("<tool_sep:S>"),
    ),
    prompt=_hy("<｜hy_Assistant:opensource｜><think:S>"),
    switches={"reasoning_effort": "high"},
    output=_hy(
        f"{REASONING}</think:S>{CONTENT}<tool_calls:S>\n<tool_call:S>forecast<tool_sep:S>\n"
        + "".join(
            f"<arg_key:S>{key}</arg_key:S>\n<arg_value:S>{value}</arg_value:S>\n"
            for key, value in TAG_VALUES.items()
        )
        + "</tool_call:S>\n<tool_call:S>ping<tool_sep:S>\n</tool_call:S>\n</tool_calls:S>"
    ),
    closed=Closed(_hy("<｜hy_Assistant:opensource｜><think:S></think:S>"), {"reasoning_effort": "no_think"}),
)

MISTRAL = Case(
    id="mistral",
    reasoning_parser="mistral",
    tool_parser="mistral",
    special=("[TOOL_CALLS]", "[ARGS]", "[CALL_ID]", "[THINK]", "[/THINK]", "[INST]", "[/INST]"),
    prompt="[/INST]",
    output=f"[THINK]{REASONING}[/THINK]{CONTENT}[TOOL_CALLS]forecast[ARGS]{JSON}[TOOL_CALLS]ping[ARGS]{{}}",
    closed=Closed("[/INST]", {}),
)

CASES = (
    KIMI_K2,
    QWEN3,
    HERMES,
    DEEPSEEK_V31,
    DEEPSEEK_V4,
    GLM45,
    GLM47,
    GEMMA4,
    GRANITE,
    GRANITE4,
    LLAMA3_JSON,
    PYTHONIC,
    HUNYUAN_A13B,
    HY_V3,
    MISTRAL,
)
