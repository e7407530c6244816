"""Which trials make up a suite, and how much each may ask."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from seatrial.trials import json_format, plain_answer, reasoning
from seatrial.trials.calls import Calls
from seatrial.trials.interface import Trial
from seatrial.trials.liveness import Liveness
from seatrial.trials.long_context import LongContext
from seatrial.trials.merge_request_review import MergeRequestReview
from seatrial.trials.over_long_input import OverLongInput
from seatrial.trials.repetition import Repetition
from seatrial.trials.review_cases import all_reviews
from seatrial.trials.statistics import SequentialTest
from seatrial.trials.thinking import Thinking
from seatrial.trials.together import Together
from seatrial.trials.tool_cases import tool_groups


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
    SuiteName.QUICK: SequentialTest(p0=0.01, p1=0.30, alpha=0.05, beta=0.05, budget=20, at_least=4),
    SuiteName.STANDARD: SequentialTest(p0=0.01, p1=0.10, alpha=0.05, beta=0.05, budget=82, at_least=5),
    SuiteName.DEEP: SequentialTest(p0=0.005, p1=0.05, alpha=0.05, beta=0.05, budget=216, at_least=5),
}

QUICK_GROUPS = ("tool_call", "no_call")
STANDARD_GROUPS = ("tool_choice", "arguments", "parallel_calls", "many_tools", "multi_turn")


def suite(name: SuiteName) -> Suite:
    """Return a suite by its name."""
    return Suite(name, {SuiteName.QUICK: _quick, SuiteName.STANDARD: _standard, SuiteName.DEEP: _deep}[name]())


def _quick() -> tuple[Trial, ...]:
    return (
        *_basics(),
        Repetition(LOOP_TESTS[SuiteName.QUICK], greedy=2),
        OverLongInput(),
    )


def _standard() -> tuple[Trial, ...]:
    return (
        *_basics(),
        *_calls(),
        Together((2, 8)),
        MergeRequestReview(reviews=6),
        Repetition(LOOP_TESTS[SuiteName.STANDARD], greedy=6, together=2),
        OverLongInput(search_tokens=60_000, search_seconds=45),
        LongContext(budget_tokens=60_000, budget_seconds=60),
    )


def _deep() -> tuple[Trial, ...]:
    return (
        *_basics(),
        *_calls(),
        Together((2, 8)),
        MergeRequestReview(reviews=len(all_reviews())),
        Repetition(LOOP_TESTS[SuiteName.DEEP], greedy=16, together=8),
        OverLongInput(search_tokens=600_000, search_seconds=1_800),
        LongContext(budget_tokens=1_200_000, budget_seconds=3_600),
    )


def _basics() -> tuple[Trial, ...]:
    return (Liveness(), plain_answer.TRIAL, *(Calls(tool_groups()[name]) for name in QUICK_GROUPS), reasoning.TRIAL)


def _calls() -> tuple[Trial, ...]:
    return (*(Calls(tool_groups()[name]) for name in STANDARD_GROUPS), Thinking(), json_format.TRIAL)
