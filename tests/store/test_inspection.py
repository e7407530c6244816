"""A quantized checkpoint read without loading it: real small files in the shapes that quantizers publish."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checkpoint_kit import (
    Tensors,
    all_but,
    checkpoint_files,
    half,
    hybrid_config,
    hybrid_tensors,
    only,
    packed,
    write_files,
)
from hub_kit import safetensors
from seatrial.store.checkpoint_source import local_checkpoint
from seatrial.store.inspection import Inspection, inspect
from seatrial.store.scale_values import judge, number

PLAIN = ("in_proj_a", "in_proj_b", "mlp.gate", "shared_expert_gate", "lm_head")
AWQ: dict[str, Any] = {
    "quant_method": "awq", "bits": 4, "group_size": 32, "zero_point": True, "version": "gemm",
    "modules_to_not_convert": ["linear_attn", "self_attn", "shared_expert", "mlp.gate", "visual", "mtp"],
}  # fmt: skip
COMPRESSED: dict[str, Any] = {
    "quant_method": "compressed-tensors", "format": "pack-quantized",
    "ignore": ["lm_head", "re:.*visual.*", "re:.*mlp.gate$", "re:.*shared_expert_gate", "re:.*in_proj_[ab]"],
    "config_groups": {
        "group_0": {
            "targets": ["Linear"],
            "weights": {"num_bits": 4, "group_size": 32, "symmetric": True, "type": "int", "strategy": "group"},
        }
    },
}  # fmt: skip
GPTQ: dict[str, Any] = {
    "quant_method": "gptq", "bits": 4, "group_size": 32, "sym": True,
    "dynamic": {"-:.*attn.*": {}, "-:.*shared_expert.*": {}},
}  # fmt: skip
FP8: dict[str, Any] = {
    "quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128],
    "modules_to_not_convert": ["lm_head", "mlp.gate", "shared_expert_gate", "in_proj_a", "in_proj_b", "visual"],
}  # fmt: skip


def read(
    folder: Path, config: dict[str, Any], tensors: Tensors, repo: str = "owner/Qwen3.6-35B-A3B-X", **more: Any
) -> Inspection:
    write_files(folder, checkpoint_files(config, tensors, **more))
    return inspect(local_checkpoint(folder, repo=repo))


def ids(found: Inspection) -> set[str]:
    return {finding.id for finding in found.findings}


def message(found: Inspection, id_: str) -> str:
    return next(finding.message + " " + finding.advice for finding in found.findings if finding.id == id_)


@pytest.mark.parametrize(
    ("config", "quantized", "method"),
    [
        (AWQ, only("mlp.experts"), "awq"),
        (COMPRESSED, all_but(*PLAIN), "compressed-tensors"),
        (FP8, all_but(*PLAIN), "fp8"),
        ({}, lambda _name: False, "none"),
        (
            GPTQ,
            only("mlp.experts"),
            "gptq",
        ),
        (
            {
                "quant_method": "auto-round", "bits": 4, "group_size": 32, "sym": True,
                "packing_format": "auto_round:auto_gptq",
                "extra_config": {".*in_proj_[ab].*": {"bits": 16}, ".*shared_expert.*": {"bits": 16}},
            },
            all_but(*PLAIN, "shared_expert"),
            "auto-round",
        ),
    ],
    ids=["awq", "compressed-tensors", "fp8", "plain", "gptq", "auto-round"],
)  # fmt: skip
def test_a_sound_checkpoint_has_no_errors(
    tmp_path: Path, config: dict[str, Any], quantized: Callable[[str], bool], method: str
) -> None:
    found = read(tmp_path, hybrid_config(**config), hybrid_tensors(quantized, method))
    assert ids(found) == set()
    assert found.risk != "fatal"


def test_it_says_which_parts_are_quantized(tmp_path: Path) -> None:
    found = read(tmp_path, hybrid_config(**AWQ), hybrid_tensors(only("mlp.experts")))
    assert (found.method, found.bits, found.group_size, found.symmetric) == ("awq", 4, 32, False)
    parts = {kind.kind.value: (kind.modules, kind.quantized) for kind in found.kinds}
    assert parts["routed experts"] == (24, 24)
    assert parts["router gate"] == (4, 0)
    assert parts["shared expert"] == (12, 0)
    assert parts["shared expert gate"] == (4, 0)
    assert parts["linear attention in"] == (6, 0)
    assert parts["linear attention out"] == (3, 0)
    assert parts["linear attention gates"] == (6, 0)
    assert parts["attention"] == (4, 0)
    assert parts["lm_head"] == (1, 0)
    assert parts["embeddings"] == (1, 0)
    assert parts["vision tower"] == (2, 0)


def test_a_conservative_quantization_is_a_low_risk_and_an_eager_one_is_high(tmp_path: Path) -> None:
    careful = read(tmp_path / "a", hybrid_config(**AWQ), hybrid_tensors(only("mlp.experts")))
    eager = read(tmp_path / "b", hybrid_config(**COMPRESSED), hybrid_tensors(all_but(*PLAIN), "compressed-tensors"))
    assert careful.risk == "low"
    assert eager.risk == "high"
    assert any("GDN projections are 4-bit" in reason for reason in eager.reasons)
    record = next(reason for reason in eager.reasons if "on record" in reason)
    assert "2 broken (QuantTrio/Qwen3.6-27B-AWQ, cyankiwi/Qwen3.6-35B-A3B-AWQ-4bit)" in record
    assert "nobody reports on this one" in record


def test_quantized_gates_of_the_linear_attention_are_a_reason_of_their_own(tmp_path: Path) -> None:
    config = COMPRESSED | {"ignore": ["lm_head", "re:.*visual.*", "re:.*mlp.gate$", "re:.*shared_expert_gate"]}
    plain = ("mlp.gate", "shared_expert_gate", "lm_head")
    found = read(tmp_path, hybrid_config(**config), hybrid_tensors(all_but(*plain), "compressed-tensors"))
    assert any("in_proj_a, in_proj_b" in reason for reason in found.reasons)


def test_an_exclusion_that_awq_does_not_match_leaves_the_gates_unbound(tmp_path: Path) -> None:
    """The public case: in_proj_a is listed, the engine asks for in_proj_ba, and 96 tensors are passed over."""
    config = AWQ | {"modules_to_not_convert": ["in_proj_a", "self_attn", "shared_expert", "mlp.gate", "visual"]}
    found = read(tmp_path, hybrid_config(**config), hybrid_tensors(all_but(*PLAIN, "self_attn", "shared_expert")))
    assert ids(found) == {"plain-where-quantized"}
    text = message(found, "plain-where-quantized")
    assert "3 modules" in text
    assert "linear_attn.in_proj_ba" in text
    assert "not found in params_dict" in text
    assert "by that name" in text
    assert found.risk == "fatal"
    named = AWQ | {"modules_to_not_convert": ["in_proj_ba", "self_attn", "shared_expert", "mlp.gate", "visual"]}
    again = read(tmp_path / "b", hybrid_config(**named), hybrid_tensors(all_but(*PLAIN, "self_attn", "shared_expert")))
    assert ids(again) == set()


@pytest.mark.parametrize(
    ("extra", "names"),
    [
        ("mlp.gate", "mlp.gate"),
        ("shared_expert_gate", "shared_expert_gate"),
        ("lm_head", "lm_head"),
    ],
)
def test_what_the_engine_never_quantizes_must_be_plain(tmp_path: Path, extra: str, names: str) -> None:
    chosen = only("mlp.experts", extra)
    config = AWQ | {"modules_to_not_convert": ["linear_attn", "self_attn", "shared_expert.", "visual"]}
    found = read(tmp_path, hybrid_config(**config), hybrid_tensors(chosen))
    assert "quantized-where-plain" in ids(found)
    assert names in message(found, "quantized-where-plain")


def test_a_quantized_vision_tower_finds_no_home(tmp_path: Path) -> None:
    tensors = hybrid_tensors(only("mlp.experts"))
    del tensors["model.visual.blocks.0.attn.qkv.weight"]
    tensors |= packed("model.visual.blocks.0.attn.qkv", 96, 32, "awq")
    found = read(tmp_path, hybrid_config(**AWQ), tensors)
    assert "model.visual.blocks.N.attn.qkv" in message(found, "quantized-where-plain")
    assert any("vision tower" in reason for reason in found.reasons)


@pytest.mark.parametrize(
    ("shard", "fused"),
    [("self_attn.q_proj", "qkv_proj"), ("in_proj_z", "in_proj_qkvz"), ("mlp.shared_expert.up_proj", "gate_up_proj")],
)
def test_a_fused_module_in_two_precisions_is_an_error(tmp_path: Path, shard: str, fused: str) -> None:
    config = COMPRESSED | {"ignore": [*COMPRESSED["ignore"], f"re:.*{shard}"]}
    tensors = hybrid_tensors(all_but(*PLAIN, shard), "compressed-tensors")
    found = read(tmp_path, hybrid_config(**config), tensors)
    assert ids(found) == {"fused-precision-mixed"}
    assert fused in message(found, "fused-precision-mixed")


def test_experts_in_two_precisions_are_an_error(tmp_path: Path) -> None:
    tensors = hybrid_tensors(lambda name: "mlp.experts.0" in name)
    assert "fused-precision-mixed" in ids(read(tmp_path, hybrid_config(**AWQ), tensors))


def test_experts_in_one_tensor_with_scales_beside_it_are_fine(tmp_path: Path) -> None:
    tensors = {name: value for name, value in hybrid_tensors(lambda _name: False).items() if ".experts." not in name}
    for layer in range(4):
        name = f"model.language_model.layers.{layer}.mlp.experts.gate_up_proj"
        tensors[name] = ("F8_E4M3", (2, 128, 64), None)
        tensors[f"{name}_scale_inv"] = ("F32", (2, 1, 1), struct.pack("<2f", 0.001, 0.002))
    config = FP8 | {"modules_to_not_convert": ["lm_head", "mlp.gate", "shared_expert", "linear_attn", "self_attn"]}
    assert "fused-precision-mixed" not in ids(found := read(tmp_path, hybrid_config(**config), tensors))
    assert "plain-where-quantized" not in ids(found)


def test_a_config_of_another_version_is_noticed(tmp_path: Path) -> None:
    quantized = hybrid_tensors(only("mlp.experts"))
    assert "quantization-undeclared" in ids(read(tmp_path / "a", hybrid_config(), quantized))
    assert "quantization-missing" in ids(
        read(tmp_path / "b", hybrid_config(**AWQ), hybrid_tensors(lambda _name: False))
    )
    other = hybrid_tensors(only("mlp.experts"), "compressed-tensors")
    found = read(tmp_path / "c", hybrid_config(**AWQ), other)
    assert "awq looks for qweight" in message(found, "format-mismatch")


def test_scales_that_are_not_there_are_missed(tmp_path: Path) -> None:
    tensors = hybrid_tensors(only("mlp.experts"))
    del tensors["model.language_model.layers.2.mlp.experts.1.up_proj.scales"]
    assert "1 quantized modules have no scales" in message(
        read(tmp_path, hybrid_config(**AWQ), tensors), "scales-missing"
    )


def test_a_module_or_a_layer_that_is_not_there_is_missed(tmp_path: Path) -> None:
    tensors = hybrid_tensors(lambda _name: False)
    del tensors["model.language_model.layers.1.mlp.experts.0.down_proj.weight"]
    found = read(tmp_path / "a", hybrid_config(), tensors)
    assert "layers.1.mlp.experts.0.down_proj" in message(found, "modules-missing")
    whole = {name: value for name, value in hybrid_tensors(lambda _name: False).items() if ".layers.2." not in name}
    assert "layers 2 of 4" in message(read(tmp_path / "b", hybrid_config(), whole), "layers-missing")


@pytest.mark.parametrize(
    ("values", "id_"),
    [
        ([0.01, float("nan")], "scales-nan"),
        ([0.01, float("inf")], "scales-nan"),
        ([0.01, 0.0], "scales-zero"),
        ([0.01, 60_000.0], "scales-absurd"),
        ([1.0, 1.0], "scales-constant"),
    ],
)
def test_scales_that_no_calibration_makes_are_found(tmp_path: Path, values: list[float], id_: str) -> None:
    tensors = hybrid_tensors(only("mlp.experts"))
    name = "model.language_model.layers.3.mlp.experts.0.gate_proj.scales"
    dtype, shape, _ = tensors[name]
    count = shape[0] * shape[1]
    data = b"".join(struct.pack("<e", values[place % 2]) for place in range(count))
    tensors[name] = (dtype, shape, data)
    found = read(tmp_path, hybrid_config(**AWQ), tensors)
    assert ids(found) == {id_}
    assert name in message(found, id_)
    assert (found.risk == "fatal") == (id_ in ("scales-nan", "scales-absurd"))


@pytest.mark.parametrize(
    ("dtype", "pattern", "value"),
    [
        ("F16", 0x3C00, 1.0),
        ("BF16", 0x3F80, 1.0),
        ("BF16", 0x4000, 2.0),
        ("F32", 0x3F800000, 1.0),
        ("F8_E4M3", 0x38, 1.0),
        ("F8_E4M3", 0x01, 2.0**-9),
        ("F8_E4M3", 0x7E, 448.0),
        ("U8", 127, 1.0),
        ("U8", 120, 2.0**-7),
    ],
)
def test_bit_patterns_are_read_as_the_formats_define_them(dtype: str, pattern: int, value: float) -> None:
    assert number(dtype, pattern) == value


def test_every_bad_value_is_counted() -> None:
    data = half(0.02, 97) + struct.pack("<3e", 0.0, float("nan"), 0.0)
    found = judge("scales", "F16", data)
    assert (found.values, found.zero, found.nan, found.absurd, found.constant) == (100, 2, 1, 0, False)
    assert judge("scales", "F32", struct.pack("<f", 20_000.0), bounded=False).absurd == 0


def test_what_stands_beside_the_weights_is_looked_at(tmp_path: Path) -> None:
    files = checkpoint_files(hybrid_config(), hybrid_tensors(lambda _name: False), template=None)
    for name in ("tokenizer.json", "generation_config.json"):
        del files[name]
    write_files(tmp_path, files | {"modeling_own.py": b"", "pytorch_model.bin": b""})
    found = inspect(local_checkpoint(tmp_path))
    assert ids(found) == {
        "tokenizer-missing", "chat-template-missing", "generation-config-missing", "own-code", "pickles",
    }  # fmt: skip


def test_a_template_that_knows_no_tools_is_said(tmp_path: Path) -> None:
    plain = read(tmp_path / "a", hybrid_config(), hybrid_tensors(lambda _name: False), template="{{ messages }}")
    assert ids(plain) == {"chat-template-without-tools", "chat-template-without-thinking"}
    full = read(tmp_path / "b", hybrid_config(), hybrid_tensors(lambda _name: False))
    assert full.template == {
        "tools": True, "tool_call_style": "qwen3_coder", "thinking": True, "thinking_toggle": "enable_thinking",
    }  # fmt: skip
    assert full.sampling["temperature"] == 0.6


def test_a_shard_that_is_cut_or_missing_is_an_error(tmp_path: Path) -> None:
    files = checkpoint_files(hybrid_config(), hybrid_tensors(lambda _name: False))
    shard = "model-00002-of-00002.safetensors"
    write_files(tmp_path / "a", files | {shard: files[shard][:-100]})
    assert "shard-truncated" in ids(inspect(local_checkpoint(tmp_path / "a")))
    write_files(tmp_path / "b", {name: data for name, data in files.items() if name != shard})
    assert "shard-missing" in ids(inspect(local_checkpoint(tmp_path / "b")))


def test_positions_and_masks_are_no_quantized_weights(tmp_path: Path) -> None:
    tensors = hybrid_tensors(lambda _name: False)
    tensors["model.visual.embeddings.position_ids"] = ("I64", (1, 4), None)
    assert ids(read(tmp_path, hybrid_config(), tensors)) == set()


def test_an_index_without_all_tensors_is_said(tmp_path: Path) -> None:
    files = checkpoint_files(hybrid_config(), hybrid_tensors(lambda _name: False))
    index = json.loads(files["model.safetensors.index.json"])
    index["weight_map"]["model.language_model.layers.0.mlp.nothing.weight"] = "model-00001-of-00002.safetensors"
    write_files(tmp_path, files | {"model.safetensors.index.json": json.dumps(index).encode()})
    assert "tensors-missing" in ids(inspect(local_checkpoint(tmp_path)))


def test_a_single_file_needs_no_index(tmp_path: Path) -> None:
    files = checkpoint_files(hybrid_config(), {}, shards=1)
    del files["model.safetensors.index.json"], files["model-00001-of-00001.safetensors"]
    write_files(tmp_path, files | {"model.safetensors": safetensors(hybrid_tensors(lambda _name: False))})
    assert ids(inspect(local_checkpoint(tmp_path))) == set()


def test_mlp_gate_in_a_dense_models_exclusions_takes_the_whole_projection_along(tmp_path: Path) -> None:
    """AWQ matches a plain part of the name: `mlp.gate` is also in `mlp.gate_up_proj`."""
    config = hybrid_config(experts=False, **AWQ | {"modules_to_not_convert": ["linear_attn", "self_attn", "mlp.gate"]})
    found = read(tmp_path, config, hybrid_tensors(only(".mlp."), experts=False))
    assert ids(found) == {"quantized-where-plain"}
    assert "mlp.gate_up_proj" in message(found, "quantized-where-plain")
