"""The start rule, and what the ids alone say about reasoning."""

from __future__ import annotations

from typing import Any

import pytest
from support.parsing import family_tokenizer

from unified_parser import UnknownFamilyError, create_parser, get_parser_class

TURN = "<|im_end|>\n<|im_start|>assistant\n"
OLD_TURN = "<|im_start|>assistant\n<think>\nold\n</think>\n\nold answer" + TURN

#: family, prompt, chat_template_kwargs, is reasoning over at its end?
PROMPTS: list[tuple[str, str, dict[str, Any], bool]] = [
    ("qwen3", TURN + "<think>\n", {}, False),
    ("qwen3", TURN + "<think>\n\n</think>\n\n", {}, True),
    ("qwen3", TURN, {}, False),
    ("qwen3", TURN, {"enable_thinking": False}, True),
    ("qwen3", TURN + "<think>\n", {"enable_thinking": False}, False),  # the prompt is stronger
    ("qwen3", OLD_TURN, {}, False),  # an earlier turn's markers do not count
    ("kimi_k2", "<|im_assistant|>assistant<|im_middle|><think>", {}, False),
    ("kimi_k2", "<|im_assistant|>assistant<|im_middle|><think></think>", {}, True),
    ("kimi_k2", "<|im_assistant|>assistant<|im_middle|>", {}, False),
    ("kimi_k2", "", {"thinking": False}, True),
    ("kimi_k2", "", {"thinking": False, "enable_thinking": True}, False),  # either switches it on
    ("deepseek_v3", "<｜Assistant｜>", {}, True),  # off unless asked for
    ("deepseek_v3", "<｜Assistant｜>", {"thinking": True}, False),
    ("deepseek_v4", "<｜Assistant｜>", {}, False),
    ("deepseek_v4", "<｜Assistant｜>", {"reasoning_effort": "none", "thinking": True}, True),
    ("holo2", TURN, {}, False),
    ("glm47", "<|assistant|><think>", {}, False),
    ("glm47", "<|assistant|></think>", {}, True),
    ("gemma4", "<|turn>model\n", {}, True),
    ("gemma4", "<|turn>model\n", {"enable_thinking": True}, False),
    ("gemma4", "<|turn>model\n<|channel>thought\n<channel|>", {}, True),
    ("granite", "<|start_of_role|>assistant<|end_of_role|>", {"thinking": True}, False),
    ("granite", "<|start_of_role|>assistant<|end_of_role|>", {}, True),
    ("cohere_command4", "<|CHATBOT_TOKEN|><|START_THINKING|>", {}, False),
    ("cohere_command4", "<|CHATBOT_TOKEN|><|START_THINKING|><|END_THINKING|>", {}, True),
    ("hy_v3", "<｜hy_Assistant:opensource｜>", {}, True),
    ("hy_v4", "<｜hy_Assistant:opensource｜>", {}, False),
    ("llama3_json", "<|start_header_id|>assistant<|end_header_id|>\n\n", {}, True),
]


@pytest.mark.parametrize(("family", "prompt", "kwargs", "over"), PROMPTS)
def test_is_reasoning_over_at_the_end_of_a_prompt(
    family: str, prompt: str, kwargs: dict[str, Any], over: bool
) -> None:
    tokenizer = family_tokenizer(family, prompt=prompt)
    ids = tokenizer.encode(prompt)
    assert (
        create_parser(family, tokenizer=tokenizer, chat_template_kwargs=kwargs).is_reasoning_end(ids) is over
    )
    for options in ({"prompt_text": prompt}, {"prompt_token_ids": ids, "tokenizer": tokenizer}):
        parser = create_parser(family, chat_template_kwargs=kwargs, **options)
        assert parser.reasoning_ended is over


@pytest.mark.parametrize("prompt", ["<think>\n", "<think>"])
def test_framing_behind_a_marker_in_the_prompt_is_dropped_once(prompt: str) -> None:
    parser = create_parser("qwen3", prompt_text=TURN + prompt)
    raw = "thought\n</think>\n\nanswer" if prompt.endswith("\n") else "\nthought\n</think>\n\nanswer"
    assert parser.parse(raw).reasoning == "thought"


