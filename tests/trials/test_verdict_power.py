"""The power of the loop trial's verdicts, exactly: what is promised is kept, and what is computed is what is asked."""

from __future__ import annotations

import importlib.util
import random
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from seatrial.endpoint.address import Endpoint
from seatrial.endpoint.answer import Answer
from seatrial.endpoint.exchange import Exchange, Timing
from seatrial.trials.interface import Case, Settings
from seatrial.trials.repetition import Repetition
from seatrial.trials.statistics import SequentialTest
from seatrial.trials.suites import LOOP_TESTS, SuiteName
from seatrial.verdicts import Verdict

FILE = Path(__file__).parents[2] / "benchmarks" / "verdict_power.py"
CLEAN = Answer(content="The bridge was built in 1932 and carries two lanes.", finish_reason="stop")
BROKEN = Answer(content="and so on " * 200, finish_reason="length")


@pytest.fixture(scope="module")
def power() -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("verdict_power", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["verdict_power"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["verdict_power"]


@pytest.mark.parametrize("name", list(SuiteName))
def test_every_suite_keeps_its_promises_exactly(power: ModuleType, name: SuiteName) -> None:
    test, together = LOOP_TESTS[name], power.together_of(name)
    assert power.exact(test, test.p1, together).probability(Verdict.PROVEN) <= test.alpha
    assert power.exact(test, test.p0, together).probability(Verdict.REFUTED) <= test.beta
    assert all(kept for _, kept in power.promises(test, together))


@pytest.mark.parametrize("name", list(SuiteName))
def test_a_perfect_server_is_always_proven_and_a_good_one_seldom_left_open(power: ModuleType, name: SuiteName) -> None:
    test, together = LOOP_TESTS[name], power.together_of(name)
    perfect = power.exact(test, 0.0, together)
    assert perfect.probability(Verdict.PROVEN) == 1.0
    assert perfect.answers(1.0) < test.clean_answers_to_prove + together
    assert power.exact(test, test.p0, together).probability(Verdict.UNPROVEN) < 0.03


@pytest.mark.parametrize("name", list(SuiteName))
def test_a_server_that_always_loops_is_refuted_after_a_handful(power: ModuleType, name: SuiteName) -> None:
    test = LOOP_TESTS[name]
    hopeless = power.exact(test, 1.0, power.together_of(name))
    assert hopeless.ends == {(Verdict.REFUTED, test.at_least): 1.0}


@pytest.mark.parametrize("rate", [0.0, 0.004, 0.05, 0.3, 0.99, 1.0])
@pytest.mark.parametrize("together", [1, 2, 8, 50])
def test_all_runs_end_within_the_budget(power: ModuleType, rate: float, together: int) -> None:
    for test in LOOP_TESTS.values():
        ends = power.exact(test, rate, together).ends
        assert sum(ends.values()) == pytest.approx(1.0, abs=1e-12)
        assert max(asked for _, asked in ends) <= test.budget


def test_a_case_that_can_be_done_by_hand(power: ModuleType) -> None:
    test = SequentialTest(p0=0.1, p1=0.9, alpha=0.2, beta=0.2, budget=3)  # one answer decides: log(9) is over log(4)
    assert power.exact(test, 0.25).ends == {(Verdict.PROVEN, 1): 0.75, (Verdict.REFUTED, 1): 0.25}
    later = SequentialTest(p0=0.1, p1=0.9, alpha=0.2, beta=0.2, budget=2, at_least=2)
    assert power.exact(later, 0.25).ends == {
        (Verdict.PROVEN, 2): 0.75**2,
        (Verdict.REFUTED, 2): 0.25**2,
        (Verdict.UNPROVEN, 2): 2 * 0.75 * 0.25,
    }


@pytest.mark.parametrize("rate", [0.0, 0.02, 0.3])
def test_simulation_agrees(power: ModuleType, rate: float) -> None:
    test = LOOP_TESTS[SuiteName.STANDARD]
    exact, drawn = power.exact(test, rate, 2), power.simulated(test, rate, 2, 2000, random.Random(3))
    for verdict in Verdict:
        assert drawn.probability(verdict) == pytest.approx(exact.probability(verdict), abs=0.05)
    assert drawn.mean_answers == pytest.approx(exact.mean_answers, rel=0.05)


class Scripted:
    """Answers as drawn, at once, and counts."""

    endpoint = Endpoint("http://127.0.0.1:1/v1", "m")
    settings = Settings(sampling={"temperature": 0})  # nothing more is asked apart

    def __init__(self, rate: float, seed: int) -> None:
        self.pick, self.rate, self.asked, self.broken = random.Random(seed), rate, 0, 0

    async def ask(self, case: Case) -> Exchange:
        self.asked += 1
        broken = self.pick.random() < self.rate
        self.broken += broken
        request: Mapping[str, Any] = {**case.request, "max_tokens": 2048}
        return Exchange(f"r{self.asked}", case.id, request, Timing(0.0), status=200, answer=BROKEN if broken else CLEAN)

    async def get_json(self, path: str, *, at_origin: bool = False) -> Any:
        raise NotImplementedError

    async def post_json(self, path: str, body: Any, *, at_origin: bool = False) -> Any:
        raise NotImplementedError


@pytest.mark.parametrize("name", list(SuiteName))
@pytest.mark.parametrize(("rate", "seed"), [(0.0, 1), (1.0, 1), (0.01, 2), (0.03, 3), (0.06, 4), (0.1, 5), (0.2, 6)])
async def test_the_real_trial_ends_where_the_computation_says(
    power: ModuleType, name: SuiteName, rate: float, seed: int
) -> None:
    test, together = LOOP_TESTS[name], power.together_of(name)
    asker = Scripted(rate, seed)
    (check,) = (await Repetition(test, together=together).run(asker)).checks
    pick = random.Random(seed)
    ((expected, asked),) = power.simulated(test, rate, together, 1, pick).ends
    assert (check.verdict, asker.asked) == (expected, asked)
