"""The pitfalls of reasoning and tool parsing, one test or a few for each, through vLLM's ``Parser``.

``docs/pitfalls.md`` explains them to operators; the numbers are the same. What only a running server shows is
in ``tests/e2e/test_pitfalls.py``. Outputs and results are written by hand from the formats.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import pytest
from support.cuts import CUTS, Delta, Output, text_only
from support.fold import Folded
from support.parsing import family_tokenizer
from support.tokenizers import MarkerTokenizer

pytest.importorskip("vllm")

from vllm.engine.arg_utils import AsyncEngineArgs
from vllm_driver import chat_request, compose, fold_messages, parse_whole, stream

from unified_parser import Message, create_parser, get_parser_class, openai_deltas
from unified_parser.adapters.vllm import make_adapters
from unified_parser.adapters.vllm.composition import VARIABLE
from unified_parser.adapters.vllm.direct import DirectParser
from unified_parser.events import ReasoningText


def _tool(name: str, **properties: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {key: {"type": kind} for key, kind in properties.items()}}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


TOOLS = (_tool("f", a="string"), _tool("g"))
F, G = ("f", {"a": "b"}, True), ("g", {}, True)


@dataclass(frozen=True)
class Model:
    """A pair of parser names and the pieces of what such a model reads and writes.

    ``turn`` begins the assistant's turn in the prompt; behind it the template writes ``opened`` with thinking
    on and ``closed`` with thinking off (None: the template has no such prompt). ``next_turn`` ends the turn
    and holds the user's next one. ``opener``, ``closer``: what the model writes around its thoughts;
    ``answer``: around an answer. ``call`` is a call of ``f(a="b")`` with all around it, ``call_opener`` what
    it begins with; ``calls`` is that and a call of ``g()``, in two pieces.
    """

    reasoning: str
    tool: str
    turn: str
    next_turn: str
    opener: str
    closer: str
    call: str
    call_opener: str
    calls: tuple[str, str]
    opened: str | None = None
    closed: str | None = None
    on: dict[str, Any] = field(default_factory=dict)
    off: dict[str, Any] | None = None
    answer: tuple[str, str] = ("", "")
    call_ends_reasoning: bool = True
    reopens: bool = False

    @property
    def tokenizer(self) -> MarkerTokenizer:
        return family_tokenizer(self.tool, self.reasoning, self.turn + self.next_turn)

    @property
    def prompt(self) -> str:
        """A prompt with thinking on."""
        return self.turn + (self.opened or "")

    @property
    def start(self) -> str:
        """What an output begins with that thinks."""
        return "" if self.opened else self.opener

    def says(self, text: str) -> str:
        """An answer, as the model writes it."""
        return text.join(self.answer)

    def thinks(self, text: str) -> str:
        """An output's thought up to its end, as the model writes it behind ``prompt``."""
        return f"{self.start}{text}{self.closer}"


def _kimi_call(name: str, number: int, arguments: str) -> str:
    header = f"<|tool_call_begin|>functions.{name}:{number}<|tool_call_argument_begin|>"
    return f"{header}{arguments}<|tool_call_end|>"