class TestTokenLevel:
    family = "qwen3"

    @pytest.fixture
    def tokenizer(self) -> Any:
        return family_tokenizer(self.family, prompt=TURN)

    def parser(self, tokenizer: Any, prompt: str) -> Any:
        return create_parser(self.family, tokenizer=tokenizer, prompt_token_ids=tokenizer.encode(prompt))

    def test_the_end_is_found_in_its_step_only(self, tokenizer: Any) -> None:
        prompt = tokenizer.encode(TURN + "<think>\n")
        output = tokenizer.encode("a thought\n</think>\n\nan answer")
        (close,) = tokenizer.encode("</think>")
        parser = self.parser(tokenizer, TURN + "<think>\n")
        for before in (prompt, []):  # a server asks with and without the prompt in front
            steps = [
                parser.is_reasoning_end_streaming([*before, *output[: n + 1]], output[n : n + 1])
                for n in range(len(output))
            ]
            assert [number for number, ends in zip(output, steps, strict=True) if ends] == [close]

    def test_explicit_and_implicit_ends(self, tokenizer: Any) -> None:
        parser = self.parser(tokenizer, TURN + "<think>\n")
        text = tokenizer.encode("ab")
        (close,), (call,) = tokenizer.encode("</think>"), tokenizer.encode("<tool_call>")
        assert tuple(parser.find_reasoning_end([*text, close, *text])) == (len(text), False)
        assert tuple(parser.find_reasoning_end([*text, call, *text])) == (len(text), True)
        assert parser.find_reasoning_end(text) is None
        assert parser.content_ids([*text, close, *text]) == text
        assert parser.content_ids([*text, call, *text]) == [call, *text]
        assert parser.content_ids(text) == []
        assert parser.reasoning_end_token_ids == {close}
        assert parser.implicit_reasoning_end_token_ids == {call}

    def test_reasoning_tokens_are_counted_without_markers(self, tokenizer: Any) -> None:
        thought, answer = tokenizer.encode("a thought"), tokenizer.encode("an answer")
        (begin,), (close,) = tokenizer.encode("<think>"), tokenizer.encode("</think>")
        opened = self.parser(tokenizer, TURN + "<think>\n")
        assert opened.count_reasoning_tokens([*thought, close, *answer]) == len(thought)
        assert opened.count_reasoning_tokens([begin, *thought, close, *answer]) == len(thought)
        closed = self.parser(tokenizer, TURN + "<think>\n\n</think>\n\n")
        assert closed.count_reasoning_tokens(answer) == 0

    @pytest.mark.parametrize("thought", ["a b c.", "Here is my respite. Here is", "Here is my response"])
    def test_reasoning_tokens_are_counted_where_its_end_is_text(self, thought: str) -> None:
        tokenizer = family_tokenizer("granite")
        parser = create_parser("granite", tokenizer=tokenizer, thinking=True)
        begin, inside, end, answer = map(
            tokenizer.encode, ("Here is my thought process:", f" {thought}\n\n", "Here is my response:", " b")
        )
        assert parser.count_reasoning_tokens([*begin, *inside, *end, *answer]) == len(inside)
        cut_off = tokenizer.encode(f" {thought}")
        assert parser.count_reasoning_tokens([*begin, *cut_off]) == len(cut_off)

    def test_an_end_of_several_tokens_is_found_across_steps(self) -> None:
        tokenizer = family_tokenizer("granite")
        parser = create_parser("granite", tokenizer=tokenizer, thinking=True)
        ids = tokenizer.encode("Here is my thought process: a. Here is my response: b")
        ends = [n for n in range(len(ids)) if parser.is_reasoning_end_streaming(ids[: n + 1], ids[n : n + 1])]
        assert len(ends) == 1
        assert tokenizer.decode(ids[: ends[0] + 1]).rstrip(" ").endswith("Here is my response:")
        assert parser.reasoning_end_token_ids == frozenset()


def test_an_unknown_name_names_the_nearest() -> None:
    with pytest.raises(UnknownFamilyError, match="kimi_k2"):
        get_parser_class("kimi-k2")
    with pytest.raises(UnknownFamilyError, match="qwen3_coder"):
        create_parser("qwen3", reasoning="qwen3_codr")


@pytest.mark.parametrize("options", [{"argument_streaming": "half"}, {"phase": "middle"}])
def test_a_bad_option_says_what_to_give(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="give '"):
        create_parser("kimi_k2", **options)
