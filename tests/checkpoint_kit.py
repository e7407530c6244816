"""Small real checkpoints in the shapes that quantizers publish: safetensors, index, config, tokenizer, template."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from hub_kit import DTYPES, safetensors

Tensors = dict[str, tuple[str, tuple[int, ...], bytes | None]]
TEMPLATE = (
    "{% if tools %}{% for tool in tools %}{{ tool }}{% endfor %}<tool_call>\n<function=name>{% endif %}"
    "{% if enable_thinking %}<think>{% endif %}{{ messages }}"
)
GROUP = 32
HIDDEN = 64
LAYERS = 4


def hybrid_config(*, experts: bool = True, vision: bool = True, **quantization: Any) -> dict[str, Any]:
    """Make a config of the Qwen3.5 kind: three gated delta nets, then one full attention."""
    kind = "qwen3_5_moe" if experts else "qwen3_5"
    text: dict[str, Any] = {
        "model_type": f"{kind}_text", "hidden_size": HIDDEN, "num_hidden_layers": LAYERS, "vocab_size": 128,
        "full_attention_interval": 4, "head_dim": 16, "num_attention_heads": 4, "num_key_value_heads": 2,
        "linear_conv_kernel_dim": 4, "linear_key_head_dim": 16, "linear_num_key_heads": 2,
        "linear_num_value_heads": 4, "linear_value_head_dim": 16, "max_position_embeddings": 4096,
        "attn_output_gate": True, "tie_word_embeddings": False, "intermediate_size": 64, "dtype": "bfloat16",
    }  # fmt: skip
    if experts:
        text |= {
            "num_experts": 2, "num_experts_per_tok": 1, "moe_intermediate_size": 64,
            "shared_expert_intermediate_size": 64,
        }  # fmt: skip
    config: dict[str, Any] = {
        "architectures": ["Qwen3_5MoeForConditionalGeneration" if experts else "Qwen3_5ForConditionalGeneration"],
        "model_type": kind,
        "dtype": "bfloat16",
        "tie_word_embeddings": False,
        "text_config": text,
    }
    if vision:
        config["vision_config"] = {"model_type": f"{kind}_vision", "hidden_size": 32, "depth": 1, "num_heads": 2}
    if quantization:
        config["quantization_config"] = quantization
    return config


def linear_modules(*, experts: bool = True) -> dict[str, tuple[int, int]]:
    """Name the projections of the hybrid model, each with its rows and columns."""
    found: dict[str, tuple[int, int]] = {}
    for number in range(LAYERS):
        layer = f"model.language_model.layers.{number}"
        if number % 4 == 3:
            for name, rows in (("q_proj", 128), ("k_proj", 32), ("v_proj", 32), ("o_proj", HIDDEN)):
                found[f"{layer}.self_attn.{name}"] = (rows, HIDDEN)
        else:
            for name, rows in (("in_proj_qkv", 128), ("in_proj_z", 64), ("in_proj_a", 4), ("in_proj_b", 4)):
                found[f"{layer}.linear_attn.{name}"] = (rows, HIDDEN)
            found[f"{layer}.linear_attn.out_proj"] = (HIDDEN, 64)
        if experts:
            found[f"{layer}.mlp.gate"] = (2, HIDDEN)
            found[f"{layer}.mlp.shared_expert_gate"] = (1, HIDDEN)
            for part in ("shared_expert", "experts.0", "experts.1"):
                for name in ("gate_proj", "up_proj", "down_proj"):
                    found[f"{layer}.mlp.{part}.{name}"] = (64, HIDDEN)
        else:
            for name in ("gate_proj", "up_proj", "down_proj"):
                found[f"{layer}.mlp.{name}"] = (64, HIDDEN)
    found["lm_head"] = (128, HIDDEN)
    return found


def hybrid_tensors(
    quantized: Callable[[str], bool], method: str = "awq", *, experts: bool = True, vision: bool = True
) -> Tensors:
    """Make the tensors of the hybrid model.

    Args:
        quantized: which projections are stored quantized.
        method: awq, gptq, compressed-tensors or fp8: how.
        experts: a mixture of experts, or dense.
        vision: with a vision tower.
    """
    made: Tensors = {"model.language_model.embed_tokens.weight": ("BF16", (128, HIDDEN), None)}
    for name, (rows, columns) in linear_modules(experts=experts).items():
        made |= (
            packed(name, rows, columns, method)
            if quantized(name)
            else {f"{name}.weight": ("BF16", (rows, columns), None)}
        )
    for number in range(LAYERS):
        layer = f"model.language_model.layers.{number}"
        made[f"{layer}.input_layernorm.weight"] = ("BF16", (HIDDEN,), None)
        made[f"{layer}.post_attention_layernorm.weight"] = ("BF16", (HIDDEN,), None)
        if number % 4 != 3:
            made[f"{layer}.linear_attn.conv1d.weight"] = ("BF16", (128, 1, 4), None)
            made[f"{layer}.linear_attn.A_log"] = ("F32", (4,), None)
            made[f"{layer}.linear_attn.dt_bias"] = ("BF16", (4,), None)
    made["model.language_model.norm.weight"] = ("BF16", (HIDDEN,), None)
    if vision:
        made["model.visual.blocks.0.attn.qkv.weight"] = ("BF16", (96, 32), None)
        made["model.visual.patch_embed.proj.weight"] = ("BF16", (32, 48), None)
    return made


def packed(name: str, rows: int, columns: int, method: str) -> Tensors:
    """Make the tensors of one quantized projection, with believable scales."""
    groups = max(1, columns // GROUP)
    if method in ("awq", "gptq", "auto-round"):
        return {
            f"{name}.qweight": ("I32", (columns, max(1, rows // 8)), None),
            f"{name}.qzeros": ("I32", (groups, max(1, rows // 8)), None),
            f"{name}.scales": ("F16", (groups, rows), half(0.01, groups * rows)),
        }
    if method == "compressed-tensors":
        return {
            f"{name}.weight_packed": ("I32", (rows, columns // 8), None),
            f"{name}.weight_scale": ("BF16", (rows, groups), brain(0.01, rows * groups)),
            f"{name}.weight_shape": ("I64", (2,), rows.to_bytes(8, "little") + columns.to_bytes(8, "little")),
        }
    return {
        f"{name}.weight": ("F8_E4M3", (rows, columns), None),
        f"{name}.weight_scale_inv": ("BF16", (1, groups), brain(0.001, groups)),
    }


def half(value: float, count: int) -> bytes:
    """Write float16 values around one."""
    import struct

    return b"".join(struct.pack("<e", value * (1 + number % 7 / 10)) for number in range(count))


def brain(value: float, count: int) -> bytes:
    """Write bfloat16 values around one."""
    import struct

    return b"".join(struct.pack("<f", value * (1 + number % 7 / 10))[2:] for number in range(count))


def checkpoint_files(
    config: Mapping[str, Any], tensors: Tensors, *, shards: int = 2, template: str | None = TEMPLATE, seed: int = 0
) -> dict[str, bytes]:
    """Make the files of a checkpoint: weights in shards with an index, and what stands beside them."""
    names = sorted(tensors)
    size = -(-len(names) // shards)
    files: dict[str, bytes] = {}
    weight_map: dict[str, str] = {}
    for number in range(shards):
        own = names[number * size : (number + 1) * size]
        shard = f"model-{number + 1:05d}-of-{shards:05d}.safetensors"
        files[shard] = safetensors({name: tensors[name] for name in own}, seed=seed + 100 * number)
        weight_map |= dict.fromkeys(own, shard)
    total = sum(_bytes(tensors[name]) for name in names)
    files["model.safetensors.index.json"] = json.dumps(
        {"metadata": {"total_size": total}, "weight_map": weight_map}
    ).encode()
    files["config.json"] = json.dumps(config).encode()
    files["generation_config.json"] = b'{"temperature": 0.6, "top_p": 0.95, "top_k": 20, "do_sample": true}'
    files["tokenizer.json"] = b'{"version": "1.0", "model": {"type": "BPE", "vocab": {}, "merges": []}}'
    files["tokenizer_config.json"] = b'{"eos_token": "<|im_end|>"}'
    files["README.md"] = b"---\nlicense: apache-2.0\n---\n# A model\n"
    if template is not None:
        files["chat_template.jinja"] = template.encode()
    return files


def _bytes(tensor: tuple[str, tuple[int, ...], bytes | None]) -> int:
    count = 1
    for size in tensor[1]:
        count *= size
    return count * DTYPES[tensor[0]]


def write_files(folder: Path, files: Mapping[str, bytes]) -> Path:
    """Write files into a folder."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def plain_model(*, seed: int = 0, shards: int = 2) -> dict[str, bytes]:
    """Make a small unquantized checkpoint with files that no other seed has."""
    return checkpoint_files(hybrid_config(), hybrid_tensors(lambda _name: False), shards=shards, seed=seed)


