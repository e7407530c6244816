"""The arithmetic of verdicts about rates: a sequential test, and an interval. Pure.

Sources: A. Wald, "Sequential Tests of Statistical Hypotheses", Ann. Math. Statist. 16 (1945); E. B. Wilson,
"Probable Inference", J. Amer. Statist. Assoc. 22 (1927).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from seatrial.verdicts import Verdict

Z_95 = 1.959963984540054
"""The two-sided 95% point of the normal distribution."""


@dataclass(frozen=True, slots=True)
class SequentialTest:
    """Wald's sequential probability ratio test of a failure rate: good (p0) against bad (p1).

    Attributes:
        p0: the failure rate that is still good.
        p1: the failure rate that is bad; `p0 < p1`.
        alpha: at most this share of runs proves a server whose rate is p1.
        beta: at most this share of runs refutes a server whose rate is p0.
        budget: most answers that are asked for; then it stays unproven.
        at_least: no decision before this many answers, so that a verdict never hangs on one of them.
    """

    p0: float
    p1: float
    alpha: float
    beta: float
    budget: int
    at_least: int = 1

    def __post_init__(self) -> None:
        if not (0 < self.p0 < self.p1 < 1 and 0 < self.alpha < 1 and 0 < self.beta < 1):
            raise ValueError(f"not a test: {self}")

    def evidence(self, clean: int, failed: int) -> float:
        """Return the log of how much likelier the answers are at p0 than at p1."""
        return clean * math.log((1 - self.p0) / (1 - self.p1)) + failed * math.log(self.p0 / self.p1)

    def verdict(self, clean: int, failed: int) -> Verdict | None:
        """Decide after so many answers; None means: ask for another one.

        Proven when the evidence for p0 reaches log((1-β)/α); refuted when it falls to log(β/(1-α)).
        """
        asked = clean + failed
        evidence = self.evidence(clean, failed)
        if asked >= self.at_least:
            if evidence >= math.log((1 - self.beta) / self.alpha):
                return Verdict.PROVEN
            if evidence <= math.log(self.beta / (1 - self.alpha)):
                return Verdict.REFUTED
        return Verdict.UNPROVEN if asked >= self.budget else None

    @property
    def clean_answers_to_prove(self) -> int:
        """How many answers, all clean, prove it."""
        step = math.log((1 - self.p0) / (1 - self.p1))
        return max(self.at_least, math.ceil(math.log((1 - self.beta) / self.alpha) / step))

    def describe(self) -> str:
        """Say the test in words that go under a verdict."""
        return (
            f"sequential test: proven means a rate of {self.p1:.0%} is missed in at most {self.alpha:.0%} of runs, "
            f"refuted means that a rate of {self.p0:.1%} is accused in at most {self.beta:.0%}"
        )


def wilson_interval(failed: int, asked: int, z: float = Z_95) -> tuple[float, float]:
    """Return the Wilson score interval of a rate, 95% by default; (0, 1) when nothing was asked.

    After a sequential test the interval is approximate: the test stops earlier when the answers are clear.
    """
    if asked == 0:
        return 0.0, 1.0
    rate = failed / asked
    spread = z * math.sqrt(rate * (1 - rate) / asked + z * z / (4 * asked * asked))
    middle, scale = rate + z * z / (2 * asked), 1 + z * z / asked
    low = 0.0 if failed == 0 else (middle - spread) / scale
    high = 1.0 if failed == asked else (middle + spread) / scale
    return low, high
