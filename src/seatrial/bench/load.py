"""Puts load on an endpoint, level by level, and measures it.

The load has a thread and an event loop of its own, in which nothing else happens while a level runs: requests are
prepared before, and what comes is only kept (`connection.py`). Between levels it is read, judged and written.
"""

from __future__ import annotations

import asyncio
import collections
import contextlib
import itertools
import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from seatrial.bench.capture import Capture, Spool
from seatrial.bench.connection import StampingSelector, new_event_loop
from seatrial.bench.lag import Watched, client_watched
from seatrial.bench.metrics import FORMULAS, LevelTally
from seatrial.bench.plan import Level, LoadPlan
from seatrial.bench.pool import Pool
from seatrial.bench.reading import read_capture, row_of
from seatrial.bench.result import BenchResult, LevelResult, RequestRow
from seatrial.bench.server_metrics import difference, read_prometheus
from seatrial.bench.workload import Workload
from seatrial.endpoint.address import Endpoint
from seatrial.endpoint.client import Client, Limits
from seatrial.endpoint.exchange import Exchange

__all__ = ["BenchResult", "LoadRun", "OnRequest", "allow_connections"]

PREPARED_REQUESTS = 512
"""So many bodies are made before a level begins; further ones while it runs."""
TICK_SECONDS = 0.2
"""How often progress is told: each time costs the client some of its own time."""
REFUSED_PAUSE_SECONDS = 0.05
"""After a refusal: a server that refuses at once must not be asked ten thousand times a second."""
READ_WHEN_INTERRUPTED = 1000
"""So many requests of an unfinished level are still read: whoever pressed Ctrl-C does not want to wait."""
METRICS_SECONDS = 5.0
SETTLE_SECONDS = 0.2
"""What a server's metrics may lag behind its answers."""

OnRequest = Callable[[int, int], None]
"""Told the requests that ended and the requests in all."""


