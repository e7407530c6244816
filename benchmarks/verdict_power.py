"""What the loop trial's verdicts are worth: who is proven, refuted or left unproven, and after how many answers.

    python benchmarks/verdict_power.py [--runs 10000] [--seed 7]

For each suite and true rates of broken answers from 0 to 30%, twice: exactly, by walking all states (clean, failed)
of the sequential test with their probabilities, and by simulation. Prints both, and checks that they agree and that
the promises hold: a server at p1 is proven in at most a share α of runs, one at p0 refuted in at most β, a perfect one
always proven. Exit code 1 if not.

Answers are taken to be independent, each broken with the true rate, and a detector that errs is part of that rate.
Where a trial asks several at once, it decides only when all of them are there, as the trial itself does.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from seatrial.trials.repetition import Repetition
from seatrial.trials.statistics import SequentialTest
from seatrial.trials.suites import LOOP_TESTS, SuiteName, suite
from seatrial.verdicts import Verdict

RATES = (0.0, 0.005, 0.01, 0.02, 0.05, 0.075, 0.10, 0.15, 0.20, 0.30)
VERDICTS = (Verdict.PROVEN, Verdict.REFUTED, Verdict.UNPROVEN)
STANDARD_ERRORS = 5
"""How far a drawn share may lie from the exact one: with 100 shares chance goes that far in 1 of 10,000 tables."""


@dataclass(slots=True)
class Power:
    """What comes of a test at one true rate: the probability of each verdict after each number of answers."""

    ends: dict[tuple[Verdict, int], float] = field(default_factory=lambda: defaultdict(float))

    def probability(self, verdict: Verdict) -> float:
        """How often it ends with that verdict."""
        return math.fsum(weight for (ended, _), weight in self.ends.items() if ended is verdict)

    @property
    def mean_answers(self) -> float:
        """Answers needed, on average."""
        return math.fsum(asked * weight for (_, asked), weight in self.ends.items())

    def answers(self, share: float) -> int:
        """Answers that are enough for that share of the runs."""
        ended = 0.0
        for asked, weight in sorted((asked, weight) for (_, asked), weight in self.ends.items()):
            ended += weight
            if ended >= share - 1e-9:
                return asked
        raise ValueError("not all runs ended")


def batches(test: SequentialTest, together: int) -> Iterator[int]:
    """Yield how many answers the trial asks for before each look at the test (see `Repetition.run`)."""
    asked = 0
    while True:
        size = together if asked * 2 >= test.clean_answers_to_prove else 1
        size = max(1, min(size, test.budget - asked))
        asked += size
        yield size


def exact(test: SequentialTest, rate: float, together: int = 1) -> Power:
    """Walk all states with their probabilities."""
    power, open_states, asked = Power(), {0: 1.0}, 0
    for size in batches(test, together):
        for _ in range(size):
            stepped: dict[int, float] = defaultdict(float)
            for failed, weight in open_states.items():
                stepped[failed] += weight * (1 - rate)
                stepped[failed + 1] += weight * rate
            open_states = stepped
        asked += size
        still_open = {}
        for failed, weight in open_states.items():
            verdict = test.verdict(asked - failed, failed)
            if verdict is None:
                still_open[failed] = weight
            elif weight:
                power.ends[verdict, asked] += weight
        open_states = still_open
        if not open_states:
            break
    return power


def simulated(test: SequentialTest, rate: float, together: int, runs: int, pick: random.Random) -> Power:
    """Draw runs."""
    verdicts: dict[tuple[int, int], Verdict | None] = {}
    ends: Counter[tuple[Verdict, int]] = Counter()
    for _ in range(runs):
        asked = failed = 0
        for size in batches(test, together):
            failed += sum(pick.random() < rate for _ in range(size))
            asked += size
            state = asked, failed
            if state not in verdicts:
                verdicts[state] = test.verdict(asked - failed, failed)
            verdict = verdicts[state]
            if verdict is not None:
                ends[verdict, asked] += 1
                break
    return Power({end: count / runs for end, count in ends.items()})


def together_of(name: SuiteName) -> int:
    """Return how many answers the suite's loop trial asks for at once."""
    (trial,) = (trial for trial in suite(name).trials if isinstance(trial, Repetition))
    return trial.together


def promises(test: SequentialTest, together: int = 1) -> list[tuple[str, bool]]:
    """Say each promise with its exact number, and whether it is kept."""
    proven = exact(test, test.p1, together).probability(Verdict.PROVEN)
    refuted = exact(test, test.p0, together).probability(Verdict.REFUTED)
    perfect = exact(test, 0.0, together).probability(Verdict.PROVEN)
    return [
        (f"at p1 = {test.p1:.1%} proven in {proven:.2%} of runs, promised ≤ {test.alpha:.0%}", proven <= test.alpha),
        (f"at p0 = {test.p0:.1%} refuted in {refuted:.2%} of runs, promised ≤ {test.beta:.0%}", refuted <= test.beta),
        (f"at 0% proven in {perfect:.2%} of runs, promised 100%", perfect == 1.0),
    ]


def show(name: SuiteName, runs: int, pick: random.Random) -> bool:
    """Print one suite's table; tell whether all holds."""
    test, together = LOOP_TESTS[name], together_of(name)
    print(
        f"\n{name}: p0 {test.p0:.1%}, p1 {test.p1:.1%}, alpha {test.alpha:.0%}, beta {test.beta:.0%}, "
        f"budget {test.budget}, no decision before {test.at_least}, {test.clean_answers_to_prove} clean answers prove, "
        f"up to {together} at once"
    )
    print(f"{'true':>6} | {'P(proven)':^15} | {'P(refuted)':^15} | {'P(unproven)':^15} | {'answers needed':^22}")
    print(f"{'rate':>6} |" + f" {'exact':>7} {'drawn':>7} |" * 3 + f" {'mean':>6} {'drawn':>7} {'90%':>7}")
    largest = 0.0
    for rate in sorted({*RATES, test.p0, test.p1}):
        truth, drawn = exact(test, rate, together), simulated(test, rate, together, runs, pick)
        cells = ""
        for verdict in VERDICTS:
            share, seen = truth.probability(verdict), drawn.probability(verdict)
            cells += f" {share:7.2%} {seen:7.2%} |"
            spread = math.sqrt(share * (1 - share) / runs) if 0 < share < 1 else 0.0
            largest = max(largest, abs(seen - share) / max(spread, 1 / runs))
        print(
            f"{rate:6.1%} |{cells} {truth.mean_answers:6.1f} {drawn.mean_answers:7.1f} {truth.answers(0.9):7d}"
            + {test.p0: "  p0", test.p1: "  p1"}.get(rate, "")
        )
    kept = promises(test, together)
    kept.append((f"drawn and exact shares are at most {largest:.1f} standard errors apart", largest <= STANDARD_ERRORS))
    for said, holds in kept:
        print(f"  {'kept  ' if holds else 'BROKEN'} {said}")
    return all(holds for _, holds in kept)


def main() -> int:
    """Print all suites."""
    parser = argparse.ArgumentParser(description="What the verdicts of the loop trial are worth.")
    parser.add_argument("--runs", type=int, default=10_000, help="simulated runs for each rate (%(default)s)")
    parser.add_argument("--seed", type=int, default=7, help="(%(default)s)")
    options = parser.parse_args()
    print(f"{options.runs} simulated runs for each rate, seed {options.seed}; exact: no simulation")
    pick = random.Random(options.seed)
    holds = [show(name, options.runs, pick) for name in SuiteName]
    return 0 if all(holds) else 1


if __name__ == "__main__":
    sys.exit(main())
