"""How long the model store's verbs take: inspect of a large index, hashing, the scan for references. Prints numbers.

Run: python benchmarks/model_store.py [--tensors 60000] [--shards 14]
"""

from __future__ import annotations

import argparse
import json
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

EXPERTS = 256
LAYERS = 40
PARTS = (("qweight", "I32", 4), ("qzeros", "I32", 4), ("scales", "F16", 2))


def names(count: int) -> list[tuple[str, str, int]]:
    """Name the tensors of a mixture of experts with AWQ: as many as asked for, spread over all layers."""
    found: list[tuple[str, str, int]] = [
        ("model.language_model.embed_tokens.weight", "BF16", 2),
        ("lm_head.weight", "BF16", 2),
    ]
    for layer in range(LAYERS):
        prefix = f"model.language_model.layers.{layer}"
        attention = ("q_proj", "k_proj", "v_proj", "o_proj")
        mixer = [f"self_attn.{name}" for name in attention]
        if layer % 4 != 3:
            mixer = [
                f"linear_attn.{name}" for name in ("in_proj_qkv", "in_proj_z", "in_proj_a", "in_proj_b", "out_proj")
            ]
        plain = [*mixer, "mlp.gate", "mlp.shared_expert_gate", "input_layernorm", "post_attention_layernorm"]
        found += [(f"{prefix}.{name}.weight", "BF16", 2) for name in plain]
    per_layer = (count - len(found)) // LAYERS // (3 * len(PARTS))
    for layer in range(LAYERS):
        for expert in range(per_layer):
            for projection in ("gate_proj", "up_proj", "down_proj"):
                name = f"model.language_model.layers.{layer}.mlp.experts.{expert}.{projection}"
                found += [(f"{name}.{part}", dtype, size) for part, dtype, size in PARTS]
    return found


def make_checkpoint(folder: Path, tensors: int, shards: int) -> int:
    """Write a checkpoint of so many tiny tensors; return how many there are."""
    every = names(tensors)
    size = -(-len(every) // shards)
    weight_map = {}
    for number in range(shards):
        shard = f"model-{number + 1:05d}-of-{shards:05d}.safetensors"
        header, body = {}, bytearray()
        for name, dtype, width in every[number * size : (number + 1) * size]:
            data = struct.pack("<e", 0.01) if dtype == "F16" else bytes(width)
            header[name] = {"dtype": dtype, "shape": [1], "data_offsets": [len(body), len(body) + len(data)]}
            body += data
            weight_map[name] = shard
        text = json.dumps(header).encode()
        (folder / shard).write_bytes(struct.pack("<Q", len(text)) + text + bytes(body))
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))
    config = {
        "architectures": ["Qwen3_5MoeForConditionalGeneration"], "model_type": "qwen3_5_moe", "dtype": "bfloat16",
        "text_config": {
            "model_type": "qwen3_5_moe_text", "hidden_size": 2048, "num_hidden_layers": LAYERS, "vocab_size": 248320,
            "full_attention_interval": 4, "head_dim": 256, "num_attention_heads": 16, "num_key_value_heads": 2,
            "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_num_key_heads": 16,
            "linear_num_value_heads": 32, "linear_value_head_dim": 128, "max_position_embeddings": 262144,
            "num_experts": EXPERTS, "num_experts_per_tok": 8, "moe_intermediate_size": 512,
            "shared_expert_intermediate_size": 512, "tie_word_embeddings": False,
        },
        "vision_config": {"hidden_size": 1152, "depth": 27},
        "quantization_config": {
            "quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True, "version": "gemm",
            "modules_to_not_convert": ["linear_attn", "self_attn", "shared_expert", "mlp.gate", "visual"],
        },
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer.json").write_text("{}")
    return len(every)


def timed(what: str, work: Callable[[], object], times: int = 5) -> float:
    """Run it several times; print the median and the slowest, in seconds."""
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    taken.sort()
    print(f"{what:<62} median {taken[len(taken) // 2]:.2f} s, slowest {taken[-1]:.2f} s")
    return taken[len(taken) // 2]


def main() -> None:
    """Print the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tensors", type=int, default=60_000)
    parser.add_argument("--shards", type=int, default=14)
    chosen = parser.parse_args()
    from seatrial.store.hashing import digest_like
    from seatrial.store.reference_sources import find_uses
    from seatrial.store.scale_values import judge

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "checkpoint"
        folder.mkdir()
        count = make_checkpoint(folder, chosen.tensors, chosen.shards)
        command = [sys.executable, "-m", "seatrial", "models", "inspect", str(folder), "--json"]
        statement: dict[str, object] = {}

        def inspect() -> None:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            statement.update(json.loads(done.stdout))

        timed(f"inspect, {chosen.shards} shards, {count:,} tensors, whole command", inspect)
        print(f"  it says: risk {statement['risk']}, {len(list(statement['findings']))} findings")  # type: ignore[call-overload]
        big = Path(temporary) / "big"
        big.write_bytes(bytes(1 << 20) * 512)
        seconds = timed("sha256 of 512 MiB, one thread", lambda: digest_like(big, "0" * 64), 3)
        print(f"  {0.5 / seconds:.2f} GiB/s: a checkpoint of 25 GiB takes {25 * seconds / 0.5:.0f} s on one thread")
        scales = struct.pack("<e", 0.01) * (1 << 22)
        seconds = timed("4 Mi scales of 16 bits judged", lambda: judge("scales", "F16", scales), 3)
        print(f"  {4 / seconds:.0f} Mi scales/s: the 260 Mi of a 35B model at group 128 take {260 * seconds / 4:.0f} s")
        timed("who refers to what: files, containers, processes", lambda: find_uses(Path(temporary) / "store"), 3)


if __name__ == "__main__":
    main()