KIMI_SECTION = ("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>")
KIMI_K2 = Model(
    reasoning="kimi_k2",
    tool="kimi_k2",
    turn="<|im_assistant|>assistant<|im_middle|>",
    next_turn="<|im_end|><|im_user|>user<|im_middle|>and?<|im_end|>",
    opener="<think>",
    closer="</think>",
    opened="<think>",
    closed="<think></think>",
    on={"thinking": True},
    off={"thinking": False},
    call=_kimi_call("f", 0, '{"a": "b"}').join(KIMI_SECTION),
    call_opener=KIMI_SECTION[0],
    calls=(
        KIMI_SECTION[0] + _kimi_call("f", 0, '{"a": "b"}'),
        _kimi_call("g", 1, "{}") + KIMI_SECTION[1],
    ),
)
QWEN3_F = "<tool_call>\n<function=f>\n<parameter=a>\nb\n</parameter>\n</function>\n</tool_call>"
QWEN3 = Model(
    reasoning="qwen3",
    tool="qwen3_coder",
    turn="<|im_start|>assistant\n",
    next_turn="<|im_end|>\n<|im_start|>user\nand?<|im_end|>\n",
    opener="<think>\n",
    closer="\n</think>\n\n",
    opened="<think>\n",
    closed="<think>\n\n</think>\n\n",
    on={"enable_thinking": True},
    off={"enable_thinking": False},
    call=QWEN3_F,
    call_opener="<tool_call>",
    calls=(QWEN3_F, "\n<tool_call>\n<function=g>\n</function>\n</tool_call>"),
)
DEEPSEEK_SECTION = ("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>")
DEEPSEEK_F = '<｜tool▁call▁begin｜>f<｜tool▁sep｜>{"a": "b"}<｜tool▁call▁end｜>'
DEEPSEEK_V31 = Model(
    reasoning="deepseek_v3",
    tool="deepseek_v31",
    turn="<｜Assistant｜>",
    next_turn="<｜end▁of▁sentence｜><｜User｜>and?",
    opener="<think>",
    closer="</think>",
    opened="<think>",
    closed="</think>",
    on={"thinking": True},
    off={"thinking": False},
    call=DEEPSEEK_F.join(DEEPSEEK_SECTION),
    call_opener=DEEPSEEK_SECTION[0],
    calls=(
        DEEPSEEK_SECTION[0] + DEEPSEEK_F,
        "<｜tool▁call▁begin｜>g<｜tool▁sep｜>{}<｜tool▁call▁end｜>" + DEEPSEEK_SECTION[1],
    ),
    call_ends_reasoning=False,
)
GLM_F = "<tool_call>f<arg_key>a</arg_key><arg_value>b</arg_value></tool_call>"
GLM47 = Model(
    reasoning="glm47",
    tool="glm47",
    turn="<|assistant|>",
    next_turn="<|user|>and?",
    opener="<think>",
    closer="</think>",
    opened="<think>",
    closed="</think>",
    on={"enable_thinking": True},
    off={"enable_thinking": False},
    call=GLM_F,
    call_opener="<tool_call>",
    calls=(GLM_F, "<tool_call>g</tool_call>"),
    reopens=True,
)
MINIMAX_BLOCK = ("\n<minimax:tool_call>\n", "</minimax:tool_call>")
MINIMAX_F = '<invoke name="f">\n<parameter name="a">b</parameter>\n</invoke>\n'
MINIMAX_M2 = Model(  # has no switch; a prompt that closed the thinking is one of a template of one's own
    reasoning="minimax_m2",
    tool="minimax_m2",
    turn="]~b]ai\n",
    next_turn="[e~[\n]~b]user\nand?[e~[\n",
    opener="<think>\n",
    closer="\n</think>\n\n",
    opened="<think>\n",
    closed="<think>\n\n</think>\n\n",
    call=MINIMAX_F.join(MINIMAX_BLOCK),
    call_opener="\n<minimax:tool_call>",
    calls=(MINIMAX_BLOCK[0] + MINIMAX_F, '<invoke name="g">\n</invoke>\n' + MINIMAX_BLOCK[1]),
)
K3_F = (
    '<|open|>call tool="f" index="1"<|sep|><|open|>argument key="a" type="string"<|sep|>b'
    "<|close|>argument<|sep|><|close|>call<|sep|>"
)
K3_TOOLS = ("<|open|>tools<|sep|>", "<|close|>tools<|sep|>")
KIMI_K3 = Model(
    reasoning="kimi_k3",
    tool="kimi_k3",
    turn='<|open|>message role="assistant"<|sep|>',
    next_turn='<|close|>message<|sep|><|end_of_msg|><|open|>message role="user"<|sep|>and?<|end_of_msg|>',
    opener="<|open|>think<|sep|>",
    closer="<|close|>think<|sep|>",
    opened="<|open|>think<|sep|>",
    closed="<|open|>response<|sep|>",
    answer=("<|open|>response<|sep|>", "<|close|>response<|sep|>"),
    on={"thinking": True},
    off={"thinking": False},
    call=K3_F.join(K3_TOOLS),
    call_opener=K3_TOOLS[0],
    calls=(
        K3_TOOLS[0] + K3_F,
        '<|open|>call tool="g" index="2"<|sep|><|close|>call<|sep|>' + K3_TOOLS[1],
    ),
)
GRANITE = Model(
    reasoning="granite",
    tool="granite",
    turn="<|start_of_role|>assistant<|end_of_role|>",
    next_turn="<|end_of_text|>\n<|start_of_role|>user<|end_of_role|>and?<|end_of_text|>\n",
    opener="Here is my thought process:",
    closer="Here is my response:",
    on={"thinking": True},
    off={"thinking": False},
    call='<|tool_call|>[{"name": "f", "arguments": {"a": "b"}}]',
    call_opener="<|tool_call|>",
    calls=('<|tool_call|>[{"name": "f", "arguments": {"a": "b"}}', ', {"name": "g", "arguments": {}}]'),
)
MISTRAL = Model(
    reasoning="mistral",
    tool="mistral",
    turn="[/INST]",
    next_turn="</s>[INST]and?",
    opener="[THINK]",
    closer="[/THINK]",
    call='[TOOL_CALLS]f[ARGS]{"a": "b"}',
    call_opener="[TOOL_CALLS]",
    calls=('[TOOL_CALLS]f[ARGS]{"a": "b"}', "[TOOL_CALLS]g[ARGS]{}"),
    reopens=True,
)
GEMMA4 = Model(
    reasoning="gemma4",
    tool="gemma4",
    turn="<|turn>model\n",
    next_turn="<turn|>\n<|turn>user\nand?<turn|>\n",
    opener="<|channel>thought\n",
    closer="\n<channel|>",
    closed="<|channel>thought\n<channel|>",
    on={"enable_thinking": True},
    call='<|tool_call>call:f{a:<|"|>b<|"|>}<tool_call|>',
    call_opener="<|tool_call>",
    calls=('<|tool_call>call:f{a:<|"|>b<|"|>}<tool_call|>', "<|tool_call>call:g{}<tool_call|>"),
    reopens=True,
)
HARMONY_F = '<|start|>assistant to=functions.f<|channel|>commentary json<|message|>{"a": "b"}<|call|>'
HARMONY = Model(
    reasoning="openai_gptoss",
    tool="openai",
    turn="<|start|>assistant",
    next_turn="<|return|><|start|>user<|message|>and?<|end|>",
    opener="<|channel|>analysis<|message|>",
    closer="<|end|>",
    answer=("<|start|>assistant<|channel|>final<|message|>", "<|end|>"),
    call=HARMONY_F,
    call_opener="<|start|>",
    call_ends_reasoning=False,
    calls=(
        HARMONY_F,
        "<|start|>assistant to=functions.g<|channel|>commentary json<|message|>{}<|call|>",
    ),
    reopens=True,
)

MODELS = (
    KIMI_K2,
    QWEN3,
    DEEPSEEK_V31,
    GLM47,
    MINIMAX_M2,
    KIMI_K3,
    GRANITE,
    MISTRAL,
    GEMMA4,
    HARMONY,
)


def models(*where: Callable[[Model], object]) -> pytest.MarkDecorator:
    """Runs a test for every model that fits."""
    fit = [model for model in MODELS if all(test(model) for test in where)]
    return pytest.mark.parametrize("model", fit, ids=lambda model: model.tool)


def without(*left_out: Model) -> Callable[[Model], bool]:
    return lambda model: model not in left_out


def opens_in_the_prompt(model: Model) -> bool:
    return model.opened is not None


def can_be_off(model: Model) -> bool:
    return model.off is not None


@pytest.fixture(params=["direct", "adapters"])
def path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways in which vLLM's ``Parser`` may be ours."""
    monkeypatch.setenv(VARIABLE, "1" if request.param == "direct" else "0")
    return str(request.param)


both_paths = pytest.mark.usefixtures("path")

#: How servers cut an output. Text that lags behind its ids by more than a character is for one parser only.
SERVER_CUTS = ("whole", "tokens", "some-tokens-1", "some-tokens-2")


