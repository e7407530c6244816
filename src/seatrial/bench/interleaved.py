"""Two endpoints measured in turns (A B B A A B …), so that what drifts touches both alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from seatrial.bench.comparison import REGRESSION_MARGIN, Comparison, compare_interleaved
from seatrial.bench.load import LoadRun
from seatrial.bench.plan import Level, LoadPlan
from seatrial.bench.result import LevelResult
from seatrial.bench.workload import Workload, fresh_nonce
from seatrial.endpoint.address import Endpoint
from seatrial.endpoint.client import Limits

BLOCKS = 6
"""Turns of each endpoint at each level: below five the interval says little, whatever is measured."""


@dataclass(slots=True)
class Interleaved:
    """A comparison that is being measured.

    Attributes:
        a: the first endpoint, e.g. what is proven.
        b: the second one, e.g. the candidate.
        limits: of each request.
        workload: asked of both: the same questions in the same order, each with a nonce of its own.
        levels: of load.
        blocks: turns of each.
        warm_up: requests that each gets before anything is measured.
        on_block: told how many turns have ended, and how many there are.
        margin: how much worse B may be.
    """

    a: Endpoint
    b: Endpoint
    limits: Limits
    workload: Workload
    levels: tuple[Level, ...]
    blocks: int = BLOCKS
    warm_up: int = 1
    on_block: Callable[[int, int], None] = lambda _done, _all: None
    margin: float = REGRESSION_MARGIN
    pairs: list[tuple[LevelResult, LevelResult]] = field(default_factory=list)

    async def measure(self) -> None:
        """Measure all turns."""
        for endpoint in (self.a, self.b):
            if self.warm_up:
                await self._turn(endpoint, Level(min(self.warm_up, 8), requests=self.warm_up), seed=-1)
        total = 2 * self.blocks * len(self.levels)
        done = 0
        for level in self.levels:
            for block in range(self.blocks):
                order = (self.a, self.b) if block % 2 == 0 else (self.b, self.a)
                found: dict[str, LevelResult] = {}
                for endpoint in order:
                    side = "a" if endpoint is self.a else "b"
                    found[side] = await self._turn(endpoint, level, seed=block)
                    done += 1
                    self.on_block(done, total)
                self.pairs.append((found["a"], found["b"]))

    def comparison(self) -> Comparison:
        """Compare what was measured so far."""
        names = (f"{self.a.model} at {self.a.base_url}", f"{self.b.model} at {self.b.base_url}")
        return compare_interleaved(self.pairs, names, margin=self.margin)

    async def _turn(self, endpoint: Endpoint, level: Level, *, seed: int) -> LevelResult:
        # Both get the same questions in one block; another nonce, so that none finds them in its prefix cache.
        workload = replace(self.workload, seed=self.workload.seed + 1000 * (seed + 1), nonce=fresh_nonce())
        run = LoadRun(endpoint, self.limits, workload, LoadPlan((level,), warm_up=0))
        await run.make()
        return run.levels[0]
