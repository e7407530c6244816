"""What a GPU has free before the weights, by its kind."""

from __future__ import annotations

import pytest

from engines.sglang.memory.boots import BOOTS, h200, rtx4090
from seatrial.engines.sglang.memory.gpu_memory import free_memory, gpu_kind
from seatrial.engines.sglang.memory.parallel import Parallel
from seatrial.facts.example_hosts import gpu_kinds
from seatrial.facts.host import GpuFacts, HostFacts

MEASURED = [item for item in BOOTS if item["pre_gib"] is not None]


@pytest.mark.parametrize("item", MEASURED, ids=lambda item: item["name"])
def test_free_memory_before_the_weights_is_what_the_engine_measured(item: dict[str, dict[str, int]]) -> None:
    free = free_memory(h200(item["gpu"]["free_mib"], item["gpu"]["memory_mib"]), Parallel())
    assert free is not None
    assert free[0].before_weights_gib == pytest.approx(item["pre_gib"], abs=free[0].spread_gib)


def test_without_a_reading_of_the_free_memory_the_total_is_taken_less_the_drivers_own() -> None:
    read, unread = free_memory(h200(), Parallel()), free_memory(h200(free_mib=None), Parallel())
    assert read is not None
    assert unread is not None
    assert unread[0].before_weights_gib == pytest.approx(read[0].before_weights_gib, abs=0.02)
    assert unread[0].assumed_idle
    assert unread[0].spread_gib > read[0].spread_gib


def test_only_the_gpus_of_the_launch_are_taken() -> None:
    found = free_memory(rtx4090(2), Parallel(tensor=2))
    assert found is not None
    assert [free.gpu.index for free in found] == [0, 1]
    assert free_memory(rtx4090(2), Parallel(tensor=4)) is None
    assert free_memory(HostFacts(gpus=None), Parallel()) is None
    assert free_memory(HostFacts(gpus=()), Parallel()) is None


@pytest.mark.parametrize("gpus", [2, 4, 8])
def test_communication_between_gpus_takes_memory_and_widens_the_spread(gpus: int) -> None:
    alone, together = free_memory(h200(count=8), Parallel()), free_memory(h200(count=8), Parallel(tensor=gpus))
    assert alone is not None
    assert together is not None
    assert together[0].before_weights_gib < alone[0].before_weights_gib
    assert together[0].spread_gib > alone[0].spread_gib


def test_a_gpu_that_is_all_but_full_has_nothing_free_and_not_less() -> None:
    gpu = GpuFacts(0, "NVIDIA H200", 143_771, 10, (9, 0))
    found = free_memory(HostFacts(gpus=(gpu,)), Parallel())
    assert found is not None
    assert found[0].before_weights_gib == 0


@pytest.mark.parametrize("name", [kind.name for kind in gpu_kinds()])
def test_every_kind_says_where_its_figures_come_from(name: str) -> None:
    kind = gpu_kind(name)
    assert kind.source
    assert kind.context_spread_mib > 0


def test_what_was_not_measured_has_the_widest_spread() -> None:
    assert gpu_kind("Some New GPU").context_spread_mib > 10 * gpu_kind("NVIDIA H200").context_spread_mib
