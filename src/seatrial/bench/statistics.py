"""The statistics of a benchmark: samples that stay small, quantiles, bootstrap intervals. Pure.

Sources: B. Efron, "Bootstrap Methods: Another Look at the Jackknife", Ann. Statist. 7 (1979); J. S. Maritz and R. G.
Jarrett, "A Note on Estimating the Variance of the Sample Median", JASA 73 (1978), for the bootstrap of an order
statistic in closed form; L. Kish, "Survey Sampling" (1965), for the design effect of values that hang together.
"""

from __future__ import annotations

import bisect
import math
import random
from array import array
from collections.abc import Iterator, Sequence

from seatrial.bench.result import Distribution, Histogram, Interval

EXACT_VALUES = 65_536
"""So many values are kept as they are; beyond, a sample keeps counts in bins and so needs no more memory."""
BIN = math.log(1.001)
"""Width of a bin, on the scale of logarithms: a quantile is then known to 0.05%."""
SMALLEST = 1e-7
"""Seconds: what is smaller counts as this."""
RESAMPLES = 1000
RESAMPLED_WHOLE = 200
"""Up to so many values a mean or a ratio is resampled value by value; beyond, the limit of that is used."""
SHARES = {"p50": 0.50, "p90": 0.90, "p99": 0.99}
FEWEST_BEYOND = 2
"""Values that must lie beyond a quantile: a p90 has an interval from 20 values on, a p99 from 200."""
FEWEST_FOR_INTERVAL = 5
"""Values below which an interval would say more about the method than about the server."""


class Sample:
    """Values of one metric, at least 0: exact while they are few, in fine bins when they are many."""

    def __init__(self) -> None:
        self._values = array("d")
        self._bins: dict[int, int] = {}
        self.count = 0
        self._sum = 0.0
        self._sum_of_squares = 0.0
        self._ordered: Sequence[float] | None = None
        self._cumulated: tuple[list[int], list[float]] | None = None

    def add(self, value: float) -> None:
        """Take one value."""
        self.count += 1
        self._sum += value
        self._sum_of_squares += value * value
        self._ordered = self._cumulated = None
        if self._bins:
            self._put(value)
            return
        self._values.append(value)
        if len(self._values) > EXACT_VALUES:
            for kept in self._values:
                self._put(kept)
            self._values = array("d")

    def _put(self, value: float) -> None:
        place = math.floor(math.log(max(value, SMALLEST)) / BIN)
        self._bins[place] = self._bins.get(place, 0) + 1

    @property
    def mean(self) -> float:
        """The mean; the sample must not be empty."""
        return self._sum / self.count

    @property
    def variance(self) -> float:
        """The sample's variance (divided by n)."""
        return max(self._sum_of_squares / self.count - self.mean**2, 0.0)

    def at_rank(self, rank: int) -> float:
        """Return the value with so many smaller ones (0 is the smallest value)."""
        rank = min(max(rank, 0), self.count - 1)
        if not self._bins:
            if self._ordered is None:
                self._ordered = sorted(self._values)
            return self._ordered[rank]
        if self._cumulated is None:
            counts, middles, total = [], [], 0
            for place in sorted(self._bins):
                total += self._bins[place]
                counts.append(total)
                middles.append(math.exp((place + 0.5) * BIN))
            self._cumulated = counts, middles
        counts, middles = self._cumulated
        return middles[bisect.bisect_right(counts, rank)]

    def quantile(self, share: float) -> float:
        """Return a quantile, interpolated linearly between the two nearest ranks (as NumPy does)."""
        place = share * (self.count - 1)
        below = math.floor(place)
        low = self.at_rank(below)
        return low + (self.at_rank(below + 1) - low) * (place - below)

    def distribution(self, seed: int = 0, design_effect: float = 1.0) -> Distribution:
        """Sum it up, with intervals; the sample must not be empty.

        Args:
            seed: of the resampling.
            design_effect: by how much values that hang together (pieces of one stream) widen the intervals: the
                sample counts as `count / design_effect` independent values.
        """
        independent = max(self.count / design_effect, 1.0)
        pick = random.Random(seed)  # noqa: S311 - resampling, not secrecy
        intervals: dict[str, Interval] = {}
        if independent >= FEWEST_FOR_INTERVAL:
            intervals["mean"] = self._interval_of_mean(pick, independent)
            for name, share in SHARES.items():
                if independent * (1 - share) >= FEWEST_BEYOND:
                    intervals[name] = self._interval_of_quantile(pick, share, independent)
        p50, p90, p99 = (self.quantile(share) for share in SHARES.values())
        return Distribution(self.count, self.mean, p50, p90, p99, intervals)

    def _interval_of_mean(self, pick: random.Random, independent: float) -> Interval:
        if self.count > RESAMPLED_WHOLE or independent < self.count:
            spread = Z_95 * math.sqrt(self.variance / independent)  # what the bootstrap tends to
            return max(self.mean - spread, 0.0), self.mean + spread
        values = self._values
        means = [math.fsum(pick.choices(values, k=self.count)) / self.count for _ in range(RESAMPLES)]
        return percentile_interval(means)

    def _interval_of_quantile(self, pick: random.Random, share: float, independent: float) -> Interval:
        """Bootstrap a quantile without drawing whole resamples.

        The k-th smallest of n draws from the values is the value at rank ⌊n·U⌋, U the k-th smallest of n uniform
        numbers: Beta(k, n + 1 − k). The next one above it, U' = U + (1 − U)·Beta(1, n − k), is its neighbour.
        """
        place = share * (independent - 1)
        below, part = math.floor(place), place - math.floor(place)
        found = []
        for _ in range(RESAMPLES):
            low = pick.betavariate(below + 1, max(independent - below, 0.5))
            value = self.at_rank(int(low * self.count))
            if part and independent - below - 1 > 0:
                high = low + (1 - low) * pick.betavariate(1, independent - below - 1)
                value += part * (self.at_rank(int(high * self.count)) - value)
            found.append(value)
        return percentile_interval(found)

    def histogram(self, bins: int = 40) -> Histogram:
        """Count the values in bins of equal width up to the 99.5th percentile; the last bin reaches the largest one."""
        top = max(self.quantile(0.995), SMALLEST)
        largest = self.at_rank(self.count - 1)
        edges = [top * number / bins for number in range(bins + 1)]
        counts = [0] * bins
        for value, many in self._counted():
            counts[min(int(value / top * bins), bins - 1)] += many
        edges[-1] = max(edges[-1], largest)
        return Histogram(tuple(edges), tuple(counts))

    def _counted(self) -> Iterator[tuple[float, int]]:
        if self._bins:
            yield from ((math.exp((place + 0.5) * BIN), many) for place, many in self._bins.items())
        else:
            yield from ((value, 1) for value in self._values)