@dataclass
class Served:
    """A model's responses to one kind of request, as vLLM's serving layer reads them."""

    model: Model
    prompt: str
    switches: dict[str, Any]
    tokenizer: MarkerTokenizer
    tools: Sequence[dict[str, Any]] = TOOLS
    request_fields: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.request = chat_request(self.tools, **self.request_fields)
        self.prompt_ids = self.tokenizer.encode(self.prompt)

    def parser(self) -> Any:
        """A new one of vLLM's parsers."""
        parser_class = compose(self.model.reasoning, self.model.tool, self.tokenizer)
        assert issubclass(parser_class, DirectParser) == (os.environ.get(VARIABLE) != "0")
        return parser_class(self.tokenizer, self.request.tools, chat_template_kwargs=self.switches)

    def reasoning_parser(self) -> Any:
        """A new reasoning parser, as the engine core makes it."""
        adapter = make_adapters(get_parser_class(self.model.reasoning))[0]
        return adapter(tokenizer=self.tokenizer, chat_template_kwargs=self.switches)

    def encode(self, *texts: str, literal: str | None = None) -> list[int]:
        """The ids of texts, one behind the other; ``literal`` in them is spelled with ordinary tokens."""
        quoted = [literal] if literal else []
        return [number for text in texts for number in self.tokenizer.encode(text, literal=quoted)]

    def pieces(self, *texts: str) -> list[Delta]:
        """Deltas of these texts with their ids."""
        return [(text, self.encode(text)) for text in texts]

    def output(self, ids: Sequence[int]) -> Output:
        return Output(self.tokenizer.decode(ids), tuple(ids), self.tokenizer)

    def whole(self, output: str) -> Folded:
        return parse_whole(self.parser(), self.request, output, self.encode(output), self.prompt_ids)

    def streamed(self, deltas: Iterable[Delta]) -> Folded:
        return fold_messages(stream(self.parser(), self.request, deltas, self.prompt_ids))

    def read(self, output: str) -> Folded:
        """What an output means: the same whole, in every cut, and streamed without ids."""
        parser = self.parser()
        written = Output.of(output, self.tokenizer)
        cuts = CUTS if isinstance(parser, DirectParser) else SERVER_CUTS
        found = {name: self.streamed(CUTS[name](written)) for name in cuts}
        found["text alone"] = self.streamed([(character, []) for character in output])
        whole = self.whole(output)
        assert found == dict.fromkeys(found, whole)
        return whole


def served(model: Model, **changes: Any) -> Served:
    """Requests with thinking on."""
    usual = {"prompt": model.prompt, "switches": model.on, "tokenizer": model.tokenizer}
    return Served(model, **usual | changes)


def folded(reasoning: str | None, content: str | None, *calls: Any) -> Folded:
    return Folded(reasoning, content, list(calls))


# 1. Reasoning null, the whole output with the closing marker in the content


@both_paths
@models(opens_in_the_prompt)
def test_pitfall_01_the_prompt_holds_the_opener(model: Model) -> None:
    assert served(model).read(model.thinks("why") + model.says("so")) == folded("why", "so")


@both_paths
@models(opens_in_the_prompt)
def test_pitfall_01_nothing_holds_the_opener(model: Model) -> None:
    """A parser that is not shown the opener splits on the closing marker alone."""
    asked = served(model, prompt=model.turn)
    assert asked.read(model.thinks("why") + model.says("so")) == folded("why", "so")


@both_paths
@models()
def test_pitfall_01_the_output_holds_the_opener(model: Model) -> None:
    asked = served(model, prompt=model.turn)
    output = f"{model.opener}why{model.closer}{model.says('so')}"
    assert asked.read(output) == folded("why", "so")


# 2. Content empty, the answer in the reasoning, with thinking switched off


@both_paths
@models(can_be_off)
def test_pitfall_02_thinking_is_switched_off(model: Model) -> None:
    for prompt in (model.turn, model.turn + (model.closed or "")):
        asked = served(model, prompt=prompt, switches=model.off)
        assert asked.read("The answer.") == folded(None, "The answer.")
        assert asked.read(f"So:{model.call}") == folded(None, "So:", F)


THOUGHT = ("why", "so")
AS_WRITTEN = (None, "<think>why</think>so")


@both_paths
@pytest.mark.parametrize(
    "name, switches, expected",
    [
        ("deepseek_v3", {}, AS_WRITTEN),
        ("deepseek_v3", {"thinking": True}, THOUGHT),
        ("deepseek_v3", {"enable_thinking": True}, THOUGHT),
        ("holo2", {}, THOUGHT),
        ("holo2", {"thinking": False}, AS_WRITTEN),
        ("holo2", {"enable_thinking": False, "thinking": True}, THOUGHT),
        ("glm45", {}, THOUGHT),
        ("glm45", {"enable_thinking": False}, AS_WRITTEN),
        ("glm47", {}, THOUGHT),
        ("glm47", {"enable_thinking": False}, AS_WRITTEN),
        ("qwen3", {}, THOUGHT),
        ("qwen3", {"enable_thinking": False}, AS_WRITTEN),
        ("kimi_k2", {}, THOUGHT),
        ("kimi_k2", {"thinking": False}, AS_WRITTEN),
        ("deepseek_r1", {"enable_thinking": False}, THOUGHT),  # has no switch
        ("minimax_m2", {"enable_thinking": False}, THOUGHT),  # has no switch
    ],
)
def test_pitfall_02_each_family_has_its_own_switches_and_default(
    name: str, switches: dict[str, Any], expected: tuple[str | None, str]
) -> None:
    tokenizer = family_tokenizer(name)
    parser = compose(name, None, tokenizer)(tokenizer, None, chat_template_kwargs=switches)
    found = parse_whole(parser, chat_request(), "<think>why</think>so", prompt=tokenizer.encode("hello"))
    assert (found.reasoning, found.content) == expected


# 3. Gibberish with guided output and thinking off: the grammar never starts


def says_that_reasoning_is_over(asked: Served) -> bool:
    """The answer to both who ask: the API server and the engine core."""
    answers = {asked.parser().is_reasoning_end(asked.prompt_ids)}
    answers.add(asked.reasoning_parser().is_reasoning_end(asked.prompt_ids))
    (answer,) = answers
    return bool(answer)


@both_paths
@models(lambda model: model.closed)
def test_pitfall_03_reasoning_is_over_in_a_prompt_that_closed_it(model: Model) -> None:
    closed = f"{model.turn}{model.closed}"
    earlier = f"{model.prompt}{model.thinks('why')}{model.says('so')}{model.next_turn}"
    for prompt in (closed, earlier + closed):
        for switches in ({}, model.off or {}):
            assert says_that_reasoning_is_over(served(model, prompt=prompt, switches=switches))


@both_paths
@models(can_be_off)
def test_pitfall_03_reasoning_is_over_where_a_switch_says_so(model: Model) -> None:
    assert says_that_reasoning_is_over(served(model, prompt=model.turn, switches=model.off))


@both_paths
@models(opens_in_the_prompt)
def test_pitfall_03_markers_of_earlier_turns_do_not_count(model: Model) -> None:
    earlier = f"{model.prompt}{model.thinks('why')}{model.says('so')}{model.next_turn}"
    for prompt in (model.prompt, earlier + model.prompt, earlier + model.turn):
        asked = served(model, prompt=prompt)
        assert not says_that_reasoning_is_over(asked)
        assert asked.read(model.thinks("why") + model.says("so")) == folded("why", "so")


