"""A gpt-oss model that a real server can load: two small layers without weights, and the real vocabulary.

The server renders prompts with the ``openai_harmony`` library, whose vocabulary is o200k and no other: it
checks a file's hash. The package ``bpe_openai`` has that file.
"""

from __future__ import annotations

import base64
import gzip
import importlib.resources
import json
from collections.abc import Iterator
from pathlib import Path

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

#: The environment variable with the folder in which the library looks for the vocabulary.
VOCABULARY = "TIKTOKEN_ENCODINGS_BASE"

_FILE = "o200k_base.tiktoken"
_FIRST_SPECIAL, _LAST_SPECIAL = 199998, 200018
_SPECIAL = {
    199998: "startoftext",
    199999: "endoftext",
    200002: "return",
    200003: "constrain",
    200005: "channel",
    200006: "start",
    200007: "end",
    200008: "message",
    200012: "call",
    200018: "endofprompt",
}
#: The tokens that end a message of the model for good.
_STOPS = (200002, 199999, 200012)


def write_vocabulary(directory: Path) -> None:
    """The vocabulary as ``openai_harmony`` reads it."""
    directory.mkdir(parents=True)
    (directory / _FILE).write_bytes(_vocabulary())


def build_gpt_oss(directory: Path) -> None:
    """Writes the configuration and a tokenizer.

    The tokenizer knows how ids are spelled, which is all that a server asks of it here: it has no merges, so
    that it is made in seconds.
    """
    directory.mkdir(parents=True)
    tokenizer = Tokenizer(models.BPE(vocab=dict(_tokens()), merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    names = (_SPECIAL.get(n, f"reserved_{n}") for n in range(_FIRST_SPECIAL, _LAST_SPECIAL + 1))
    tokenizer.add_tokens([AddedToken(f"<|{name}|>", special=True, normalized=False) for name in names])
    tokenizer.save(str(directory / "tokenizer.json"))
    config = {
        "architectures": ["GptOssForCausalLM"],
        "model_type": "gpt_oss",
        "hidden_size": 64,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "head_dim": 32,
        "num_local_experts": 2,
        "num_experts_per_tok": 1,
        "layer_types": ["sliding_attention", "full_attention"],
        "sliding_window": 128,
        "max_position_embeddings": 131072,
        "rope_theta": 150000,
        "rope_scaling": {
            "rope_type": "yarn",
            "factor": 32.0,
            "beta_fast": 32.0,
            "beta_slow": 1.0,
            "truncate": False,
            "original_max_position_embeddings": 4096,
        },
        "rms_norm_eps": 1e-5,
        "swiglu_limit": 7.0,
        "hidden_act": "silu",
        "attention_bias": True,
        "vocab_size": 201088,
        "eos_token_id": _STOPS[0],
        "tie_word_embeddings": False,
    }
    tokenizer_config = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|return|>"}
    for name, content in {
        "config.json": config,
        "generation_config.json": {"eos_token_id": list(_STOPS)},
        "tokenizer_config.json": tokenizer_config | {"clean_up_tokenization_spaces": False},
    }.items():
        (directory / name).write_text(json.dumps(content))


def _vocabulary() -> bytes:
    return gzip.decompress((importlib.resources.files("bpe_openai") / "data" / f"{_FILE}.gz").read_bytes())


def _tokens() -> Iterator[tuple[str, int]]:
    """The tokens with a character for each byte, as byte-level tokenizers write them, and their ids."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    characters = {byte: chr(byte) for byte in printable}
    characters |= {byte: chr(256 + number) for number, byte in enumerate(others)}
    for line in _vocabulary().splitlines():
        token, number = line.split()
        yield "".join(characters[byte] for byte in base64.b64decode(token)), int(number)
