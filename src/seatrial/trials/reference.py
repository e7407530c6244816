"""Compares a run's tool-calling metrics with those of a reference: the same suite on a server that is trusted. Pure.

Where several reference runs are given, how far they differ among themselves is the margin: a model under sampling does
not even agree with itself. The interval of a difference is Newcombe's (R. G. Newcombe, "Interval estimation for the
difference between independent proportions", Statistics in Medicine 17 (1998), method 10).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from seatrial.trials.metrics import Rate, ToolMetrics
from seatrial.trials.statistics import wilson_interval
from seatrial.verdicts import CheckResult, TrialResult, Verdict

TOLERANCE = 0.20
"""A rate counts as no worse when it is surely not lower than the reference's by more than the margin and this much.

Two runs of some fifty answers each can't tell finer; a server that loses a fifth of its calls is found.
"""

FEWEST = 20
"""Rates of fewer answers are only noted: even 20 of 20 on both sides leaves 16 points open."""


def compare(candidate: ToolMetrics, references: Sequence[ToolMetrics]) -> TrialResult:
    """Make a check for each rate that both sides have."""
    checks: list[CheckResult] = []
    notes: list[str] = []
    for rate in candidate.rates:
        others = [other for reference in references for other in reference.rates if other.name == rate.name]
        others = [other for other in others if other.total]
        if min(rate.total, sum(other.total for other in others)) >= FEWEST:
            checks.append(compare_rate(rate, others))
        elif rate.total and others:
            notes.append(f"{rate.name}: {rate.hits} of {rate.total} answers, too few to compare")
    if not checks:
        detail = f"no rate has {FEWEST} answers on both sides; was it the same suite?"
        checks = [CheckResult("as_reference", Verdict.UNPROVEN, detail)]
    return TrialResult("reference", "Tool calling is no worse than the reference's", tuple(checks), tuple(notes))


def compare_rate(rate: Rate, others: Sequence[Rate]) -> CheckResult:
    """Say whether a rate is worse than the reference's, all its runs together."""
    name = f"{rate.name}_as_reference"
    hits, total = sum(other.hits for other in others), sum(other.total for other in others)
    shares = [other.hits / other.total for other in others]
    margin = max(shares) - min(shares)
    difference = rate.hits / rate.total - hits / total
    low, high = difference_interval(rate.hits, rate.total, hits, total)
    detail = (
        f"{rate.hits / rate.total:.0%} of {rate.total}, reference {hits / total:.0%} of {total}: "
        f"difference {difference:+.0%}, 95% interval {low:+.0%} to {high:+.0%}, the reference's own spread {margin:.0%}"
    )
    if high < -margin:
        return CheckResult(name, Verdict.REFUTED, f"worse: {detail}")
    if low >= -(margin + TOLERANCE):
        return CheckResult(name, Verdict.PROVEN, detail)
    return CheckResult(name, Verdict.UNPROVEN, f"too few answers to tell: {detail}")


def difference_interval(hits: int, total: int, other_hits: int, other_total: int) -> tuple[float, float]:
    """Return the 95% interval of the first share less the second."""
    share, other = hits / total, other_hits / other_total
    low, high = wilson_interval(hits, total)
    other_low, other_high = wilson_interval(other_hits, other_total)
    difference = share - other
    return (
        difference - math.hypot(share - low, other_high - other),
        difference + math.hypot(high - share, other - other_low),
    )
