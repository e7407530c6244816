"""Closed-loop load: so many requests under way at once, each followed by the next."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass

from seatrial.bench.metrics import FORMULAS, LevelResult, percentile, summarise
from seatrial.bench.workload import Workload
from seatrial.endpoint.client import Client
from seatrial.endpoint.exchange import Exchange

LAG_PROBE_SECONDS = 0.01

OnRequest = Callable[[int, int], None]
"""Told the requests that ended and the requests in all."""


@dataclass(frozen=True, slots=True)
class BenchResult:
    """What a benchmark measured, level by level, with the formula of each metric."""

    levels: tuple[LevelResult, ...]
    output_tokens_limit: int
    sampling: dict[str, object]
    formulas: dict[str, str]

    @property
    def void(self) -> str | None:
        """Say why the whole must not be used; None when it may."""
        return next((level.void for level in self.levels if level.void), None)


@dataclass(frozen=True, slots=True)
class LoadPlan:
    """Levels of concurrency, and how many requests each level makes."""

    concurrency: Sequence[int]
    requests_per_level: Callable[[int], int]
    warm_up: int = 1

    @property
    def total(self) -> int:
        """Requests in all, warm-up included."""
        return self.warm_up + sum(self.requests_per_level(level) for level in self.concurrency)


async def run_load(
    client: Client, workload: Workload, plan: LoadPlan, on_request: OnRequest = lambda _done, _all: None
) -> BenchResult:
    """Warm up, then measure each level."""
    done = 0

    def count() -> None:
        nonlocal done
        done += 1
        on_request(done, plan.total)

    requests = workload.requests()
    for _ in range(plan.warm_up):
        await client.chat(next(requests), label="bench/warm-up")
        count()
    levels = []
    for concurrency in plan.concurrency:
        exchanges: list[Exchange] = []
        left = plan.requests_per_level(concurrency)

        async def work(level: int = concurrency, into: list[Exchange] = exchanges) -> None:
            nonlocal left
            while left > 0:
                left -= 1
                into.append(await client.chat(next(requests), label=f"bench/concurrency-{level}"))
                count()

        async with lag_watched() as lag:
            began = time.perf_counter()
            await asyncio.gather(*(work() for _ in range(concurrency)))
            window = time.perf_counter() - began
        levels.append(
            summarise(
                exchanges,
                concurrency=concurrency,
                window_seconds=window,
                client_lag_seconds=percentile(sorted(lag), 0.99),
            )
        )
    return BenchResult(tuple(levels), workload.output_tokens, dict(workload.sampling), FORMULAS)


@contextlib.asynccontextmanager
async def lag_watched() -> AsyncIterator[list[float]]:
    """Measure how late the event loop is; the list holds each lateness in seconds.

    A client that is late stamps answers late: its own delay would pass for the server's.
    """
    lateness = [0.0]

    async def probe() -> None:
        while True:
            due = time.perf_counter() + LAG_PROBE_SECONDS
            await asyncio.sleep(LAG_PROBE_SECONDS)
            lateness.append(time.perf_counter() - due)

    task = asyncio.create_task(probe())
    try:
        yield lateness
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
