"""A plan held against a boot: figure by figure, with a finding over three percent."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.sglang.memory.boots import boot, planned, record
from seatrial.engines.sglang.boot_log import BootRecord
from seatrial.engines.sglang.memory.compare import TOLERANCE, compare, measured
from seatrial.findings import Level

ITEM = boot("vlm35-awq")


def test_a_boot_that_went_as_planned_has_no_finding() -> None:
    found = compare(planned(ITEM), record(ITEM))
    assert {each.figure for each in found} >= {"weights_gib", "mamba_slots", "kv_cache_tokens", "max_running_requests"}
    assert not [each for each in found if each.finding]


@settings(max_examples=60, deadline=None)
@given(st.floats(0.5, 1.5))
def test_a_figure_that_is_off_by_more_than_three_percent_is_a_finding(factor: float) -> None:
    actual = record(ITEM)
    assert actual.kv_cache_tokens is not None
    changed = replace(actual, kv_cache_tokens=round(actual.kv_cache_tokens * factor))
    each = next(item for item in compare(planned(ITEM), changed) if item.figure == "kv_cache_tokens")
    assert each.share is not None
    assert (each.finding is not None) == (abs(each.share) > TOLERANCE)
    if each.finding is not None:
        assert each.finding.level is Level.WARNING
        assert f"{int(each.actual):,}" in each.finding.message


def test_what_one_side_does_not_know_is_not_compared() -> None:
    found = compare(planned(ITEM), BootRecord(kv_cache_tokens=1))
    assert [each.figure for each in found] == ["kv_cache_tokens"]


def test_two_decimals_of_a_small_figure_are_no_difference() -> None:
    plan = planned(ITEM)
    gpu = plan.gpus[0]
    states = (gpu.conv_state_bytes or 0) / (1 << 30)
    tiny = replace(gpu, conv_state_bytes=int(0.004 * (1 << 30)))
    assert states > 0
    found = compare(replace(plan, gpus=(tiny,)), BootRecord(conv_state_gib=0.0))
    assert found[0].share is None
    assert found[0].finding is None


def test_a_plan_can_start_from_a_boots_own_figures() -> None:
    actual = record(ITEM)
    taken = measured(actual)
    assert (taken.begin_gib, taken.end_gib, taken.weights_gib) == (actual.begin_gib, actual.end_gib, actual.weights_gib)
    assert planned(ITEM, taken).kv_cache_tokens == pytest.approx(actual.kv_cache_tokens, rel=0.001)


def test_where_the_server_ran_with_other_settings_the_advice_says_so() -> None:
    actual = replace(record(ITEM), context_length=1_000, kv_cache_tokens=5)
    found = {each.figure: each.finding for each in compare(planned(ITEM), actual)}
    tokens = found["kv_cache_tokens"]
    assert tokens is not None
    assert "context_length" in (tokens.advice or "")
