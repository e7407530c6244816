"""Watches the client itself: how late its event loop is, how much of a core it uses.

A client that is late stamps answers late: its own delay would pass for the server's.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from seatrial.bench.result import ClientFigures
from seatrial.bench.statistics import Sample

PROBE_SECONDS = 0.01


@dataclass(slots=True)
class Watched:
    """What was seen of the client so far."""

    lag: Sample = field(default_factory=Sample)
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0

    def figures(self) -> ClientFigures:
        """Sum it up."""
        lag = self.lag
        if not lag.count:
            return ClientFigures()
        return ClientFigures(
            lag_p50_seconds=lag.quantile(0.5),
            lag_p90_seconds=lag.quantile(0.9),
            lag_p99_seconds=lag.quantile(0.99),
            lag_max_seconds=lag.at_rank(lag.count - 1),
            cpu_share=self.cpu_seconds / max(self.wall_seconds, 1e-9),
        )


@contextlib.asynccontextmanager
async def client_watched() -> AsyncIterator[Watched]:
    """Watch the client for the length of a block; garbage that exists before is left out of collections meanwhile."""
    watched = Watched()

    async def probe() -> None:
        while True:
            due = time.monotonic() + PROBE_SECONDS
            await asyncio.sleep(PROBE_SECONDS)
            watched.lag.add(max(time.monotonic() - due, 0.0))

    gc.collect()
    gc.freeze()  # a full collection takes as long as many chunks
    task = asyncio.create_task(probe())
    cpu, wall = time.thread_time(), time.monotonic()
    try:
        yield watched
    finally:
        watched.cpu_seconds, watched.wall_seconds = time.thread_time() - cpu, time.monotonic() - wall
        gc.unfreeze()
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
