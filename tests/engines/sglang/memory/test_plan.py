"""Properties of every plan: monotone, adding up, never negative, never a silent zero; and unknown stays unknown."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.sglang.memory.boots import GIB, h200, load, rtx4090, shape
from seatrial.engines.sglang.memory.options import MemoryOptions
from seatrial.engines.sglang.memory.plan import Measured, plan_memory, sized
from seatrial.engines.sglang.memory.result import MemoryPlan
from seatrial.facts.example_hosts import gpu_kinds, host_from_spec
from seatrial.facts.host import GpuFacts, GpuProcess, HostFacts
from seatrial.facts.known_models import known_model, known_repos
from seatrial.facts.model import ModelFacts

NAMES = sorted(load("shapes.json"))
HYBRID = [name for name in NAMES if shape(name).hybrid]

shapes = st.sampled_from(NAMES)
hybrids = st.sampled_from(HYBRID)
frees = st.integers(3_000, 143_153)
fractions = st.floats(0.05, 0.97)


def plan(name: str, free_mib: int | None = 143_153, version: str = "0.5.16", **options: object) -> MemoryPlan:
    return sized(shape(name), h200(free_mib), MemoryOptions(**options), version=version)  # type: ignore[arg-type]


def tokens_of_a_slot(found: MemoryPlan) -> float:
    return (found.state_bytes_per_slot or 0) / (found.kv_bytes_per_token or 1)


@settings(max_examples=150, deadline=None)
@given(shapes, frees, st.integers(0, 40_000), fractions)
def test_more_free_memory_never_gives_less(name: str, free: int, more: int, fraction: float) -> None:
    less, greater = (plan(name, mib, mem_fraction_static=fraction) for mib in (free, min(143_153, free + more)))
    assert (greater.mamba_slots or 0) >= (less.mamba_slots or 0)
    assert (greater.max_running_requests or 0) >= (less.max_running_requests or 0)
    # A slot more is paid for by the tokens, and a rounding to pages by one page.
    slack = tokens_of_a_slot(less) + (less.page_size or 1) if less.mamba_slots is not None else 0
    assert (greater.kv_cache_tokens or 0) >= (less.kv_cache_tokens or 0) - slack


@settings(max_examples=150, deadline=None)
@given(shapes, frees, fractions, st.floats(0, 0.3))
def test_a_higher_fraction_never_gives_less(name: str, free: int, fraction: float, more: float) -> None:
    low, high = (plan(name, free, mem_fraction_static=value) for value in (fraction, min(0.98, fraction + more)))
    assert (high.mamba_slots or 0) >= (low.mamba_slots or 0)
    slack = tokens_of_a_slot(low) + (low.page_size or 1) if low.mamba_slots is not None else 0
    assert (high.kv_cache_tokens or 0) >= (low.kv_cache_tokens or 0) - slack
    if low.failure is None:
        assert high.failure is None


@settings(max_examples=150, deadline=None)
@given(hybrids, st.integers(1, 2_000), st.integers(0, 500))
def test_more_slots_never_leave_more_tokens_nor_fewer_requests(name: str, slots: int, more: int) -> None:
    few, many = (plan(name, max_mamba_cache_size=count) for count in (slots, slots + more))
    if few.failure is None:
        assert (many.kv_cache_tokens or 0) <= (few.kv_cache_tokens or 0)
    if few.failure is None and many.failure is None:
        assert (many.max_running_requests or 0) >= (few.max_running_requests or 0)
        assert (few.mamba_slots, many.mamba_slots) == (slots, slots + more)


@settings(max_examples=100, deadline=None)
@given(hybrids, st.floats(0.05, 8), st.floats(0, 4))
def test_a_higher_ratio_turns_tokens_into_slots(name: str, ratio: float, more: float) -> None:
    low, high = (plan(name, mamba_full_memory_ratio=value) for value in (ratio, ratio + more))
    assert (high.mamba_slots or 0) >= (low.mamba_slots or 0)
    assert (high.kv_cache_tokens or 0) <= (low.kv_cache_tokens or 0) + tokens_of_a_slot(low) + 1


@settings(max_examples=150, deadline=None)
@given(shapes, frees, fractions, st.sampled_from(["0.5.16", "0.5.23"]), st.sampled_from(["auto", "fp8_e4m3"]))
def test_nothing_is_negative_and_zero_is_never_silent(
    name: str, free: int, fraction: float, version: str, kv_dtype: str
) -> None:
    found = plan_memory(
        shape(name),
        h200(free),
        MemoryOptions(mem_fraction_static=fraction, kv_cache_dtype=kv_dtype),
        version=version,
    )
    figures = (
        found.weights_gib,
        found.mamba_slots,
        found.kv_cache_tokens,
        found.swa_cache_tokens,
        found.max_running_requests,
        found.effective_input_tokens,
    )
    assert all(figure >= 0 for figure in figures if figure is not None)
    for spread in found.spread.values():
        assert 0 <= spread.low <= spread.high
        assert spread.source
    if found.kv_cache_tokens == 0 or found.max_running_requests == 0 or found.mamba_slots == 0:
        assert found.failure is not None
        assert found.findings[0].id == found.failure.id
        assert found.failure.levers
    else:
        assert found.failure is None


@settings(max_examples=100, deadline=None)
@given(shapes, st.floats(0.3, 0.95))
def test_the_pools_take_what_the_rest_allows_and_no_more(name: str, fraction: float) -> None:
    found = plan(name, mem_fraction_static=fraction)
    gpu = found.gpus[0]
    if found.failure is not None:
        return
    pools = sum(
        part or 0
        for part in (gpu.conv_state_bytes, gpu.ssm_state_bytes, gpu.intermediate_state_bytes, gpu.kv_cache_bytes)
    )
    assert gpu.rest_gib is not None
    # One slot more is made for padding, and one page more: both are beyond the rest by the engine's own design.
    beyond = (found.state_bytes_per_slot or 0) + (found.page_size or 1) * (found.kv_bytes_per_token or 0)
    if found.swa_cache_tokens is not None:
        beyond *= 2  # the sliding pool has a page more too, of as many layers
    assert pools <= gpu.rest_gib * GIB + beyond
    if found.swa_cache_tokens is None:
        assert pools > 0.98 * gpu.rest_gib * GIB - beyond


@pytest.mark.parametrize("name", ["qwen3-8b", "moe30", "vlm9", "vlm35", "glm47-flash"])
def test_more_gpus_give_more_tokens_and_split_the_cache_as_heads_allow(name: str) -> None:
    model = shape(name)
    found = {
        gpus: sized(model, h200(count=4), MemoryOptions(tensor_parallel=gpus, mem_fraction_static=0.85))
        for gpus in (1, 2, 4)
    }
    assert (found[1].kv_cache_tokens or 0) < (found[2].kv_cache_tokens or 0) < (found[4].kv_cache_tokens or 0)
    heads = model.attention.kv_heads if model.attention else 1
    one = found[1].kv_bytes_per_token
    assert one is not None
    for gpus, each in found.items():
        assert each.kv_bytes_per_token == one // min(gpus, heads)
        assert len(each.gpus) == gpus


def test_latent_attention_is_kept_whole_on_every_gpu() -> None:
    one, four = (
        sized(shape("dslite"), h200(count=4), MemoryOptions(tensor_parallel=gpus)).kv_bytes_per_token for gpus in (1, 4)
    )
    assert one == four == 27 * (512 + 64) * 2


def test_attention_groups_add_their_running_requests() -> None:
    options = MemoryOptions(tensor_parallel=2, data_parallel=2, dp_attention=True, max_running_requests=64)
    assert sized(shape("moe30"), h200(count=2), options).max_running_requests == 64
    copies = MemoryOptions(tensor_parallel=1, data_parallel=2, max_running_requests=64)
    assert len(sized(shape("moe30"), h200(count=2), copies).gpus) == 2


def test_the_fullest_gpu_decides() -> None:
    even = h200(count=2)
    assert even.gpus is not None
    uneven = replace(even, gpus=(even.gpus[0], replace(even.gpus[1], free_mib=60_000)))
    options = MemoryOptions(tensor_parallel=2)
    tokens = sized(shape("qwen3-8b"), uneven, options).kv_cache_tokens
    both_full = replace(even, gpus=tuple(replace(gpu, free_mib=60_000) for gpu in even.gpus))
    assert tokens == sized(shape("qwen3-8b"), both_full, options).kv_cache_tokens


def test_processes_on_a_gpu_are_taken_off_where_its_free_memory_is_not_known() -> None:
    gpu = GpuFacts(0, "NVIDIA H200", 143_771, None, (9, 0), processes=(GpuProcess(1, "x", 40_000),))
    found = plan_memory(shape("qwen3-8b"), HostFacts(gpus=(gpu,)), MemoryOptions())
    assert found.gpus[0].others_gib == pytest.approx(40_000 / 1024)
    assert "gpu-in-use" in [finding.id for finding in found.findings]


def test_the_longest_input_stays_six_tokens_under_the_context_or_the_pool() -> None:
    wide = plan("qwen3-8b", context_length=20_000)
    assert wide.effective_input_tokens == 20_000 - 6
    narrow = plan("qwen3-8b", free_mib=20_000)
    assert narrow.kv_cache_tokens is not None
    assert narrow.kv_cache_tokens < 40_960
    assert narrow.effective_input_tokens == narrow.kv_cache_tokens - 6


def test_requests_at_once_at_a_length_are_bounded_by_tokens_and_by_the_running_limit() -> None:
    found = plan("qwen3-8b", max_running_requests=10)
    assert found.kv_cache_tokens is not None
    assert found.concurrent_requests(1_000) == 10
    assert found.concurrent_requests(found.kv_cache_tokens // 3) == 3
    assert found.concurrent_requests(0) is None


def test_tokens_are_whole_pages_and_never_more_than_was_asked_for() -> None:
    found = plan("qwen3-8b", page_size=64)
    assert found.kv_cache_tokens is not None
    assert found.kv_cache_tokens % 64 == 0
    assert plan("qwen3-8b", max_total_tokens=1_000).kv_cache_tokens == 1_000
    assert plan("qwen3-8b", max_total_tokens=1_000, page_size=64).kv_cache_tokens == 960


def test_half_the_bytes_of_an_element_double_the_tokens() -> None:
    full, half = plan("qwen3-8b"), plan("qwen3-8b", kv_cache_dtype="fp8_e4m3")
    assert half.kv_cache_tokens == pytest.approx(2 * (full.kv_cache_tokens or 0), abs=2)


def test_a_newer_engine_charges_a_slot_for_padding() -> None:
    old, new = plan("hyb35"), plan("hyb35", version="0.5.23")
    assert new.mamba_slots == (old.mamba_slots or 0) - 1


def test_without_gpus_the_pools_are_unknown_and_the_weights_are_not() -> None:
    found = plan_memory(shape("qwen3-8b"), HostFacts(gpus=None), MemoryOptions())
    assert found.weights_gib is not None
    assert found.kv_cache_tokens is None
    assert found.max_running_requests is None
    assert found.mem_fraction_static is None
    assert found.failure is None
    assert [finding.id for finding in found.findings] == ["memory-unknown"]
    assert any("GPUs" in note for note in found.notes)


def test_a_host_with_fewer_gpus_than_the_launch_needs_gives_no_pools() -> None:
    found = plan_memory(shape("qwen3-8b"), h200(), MemoryOptions(tensor_parallel=2))
    assert found.kv_cache_tokens is None
    assert any("needs 2 GPUs" in note for note in found.notes)


def test_a_model_whose_attention_is_not_known_gives_no_pools() -> None:
    model: ModelFacts = replace(shape("qwen3-8b"), attention=None)
    assert plan_memory(model, h200(), MemoryOptions()).kv_cache_tokens is None


def test_a_logs_own_figures_need_no_weights_and_no_gpu_facts() -> None:
    model = replace(shape("qwen3-8b"), quantization=None, notes=("weights are planned from tensors only",))
    measured = Measured(begin_gib=100.0, end_gib=80.0, weights_gib=20.0)
    found = plan_memory(model, h200(), MemoryOptions(mem_fraction_static=0.8), measured=measured)
    assert found.weights_gib == 20.0
    assert found.kv_cache_tokens is not None
    assert found.kv_cache_tokens > 0


def test_an_unknown_kind_of_gpu_gets_a_wide_spread_and_says_so() -> None:
    known = plan("qwen3-8b").spread["kv_cache_tokens"]
    gpu = GpuFacts(0, "Some New GPU", 143_771, 143_153, (9, 0))
    unknown = sized(shape("qwen3-8b"), HostFacts(gpus=(gpu,)), MemoryOptions()).spread["kv_cache_tokens"]
    assert unknown.high - unknown.low > 2 * (known.high - known.low)


def test_memory_that_is_shared_with_the_host_is_said_to_be() -> None:
    gpu = GpuFacts(0, "NVIDIA GB10", 122_570, 110_000, (12, 1))
    found = sized(shape("qwen3-8b"), HostFacts(gpus=(gpu,)), MemoryOptions())
    assert any("host's" in note for note in found.notes)


@pytest.mark.parametrize("repo", known_repos())
def test_every_known_model_can_be_planned(repo: str) -> None:
    model = known_model(repo)
    assert model is not None
    found = plan_memory(model, h200(count=8), MemoryOptions(tensor_parallel=2 if "gemma-3-1b" not in repo else 1))
    assert found.weights_gib is not None
    assert found.kv_cache_tokens is not None
    assert (found.kv_cache_tokens > 0) == (found.failure is None)


@pytest.mark.parametrize("kind", [kind.name for kind in gpu_kinds()])
def test_every_kind_of_gpu_that_can_be_named_can_be_planned_for(kind: str) -> None:
    found = plan_memory(shape("qwen3-0.6b"), host_from_spec(f"2x{kind}"), MemoryOptions(tensor_parallel=2))
    assert found.kv_cache_tokens is not None
    assert found.kv_cache_tokens > 0


def test_two_cards_of_24_gb_and_the_seed_model_in_8_bits_do_not_fit_as_its_users_saw() -> None:
    model = known_model("Qwen/Qwen3.6-35B-A3B-FP8")
    assert model is not None
    found = plan_memory(model, rtx4090(), MemoryOptions(tensor_parallel=2))
    assert found.failure is not None
    assert found.failure.id in ("no-running-requests", "no-state-slots", "no-kv-memory")
    levers = " ".join(found.failure.levers)
    for lever in ("--mem-fraction-static", "--tp-size 4", "fewer bits"):
        assert lever in levers
