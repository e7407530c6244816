"""Two benchmarks side by side: the ratio of each metric with its interval, and whether it can be told apart. Pure.

The interval of a ratio comes from the two intervals, on the scale of logarithms (the delta method); few requests widen
it (Student's t). Where both endpoints were measured in turns, it comes from the turns instead: each is a pair, so that
what drifts in both cancels out.
"""

from __future__ import annotations

import math
import statistics as standard
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from seatrial.bench.result import LATENCIES, RATES, BenchResult, Interval, LevelResult
from seatrial.bench.statistics import SHARES, Z_95, student_95
from seatrial.findings import Finding, Level

SMALLEST_RATIO_STEP = 1e-9
REGRESSION_MARGIN = 0.1
"""A candidate whose clean throughput or latency is worse by more than this than the last proven one's is a finding."""

GATING = ("clean_output_token_throughput", "time_to_first_token:p50", "time_per_output_token:p50")
"""What a regression is looked for in."""


class Answer(StrEnum):
    """What a ratio says about B."""

    FASTER = "faster"
    SLOWER = "slower"
    CANT_TELL = "can't tell"


@dataclass(frozen=True, slots=True)
class Figure:
    """A value with its interval, and how many values stand behind it."""

    value: float
    interval: Interval | None
    count: int


@dataclass(frozen=True, slots=True)
class ComparedMetric:
    """One metric at one level of load; a latency is named with its quantile, e.g. `time_to_first_token:p50`.

    Attributes:
        level: the load.
        metric: its name.
        a: the first one's value.
        b: the second one's.
        ratio: b / a; None where one of them is nothing.
        interval: the ratio's 95% interval; None where it can't be known.
        answer: whether B is faster or slower; `can't tell` where the interval holds 1.
    """

    level: str
    metric: str
    a: float | None
    b: float | None
    ratio: float | None
    interval: Interval | None
    answer: Answer


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two benchmarks side by side.

    Attributes:
        a: what the first one is.
        b: what the second one is.
        rows: by level and metric.
        interleaved: whether both were measured in turns.
        margin: how much worse B may be.
        findings: what is worse by more than that, surely.
        notes: what makes the two hard to compare.
        void: why the comparison must not be used.
    """

    a: str
    b: str
    rows: tuple[ComparedMetric, ...]
    interleaved: bool = False
    margin: float = REGRESSION_MARGIN
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    void: str | None = None

    def counts(self) -> Mapping[str, int]:
        """Count the answers."""
        return Counter(row.answer.value for row in self.rows)


def compare(
    a: BenchResult, b: BenchResult, names: tuple[str, str] = ("A", "B"), *, margin: float = REGRESSION_MARGIN
) -> Comparison:
    """Compare two benchmarks, level by level."""
    rows: list[ComparedMetric] = []
    for before, after in _pairs(a, b):
        ours, theirs = figures(before), figures(after)
        rows += [_compared(before.name, name, ours.get(name), theirs.get(name)) for name in _names(ours, theirs)]
    notes = [*_differences(a, b)]
    notes.append("measured one after the other: what changed between the two times can't be told from what differs")
    return _finished(names, rows, notes, margin, _void(a, b, rows))


def compare_interleaved(
    blocks: Sequence[tuple[LevelResult, LevelResult]],
    names: tuple[str, str] = ("A", "B"),
    *,
    margin: float = REGRESSION_MARGIN,
    void: str | None = None,
) -> Comparison:
    """Compare two endpoints that were measured in turns; each block is a level of A and the same level of B."""
    by_level: dict[str, list[tuple[LevelResult, LevelResult]]] = {}
    for pair in blocks:
        by_level.setdefault(pair[0].name, []).append(pair)
    rows = []
    for level, pairs in by_level.items():
        found = [(figures(before), figures(after)) for before, after in pairs]
        common = [name for name in found[0][0] if all(name in one and name in two for one, two in found)]
        rows += [_paired(level, name, [(one[name].value, two[name].value) for one, two in found]) for name in common]
    void = void or next((level.void for pair in blocks for level in pair if level.void), None)
    void = void or (None if rows else "nothing was measured")
    return _finished(names, rows, [], margin, void, interleaved=True)


def figures(level: LevelResult) -> dict[str, Figure]:
    """List what a level measured, each with its interval."""
    found: dict[str, Figure] = {}
    for name in RATES:
        value = getattr(level, name)
        if value is not None:
            found[name] = Figure(value, level.intervals.get(name), level.completed)
    for name in LATENCIES:
        distribution = level.distributions.get(name)
        if distribution is None:
            continue
        independent = min(distribution.count, level.completed)  # pieces of one stream are no independent values
        for quantile, share in SHARES.items():
            interval = distribution.intervals.get(quantile)
            # The interval of a quantile is as well known as the values that lie in it are many.
            behind = 1 + round(Z_95 * math.sqrt(independent * share * (1 - share)))
            found[f"{name}:{quantile}"] = Figure(getattr(distribution, quantile), interval, behind)
    return found


def ratio_of(a: Figure, b: Figure) -> tuple[float | None, Interval | None]:
    """Return b / a and its 95% interval."""
    if a.value <= 0 or b.value <= 0:
        return None, None
    ratio = b.value / a.value
    errors = [error for figure in (a, b) if (error := _relative_error(figure)) is not None]
    if len(errors) < 2:
        return ratio, None
    spread = math.hypot(*errors)
    spread *= student_95(max(min(a.count, b.count) - 1, 1))
    return ratio, (ratio * math.exp(-spread), ratio * math.exp(spread))


def answer_for(metric: str, interval: Interval | None) -> Answer:
    """Say what the interval of a ratio means for B."""
    if interval is None or interval[0] <= 1 <= interval[1]:
        return Answer.CANT_TELL
    more = interval[0] > 1
    return Answer.FASTER if more == _more_is_better(metric) else Answer.SLOWER


def regressions(rows: Sequence[ComparedMetric], margin: float, *, than: str) -> tuple[Finding, ...]:
    """Find what is worse by more than a margin, and surely worse."""
    found = []
    for row in rows:
        if row.metric not in GATING or row.answer is not Answer.SLOWER or row.ratio is None or row.interval is None:
            continue
        worse = row.ratio < 1 - margin if _more_is_better(row.metric) else row.ratio > 1 / (1 - margin)
        if worse:
            low, high = row.interval
            what = row.metric.replace("_", " ").replace(":", ", ")
            message = (
                f"{what} at {row.level} is {row.ratio:.2f} of {than} (95% interval {low:.2f} to {high:.2f}; "
                f"{margin:.0%} is allowed)"
            )
            advice = "Compare the settings of both, or measure both in turns: seatrial bench compare URL-A URL-B."
            found.append(Finding(Level.WARNING, "slower-than-before", message, advice))
    return tuple(found)


def _compared(level: str, name: str, a: Figure | None, b: Figure | None) -> ComparedMetric:
    ratio, interval = ratio_of(a, b) if a is not None and b is not None else (None, None)
    answer = answer_for(name, interval)
    return ComparedMetric(level, name, a.value if a else None, b.value if b else None, ratio, interval, answer)


def _paired(level: str, name: str, pairs: Sequence[tuple[float, float]]) -> ComparedMetric:
    before, after = (standard.fmean(side) for side in zip(*pairs, strict=True))
    if any(min(pair) <= 0 for pair in pairs):
        return ComparedMetric(level, name, before, after, None, None, Answer.CANT_TELL)
    logs = [math.log(two / one) for one, two in pairs]
    middle = standard.fmean(logs)
    interval = None
    if len(logs) > 1:
        spread = student_95(len(logs) - 1) * max(standard.stdev(logs), SMALLEST_RATIO_STEP) / math.sqrt(len(logs))
        interval = (math.exp(middle - spread), math.exp(middle + spread))
    return ComparedMetric(level, name, before, after, math.exp(middle), interval, answer_for(name, interval))


def _finished(
    names: tuple[str, str],
    rows: Sequence[ComparedMetric],
    notes: Sequence[str],
    margin: float,
    void: str | None,
    *,
    interleaved: bool = False,
) -> Comparison:
    findings = () if void else regressions(rows, margin, than=names[0])
    return Comparison(*names, tuple(rows), interleaved, margin, findings, tuple(notes), void)


def _pairs(a: BenchResult, b: BenchResult) -> Iterator[tuple[LevelResult, LevelResult]]:
    theirs = {level.name: level for level in b.levels}
    yield from ((level, theirs[level.name]) for level in a.levels if level.name in theirs)


def _names(a: Mapping[str, Figure], b: Mapping[str, Figure]) -> list[str]:
    return [name for name in a if name in b]


def _relative_error(figure: Figure) -> float | None:
    """Return the standard error of a figure's logarithm; None where it has no usable interval."""
    if figure.interval is None or figure.count < 2:
        return None
    low, high = figure.interval
    if low <= 0:
        return None
    return math.log(high / low) / (2 * Z_95)


def _more_is_better(metric: str) -> bool:
    return metric in RATES


def _void(a: BenchResult, b: BenchResult, rows: Sequence[ComparedMetric]) -> str | None:
    for name, result in (("A", a), ("B", b)):
        if result.void:
            return f"{name} is void: {result.void}"
    return None if rows else "the two have no level of load in common"


def _differences(a: BenchResult, b: BenchResult) -> Iterator[str]:
    """Say what was not the same, so that figures may differ for another reason than the server."""
    for what, one, two in (
        ("workload", a.workload.name, b.workload.name),
        ("max_tokens", a.workload.output_tokens, b.workload.output_tokens),
        ("input tokens", a.workload.input_tokens, b.workload.input_tokens),
        ("seed", a.workload.seed, b.workload.seed),
        ("prefix cache", a.workload.prefix_cache, b.workload.prefix_cache),
        ("ignore_eos", a.workload.ignore_eos, b.workload.ignore_eos),
        ("sampling", dict(a.sampling), dict(b.sampling)),
        ("load", a.load.kind, b.load.kind),
    ):
        if one != two:
            yield f"the two differ in {what}: {one} and {two}"
