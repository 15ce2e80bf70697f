"""Independent readers: for each call syntax a naive reader of a whole output, and a generator of outputs.

A reader uses regular expressions, json and ast, and nothing of the framework. A generator writes outputs by
the grammar of the format and states from its own plan what must be read. To add a family, add a line to the
table; a new call syntax is a module beside the others, with a class that has ``read`` and ``outputs``.
"""

from __future__ import annotations

from readers.bare_json import BareJson
from readers.dsml import Dsml
from readers.gemma_notation import GemmaNotation
from readers.grammar import Syntax
from readers.harmony_channels import HarmonyChannels
from readers.json_array import COHERE_COMMAND3, COHERE_COMMAND4, GRANITE, HUNYUAN_A13B, MISTRAL_V7
from readers.json_in_tags import JsonInTags
from readers.key_value_pairs import KeyValuePairs
from readers.named_calls import NamedCalls
from readers.python_calls import PythonCalls
from readers.sectioned import DEEPSEEK_V3, DEEPSEEK_V31, KIMI_K2
from readers.xml_parameters import XmlParameters

_CHATML = "<|im_end|>\n<|im_start|>assistant\n"
_DEEPSEEK = "<｜Assistant｜>"
_LLAMA3 = "<|start_header_id|>assistant<|end_header_id|>\n\n"
_LLAMA4 = "<|header_start|>assistant<|header_end|>\n\n"
_COHERE = "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|><|START_THINKING|>"

_TABLE = [
    # name, dialect, what the request says
    ("kimi_k2", KIMI_K2, {"thinking": True, "prompt_tail": "<|im_assistant|>assistant<|im_middle|><think>"}),
    ("harmony", HarmonyChannels(), {"parser": "openai", "prompt_tail": "<|start|>assistant"}),
    ("mistral-v7", MISTRAL_V7, {"parser": "mistral", "prompt_tail": "[/INST]"}),
    ("mistral-v11", NamedCalls(ids=True), {"parser": "mistral", "prompt_tail": "[/INST]"}),
    ("mistral-v13", NamedCalls(separator_optional=True), {"parser": "mistral", "prompt_tail": "[/INST]"}),
    (
        "qwen3_coder",
        XmlParameters(think=("", "\n</think>\n\n")),
        {"thinking": True, "prompt_tail": _CHATML + "<think>\n"},
    ),
    (
        "qwen3_json",
        JsonInTags(think=("<think>\n", "\n</think>\n\n")),
        {"thinking": True, "prompt_tail": _CHATML},
    ),
    ("hermes", JsonInTags(), {"prompt_tail": _CHATML}),
    (
        "hermes-deepseek_r1",
        JsonInTags(think=("<think>\n", "</think>"), verbatim_reasoning=True),
        {"parser": "hermes", "reasoning": "deepseek_r1", "prompt_tail": _CHATML},
    ),
    ("deepseek_v3", DEEPSEEK_V3, {"prompt_tail": _DEEPSEEK}),
    (
        "deepseek_v31",
        DEEPSEEK_V31,
        {"reasoning": "deepseek_v3", "thinking": True, "prompt_tail": _DEEPSEEK + "<think>"},
    ),
    (
        "deepseek_v32",
        Dsml("function_calls"),
        {"reasoning": "deepseek_v3", "thinking": True, "prompt_tail": _DEEPSEEK + "<think>"},
    ),
    ("deepseek_v4", Dsml("tool_calls"), {"thinking": True, "prompt_tail": _DEEPSEEK + "<think>"}),
    ("deepseek_v41", Dsml("calls", blank=" "), {"prompt_tail": _DEEPSEEK + "<think>"}),
    (
        "glm45",
        KeyValuePairs(think=("\n<think>", "</think>\n"), newline="\n"),
        {"thinking": True, "prompt_tail": "<|assistant|>"},
    ),
    (
        "glm47",
        KeyValuePairs(think=("", "</think>")),
        {"thinking": True, "prompt_tail": "<|assistant|><think>"},
    ),
    ("gemma4", GemmaNotation(), {"thinking": True, "prompt_tail": "<|turn>model\n"}),
    (
        "granite",
        GRANITE,
        {"thinking": True, "prompt_tail": "<|start_of_role|>assistant<|end_of_role|>"},
    ),
    (
        "granite4",
        JsonInTags(string_arguments=True),
        {"prompt_tail": "<|start_of_role|>assistant<|end_of_role|>"},
    ),
    ("llama3_json", BareJson(), {"prompt_tail": _LLAMA3}),
    ("llama4_json", BareJson(), {"prompt_tail": _LLAMA4}),
    ("pythonic", PythonCalls(), {"prompt_tail": _LLAMA3}),
    ("llama4_pythonic", PythonCalls(wrapped=True), {"prompt_tail": _LLAMA4}),
    ("cohere_command3", COHERE_COMMAND3, {"thinking": True, "prompt_tail": _COHERE}),
    ("cohere_command4", COHERE_COMMAND4, {"thinking": True, "prompt_tail": _COHERE}),
    ("hunyuan_a13b", HUNYUAN_A13B, {"thinking": True, "prompt_tail": "<|extra_0|>"}),
]

SYNTAXES = [Syntax(name, dialect.read, dialect.outputs, **request) for name, dialect, request in _TABLE]
