from __future__ import annotations

import pytest

from seatrial.trials.metrics import Rate, ToolMetrics
from seatrial.trials.reference import compare, difference_interval
from seatrial.trials.statistics import wilson_interval
from seatrial.verdicts import Verdict


def metrics(hits: int, total: int) -> ToolMetrics:
    return ToolMetrics((Rate("argument_match", hits, total, *wilson_interval(hits, total), ""),), None)


def verdict(candidate: tuple[int, int], *references: tuple[int, int]) -> Verdict:
    return compare(metrics(*candidate), [metrics(*one) for one in references]).verdict


def test_the_same_rate_is_no_worse() -> None:
    assert verdict((50, 50), (50, 50)) is Verdict.PROVEN


def test_a_rate_that_is_surely_lower_is_worse() -> None:
    assert verdict((25, 50), (49, 50)) is Verdict.REFUTED


def test_a_few_answers_can_not_tell() -> None:
    assert verdict((17, 20), (20, 20)) is Verdict.UNPROVEN
    assert verdict((3, 4), (4, 4)) is Verdict.UNPROVEN


def test_a_reference_that_does_not_agree_with_itself_widens_the_margin() -> None:
    assert verdict((34, 50), (48, 50), (50, 50)) is Verdict.REFUTED
    assert verdict((34, 50), (50, 50), (32, 50)) is not Verdict.REFUTED


def test_a_better_rate_is_no_worse() -> None:
    assert verdict((50, 50), (30, 50)) is Verdict.PROVEN


def test_nothing_in_common_is_unproven() -> None:
    assert compare(metrics(1, 1), [ToolMetrics((), None)]).verdict is Verdict.UNPROVEN


def test_the_interval_agrees_with_newcombes_published_example() -> None:
    # 56/70 less 48/80: Newcombe 1998, table II, method 10.
    low, high = difference_interval(56, 70, 48, 80)
    assert (low, high) == pytest.approx((0.0524, 0.3339), abs=5e-5)
