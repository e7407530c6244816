"""Plans against boots of SGLang 0.5.16 on an H200. A plan sees the model, the launch and the GPU, never the log."""

from __future__ import annotations

from typing import Any

import pytest

from engines.sglang.memory.boots import BOOTS, GIB, boot, planned, record
from seatrial.engines.sglang.memory.compare import compare, measured
from seatrial.engines.sglang.memory.plan import Measured

STARTED = [item for item in BOOTS if record(item).kv_cache_tokens is not None]
REFUSED = [item for item in BOOTS if record(item).kv_cache_tokens is None]
SMALL_REST_GIB = 4.0
"""Under this rest, one 20 MiB segment of the allocator is over 0.5% of it; two boots of one launch differ by that."""


def named(item: dict[str, Any]) -> str:
    return str(item["name"])


def near(planned_figure: float | None, actual: float | None, share: float, least: float = 0) -> bool:
    if actual is None:  # the log doesn't say
        return True
    if planned_figure is None:
        return False
    return abs(planned_figure - actual) <= max(share * actual, least)


def test_there_are_boots_of_every_kind() -> None:
    assert len(STARTED) > 40
    assert len(REFUSED) >= 3
    assert {item["settings"].get("--kv-cache-dtype") for item in STARTED} > {"fp8_e4m3"}
    assert any(planned(item).swa_cache_tokens for item in STARTED)
    assert any("--speculative-algorithm" in item["settings"] for item in STARTED)


@pytest.mark.parametrize("item", STARTED, ids=named)
def test_weights_are_within_two_percent(item: dict[str, Any]) -> None:
    assert near(planned(item).weights_gib, record(item).weights_gib, 0.02)


@pytest.mark.parametrize("item", STARTED, ids=named)
def test_pools_are_within_one_percent_or_within_their_own_spread(item: dict[str, Any]) -> None:
    plan, actual = planned(item), record(item)
    rest = plan.gpus[0].rest_gib
    assert rest is not None
    if rest < SMALL_REST_GIB:
        assert actual.kv_cache_tokens is not None
        spread = plan.spread["kv_cache_tokens"]
        slot = (plan.state_bytes_per_slot or 0) / (plan.kv_bytes_per_token or 1)
        assert spread.low - slot <= actual.kv_cache_tokens <= spread.high + slot
    else:
        assert near(plan.kv_cache_tokens, actual.kv_cache_tokens, 0.01)
    assert near(plan.swa_cache_tokens, actual.swa_cache_tokens, 0.01) or rest < SMALL_REST_GIB
    assert near(plan.mamba_slots, actual.mamba_slots, 0.01, least=1)
    if actual.max_running_requests is not None:
        assert near(plan.max_running_requests, actual.max_running_requests, 0.01)


@pytest.mark.parametrize("item", STARTED, ids=named)
def test_with_the_engines_own_measurements_every_figure_is_exact(item: dict[str, Any]) -> None:
    truth = Measured(before_weights_gib=item["pre_gib"], after_weights_gib=item["avail_gib"])
    plan, actual = planned(item, truth), record(item)
    assert plan.kv_cache_tokens == actual.kv_cache_tokens
    assert plan.mamba_slots == actual.mamba_slots
    if actual.swa_cache_tokens is not None:
        assert plan.swa_cache_tokens == actual.swa_cache_tokens
    if actual.max_running_requests is not None:
        assert plan.max_running_requests == actual.max_running_requests


@pytest.mark.parametrize("item", STARTED, ids=named)
def test_from_the_logs_lines_slots_are_within_one_and_tokens_within_a_thousandth(item: dict[str, Any]) -> None:
    actual = record(item)
    plan = planned(item, measured(actual))
    assert actual.kv_cache_tokens is not None
    assert near(plan.mamba_slots, actual.mamba_slots, 0.001, least=1)  # LFM2 has slots of 80 kB: the rounding hides 12
    # The log rounds each of two lines to 0.01 GiB; a slot more or less moves its bytes to the tokens.
    rounding = 0.02 * GIB / (plan.kv_bytes_per_token or 1)
    if plan.mamba_slots != actual.mamba_slots:
        rounding += (plan.state_bytes_per_slot or 0) / (plan.kv_bytes_per_token or 1)
    assert near(plan.kv_cache_tokens, actual.kv_cache_tokens, 0.001, least=0.001 * actual.kv_cache_tokens + rounding)


@pytest.mark.parametrize(
    "item", [item for item in STARTED if item["settings"].get("--mem-fraction-static") is None], ids=named
)
def test_the_default_fraction_is_the_engines(item: dict[str, Any]) -> None:
    assert planned(item).mem_fraction_static == pytest.approx(item["fraction"], abs=1e-9)


@pytest.mark.parametrize("item", REFUSED, ids=named)
def test_a_boot_that_failed_was_foreseen_in_the_engines_own_words(item: dict[str, Any]) -> None:
    plan = planned(item)
    assert plan.failure is not None
    said = " ".join((*record(item).errors, *item["log"]))
    assert plan.failure.message[:60] in said or plan.failure.id == "weights-do-not-fit"
    assert plan.kv_cache_tokens == 0
    assert plan.max_running_requests == 0
    assert plan.findings[0].id == plan.failure.id


@pytest.mark.parametrize("item", STARTED, ids=named)
def test_a_boot_that_started_has_no_failure_foreseen(item: dict[str, Any]) -> None:
    assert planned(item).failure is None


@pytest.mark.parametrize("item", STARTED, ids=named)
def test_bytes_of_the_pools_are_those_of_the_log(item: dict[str, Any]) -> None:
    truth = Measured(before_weights_gib=item["pre_gib"], after_weights_gib=item["avail_gib"])
    differences = {each.figure: each for each in compare(planned(item, truth), record(item))}
    for figure in ("conv_state_gib", "ssm_state_gib", "kv_cache_gib"):
        if figure in differences:
            each = differences[figure]
            assert abs(each.planned - each.actual) <= 0.011, each  # two decimals, and K and V apart


def test_almost_every_figure_lies_in_the_spread_that_the_plan_gave() -> None:
    inside = [
        each.within for item in STARTED for each in compare(planned(item), record(item)) if each.within is not None
    ]
    assert sum(inside) >= 0.95 * len(inside)


def test_a_draft_of_a_multimodal_checkpoint_is_charged_with_all_layers_as_the_engine_does() -> None:
    item = boot("nextn-qwen35")
    plain = {**item, "settings": {k: v for k, v in item["settings"].items() if "speculative" not in k}}
    drafted, alone = planned(item), planned(plain)
    assert drafted.kv_bytes_per_token is not None
    assert alone.kv_bytes_per_token is not None
    assert drafted.kv_bytes_per_token < 1.2 * alone.kv_bytes_per_token  # what a token takes, with the draft's one layer
    assert (drafted.kv_cache_tokens or 0) < (alone.kv_cache_tokens or 0) / 3.5