@both_paths
@models()
def test_pitfall_03_hidden_reasoning_is_still_told_from_content(model: Model) -> None:
    """With ``include_reasoning=false`` vLLM starts the grammar at once; what comes is still split."""
    asked = served(model, request_fields={"include_reasoning": False})
    output = model.thinks("why") + model.says("so") + model.call
    assert asked.streamed(CUTS["tokens"](Output.of(output, asked.tokenizer))) == folded(None, "so", F)


# 4. Cut off in the middle of thinking


@both_paths
@models()
def test_pitfall_04_cut_off_while_thinking_is_reasoning(model: Model) -> None:
    assert served(model).read(f"{model.start}why not") == folded("why not", None)


@both_paths
@models(can_be_off)
def test_pitfall_04_cut_off_with_thinking_off_is_content(model: Model) -> None:
    asked = served(model, prompt=model.turn, switches=model.off)
    assert asked.read("why not") == folded(None, "why not")


@pytest.mark.parametrize(
    "name, start, end",
    [
        ("kimi_k2", "<think>", "</think>"),
        ("qwen3", "<think>", "</think>"),
        ("kimi_k3", "<|open|>think<|sep|>", "<|close|>think<|sep|>"),
        ("granite", "Here is my thought process:", "Here is my response:"),
        ("mistral", "[THINK]", "[/THINK]"),
        ("gemma4", "<|channel>", "<channel|>"),
        ("seed_oss", "<seed:think>", "</seed:think>"),
    ],
)
def test_pitfall_04_the_budget_knows_the_markers(name: str, start: str, end: str) -> None:
    """``thinking_token_budget`` forces the end string, which it asks a parser of the tokenizer alone for."""
    parser = make_adapters(get_parser_class(name))[0](family_tokenizer(name))
    assert (parser.reasoning_start_str, parser.reasoning_end_str) == (start, end)


# 5. Literal or nested markers split the answer


@both_paths
@models(without(KIMI_K3, GRANITE, GEMMA4, HARMONY))
def test_pitfall_05_an_opener_in_the_reasoning_is_dropped(model: Model) -> None:
    output = f"{model.start}a {model.opener.strip()}b{model.closer}so"
    assert served(model).read(output) == folded("a b", "so")


@models(without(KIMI_K3, GRANITE))
def test_pitfall_05_quoted_markers_are_text(model: Model, path: str) -> None:
    """Ordinary tokens spell the same characters; no id of a marker is among them."""
    asked = served(model)
    literal = model.closer.strip()
    quote = f"the tag {literal} ends"
    before, behind = model.answer
    ids = [
        *asked.encode(model.start),
        *asked.encode(quote, literal=literal),
        *asked.encode(model.closer, before),
        *asked.encode(quote, literal=literal),
        *asked.encode(behind),
    ]
    for name in (*SERVER_CUTS, "characters"):
        assert asked.streamed(CUTS[name](asked.output(ids))) == folded(quote, quote), name
    if path == "direct":  # vLLM's composition is not given the ids of a whole output
        text = asked.tokenizer.decode(ids)
        assert parse_whole(asked.parser(), asked.request, text, ids, asked.prompt_ids) == folded(quote, quote)


@both_paths
@models(lambda model: model in (KIMI_K2, DEEPSEEK_V31, GLM47))
def test_pitfall_05_the_count_agrees_with_the_split(model: Model) -> None:
    asked = served(model)
    thought = asked.encode("the tag </think> ends", literal="</think>")
    ids = [*thought, *asked.encode("</think>so", model.call)]
    parser = asked.parser()
    messages = stream(parser, asked.request, CUTS["tokens"](asked.output(ids)), asked.prompt_ids)
    assert fold_messages(messages).reasoning == "the tag </think> ends"
    assert parser.count_reasoning_tokens(ids) == len(thought)


# 6. Tool calls vanish with reasoning on


@both_paths
@models()
def test_pitfall_06_a_call_behind_the_reasoning(model: Model) -> None:
    assert served(model).read(model.thinks("why") + model.call) == folded("why", None, F)


@both_paths
@models(lambda model: model.call_ends_reasoning)
def test_pitfall_06_a_call_ends_the_reasoning(model: Model) -> None:
    """The model forgot the closing marker."""
    assert served(model).read(f"{model.start}why{model.call}") == folded("why", None, F)


@both_paths
def test_pitfall_06_a_section_in_the_reasoning_may_be_a_draft() -> None:
    """DeepSeek's sections end no reasoning; the call behind the end counts."""
    draft = DEEPSEEK_V31.call
    assert served(DEEPSEEK_V31).read(f"why {draft}</think>{draft}") == folded(f"why {draft}", None, F)


# 7. Two requests' texts are interleaved


@both_paths
def test_pitfall_07_two_hundred_streams_at_once() -> None:
    chosen = random.Random(7)
    waiting, done = [], []
    for number in range(200):
        model = MODELS[number % len(MODELS)]
        asked = served(model)
        output = model.thinks(f"why {number}") + model.says(f"so {number}") + model.call
        deltas = CUTS["some-tokens-1"](Output.of(output, asked.tokenizer))
        waiting.append((number, asked, asked.parser(), deltas, []))
    while waiting:
        at = chosen.randrange(len(waiting))
        _, asked, parser, deltas, messages = waiting[at]
        text, ids = deltas.pop(0)
        message = parser.parse_delta(text, ids, asked.request, asked.prompt_ids, finished=not deltas)
        messages.extend([message] if message else [])
        if not deltas:
            done.append(waiting.pop(at))
    for number, _, _, _, messages in done:
        assert fold_messages(messages) == folded(f"why {number}", f"so {number}", F)


@both_paths
@models()
def test_pitfall_07_one_parser_for_several_outputs(model: Model) -> None:
    """vLLM 0.30 parses all choices of an ``n > 1`` request with one parser."""
    asked = served(model)
    parser = asked.parser()
    for text in ("one", "two", "one"):
        output = model.thinks(text) + model.says(f"so {text}") + model.call
        found = parse_whole(parser, asked.request, output, prompt=asked.prompt_ids)
        assert found == folded(text, f"so {text}", F)


# 8. Delimiter not found: it is several tokens


def steps_that_end_reasoning(asked: Served, ids: Sequence[int], size: int = 1) -> list[int]:
    """How many ids there are after each step in which reasoning ends, asked as the engine core does."""
    parser = asked.reasoning_parser()
    assert not parser.is_reasoning_end(asked.prompt_ids)
    ends = []
    for at in range(0, len(ids), size):
        step = list(ids[at : at + size])
        if parser.is_reasoning_end_streaming([*asked.prompt_ids, *ids[:at], *step], step):
            ends.append(at + len(step))
    return ends


