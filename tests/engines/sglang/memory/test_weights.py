"""What weights take: from a config, from headers, cut over GPUs, quantized, with modules left out."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.sglang.memory.boots import GIB, headers, load, shape
from seatrial.engines.sglang.memory.allocator import reserved_bytes
from seatrial.engines.sglang.memory.modules import Kind, modules, stage_layers
from seatrial.engines.sglang.memory.options import MemoryOptions
from seatrial.engines.sglang.memory.parallel import Parallel, indivisible, kv_heads_per_gpu
from seatrial.engines.sglang.memory.weights import Weights, weights
from seatrial.facts.model import QuantizationFacts, TensorFacts
from seatrial.facts.model_config import read_model

MIB = 1 << 20
HEADERS = [name for name in load("headers.json") if not name.startswith("$")]


def counted(name: str, **options: object) -> Weights:
    found = weights(shape(name), MemoryOptions(**options))  # type: ignore[arg-type]
    assert found is not None
    return found


@pytest.mark.parametrize("name", HEADERS)
@pytest.mark.parametrize("gpus", [1, 2, 4])
def test_sizes_from_a_config_are_those_of_the_tensors(name: str, gpus: int) -> None:
    options = MemoryOptions(tensor_parallel=gpus)
    by_config, by_headers = weights(shape(name), options), weights(shape(name, with_headers=True), options)
    assert by_config is not None
    assert by_headers is not None
    assert by_headers.source != by_config.source
    assert by_headers.gib == pytest.approx(by_config.gib, rel=0.004)


def test_quantized_tensors_are_counted_as_they_are_stored() -> None:
    config = {
        **load("shapes.json")["qwen3-8b"],
        "quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True},
    }
    tensors: dict[str, TensorFacts] = {}
    for name, plain in headers("qwen3-8b").items():
        if name.endswith("_proj.weight"):
            outputs, inputs = plain.shape
            stem = name.removesuffix(".weight")
            tensors[f"{stem}.qweight"] = TensorFacts("I32", (inputs, outputs // 8), inputs * outputs // 2)
            tensors[f"{stem}.qzeros"] = TensorFacts("I32", (inputs // 128, outputs // 8), inputs * outputs // 256)
            tensors[f"{stem}.scales"] = TensorFacts("F16", (inputs // 128, outputs), inputs * outputs // 64)
        else:
            tensors[name] = plain
    by_config = weights(read_model(config, source="a config"), MemoryOptions())
    by_headers = weights(read_model(config, source="headers", tensors=tensors), MemoryOptions())
    assert by_config is not None
    assert by_headers is not None
    assert by_headers.gib == pytest.approx(by_config.gib, rel=0.004)
    assert by_config.gib < 0.45 * counted("qwen3-8b").gib


@pytest.mark.parametrize("name", ["qwen3-8b", "moe30", "hyb35", "vlm9", "vlm35-awq", "vlm35-fp8", "llama8-ctfp8"])
@pytest.mark.parametrize("gpus", [2, 4])
def test_shards_add_up_to_the_whole(name: str, gpus: int) -> None:
    whole = {module.name: module for module in modules(shape(name), Parallel.of(MemoryOptions()))}
    part = {module.name: module for module in modules(shape(name), Parallel.of(MemoryOptions(tensor_parallel=gpus)))}
    assert whole.keys() == part.keys()
    for key, module in part.items():
        copied = module.elements == whole[key].elements
        assert copied or module.elements * gpus >= whole[key].elements
        assert module.elements <= whole[key].elements
    total = sum(module.elements for module in whole.values())
    parts = sum(module.elements for module in part.values()) * gpus
    assert total <= parts < 1.06 * total  # norms, routers and key-value heads are copied


@given(st.integers(1, 96), st.integers(1, 8))
def test_pipeline_stages_hold_every_layer_once(layers: int, stages: int) -> None:
    stages = min(stages, layers)
    cut = [stage_layers(layers, stages, stage) for stage in range(stages)]
    assert cut[0][0] == 0
    assert cut[-1][1] == layers
    assert all(end == first for (_, end), (first, _) in pairwise(cut))
    assert max(end - first for first, end in cut) - min(end - first for first, end in cut) <= 1


def test_key_value_heads_are_copied_where_there_are_fewer_than_gpus() -> None:
    assert [kv_heads_per_gpu(2, parts) for parts in (1, 2, 4, 8)] == [2, 1, 1, 1]
    assert not indivisible(2, 8)
    assert not indivisible(8, 2)
    assert indivisible(8, 3)
    assert indivisible(3, 8)


def test_whole_copies_of_the_model_do_not_make_its_weights_smaller() -> None:
    assert counted("qwen3-8b", data_parallel=2).gib == counted("qwen3-8b").gib


def test_leaving_the_vision_tower_out_makes_the_weights_smaller() -> None:
    whole, text = counted("vlm9"), counted("vlm9", language_model_only=True)
    assert 0.5 < whole.gib - text.gib < 1.5
    assert text.late_gib == 0


def test_a_longer_context_makes_the_tables_of_angles_larger() -> None:
    assert counted("qwen3-8b", context_length=1_000_000).gib > counted("qwen3-8b").gib


def test_experts_may_be_spread_instead_of_cut() -> None:
    cut, spread = counted("moe30", tensor_parallel=4), counted("moe30", tensor_parallel=4, expert_parallel=4)
    assert spread.gib == pytest.approx(cut.gib, rel=0.02)


@pytest.mark.parametrize(
    ("name", "bits"),
    [("qwen25-7b-awq", 4), ("qwen25-7b-gptq", 4), ("qwen3-8b-autoround", 4), ("qwen3-8b-fp8", 8), ("llama8-ctfp8", 8)],
)
def test_quantized_weights_take_about_their_bits(name: str, bits: int) -> None:
    model = shape(name)
    plain = weights(replace(model, quantization=None), MemoryOptions())
    quantized = weights(model, MemoryOptions())
    assert plain is not None
    assert quantized is not None
    assert bits / 16 < quantized.gib / plain.gib < bits / 16 + 0.2  # embeddings, output layer and scales stay


def test_a_method_that_is_not_known_leaves_the_weights_unknown() -> None:
    model = replace(shape("qwen3-8b"), quantization=QuantizationFacts("some-new-method", 3))
    assert weights(model, MemoryOptions()) is None


def test_the_draft_that_a_checkpoint_brings_is_counted_with_the_weights() -> None:
    drafted = weights(replace(shape("hyb35"), repo="a/b"), MemoryOptions(speculative_algorithm="NEXTN"))
    assert drafted is not None
    assert drafted.draft_gib > 0.5


def test_latent_attention_keeps_its_expanding_projection_twice() -> None:
    names = [module.name for module in modules(shape("dslite"), Parallel())]
    assert "model.layers.0.self_attn.w_kc" in names
    assert "model.layers.0.self_attn.w_vc" in names


def test_recurrent_gates_and_norms_are_never_quantized() -> None:
    held = modules(shape("vlm35-awq"), Parallel())
    plain = {module.name.rsplit(".", 1)[1] for module in held if module.kind is Kind.PLAIN}
    assert {"conv1d", "A_log", "gate", "norms", "embed_tokens"} <= plain


@given(st.lists(st.integers(1, 400 * MIB), max_size=40))
def test_the_allocator_reserves_at_least_what_is_asked_for_and_not_much_more(tensors: list[int]) -> None:
    reserved = reserved_bytes(tensors)
    assert reserved >= sum(tensors)
    assert reserved % (2 * MIB) == 0
    small = sum(1 for size in tensors if size <= MIB)
    middle = sum(1 for size in tensors if MIB < size < 10 * MIB)
    large = len(tensors) - small - middle
    assert reserved <= sum(tensors) + 2 * MIB * (small + large + 1) + 20 * MIB * (middle + 1)


@pytest.mark.parametrize(
    ("tensors", "reserved"),
    [
        ([], 0),
        ([1], 2 * MIB),
        ([512] * 4096, 2 * MIB),
        ([512] * 4097, 4 * MIB),
        ([MIB + 1], 20 * MIB),
        ([5 * MIB] * 4, 20 * MIB),
        ([6 * MIB] * 4, 40 * MIB),
        ([11 * MIB], 12 * MIB),
        ([100 * MIB, 100 * MIB], 200 * MIB),
    ],
)
def test_segments_of_the_caching_allocator(tensors: list[int], reserved: int) -> None:
    assert reserved_bytes(tensors) == reserved


def test_a_folder_without_its_weights_is_counted_from_the_config(tmp_path: Path) -> None:
    from seatrial.facts.model_folder import read_model_folder

    (tmp_path / "config.json").write_text(json.dumps(load("shapes.json")["qwen3-0.6b"]), encoding="utf-8")
    index = {"weight_map": {"model.embed_tokens.weight": "model-00001-of-00002.safetensors"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    model = read_model_folder(tmp_path)
    found = weights(model, MemoryOptions())
    assert found is not None
    assert "config" in found.source
    assert any("missing" in note for note in model.notes)
    assert found.tensors_gib * GIB > 1.1e9
