"""What a launch ends up with, against what SGLang 0.5.16's own argument code said for the same launches.

`data/settings.json` was captured from the engine's own `ServerArgs` with the GPU's name, size and capability put in its
place; the engine decided everything else.
"""

from __future__ import annotations

from typing import Any

import pytest

from engines.sglang.memory.boots import load, shape
from seatrial.engines.sglang.memory.options import MemoryOptions
from seatrial.engines.sglang.memory.settings import Settings, decode_sizes, prefill_sizes, settle
from seatrial.engines.sglang.memory.versions import rules_for
from seatrial.errors import InputError

CASES: list[dict[str, Any]] = load("settings.json")


def settled(name: str, memory_mib: float | None = 143771, version: str = "0.5.16", **settings: object) -> Settings:
    values = {"--" + key.replace("_", "-"): value for key, value in settings.items()}
    options = MemoryOptions.from_settings(values)
    return settle(shape(name), options, rules_for(version)[0], smallest_gpu_mib=memory_mib, compute_capability=(9, 0))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['shape']}-{case['memory_mib']}")
def test_every_default_is_the_engines(case: dict[str, Any]) -> None:
    expected = case["expected"]
    found = settle(
        shape(case["shape"]),
        MemoryOptions.from_settings(case["settings"]),
        rules_for("0.5.16")[0],
        smallest_gpu_mib=case["memory_mib"],
        compute_capability=(case["capability"][0], case["capability"][1]),
    )
    assert found.mem_fraction_static == pytest.approx(expected["fraction"], abs=1e-9)
    assert found.chunked_prefill_size == expected["chunk"]
    assert found.page_size == expected["page"]
    assert [len(found.decode_graphs), max(found.decode_graphs, default=0)] == (expected["decode"] or [0, 0])
    assert [len(found.prefill_graphs), max(found.prefill_graphs, default=0)] == (expected["prefill"] or [0, 0])
    assert found.draft_tokens == (expected["drafts"] or 0)
    assert found.max_running == expected["running"]
    assert found.overlap == expected["overlap"]
    if shape(case["shape"]).hybrid and not expected["radix_off"]:
        assert found.strategy == expected["strategy"]


def test_the_cases_differ_from_each_other() -> None:
    assert len({case["expected"]["fraction"] for case in CASES}) > 20
    assert len({case["shape"] for case in CASES}) > 10


@pytest.mark.parametrize(
    ("memory_mib", "chunk", "batch"),
    [
        (16384, 2048, 8),
        (24564, 2048, 24),
        (49140, 4096, 32),
        (81559, 8192, 256),
        (143771, 8192, 256),
        (183359, 16384, 512),
    ],
)
def test_defaults_follow_the_gpus_size(memory_mib: int, chunk: int, batch: int) -> None:
    found = settled("qwen3-8b", memory_mib)
    assert found.chunked_prefill_size == chunk
    assert max(found.decode_graphs) == batch


def test_a_newer_engine_has_other_defaults_on_a_24_gb_card() -> None:
    old, new = settled("qwen3-8b", 24564), settled("qwen3-8b", 24564, "0.5.23")
    assert (old.chunked_prefill_size, new.chunked_prefill_size) == (2048, 4096)
    assert (max(old.decode_graphs), max(new.decode_graphs)) == (24, 48)
    assert new.mem_fraction_static < old.mem_fraction_static


def test_a_version_between_two_known_ones_gets_the_older_rules_and_says_so() -> None:
    rules, exact = rules_for("0.5.20")
    assert (rules.since, exact) == ("0.5.16", False)
    assert rules_for("v0.5.23")[1]
    assert rules_for("0.6.1")[0].since == "0.5.23"
    assert rules_for("0.5.23.post1")[0].since == "0.5.23"


def test_a_vision_tower_lowers_the_fraction_unless_it_was_given() -> None:
    text, both = settled("hyb35", 81559), settled("vlm35", 81559)
    assert both.mem_fraction_static < text.mem_fraction_static
    assert settled("vlm35", 81559, mem_fraction_static=0.9).mem_fraction_static == 0.9


@pytest.mark.parametrize(
    ("settings", "strategy", "slots"),
    [
        ({}, "extra_buffer", 5),
        ({"mamba_radix_cache_strategy": "extra_buffer_lazy"}, "extra_buffer_lazy", 4),
        ({"mamba_radix_cache_strategy": "no_buffer"}, "no_buffer", 3),
        ({"disable_overlap_schedule": True}, "no_buffer", 3),
        ({"mamba_radix_cache_strategy": "extra_buffer", "disable_overlap_schedule": True}, "extra_buffer", 4),
        ({"disable_radix_cache": True}, "radix_off", 1),
    ],
)
def test_how_states_are_kept_decides_the_slots_of_a_request(
    settings: dict[str, Any], strategy: str, slots: int
) -> None:
    found = settled("vlm35", **settings)
    assert (found.strategy, found.slots_per_request) == (strategy, slots)


def test_a_model_without_states_has_no_strategy() -> None:
    found = settled("qwen3-8b")
    assert found.strategy is None
    assert found.slots_per_request is None


def test_speculative_decoding_brings_a_limit_of_48_requests() -> None:
    found = settled("hyb35", speculative_algorithm="NEXTN", speculative_draft_model_path="x")
    assert found.max_running == 48
    assert found.draft_tokens == 4


@pytest.mark.parametrize(
    ("given", "bytes_per_element"), [("auto", 2), ("bfloat16", 2), ("fp8_e4m3", 1), ("fp8_e5m2", 1)]
)
def test_the_kv_dtype_decides_the_bytes_of_an_element(given: str, bytes_per_element: float) -> None:
    assert settled("qwen3-8b", kv_cache_dtype=given).kv_bytes == bytes_per_element


def test_recurrent_states_are_float32_unless_config_or_flag_say_otherwise() -> None:
    assert settled("hyb35").ssm_bytes == 4
    assert settled("hyb35", mamba_ssm_dtype="bfloat16").ssm_bytes == 2


def test_the_largest_size_is_captured_even_where_it_is_no_step() -> None:
    assert decode_sizes(MemoryOptions(), 27)[-2:] == (24, 27)
    assert prefill_sizes(100) == (4, 8, 12, 16, 20, 24, 28, 32, 48, 64, 80, 96)
    assert decode_sizes(MemoryOptions(cuda_graph_bs_decode=(1, 7)), 7) == (1, 7)


def test_settings_that_memory_does_not_depend_on_are_passed_over() -> None:
    assert MemoryOptions.from_settings({"--port": 30000, "--tool-call-parser": "x"}) == MemoryOptions()


def test_settings_take_their_type() -> None:
    options = MemoryOptions.from_settings(
        {
            "--tp-size": 2,
            "--mem-fraction-static": "0.8",
            "SGLANG_MAMBA_CONV_DTYPE": "float16",
            "--disable-cuda-graph": True,
        }
    )
    assert options.tensor_parallel == 2
    assert options.mem_fraction_static == 0.8
    assert options.mamba_conv_dtype == "float16"
    assert options.disable_cuda_graph


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("--tp-size", "two"),
        ("--tp-size", 1.5),
        ("--tp-size", True),
        ("--mem-fraction-static", "x"),
        ("--disable-radix-cache", 1),
    ],
)
def test_a_value_of_another_type_is_refused_by_its_name(name: str, value: object) -> None:
    with pytest.raises(InputError) as caught:
        MemoryOptions.from_settings({name: value})
    assert name in str(caught.value)