def end_of_step(count: int, size: int, total: int) -> int:
    """How many ids there are after the step of ``size`` that holds the ``count``-th."""
    return min(-(-count // size) * size, total)


MULTI_TOKEN = [
    pytest.param(KIMI_K2, "</think>", id="kimi_k2"),
    pytest.param(QWEN3, "\n</think>", id="qwen3_coder"),
    pytest.param(KIMI_K3, "<|close|>think<|sep|>", id="kimi_k3"),
    pytest.param(GRANITE, "Here is my response:", id="granite"),
    pytest.param(GRANITE, "Here's my response:", id="granite-other-spelling"),
]


def without_think_tokens(model: Model) -> Served:
    """A vocabulary that spells the think tags with ordinary tokens."""
    turns = model.turn + model.next_turn
    absent = ("<think>", "</think>")
    return served(model, tokenizer=family_tokenizer(model.tool, model.reasoning, turns, absent=absent))


@both_paths
@pytest.mark.parametrize("model, closer", MULTI_TOKEN)
def test_pitfall_08_a_delimiter_of_several_tokens_ends_reasoning(model: Model, closer: str) -> None:
    asked = without_think_tokens(model)
    assert len(asked.encode(closer)) > 1
    assert asked.read(f"{model.start}why{closer}so{model.call}") == folded("why", "so", F)


@pytest.mark.parametrize("size", [1, 2, 3, 100])
@pytest.mark.parametrize("model, closer", MULTI_TOKEN)
def test_pitfall_08_it_is_found_across_steps(model: Model, closer: str, size: int) -> None:
    asked = without_think_tokens(model)
    before = asked.encode(f"{model.start}why", closer)
    ids = [*before, *asked.encode(" so it is")]
    assert steps_that_end_reasoning(asked, ids, size) == [end_of_step(len(before), size, len(ids))]


# 9. Empty deltas for lone markers


@both_paths
@models(without(GRANITE, HARMONY))
def test_pitfall_09_a_lone_marker_gives_no_delta(model: Model) -> None:
    asked = served(model, prompt=model.turn)
    parser = asked.parser()
    for text, shown in (
        (model.opener.strip(), False),
        ("why", True),
        (model.closer.strip(), False),
        ("so", True),
        (model.call_opener.strip(), False),
    ):
        message = parser.parse_delta(
            text, asked.encode(text), asked.request, asked.prompt_ids, finished=False
        )
        assert (message is not None) == shown, text
    assert parser.parse_delta("", [], asked.request, asked.prompt_ids, finished=True) is None


# 10. Harmony treated as think tags


HARMONY_OUTPUT = (
    "<|channel|>analysis<|message|>why<|end|>"
    "<|start|>assistant<|channel|>commentary<|message|>I look.<|end|>"
    '<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a": "b"}<|call|>'
)


def test_pitfall_10_channels_are_not_tags() -> None:
    """Such models are served directly, or else by vLLM's own harmony parser."""
    asked = served(HARMONY)
    parser_class = compose("openai_gptoss", "openai", asked.tokenizer, is_harmony=True)
    make = lambda: parser_class(asked.tokenizer, asked.request.tools, chat_template_kwargs={})  # noqa: E731
    written = Output.of(HARMONY_OUTPUT, asked.tokenizer)
    for name in SERVER_CUTS:
        messages = stream(make(), asked.request, CUTS[name](written), asked.prompt_ids)
        assert fold_messages(messages) == folded("why", "I look.", F), name
    found = parse_whole(make(), asked.request, written.text, written.ids, asked.prompt_ids)
    assert found == folded("why", "I look.", F)


@pytest.mark.parametrize(
    "header, ends",
    [
        ("<|channel|>analysis<|message|>", False),
        ("<|channel|>commentary<|message|>", True),
        ("<|channel|>final<|message|>", True),
        ("<|channel|>final <|constrain|>json<|message|>", True),
        ("<|channel|>commentary to=functions.f <|constrain|>json<|message|>", True),
        (" to=functions.f<|channel|>analysis<|message|>", True),
    ],
)
def test_pitfall_10_reasoning_ends_with_the_header_of_another_channel(header: str, ends: bool) -> None:
    asked = served(HARMONY)
    parser = create_parser("openai", tokenizer=asked.tokenizer)
    ids = asked.encode(header)
    steps = range(1, len(ids) + 1)
    assert [n for n in steps if parser.is_reasoning_end_streaming(ids[:n], ids[n - 1 : n])] == (
        [len(ids)] if ends else []
    )


def test_pitfall_10_the_servers_grammars_have_the_channels_in_them() -> None:
    """vLLM writes structured output of such models over whole messages: it begins with the output."""
    asked = served(HARMONY)
    assert asked.reasoning_parser().is_reasoning_end(asked.prompt_ids)


# 11. Mistral without its own tokenizer


@both_paths
def test_pitfall_11_both_generations_of_tokenizers() -> None:
    """The wire format is the tokenizer's: with ``[ARGS]`` a name and arguments, without it a JSON array."""
    absent = ("[ARGS]", "[CALL_ID]", "[THINK]", "[/THINK]")
    old = family_tokenizer("mistral", None, "[/INST]", absent=absent)
    array = '[TOOL_CALLS][{"name": "f", "arguments": {"a": "b"}, "id": "abcdefghi"}]'
    assert served(MISTRAL, tokenizer=old).read(f"so{array}") == folded(None, "so", F)
    assert served(MISTRAL).read(f"so{MISTRAL.call}") == folded(None, "so", F)


def test_pitfall_11_mistrals_own_tokenizer() -> None:
    """mistral_common's has no text for its special tokens; the ids tell a call from a quoted one."""
    mistral_common = pytest.importorskip("mistral_common")
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    tekkenizer = Tekkenizer.from_file(Path(mistral_common.__file__).parent / "data" / "tekken_240911.json")
    array = '[{"name": "f", "arguments": {"a": "b"}}]'

    def ids(text: str) -> list[int]:
        return list(tekkenizer.encode(text, bos=False, eos=False))

    output = f"so[TOOL_CALLS]{array}"
    called = [*ids("so"), tekkenizer.get_special_token("[TOOL_CALLS]"), *ids(array)]
    for written, content, names in ((called, "so", ["f"]), (ids(output), output, [])):
        message = create_parser("mistral", tokenizer=tekkenizer).parse(output, written)
        assert (message.content, [call.name for call in message.tool_calls]) == (content, names)


@both_paths
def test_pitfall_11_a_call_without_the_separator() -> None:
    """Models write it so behind a Hugging Face tokenizer's template."""
    assert served(MISTRAL).read('so[TOOL_CALLS]f{"a": "b"}') == folded(None, "so", F)


@both_paths
@pytest.mark.parametrize(
    "choice, forced",
    [
        ("required", '[{"name": "f", "parameters": {"a": "b"}}]'),
        ({"type": "function", "function": {"name": "f"}}, '{"a": "b"}'),
    ],
    ids=["required", "named"],
)
def test_pitfall_11_a_forced_call_is_constrained_and_read(choice: Any, forced: str) -> None:
    """There is no grammar of mistral_common's with a Hugging Face tokenizer: another one must be there."""
    asked = served(MISTRAL, request_fields={"tool_choice": choice})
    parser = asked.parser()
    request = parser.adjust_request(asked.request)
    constraint = request.structured_outputs
    assert constraint is not None and (constraint.json or constraint.structural_tag)
    output = forced if constraint.json else MISTRAL.call
    found = parse_whole(parser, request, output, asked.encode(output), asked.prompt_ids)
    assert found == folded(None, None, F)


# 12. Phrases as markers, cut across deltas


@both_paths
@pytest.mark.parametrize("opener", ["Here is my thought process:", "Here's my thought process:"])
@pytest.mark.parametrize("closer", ["Here is my response:", "Here's my response:"])
def test_pitfall_12_a_phrase_is_held_back_like_any_marker(opener: str, closer: str) -> None:
    output = f"{opener}Here is a why.{closer}Here is so."
    assert served(GRANITE).read(output) == folded("Here is a why.", "Here is so.")


@pytest.mark.parametrize("cut", range(1, len(GRANITE.closer)))
def test_pitfall_12_wherever_it_is_cut(cut: int) -> None:
    asked = served(GRANITE)
    deltas = asked.pieces(GRANITE.opener, "why", GRANITE.closer[:cut], GRANITE.closer[cut:] + "so")
    assert asked.streamed(deltas) == folded("why", "so")


@both_paths
@pytest.mark.parametrize("text", ["Here is my list: a, b", "Here is my thought", "Here's my thought process"])
def test_pitfall_12_a_near_miss_is_content(text: str) -> None:
    assert served(GRANITE).read(text) == folded(None, text)


# 13. A grammar starts at the wrong moment


@models(lambda model: model.call_ends_reasoning, without(KIMI_K3))
def test_pitfall_13_an_implicit_end_belongs_to_what_follows(model: Model) -> None:
    asked = served(model)
    (marker,) = asked.encode(model.call_opener.strip())
    parser = asked.reasoning_parser()
    assert marker in parser.implicit_reasoning_end_token_ids
    if model is not GRANITE:  # vLLM asks for the place only where the explicit end is a token too
        (end,) = asked.encode(model.closer.strip())
        assert tuple(parser.find_reasoning_end([7, marker, 8])) == (1, True)
        assert tuple(parser.find_reasoning_end([7, end, 8])) == (1, False)


@pytest.mark.parametrize("end", ["</think>", "<minimax:tool_call>"])
def test_pitfall_13_a_family_that_never_writes_the_opener(end: str) -> None:
    asked = served(MINIMAX_M2)
    before = asked.encode("why", end)
    assert steps_that_end_reasoning(asked, [*before, *asked.encode("so")]) == [len(before)]


def tokens_until_reasoning_ends(asked: Served, ids: Sequence[int]) -> int:
    """With how many tokens the text's own parser is past the thought."""
    model = asked.model
    parser = create_parser(
        model.tool,
        reasoning=model.reasoning,
        tokenizer=asked.tokenizer,
        prompt_token_ids=asked.prompt_ids,
        chat_template_kwargs=model.on,
    )
    thought = False
    for count, (text, step) in enumerate(CUTS["tokens"](asked.output(ids)), start=1):
        events = parser.feed(text, step)
        thought = thought or any(isinstance(event, ReasoningText) for event in events)
        if thought and parser.reasoning_ended:
            return count
    raise AssertionError("reasoning never ended")


# Mistral does not wait: its models may think or not, and no prompt shows it. Harmony: see pitfall 10.
@models(without(MISTRAL, HARMONY))
def test_pitfall_13_text_and_ids_agree_on_the_token(model: Model) -> None:
    """Reasoning ends for the engine core with the very token with which it ends for the client."""
    asked = served(model)
    endings = [model.closer + model.answer[0] + "so"] + [model.call] * model.call_ends_reasoning
    for ending in endings:
        ids = asked.encode(f"{model.start}why{ending}")
        assert steps_that_end_reasoning(asked, ids)[:1] == [tokens_until_reasoning_ends(asked, ids)]


# 14. --enable-reasoning is unknown


def test_pitfall_14_the_flag_is_gone() -> None:
    """Every flag of the engine is a field of its arguments."""
    flags = {argument.name for argument in fields(AsyncEngineArgs)}
    assert "reasoning_parser" in flags and "enable_reasoning" not in flags


# 15. Clients read reasoning_content, which is null


@both_paths
def test_pitfall_15_the_field_is_called_reasoning() -> None:
    asked = served(KIMI_K2)
    (message,) = stream(asked.parser(), asked.request, asked.pieces("why"), asked.prompt_ids)
    assert message.reasoning == "why"
    assert "reasoning_content" not in message.model_dump()


def test_pitfall_15_our_own_shapes_can_use_the_old_name() -> None:
    key = "reasoning_content"
    parser = create_parser("kimi_k2")
    assert openai_deltas(parser.feed("why")) == [{"reasoning": "why"}]
    assert openai_deltas(parser.feed(" not"), reasoning_key=key) == [{key: " not"}]
    message = Message(reasoning="why", content="so")
    assert message.to_openai() == {"role": "assistant", "content": "so", "reasoning": "why"}
    assert message.to_openai(reasoning_key=key) == {"role": "assistant", "content": "so", key: "why"}


# More that public trackers show


@both_paths
@models()
def test_more_white_space_between_calls_is_not_content(model: Model) -> None:
    for space in ("\n", "\n\n", "  "):
        output = model.thinks("why") + space.join(model.calls)
        assert served(model).read(output) == folded("why", None, F, G)


TYPED = _tool("f", number="integer", price="number", yes="boolean", text="string", digits="string")
TYPED_VALUES = {"number": "3", "price": "2.5", "yes": "true", "text": "true", "digits": "007"}


def _each_value(template: str) -> str:
    return "".join(template.format(key=key, value=value) for key, value in TYPED_VALUES.items())


@both_paths
@pytest.mark.parametrize(
    "model, before, value, behind",
    [
        pytest.param(
            QWEN3,
            "<tool_call>\n<function=f>\n",
            "<parameter={key}>\n{value}\n</parameter>\n",
            "</function>\n</tool_call>",
            id="qwen3_coder",
        ),
        pytest.param(
            GLM47,
            "<tool_call>f",
            "<arg_key>{key}</arg_key><arg_value>{value}</arg_value>",
            "</tool_call>",
            id="glm47",
        ),
        pytest.param(
            MINIMAX_M2,
            f'{MINIMAX_BLOCK[0]}<invoke name="f">\n',
            '<parameter name="{key}">{value}</parameter>\n',
            f"</invoke>\n{MINIMAX_BLOCK[1]}",
            id="minimax_m2",
        ),
    ],
)
def test_more_values_are_typed_by_the_schema(model: Model, before: str, value: str, behind: str) -> None:
    """Numbers and booleans are no strings, and strings are no numbers."""
    asked = served(model, tools=[TYPED])
    found = asked.read(f"{model.thinks('why')}{before}{_each_value(value)}{behind}")
    assert found.spelled()["calls"] == [
        'f({"digits": "007", "number": 3, "price": decimal 2.5E+0, "text": "true", "yes": true})'
    ]


def around_the_value(model: Model) -> tuple[str, str]:
    """The call up to its value ``b``, and what is behind that."""
    before, _, behind = model.call.rpartition("b")
    return before, behind


@both_paths
@pytest.mark.parametrize(
    "model, quoted",
    [
        pytest.param(KIMI_K2, "<|tool_call_end|>", id="kimi_k2"),
        pytest.param(DEEPSEEK_V31, "<｜tool▁call▁end｜>", id="deepseek_v31"),
        pytest.param(QWEN3, "</tool_call>", id="qwen3_coder"),
        pytest.param(GLM47, "</tool_call>", id="glm47"),
        pytest.param(MISTRAL, "[TOOL_CALLS]", id="mistral"),
        pytest.param(MINIMAX_M2, "</invoke>", id="minimax_m2"),
        pytest.param(GRANITE, "]}", id="granite"),
        pytest.param(HARMONY, "<|call|>", id="openai"),
    ],
)
def test_more_a_closing_tag_in_a_value_does_not_end_the_call(model: Model, quoted: str) -> None:
    asked = served(model)
    before, behind = around_the_value(model)
    value = f"x{quoted}y"
    ids = [*asked.encode(model.thinks("why"), before), *asked.encode(value, literal=quoted)]
    ids += asked.encode(behind)
    for name in SERVER_CUTS:
        found = asked.streamed(CUTS[name](asked.output(ids)))
        assert found == folded("why", None, ("f", {"a": value}, True)), name


@both_paths
@models()
def test_more_ids_and_names_of_calls_are_there_and_ids_differ(model: Model) -> None:
    """``fold_messages`` checks that id and name come once, in the first delta, and indexes in order."""
    asked = served(model)
    output = model.thinks("why") + "".join(model.calls)
    _, _, calls = asked.parser().parse(output, asked.request, enable_auto_tools=True)
    messages = stream(asked.parser(), asked.request, asked.pieces(output), asked.prompt_ids)
    streamed = [call.id for message in messages for call in message.tool_calls if call.id]
    for ids in ([call.id for call in calls], streamed):
        assert len(ids) == len({*ids}) == 2 and all(ids)
    assert fold_messages(messages) == folded("why", None, F, G)


@both_paths
@models()
def test_more_a_truncated_call_is_not_reported_as_complete(model: Model) -> None:
    """Whole: it is left out. Streamed: it was announced, so its arguments stop where the output does."""
    asked = served(model)
    before, _ = around_the_value(model)
    output = f"{model.thinks('why')}{model.says('so')}{before}b"
    assert asked.whole(output) == folded("why", "so")
    found = asked.streamed(CUTS["tokens"](Output.of(output, asked.tokenizer)))
    assert (found.reasoning, found.content) == ("why", "so")
    assert [(name, complete) for name, _, complete in found.calls] == [("f", False)]


@both_paths
@models(lambda model: model.reopens, without(HARMONY))
def test_more_reasoning_behind_a_call_is_reasoning(model: Model) -> None:
    again = f"{model.opener}then{model.closer}{model.says('so')}"
    assert served(model).read(model.thinks("why") + model.call + again) == folded("whythen", "so", F)


def test_more_reasoning_behind_a_call_is_reasoning_in_messages() -> None:
    """A newline joins two messages of a channel. No server composes two parsers for such models."""
    again = f"<|start|>assistant{HARMONY.opener}then{HARMONY.closer}{HARMONY.says('so')}"
    output = HARMONY.thinks("why") + HARMONY.call + again
    assert served(HARMONY).read(output) == folded("why\nthen", "so", F)


@both_paths
@models()
def test_more_a_character_whose_bytes_come_late(model: Model) -> None:
    """The detokenizer holds a character back until its last byte: ids come before their text."""
    asked = served(model)
    first, *middle, last = asked.encode("🗼")
    end = model.closer + model.answer[0]
    deltas = [
        *asked.pieces(f"{model.start}why"),
        ("", [first]),
        ("", middle),
        (f"🗼{end}", [last, *asked.encode(end)]),
        ("", [first, *middle]),
        ("🗼", [last]),
    ]
    assert asked.streamed(deltas) == folded("why🗼", "🗼")


@both_paths
@models(without(GRANITE, KIMI_K3, HARMONY))
def test_more_a_marker_whose_text_lags_behind_its_id(model: Model) -> None:
    asked = served(model)
    start, closer, rest = asked.pieces(f"{model.start}why", model.closer, "so")
    deltas = [start, ("", closer[1]), (closer[0], rest[1]), (rest[0], [])]
    assert asked.streamed(deltas) == folded("why", "so")


# The checklist of whole outputs. Opener in the prompt or in the output: 1; truncated: 4; nested: 5.


@both_paths
@models()
def test_whole_nothing(model: Model) -> None:
    assert served(model).read("") == folded(None, None)


@both_paths
@models()
def test_whole_an_empty_thought(model: Model) -> None:
    assert served(model).read(model.thinks("") + model.says("so")) == folded(None, "so")


@both_paths
@models()
def test_whole_a_thought_and_nothing_else(model: Model) -> None:
    assert served(model).read(model.thinks("why")) == folded("why", None)


@both_paths
@models(can_be_off)
def test_whole_only_white_space(model: Model) -> None:
    asked = served(model, prompt=model.turn, switches=model.off)
    found = asked.read(" \n ")
    assert (found.reasoning, (found.content or "").strip(), found.calls) == (None, "", [])


@both_paths
@models(lambda model: model.reopens, without(HARMONY))
def test_whole_content_before_reasoning(model: Model) -> None:
    asked = served(model, prompt=model.turn + (model.closed or ""))
    assert asked.read(f"so {model.opener}why{model.closer}it is") == folded("why", "so it is")


@both_paths
@models()
def test_whole_a_call_without_reasoning(model: Model) -> None:
    asked = served(model, prompt=model.turn + (model.closed or ""), switches=model.off or {})
    call = model.call.removeprefix("<|start|>assistant")  # harmony's prompt has begun the message
    assert asked.read(call) == folded(None, None, F)


@both_paths
@models(can_be_off)
def test_whole_each_switch_on_and_off(model: Model) -> None:
    output = f"{model.opener}why{model.closer}so"
    on = served(model, prompt=model.turn)
    assert on.read(output) == folded("why", "so")
    off = served(model, prompt=model.turn, switches=model.off)
    assert off.read("so") == folded(None, "so")


# The checklist of streams: the texts of the deltas of an output that thinks, and what they mean


def _streams(model: Model) -> dict[str, tuple[list[str], Folded]]:
    start, closer, (first, second) = model.start, model.closer, model.calls
    tag = model.call_opener
    before, behind = around_the_value(model)
    held = model.answer[0] + f"so {tag.strip()[:2]}"
    answer, called = folded("why", "so"), folded("why", None, F)
    cut = first.rindex("b")
    return {
        "only the opener": ([model.opener, "why", closer, model.says("so")], answer),
        "only the closer": ([start + "why", closer, model.says("so")], answer),
        "text before the closer": ([start + "wh", "y" + closer, model.says("so")], answer),
        "text behind the closer": ([start + "why", closer + model.says("so")], answer),
        "closer and tool opener": ([start + "why", closer + tag, model.call[len(tag) :]], called),
        "last thought, closer, tool opener": (
            [start + "wh", f"y{closer}{tag}", model.call[len(tag) :]],
            called,
        ),
        "a whole call": ([start + "why", closer, model.call], called),
        "a call in two": ([start + "why", closer, f"{before}b", behind], called),
        "two calls": ([start + "why", closer, first + second], folded("why", None, F, G)),
        "one call ends and one begins": (
            [start + "why", closer, first[:cut], first[cut:] + second],
            folded("why", None, F, G),
        ),
        "a call ends and content begins": (
            [start + "why", closer, before, f"b{behind}{model.says('so')}"],
            folded("why", "so", F),
        ),
        "several markers": (
            [start + "wh", f"y{closer}{model.says('so')}{before}", f"b{behind}"],
            folded("why", "so", F),
        ),
        "everything": ([model.thinks("why") + model.says("so") + model.call], folded("why", "so", F)),
        "empty deltas": (["", start, "", "why", "", closer, "", model.says("so"), "", ""], answer),
        "text held back at the end": (
            [start + "why", closer, held],
            folded("why", held.removeprefix(model.answer[0])),
        ),
    }


@both_paths
@pytest.mark.parametrize(
    "model, name",
    [
        pytest.param(model, name, id=f"{model.tool}-{name.replace(' ', '-')}")
        for model in MODELS
        for name in _streams(model)
    ],
)
def test_streamed(model: Model, name: str) -> None:
    """With the ids, and without."""
    texts, expected = _streams(model)[name]
    asked = served(model, prompt=model.turn) if name == "only the opener" else served(model)
    deltas = asked.pieces(*texts)
    assert asked.streamed(deltas) == expected
    assert asked.streamed(text_only(deltas)) == expected


@both_paths
@models()
def test_streamed_a_closer_over_two_deltas(model: Model) -> None:
    asked = served(model)
    for cut in range(1, len(model.closer)):
        texts = [f"{model.start}why", model.closer[:cut], model.closer[cut:], model.says("so")]
        assert asked.streamed([(text, []) for text in texts]) == folded("why", "so"), cut


# The checklist of the token level


@models(opens_in_the_prompt)
def test_token_level_before_in_and_behind_reasoning(model: Model) -> None:
    asked = served(model)
    for text, over in (
        (model.prompt, False),
        (f"{model.prompt}why", False),
        (f"{model.prompt}why{model.closer}", True),
        (f"{model.prompt}why{model.closer}so", True),
        (f"{model.turn}{model.opener}why", False),
        (f"{model.turn}{model.opener}why{model.closer}so", True),
    ):
        assert asked.reasoning_parser().is_reasoning_end(asked.encode(text)) == over, text


@models(opens_in_the_prompt)
def test_token_level_prompts_of_several_turns(model: Model) -> None:
    asked = served(model)
    turns = f"{model.prompt}{model.thinks('why')}{model.says('so')}{model.next_turn}" * 2
    for end, over in ((model.prompt, False), (f"{model.turn}{model.closed}", True)):
        assert asked.reasoning_parser().is_reasoning_end(asked.encode(turns + end)) == over


@models(without(MISTRAL, HARMONY))  # they do not wait
@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_token_level_steps_of_several_ids(model: Model, size: int) -> None:
    asked = served(model)
    end = model.closer.rstrip()
    before = asked.encode(f"{model.start}why{end}")
    ids = [*before, *asked.encode("so it is")]
    assert steps_that_end_reasoning(asked, ids, size) == [end_of_step(len(before), size, len(ids))]


@models(lambda model: model in (KIMI_K2, QWEN3, GLM47, DEEPSEEK_V31, MINIMAX_M2))
def test_token_level_the_ids_of_content(model: Model) -> None:
    asked = served(model)
    content = asked.encode("so")
    ids = [*asked.encode(f"why{model.closer.rstrip()}"), *content]
    assert asked.reasoning_parser().extract_content_ids(ids) == content


# The page


def test_the_page_has_every_pitfall_and_every_pitfall_a_test() -> None:
    page = (Path(__file__).parents[2] / "docs" / "pitfalls.md").read_text(encoding="utf-8")
    numbers = set(range(1, 16))
    assert {int(number) for number in re.findall(r"^### (\d+)\. ", page, re.MULTILINE)} == numbers
    assert {int(name[13:15]) for name in globals() if name.startswith("test_pitfall_")} == numbers
    headings = re.findall(r"^#+ (.*)$", page, re.MULTILINE)
    anchors = {re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-") for heading in headings}
    assert set(re.findall(r"\]\(#([^)]+)\)", page)) <= anchors