def only(*parts: str) -> Callable[[str], bool]:
    """Choose the projections whose names have one of these parts."""
    return lambda name: any(part in name for part in parts)


def all_but(*parts: str) -> Callable[[str], bool]:
    """Choose the projections whose names have none of these parts."""
    return lambda name: not any(part in name for part in parts)


def stored_as_hub_does(
    hub: Path, repo: str, commits: Mapping[str, Mapping[str, bytes]], refs: Mapping[str, str]
) -> Path:
    """Put commits into a store by hand, in the layout of huggingface_hub."""
    import os

    from hub_kit import LARGE_BYTES, git_name, sha256

    folder = hub / f"models--{repo.replace('/', '--')}"
    (folder / "blobs").mkdir(parents=True, exist_ok=True)
    for commit, files in commits.items():
        for name, data in files.items():
            blob = folder / "blobs" / (sha256(data) if len(data) >= LARGE_BYTES else git_name(data))
            if not blob.exists():
                blob.write_bytes(data)
            link = folder / "snapshots" / commit / name
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(os.path.relpath(blob, link.parent))
    for name, commit in refs.items():
        ref = folder / "refs" / name
        ref.parent.mkdir(parents=True, exist_ok=True)
        ref.write_text(commit)
    return folder


def tree(folder: Path, *, without: Iterable[str] = (".seatrial", ".locks")) -> dict[str, bytes | str]:
    """Take a folder's content: files with their bytes, links with where they lead."""
    found: dict[str, bytes | str] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if any(part in name.split("/") for part in without):
            continue
        if path.is_symlink():
            found[name] = str(path.readlink())
        elif path.is_file():
            found[name] = path.read_bytes()
    return found
