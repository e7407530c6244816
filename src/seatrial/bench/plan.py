"""How load is put on a server: levels of concurrency or rate, when each request is due, when a ramp ends. Pure."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from seatrial.bench.metrics import ALLOWED_DEGENERATE, Offered
from seatrial.bench.result import Knee, LevelResult, LoadFigures


class Arrivals(StrEnum):
    """When the requests of an open loop come."""

    POISSON = "poisson"
    """At random, each independent of the others: as many users do."""
    CONSTANT = "constant"
    """At equal intervals."""


@dataclass(frozen=True, slots=True)
class Level:
    """One level of load: so many requests under way at once, or so many begun a second.

    Attributes:
        concurrency: of a closed loop: each request is followed by the next.
        rate: of an open loop, requests per second, whatever the server does.
        arrivals: of an open loop.
        requests: how many are made; None for as many as `seconds` allow.
        seconds: how long requests are begun; None for as long as `requests` take.
    """

    concurrency: int | None = None
    rate: float | None = None
    arrivals: Arrivals = Arrivals.POISSON
    requests: int | None = None
    seconds: float | None = None

    @property
    def name(self) -> str:
        """Name it for people."""
        return f"{self.concurrency} at once" if self.rate is None else f"{self.rate:g} requests/s"

    def offered(self) -> Offered:
        """Name the load for its result."""
        return Offered(self.name, self.concurrency if self.rate is None else None, self.rate)

    def schedule(self, seed: int) -> Iterator[float]:
        """Yield when each request of an open loop is due, seconds after the level's beginning."""
        assert self.rate is not None
        pick = random.Random(seed)  # noqa: S311 - reproducible, not secret
        due = 0.0
        for number in itertools.count(1):
            if (self.requests is not None and number > self.requests) or (
                self.seconds is not None and due >= self.seconds
            ):
                return
            yield due
            due = due + pick.expovariate(self.rate) if self.arrivals is Arrivals.POISSON else number / self.rate


@dataclass(frozen=True, slots=True)
class Ramp:
    """Concurrency doubled from level to level until more load gives no more throughput.

    Attributes:
        first: the first level.
        largest: the last level at most.
        gain: a level that gives less than this more than the best so far is saturated; two of them end the ramp.
        near: the knee is the smallest level with at least this share of the best clean throughput.
    """

    first: int = 1
    largest: int = 256
    gain: float = 0.05
    near: float = 0.9

    def levels(self) -> Iterator[int]:
        """Yield the levels, as if none saturated."""
        level = self.first
        while level <= self.largest:
            yield level
            level *= 2

    def is_over(self, done: Sequence[LevelResult]) -> bool:
        """Whether the levels that were made show that more load gives no more."""
        if done and (done[-1].void is not None or not done[-1].completed):
            return True
        best, flat = 0.0, 0
        for level in done:
            throughput = level.clean_output_token_throughput
            flat = flat + 1 if throughput < best * (1 + self.gain) else 0
            best = max(best, throughput)
        return flat >= 2

    def knee(self, done: Sequence[LevelResult]) -> Knee | None:
        """Name the knee; None where no level may be used."""
        usable = [level for level in done if level.void is None and level.concurrency is not None]
        if not usable:
            return None
        best = max(usable, key=lambda level: level.clean_output_token_throughput)
        enough = best.clean_output_token_throughput * self.near
        found = next(level for level in usable if level.clean_output_token_throughput >= enough)
        saturated = self.is_over(usable)
        concurrency, throughput = found.concurrency, found.clean_output_token_throughput
        assert concurrency is not None
        if not saturated:
            why = f"throughput still grew at {usable[-1].concurrency} at once, the last level: the knee may lie beyond"
            return Knee(concurrency, throughput, why, saturated=False)
        why = (
            f"{concurrency} at once give {throughput:.0f} clean tokens/s; the best of all levels is "
            f"{best.clean_output_token_throughput:.0f} at {best.concurrency}: more load mostly waits"
        )
        return Knee(concurrency, throughput, why)


@dataclass(frozen=True, slots=True)
class LoadPlan:
    """All that is put on a server.

    Attributes:
        levels: one after the other; empty for a ramp.
        ramp: instead of levels.
        ramp_requests: how many requests a level of the ramp makes, by its concurrency.
        warm_up: requests before the first level, in no figure.
        objectives: the largest allowed seconds by metric, for goodput.
        allowed_degenerate: the largest share of broken answers; more voids a level.
    """

    levels: Sequence[Level] = ()
    ramp: Ramp | None = None
    ramp_requests: Callable[[int], int] = lambda level: 4 * level
    warm_up: int = 1
    objectives: Mapping[str, float] = field(default_factory=dict)
    allowed_degenerate: float = ALLOWED_DEGENERATE

    @classmethod
    def closed(cls, concurrency: Sequence[int], requests: Callable[[int], int], *, warm_up: int = 1) -> LoadPlan:
        """Plan a closed loop: levels of concurrency, and how many requests each of them makes."""
        return cls(tuple(Level(level, requests=requests(level)) for level in concurrency), warm_up=warm_up)

    def all_levels(self) -> Iterator[Level]:
        """Yield the levels in order, as if no ramp ended early."""
        yield from self.levels
        if self.ramp is not None:
            yield from (Level(level, requests=self.ramp_requests(level)) for level in self.ramp.levels())

    @property
    def most_requests(self) -> int | None:
        """Requests in all, warm-up included; None where the clock decides."""
        counts = [level.requests for level in self.all_levels()]
        return None if None in counts else self.warm_up + sum(count or 0 for count in counts)

    @property
    def warm_up_concurrency(self) -> int:
        """How many requests of the warm-up are under way at once: as many as the smallest level will be."""
        levels = [level.concurrency or 1 for level in self.all_levels()]
        return max(1, min(self.warm_up, max(levels, default=1)))

    def figures(self) -> LoadFigures:
        """Return what is written down of it."""
        if self.ramp is not None:
            return LoadFigures("ramp", None, self.warm_up)
        is_open = any(level.rate is not None for level in self.levels)
        arrivals = self.levels[0].arrivals.value if is_open else None
        return LoadFigures("open" if is_open else "closed", arrivals, self.warm_up)