@dataclass(slots=True)
class LoadRun:
    """One benchmark of one endpoint. `make` runs it; `result` says what was found so far, also after an interruption.

    Attributes:
        endpoint: what is measured.
        limits: of each request.
        workload: what is asked.
        plan: the levels.
        on_request: told how far it is.
        on_row: told each request, after its level.
        on_exchange: told what was asked and answered, after its level.
        folder: where what comes is kept until it is read; None for the system's folder.
    """

    endpoint: Endpoint
    limits: Limits
    workload: Workload
    plan: LoadPlan
    on_request: OnRequest = lambda _done, _all: None
    on_row: Callable[[RequestRow], None] = lambda _row: None
    on_exchange: Callable[[Exchange], None] = lambda _exchange: None
    folder: Path | None = None
    levels: list[LevelResult] = field(default_factory=list)
    _began: float = 0.0
    _wall_clock: float = 0.0
    _number: int = 0
    _ended: int = 0
    _told: float = 0.0
    _bodies: Iterator[bytes] = field(init=False)
    _ready: collections.deque[bytes] = field(default_factory=collections.deque)

    def __post_init__(self) -> None:
        self._bodies = (self._body(request) for request in self.workload.requests())

    async def make(self) -> None:
        """Warm up, then measure each level."""
        loop, selector = new_event_loop()
        inner: asyncio.Task[None] | None = None
        failed: list[BaseException] = []
        ended, began = asyncio.Event(), threading.Event()
        outer = asyncio.get_running_loop()

        async def job() -> None:
            nonlocal inner
            inner = asyncio.current_task()
            began.set()
            await self._run(selector)

        def work() -> None:
            try:
                with asyncio.Runner(loop_factory=lambda: loop) as runner:
                    runner.run(job())
            except BaseException as error:  # noqa: BLE001 - raised again by the caller's task
                failed.append(error)
            finally:
                began.set()
                outer.call_soon_threadsafe(ended.set)

        thread = threading.Thread(target=work, name="load", daemon=True)
        thread.start()
        try:
            await ended.wait()
        except asyncio.CancelledError:
            began.wait()
            if inner is not None:
                with contextlib.suppress(RuntimeError):  # it has ended meanwhile
                    loop.call_soon_threadsafe(inner.cancel)
            await asyncio.to_thread(thread.join)
            raise
        thread.join()
        if failed:
            raise failed[0]

    def result(self, *, complete: bool = True) -> BenchResult:
        """Return what was measured so far."""
        plan, workload = self.plan, self.workload
        knee = plan.ramp.knee(self.levels) if plan.ramp is not None else None
        notes = list(workload.notes(self._number))
        levels = list(self.levels)
        if plan.ramp is not None and len(levels) > 1 and (last := levels[-1]).void:
            notes.append(f"the ramp ended at {last.name}: {last.void}")
            levels.pop()
        void = next((level.void for level in levels if level.void), None)
        if not levels:
            void = "no level was measured"
        return BenchResult(
            levels=tuple(self.levels),
            output_tokens_limit=workload.output_tokens,
            sampling=dict(workload.sampling),
            formulas=FORMULAS,
            workload=workload.figures(),
            load=plan.figures(),
            began_at=self._wall_clock,
            objectives=plan.objectives,
            knee=knee,
            notes=tuple(notes),
            complete=complete,
            void=void,
        )

    # --- in the load's own thread

    async def _run(self, selector: StampingSelector) -> None:
        allow_connections()
        self._began, self._wall_clock = time.monotonic(), time.time()
        async with Pool(self.endpoint, self.limits, selector) as pool, Client(self.endpoint, self.limits) as asker:
            if self.plan.warm_up:
                warm_up = Level(self.plan.warm_up_concurrency, requests=self.plan.warm_up)
                await self._measure(warm_up, -1, pool, asker)
            for number, level in enumerate(self.plan.all_levels()):
                made = await self._measure(level, number, pool, asker)
                self.levels.append(made)
                if self.plan.ramp is not None and self.plan.ramp.is_over(self.levels):
                    return

    async def _measure(self, level: Level, number: int, pool: Pool, asker: Client) -> LevelResult:
        self._prepare(level)
        spool, watched = Spool(self.folder), Watched()
        tally = LevelTally(self.plan.objectives, self.plan.allowed_degenerate)
        before = await _metrics(asker) if number >= 0 else None
        server = None
        began = time.monotonic()
        try:
            await pool.open(min(level.concurrency or 1, level.requests or level.concurrency or 1))
            async with client_watched() as watched:
                began = time.monotonic()
                if level.rate is None:
                    await self._closed(level, pool, spool)
                else:
                    await self._open(level, pool, spool)
            if before is not None:
                await asyncio.sleep(SETTLE_SECONDS)
                after = await _metrics(asker)
                server = difference(before, after) if after is not None else None
        except asyncio.CancelledError:
            self._read(spool, number, level, tally, most=READ_WHEN_INTERRUPTED)
            raise
        except BaseExceptionGroup as group:
            raise group.exceptions[0] from None  # what one request's task met: the disk is full
        self._read(spool, number, level, tally)
        return tally.result(
            level.offered(),
            client=watched.figures(),
            began=began - self._began,
            server=server,
            seed=self.workload.seed,
        )

    async def _closed(self, level: Level, pool: Pool, spool: Spool) -> None:
        concurrency = level.concurrency or 1
        left = level.requests
        began = time.monotonic()
        until = None if level.seconds is None else began + level.seconds
        refused_in_a_row = 0

        async def work() -> None:
            nonlocal left, refused_in_a_row
            free = began
            while left is None or left > 0:
                now = time.monotonic()
                if (until is not None and now >= until) or refused_in_a_row >= max(20, 3 * concurrency):
                    return
                if left is not None:
                    left -= 1
                capture = self._next(scheduled=free)
                await pool.ask(capture)
                spool.add(capture)
                self._tell()
                free = capture.ended
                if capture.is_refused:
                    refused_in_a_row += 1
                    await asyncio.sleep(REFUSED_PAUSE_SECONDS)
                    free = time.monotonic()
                else:
                    refused_in_a_row = 0

        async with asyncio.TaskGroup() as workers:
            for _ in range(min(concurrency, level.requests or concurrency)):
                workers.create_task(work())

    async def _open(self, level: Level, pool: Pool, spool: Spool) -> None:
        async def one(scheduled: float) -> None:
            capture = self._next(scheduled=scheduled)
            await pool.ask(capture)
            spool.add(capture)
            self._tell()

        began = time.monotonic()
        async with asyncio.TaskGroup() as requests:
            for offset in level.schedule(self.workload.seed):
                due = began + offset
                if (wait := due - time.monotonic()) > 0:
                    await asyncio.sleep(wait)
                requests.create_task(one(due))

    def _next(self, *, scheduled: float) -> Capture:
        started = time.monotonic()
        self._number += 1
        body = self._ready.popleft() if self._ready else next(self._bodies)
        return Capture(self._number, body, scheduled, started)

    def _body(self, request: dict[str, Any]) -> bytes:
        return json.dumps({"model": self.endpoint.model, **request}).encode()

    def _prepare(self, level: Level) -> None:
        wanted = min(level.requests or PREPARED_REQUESTS, PREPARED_REQUESTS)
        while len(self._ready) < wanted:
            self._ready.append(next(self._bodies))

    def _tell(self) -> None:
        self._ended += 1
        now = time.monotonic()
        if now - self._told >= TICK_SECONDS:
            self._told = now
            self.on_request(self._ended, self.plan.most_requests or 0)

    def _read(self, spool: Spool, number: int, level: Level, tally: LevelTally, most: int | None = None) -> None:
        """Understand what came, after the level: rows, exchanges, and the level's sums."""
        label = "bench/warm-up" if number < 0 else f"bench/{level.name.replace(' ', '-').replace('/', '-per-')}"
        if level.concurrency is not None and number >= 0:
            label = f"bench/concurrency-{level.concurrency}"
        for capture in itertools.islice(spool.captures(), most):
            exchange = read_capture(
                capture,
                label=label,
                began=self._began,
                wall_clock=self._wall_clock,
                answer_bytes=self.limits.answer_bytes,
            )
            row = row_of(exchange, capture, level=number, began=self._began, objectives=self.plan.objectives)
            if number >= 0:
                tally.add(row)
            self.on_row(row)
            self.on_exchange(exchange)
        spool.close()


async def _metrics(asker: Client) -> dict[str, float] | None:
    """Read the server's own metrics; None where it has none that can be read."""
    try:
        async with asyncio.timeout(METRICS_SECONDS):
            status, text = await asker.get_text("/metrics", at_origin=True)
    except (OSError, TimeoutError):
        return None
    found = read_prometheus(text) if status == 200 else {}
    return found or None


def allow_connections() -> None:
    """Raise this process's limit of open files to what it may be: a burst needs a connection for each request."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415 - not on every system

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft < hard:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
