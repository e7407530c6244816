from __future__ import annotations

import itertools
import statistics

import pytest

from seatrial.bench.metrics import Offered, summarise
from seatrial.bench.plan import Arrivals, Level, LoadPlan, Ramp
from seatrial.bench.result import LevelResult, RequestRow


def level_with(concurrency: int, throughput: int) -> LevelResult:
    one = RequestRow("b", 0, "measured", 0.0, 0.0, sent=0.0, first_token=0.5, ended=1.0, output_tokens=throughput)
    return summarise([one], Offered(f"{concurrency} at once", concurrency), window_seconds=1.0)


def test_constant_arrivals_come_at_equal_intervals() -> None:
    level = Level(rate=4, arrivals=Arrivals.CONSTANT, requests=4)
    assert list(level.schedule(0)) == [0.0, 0.25, 0.5, 0.75]


def test_poisson_arrivals_have_their_rate_and_vary_as_chance_does() -> None:
    due = list(Level(rate=50, requests=5000).schedule(3))
    gaps = [later - earlier for earlier, later in itertools.pairwise(due)]
    assert statistics.fmean(gaps) == pytest.approx(1 / 50, rel=0.05)
    assert statistics.pstdev(gaps) == pytest.approx(1 / 50, rel=0.05)
    assert due == list(Level(rate=50, requests=5000).schedule(3))


def test_a_duration_ends_a_schedule() -> None:
    due = list(Level(rate=10, arrivals=Arrivals.CONSTANT, seconds=1.0).schedule(0))
    assert len(due) == 10


def test_a_ramp_doubles_until_two_levels_give_no_more() -> None:
    ramp = Ramp(largest=64)
    assert list(ramp.levels()) == [1, 2, 4, 8, 16, 32, 64]
    throughputs = {1: 50, 2: 99, 4: 190, 8: 200, 16: 201}
    done = [level_with(*pair) for pair in throughputs.items()]
    assert [ramp.is_over(done[:count]) for count in range(1, 6)] == [False, False, False, False, False]
    done.append(level_with(32, 199))
    assert ramp.is_over(done)
    knee = ramp.knee(done)
    assert knee is not None
    assert (knee.concurrency, knee.saturated) == (4, True)


def test_a_ramp_that_did_not_saturate_says_so() -> None:
    ramp = Ramp(largest=4)
    knee = ramp.knee([level_with(1, 50), level_with(2, 100), level_with(4, 200)])
    assert knee is not None
    assert not knee.saturated
    assert "beyond" in knee.why
    assert ramp.knee([]) is None


def test_a_plan_knows_how_much_it_asks() -> None:
    plan = LoadPlan.closed((1, 2, 4), lambda level: 3 * level, warm_up=2)
    assert plan.most_requests == 2 + 21
    assert LoadPlan((Level(rate=1, seconds=2),)).most_requests is None
    assert plan.figures().kind == "closed"
    assert LoadPlan((Level(rate=1, requests=2),)).figures().arrivals == "poisson"
