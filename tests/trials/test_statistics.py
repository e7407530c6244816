from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial.trials.statistics import SequentialTest, wilson_interval
from seatrial.trials.suites import LOOP_TESTS, SuiteName
from seatrial.verdicts import Verdict


def run_once(test: SequentialTest, rate: float, pick: random.Random) -> Verdict:
    clean = failed = 0
    while (verdict := test.verdict(clean, failed)) is None:
        if pick.random() < rate:
            failed += 1
        else:
            clean += 1
    return verdict


@pytest.mark.parametrize("name", list(SuiteName))
def test_a_bad_server_is_rarely_proven_and_a_good_one_rarely_refuted(name: SuiteName) -> None:
    test, pick, runs = LOOP_TESTS[name], random.Random(7), 4000
    proven_at_p1 = sum(run_once(test, test.p1, pick) is Verdict.PROVEN for _ in range(runs)) / runs
    refuted_at_p0 = sum(run_once(test, test.p0, pick) is Verdict.REFUTED for _ in range(runs)) / runs
    assert proven_at_p1 <= test.alpha + 0.01
    assert refuted_at_p0 <= test.beta + 0.01


@pytest.mark.parametrize("name", list(SuiteName))
def test_clean_answers_alone_prove_within_the_budget(name: SuiteName) -> None:
    test = LOOP_TESTS[name]
    needed = test.clean_answers_to_prove
    assert needed <= test.budget
    assert test.verdict(needed, 0) is Verdict.PROVEN
    assert test.verdict(needed - 1, 0) is None


def test_loops_in_every_answer_are_refuted_after_a_handful() -> None:
    test = LOOP_TESTS[SuiteName.QUICK]
    assert test.verdict(0, 3) is None
    assert test.verdict(0, 4) is Verdict.REFUTED


def test_an_undecided_test_ends_with_its_budget() -> None:
    test = SequentialTest(p0=0.1, p1=0.2, alpha=0.01, beta=0.01, budget=10)
    assert test.verdict(8, 1) is None
    assert test.verdict(9, 1) is Verdict.UNPROVEN


@pytest.mark.parametrize(
    ("failed", "asked", "low", "high"),
    [(0, 20, 0.0, 0.1611), (1, 10, 0.0179, 0.4042), (10, 10, 0.7225, 1.0), (50, 100, 0.4038, 0.5962)],
)
def test_wilson_interval_agrees_with_published_values(failed: int, asked: int, low: float, high: float) -> None:
    assert wilson_interval(failed, asked) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(0, 500), st.integers(1, 500))
def test_wilson_interval_holds_the_rate_and_stays_within_bounds(failed: int, more: int) -> None:
    asked = failed + more
    low, high = wilson_interval(failed, asked)
    assert 0 <= low <= failed / asked <= high <= 1


def test_nothing_asked_is_nothing_known() -> None:
    assert wilson_interval(0, 0) == (0.0, 1.0)


def test_a_test_that_can_not_tell_is_an_error() -> None:
    with pytest.raises(ValueError, match="not a test"):
        SequentialTest(p0=0.3, p1=0.1, alpha=0.05, beta=0.05, budget=10)
