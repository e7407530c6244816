"""Write model folders for `--load-format dummy`: real shapes, no weights; run it with the engine's interpreter.

    python scripts/gpu_models.py FOLDER

FOLDER/hybrid: the text part of Qwen3.6-35B-A3B (40 layers, every fourth with full attention, 256 experts) in bfloat16.
FOLDER/hybrid-awq: the same, with its experts in 4 bits (AWQ), computed in float16. FOLDER/dense: the shape of Qwen3-8B.

The engine fills such a model with random numbers: it starts, allocates and runs as the real one does, and every answer
is garbage. The tokenizer knows single bytes, and a made-up word for each other number, so that any token has a text.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

VOCABULARY = 248_320
END, PAD = "<|im_end|>", "<|endoftext|>"
SPECIAL = (PAD, "<|im_start|>", END)
MARKUP = ("<think>", "</think>", "<tool_call>", "</tool_call>")
TEMPLATE = (
    "{%- if tools %}<|im_start|>system\nYou may call these tools:\n"
    "{%- for tool in tools %}{{ tool | tojson }}\n{%- endfor %}<|im_end|>\n{%- endif %}"
    "{%- for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content or '' }}<|im_end|>\n{%- endfor %}"
    "{%- if add_generation_prompt %}<|im_start|>assistant\n<think>\n{%- endif %}"
)

COMMON = {
    "vocab_size": VOCABULARY,
    "rms_norm_eps": 1e-6,
    "tie_word_embeddings": False,
    "hidden_act": "silu",
    "attention_bias": False,
    "attention_dropout": 0.0,
    "initializer_range": 0.02,
    "use_cache": True,
}
HYBRID: dict[str, Any] = {
    "architectures": ["Qwen3NextForCausalLM"],
    "model_type": "qwen3_next",
    "hidden_size": 2048,
    "num_hidden_layers": 40,
    "full_attention_interval": 4,
    "layer_types": ["full_attention" if layer % 4 == 3 else "linear_attention" for layer in range(40)],
    "num_attention_heads": 16,
    "num_key_value_heads": 2,
    "head_dim": 256,
    "partial_rotary_factor": 0.25,
    "linear_num_key_heads": 16,
    "linear_num_value_heads": 32,
    "linear_key_head_dim": 128,
    "linear_value_head_dim": 128,
    "linear_conv_kernel_dim": 4,
    "num_experts": 256,
    "num_experts_per_tok": 8,
    "moe_intermediate_size": 512,
    "shared_expert_intermediate_size": 512,
    "intermediate_size": 512,
    "decoder_sparse_step": 1,
    "mlp_only_layers": [],
    "norm_topk_prob": True,
    "max_position_embeddings": 262_144,
    "rope_theta": 10_000_000,
}
"""The text part of Qwen/Qwen3.6-35B-A3B, in the words of the older Qwen3-Next config, which has no vision tower."""
DENSE: dict[str, Any] = {
    "architectures": ["Qwen3ForCausalLM"],
    "model_type": "qwen3",
    "hidden_size": 4096,
    "intermediate_size": 12_288,
    "num_hidden_layers": 36,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "max_position_embeddings": 40_960,
    "rope_theta": 1_000_000,
}
AWQ = {
    "quant_method": "awq",
    "bits": 4,
    "group_size": 128,
    "zero_point": True,
    "version": "gemm",
    "modules_to_not_convert": ["linear_attn", "self_attn", "shared_expert", "mlp.gate", "lm_head", "embed_tokens"],
}


def main() -> None:
    """Write the folders."""
    if len(sys.argv) != 2:
        sys.exit("usage: gpu_models.py FOLDER")
    root = Path(sys.argv[1])
    tokenizer = made_tokenizer()
    write(root / "hybrid", {**HYBRID, "torch_dtype": "bfloat16"}, tokenizer)
    write(root / "hybrid-awq", {**HYBRID, "torch_dtype": "float16", "quantization_config": AWQ}, tokenizer)
    write(root / "dense", {**DENSE, "torch_dtype": "bfloat16"}, tokenizer)


def made_tokenizer() -> Any:
    """Make a tokenizer in which every number decodes to some text."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers  # type: ignore[import-not-found]

    numbers = {byte: index for index, byte in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    words = VOCABULARY - len(numbers) - len(SPECIAL) - len(MARKUP)
    numbers |= {f"Ġw{word}": len(numbers) + word for word in range(words)}
    tokenizer = Tokenizer(models.BPE(vocab=numbers, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(token, special=True) for token in SPECIAL])
    tokenizer.add_tokens([AddedToken(token, special=False) for token in MARKUP])
    return tokenizer


def write(folder: Path, config: dict[str, Any], tokenizer: Any) -> None:
    """Write one folder."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    end = tokenizer.token_to_id(END)
    files = {
        "config.json": {**COMMON, **config, "eos_token_id": end},
        "generation_config.json": {"eos_token_id": end},
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "eos_token": END,
            "pad_token": PAD,
            "model_max_length": config["max_position_embeddings"],
            "chat_template": TEMPLATE,
        },
    }
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
