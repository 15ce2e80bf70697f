"""A model directory that a real server can load: one small layer without weights, and a tokenizer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

EOS = "<|eos|>"

# Writes the turns plainly, reasoning between the request's ``think_marks``; what follows the last turn is the
# request's to say.
CHAT_TEMPLATE = (
    "{% if enable_thinking is defined and not enable_thinking %}system: Do not think.\n{% endif %}"
    "{% for message in messages %}{{ message.role }}: "
    "{% if message.reasoning %}{{ think_marks[0] }}{{ message.reasoning }}{{ think_marks[1] }}{% endif %}"
    "{{ message.content }}\n{% endfor %}{{ prompt_tail }}"
)

# Enough prose for the usual letter pairs and JSON's usual neighbours to become tokens of their own.
PROSE = """The quick brown fox jumps over the lazy dog while the tide turns at the harbour.
{"name": "forecast", "arguments": {"city": "Brest", "days": 3, "metric": true, "items": [1, 2, 3]}}
<function=forecast>\n<parameter=city>\nBrest\n</parameter>\n</function>\n<tool_call>think answer response
"""


def build_tokenizer(special: Sequence[str], added: Sequence[str]) -> Tokenizer:
    """A byte-level BPE in which each of ``special`` and ``added`` is one token.

    ``special`` ones are flagged as such, so that detokenizing may skip them; ``added`` ones are not.
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    tokenizer.train_from_iterator([PROSE] * 4, trainer)
    tokenizer.add_tokens([AddedToken(text, special=True, normalized=False) for text in (EOS, *special)])
    tokenizer.add_tokens([AddedToken(text, special=False, normalized=False) for text in added])
    return tokenizer


def build_model(directory: Path, tokenizer: Tokenizer) -> None:
    """Writes ``config.json`` and the tokenizer's files; ``--load-format dummy`` invents the weights."""
    directory.mkdir(parents=True)
    eos = tokenizer.token_to_id(EOS)
    config = {
        "architectures": ["Qwen3ForCausalLM"],
        "model_type": "qwen3",
        "hidden_size": 64,
        "intermediate_size": 64,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "head_dim": 32,
        "max_position_embeddings": 4096,
        "rms_norm_eps": 1e-6,
        "rope_theta": 10000.0,
        "hidden_act": "silu",
        "vocab_size": 1024,
        "eos_token_id": eos,
        "tie_word_embeddings": True,
    }
    tokenizer_config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": EOS,
        "chat_template": CHAT_TEMPLATE,
        "clean_up_tokenization_spaces": False,
    }
    (directory / "config.json").write_text(json.dumps(config))
    (directory / "tokenizer_config.json").write_text(json.dumps(tokenizer_config))
    tokenizer.save(str(directory / "tokenizer.json"))