Z_95 = 1.959963984540054
"""The two-sided 95% point of the normal distribution."""


class Ratio:
    """A ratio of two sums over requests (tokens over busy seconds), with its bootstrap interval."""

    def __init__(self) -> None:
        self._pairs: list[tuple[float, float]] = []
        self._moments = [0.0] * 5  # Σa, Σb, Σa², Σb², Σab
        self.count = 0

    def add(self, over: float, under: float) -> None:
        """Take one request."""
        self.count += 1
        for at, term in enumerate((over, under, over * over, under * under, over * under)):
            self._moments[at] += term
        if self.count <= RESAMPLED_WHOLE:
            self._pairs.append((over, under))
        else:
            self._pairs.clear()

    def relative_interval(self, seed: int = 0, *, fixed_window: bool = False) -> Interval | None:
        """Return the 95% interval as factors of the ratio itself; None for too few requests, or nothing over.

        With a fixed window only the sum above varies.
        """
        over, under, over2, under2, both = self._moments
        if self.count < FEWEST_FOR_INTERVAL or over <= 0 or under <= 0:
            return None
        if self._pairs:
            pick = random.Random(seed)  # noqa: S311 - resampling, not secrecy
            ratio, found = over / under, []
            for _ in range(RESAMPLES):
                drawn = pick.choices(self._pairs, k=self.count)
                below = under if fixed_window else math.fsum(pair[1] for pair in drawn)
                found.append(math.fsum(pair[0] for pair in drawn) / below / ratio if below > 0 else 1.0)
            return percentile_interval(found)
        n = self.count  # the limit that the bootstrap tends to: the delta method
        mean_over, mean_under = over / n, under / n
        variance = (over2 / n - mean_over**2) / mean_over**2
        if not fixed_window:
            variance += (under2 / n - mean_under**2) / mean_under**2
            variance -= 2 * (both / n - mean_over * mean_under) / (mean_over * mean_under)
        spread = Z_95 * math.sqrt(max(variance, 0.0) / n)
        return max(1 - spread, 0.0), 1 + spread


def percentile_interval(found: Sequence[float]) -> Interval:
    """Return the middle 95% of bootstrap values."""
    ordered = sorted(found)
    return percentile(ordered, 0.025), percentile(ordered, 0.975)


def percentile(ordered: Sequence[float], share: float) -> float:
    """Return a percentile of sorted values, interpolated linearly between the two nearest ranks (as NumPy does)."""
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def design_effect(groups: Sequence[tuple[int, float]], variance: float) -> float:
    """Say by how much values in groups weigh less than independent ones: at least 1.

    Args:
        groups: for each request, how many values it has and their mean.
        variance: of all values.

    The variance of the groups' means beside what independent values would give: m · Var(means) / Var(values).
    """
    filled = [(size, mean) for size, mean in groups if size]
    if len(filled) < 2 or variance <= 0:
        return 1.0
    total = sum(size for size, _ in filled)
    middle = sum(size * mean for size, mean in filled) / total
    between = sum(size * size * (mean - middle) ** 2 for size, mean in filled) / (total * total)
    largest = total / len(filled)
    return min(max(between / (variance / total), 1.0), largest)


STUDENT_95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
"""Two-sided 95% points of Student's t for 1 to 10 degrees of freedom."""


def student_95(degrees: int) -> float:
    """Return the two-sided 95% point of Student's t (above ten degrees: Cornish-Fisher, good to 0.002)."""
    if degrees < 1:
        return math.inf
    if degrees <= len(STUDENT_95):
        return STUDENT_95[degrees - 1]
    z = Z_95
    return z + (z**3 + z) / (4 * degrees) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)
