"""Which modules a quantization config leaves out, as each of SGLang's methods matches its own fused names."""

from __future__ import annotations

import pytest

from seatrial.engines.sglang.memory.exclusion import is_left_out, shards
from seatrial.facts.model import QuantizationFacts

LAYER = "model.language_model.layers.3"


def left_out(method: str, name: str, *patterns: str, **raw: object) -> bool:
    return is_left_out(name, QuantizationFacts(method, 4, excluded=patterns, raw=raw))


@pytest.mark.parametrize("method", ["awq", "awq_marlin", "moe_wna16"])
def test_awq_looks_for_its_patterns_anywhere_in_the_fused_name(method: str) -> None:
    assert left_out(method, f"{LAYER}.linear_attn.in_proj_qkvz", "linear_attn")
    assert left_out(method, f"{LAYER}.mlp.shared_expert.gate_up_proj", "shared_expert")
    assert not left_out(method, f"{LAYER}.self_attn.qkv_proj", "linear_attn")


def test_awq_does_not_know_the_names_that_the_engine_has_fused() -> None:
    # A pattern for the checkpoint's own projection is in no fused name: the engine takes the module as quantized.
    assert not left_out("awq", f"{LAYER}.self_attn.qkv_proj", "self_attn.q_proj")
    assert not left_out("awq", f"{LAYER}.mlp.gate_up_proj", "mlp.gate_proj")
    assert left_out("awq", f"{LAYER}.self_attn.qkv_proj", "self_attn")


def test_fp8_and_compressed_tensors_ask_for_the_shards_of_a_fused_name() -> None:
    name = f"{LAYER}.self_attn.qkv_proj"
    assert shards(name) == tuple(f"{LAYER}.self_attn.{part}_proj" for part in "qkv")
    assert left_out("fp8", name, f"{LAYER}.self_attn.q_proj", f"{LAYER}.self_attn.k_proj")
    assert left_out("compressed-tensors", name, f"{LAYER}.self_attn.q_proj")
    assert not left_out("fp8", name, "model.language_model.layers.33.self_attn.q_proj")


def test_expressions_of_compressed_tensors_are_expressions() -> None:
    assert left_out("compressed-tensors", f"{LAYER}.linear_attn.out_proj", "re:.*linear_attn.*")
    assert not left_out("compressed-tensors", f"{LAYER}.self_attn.o_proj", "re:.*linear_attn.*")
    assert not left_out("compressed-tensors", f"{LAYER}.self_attn.o_proj", "re:linear_attn.*")  # matched from the start


def test_the_output_layer_stays_unless_the_config_says_otherwise() -> None:
    assert left_out("awq", "lm_head")
    assert not is_left_out("lm_head", QuantizationFacts("gptq", 4, lm_head=True))
    assert not left_out("modelopt_fp8", "lm_head")
    assert left_out("modelopt_fp8", "lm_head", "lm_head")


def test_gptq_follows_its_rules_and_not_a_list_of_modules() -> None:
    assert not left_out("gptq", f"{LAYER}.self_attn.o_proj", "self_attn")
    assert left_out("gptq", f"{LAYER}.self_attn.o_proj", dynamic={"-:.*self_attn.*": {}})
    assert not left_out("gptq", f"{LAYER}.mlp.down_proj", dynamic={"-:.*self_attn.*": {}, "+:.*": {"bits": 8}})


def test_auto_round_leaves_out_what_it_keeps_in_16_bits() -> None:
    extra = {f"{LAYER}.self_attn.o_proj": {"bits": 16}, f"{LAYER}.mlp.down_proj": {"bits": 8}}
    assert left_out("auto-round", f"{LAYER}.self_attn.o_proj", extra_config=extra)
    assert not left_out("auto-round", f"{LAYER}.mlp.down_proj", extra_config=extra)
    assert not left_out("auto-round", f"{LAYER}.mlp.gate_up_proj", extra_config=extra)


def test_mxfp4_keeps_everything_but_the_experts() -> None:
    assert left_out("mxfp4", "model.layers.0.self_attn.qkv_proj")
    assert not left_out("mxfp4", "model.layers.0.mlp.experts.w13")


def test_wildcards_of_modelopt_match_whole_names_or_parts() -> None:
    assert left_out("modelopt_fp8", "model.layers.0.self_attn.o_proj", "*self_attn*")
    assert not left_out("modelopt_fp8", "model.layers.0.mlp.down_proj", "*self_attn*")
