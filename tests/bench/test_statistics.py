from __future__ import annotations

import random
import statistics as standard

import pytest

from seatrial.bench import statistics as ours
from seatrial.bench.statistics import Ratio, Sample, design_effect, percentile, student_95


def sample_of(values: list[float]) -> Sample:
    sample = Sample()
    for value in values:
        sample.add(value)
    return sample


def test_percentiles_interpolate_as_the_standard_library_does() -> None:
    pick = random.Random(3)
    values = sorted(pick.random() for _ in range(101))
    ninths = standard.quantiles(values, n=10, method="inclusive")
    assert percentile(values, 0.9) == pytest.approx(ninths[8])
    assert sample_of(values).quantile(0.9) == pytest.approx(ninths[8])
    assert sample_of([2.0]).distribution().p99 == 2.0


def test_a_large_sample_keeps_bins_that_are_nearly_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    pick = random.Random(5)
    values = [pick.lognormvariate(-3, 1) for _ in range(20_000)]
    monkeypatch.setattr(ours, "EXACT_VALUES", 1000)
    sample = sample_of(values)
    assert len(sample._values) == 0
    ordered = sorted(values)
    for share in (0.01, 0.5, 0.9, 0.99):
        assert sample.quantile(share) == pytest.approx(percentile(ordered, share), rel=0.001)
    assert sample.mean == pytest.approx(standard.fmean(values))
    assert sum(sample.histogram().counts) == len(values)


@pytest.mark.parametrize("figure", ["mean", "p50", "p90"])
def test_intervals_hold_the_truth_about_as_often_as_they_say(figure: str) -> None:
    pick = random.Random(f"{figure} coverage")
    truth = {"mean": 1.0, "p50": 0.6931, "p90": 2.3026}[figure]  # of the exponential distribution
    held = 0
    for seed in range(200):
        found = sample_of([pick.expovariate(1) for _ in range(80)]).distribution(seed)
        low, high = found.intervals[figure]
        held += low <= truth <= high
    assert held >= 200 * 0.86, held


def test_a_median_that_is_bootstrapped_the_short_way_agrees_with_the_long_way() -> None:
    pick = random.Random(11)
    values = [pick.gauss(10, 2) for _ in range(60)]
    low, high = sample_of(values).distribution(seed=1).intervals["p50"]
    medians = sorted(standard.median(pick.choices(values, k=len(values))) for _ in range(4000))
    assert low == pytest.approx(percentile(medians, 0.025), abs=0.25)
    assert high == pytest.approx(percentile(medians, 0.975), abs=0.25)


def test_few_values_have_no_interval_and_a_p99_needs_two_hundred() -> None:
    assert sample_of([1.0, 2.0]).distribution().intervals == {}
    assert "p99" not in sample_of([float(number) for number in range(199)]).distribution().intervals
    assert "p99" in sample_of([float(number) for number in range(201)]).distribution().intervals


def test_values_of_one_stream_that_hang_together_widen_the_interval() -> None:
    pick = random.Random(7)
    groups, values = [], []
    for _ in range(20):
        speed = pick.uniform(0.01, 0.03)  # each stream has a speed of its own
        gaps = [speed + pick.uniform(0, 0.001) for _ in range(50)]
        values += gaps
        groups.append((len(gaps), standard.fmean(gaps)))
    effect = design_effect(groups, standard.pvariance(values))
    assert effect == pytest.approx(50, rel=0.1)
    sample = sample_of(values)
    naive, honest = sample.distribution().intervals["mean"], sample.distribution(0, effect).intervals["mean"]
    assert honest[1] - honest[0] > 5 * (naive[1] - naive[0])
    assert design_effect([(50, 0.01)] * 20, standard.pvariance(values)) == 1.0


def test_a_ratio_of_sums_has_the_interval_of_its_resamples_and_of_their_limit() -> None:
    pick = random.Random(13)
    pairs = [(tokens := pick.randint(50, 200), tokens / 40 + pick.uniform(0, 0.5)) for _ in range(150)]
    small, large = Ratio(), Ratio()
    for over, under in pairs:
        small.add(over, under)
    for over, under in pairs * 2:  # 300 pairs: the limit is used
        large.add(over, under)
    exact, limit = small.relative_interval(), large.relative_interval()
    assert exact is not None
    assert limit is not None
    assert (limit[1] - limit[0]) * 2**0.5 == pytest.approx(exact[1] - exact[0], rel=0.2)
    assert Ratio().relative_interval() is None


def test_students_t_is_as_in_the_tables() -> None:
    assert student_95(5) == pytest.approx(2.571, abs=0.001)
    assert student_95(20) == pytest.approx(2.086, abs=0.003)
    assert student_95(1000) == pytest.approx(1.962, abs=0.001)
