"""Which trials make up a suite, and how much each may ask."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from seatrial.trials import no_call, plain_answer, reasoning, tool_call
from seatrial.trials.interface import Trial
from seatrial.trials.liveness import Liveness
from seatrial.trials.over_long_input import OverLongInput
from seatrial.trials.repetition import Repetition
from seatrial.trials.statistics import SequentialTest


class SuiteName(StrEnum):
    """The suites, from a minute to an hour."""

    QUICK = "quick"
    STANDARD = "standard"
    DEEP = "deep"


@dataclass(frozen=True, slots=True)
class Suite:
    """Trials in the order in which they are made; the first one gates the others."""

    name: SuiteName
    trials: tuple[Trial, ...]


# p0: one broken answer in a hundred or two is what good checkpoints show under sampling. p1: the rate that the suite
# promises to find. Broken checkpoints on record loop in a tenth to all of their answers; quick finds the worst ones.
LOOP_TESTS = {
    SuiteName.QUICK: SequentialTest(p0=0.01, p1=0.30, alpha=0.05, beta=0.05, budget=16, at_least=4),
    SuiteName.STANDARD: SequentialTest(p0=0.01, p1=0.10, alpha=0.05, beta=0.05, budget=64, at_least=5),
    SuiteName.DEEP: SequentialTest(p0=0.005, p1=0.05, alpha=0.05, beta=0.05, budget=200, at_least=5),
}

GREEDY_ANSWERS = {SuiteName.QUICK: 2, SuiteName.STANDARD: 6, SuiteName.DEEP: 16}
TOGETHER = {SuiteName.QUICK: 1, SuiteName.STANDARD: 2, SuiteName.DEEP: 8}


def suite(name: SuiteName) -> Suite:
    """Return a suite by its name."""
    return Suite(
        name,
        (
            Liveness(),
            plain_answer.TRIAL,
            tool_call.TRIAL,
            no_call.TRIAL,
            reasoning.TRIAL,
            Repetition(LOOP_TESTS[name], greedy=GREEDY_ANSWERS[name], together=TOGETHER[name]),
            OverLongInput(),
        ),
    )
