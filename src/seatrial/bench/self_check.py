"""Measures the client itself: against a local fake server that keeps exact time, and says how far off it is.

The fake server (`testkit/metronome.py`, a process of its own) records when it read each request and when it wrote each
token, on the same clock. So the error is the client's alone, the loopback's way included.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from seatrial.bench.load import LoadRun
from seatrial.bench.plan import Level, LoadPlan
from seatrial.bench.prompts import Prompt
from seatrial.bench.result import RequestRow
from seatrial.bench.statistics import percentile
from seatrial.bench.workload import Workload
from seatrial.endpoint.address import Endpoint
from seatrial.endpoint.client import Client, Limits
from seatrial.testkit.metronome import MODEL, Tempo, metronome_process

STREAMS = 64
TOKENS = 100
TEMPO = Tempo(time_to_first_token=0.2, tokens_per_second=50.0)
ALLOWED_SECONDS = 0.005
"""A median error above this makes a client that must not be trusted with the differences that benchmarks are about."""
RATES = (200.0, 400.0, 800.0, 1200.0, 1600.0)
"""Tokens per second of each stream, for the highest chunk rate."""
LAG_SECONDS = 0.01
"""The client lags where its median end-to-end latency is off by more than this."""


@dataclass(frozen=True, slots=True)
class Error:
    """How far off the client's values are, in seconds, always positive."""

    count: int
    median: float
    p99: float
    largest: float


@dataclass(frozen=True, slots=True)
class SelfCheck:
    """What a self-check found.

    Attributes:
        streams: at once.
        tokens_per_second: of each.
        errors: by metric: time_to_first_token, inter_chunk_latency, end_to_end_latency.
        server_lateness_median: how late the fake server itself wrote, seconds: not part of the errors.
        highest_chunk_rate: chunks per second over all streams that the client read without lagging; None where it was
            not measured.
        void: why this client must not be trusted here.
    """

    streams: int
    tokens_per_second: float
    errors: Mapping[str, Error]
    server_lateness_median: float
    highest_chunk_rate: float | None = None
    void: str | None = None


@dataclass(slots=True)
class _Rows:
    rows: list[RequestRow] = field(default_factory=list)
    prompts: dict[str, str] = field(default_factory=dict)


async def self_check(
    on_step: Callable[[int, int], None] = lambda _done, _all: None, *, rates: bool = True
) -> SelfCheck:
    """Measure the client on this machine; takes about ten seconds, half of that without `rates`."""
    tempos = [TEMPO, *(Tempo(TEMPO.time_to_first_token, rate) for rate in (RATES if rates else ()))]
    first, lateness, highest = {}, 0.0, None
    for number, tempo in enumerate(tempos):
        tokens = TOKENS if number == 0 else int(tempo.tokens_per_second)
        errors, late = await measure_client(tempo, STREAMS, tokens)
        on_step(number + 1, len(tempos))
        if number == 0:
            first, lateness = errors, late
        elif errors["end_to_end_latency"].median > LAG_SECONDS:
            break
        else:
            highest = STREAMS * tempo.tokens_per_second
    worst = max(("time_to_first_token", "inter_chunk_latency"), key=lambda name: first[name].median)
    void = None
    if first[worst].median > ALLOWED_SECONDS:
        void = f"{worst.replace('_', ' ')} is off by {first[worst].median * 1000:.1f} ms: this machine is too busy"
    return SelfCheck(STREAMS, TEMPO.tokens_per_second, first, lateness, highest, void)


async def measure_client(tempo: Tempo, streams: int, tokens: int) -> tuple[dict[str, Error], float]:
    """Read so many streams at once; return the client's errors, and how late the server itself was (median)."""
    kept = _Rows()
    with metronome_process(tempo, cpus=_first_cpu()) as base_url:
        endpoint = Endpoint(base_url, MODEL)
        prompts = tuple(
            Prompt(({"role": "user", "content": f"stream {number:06d}"},), output_tokens=tokens)
            for number in range(streams)
        )
        workload = Workload("self-check", tokens, nonce="self", rows=prompts)
        run = LoadRun(endpoint, Limits(), workload, LoadPlan((Level(streams, requests=streams),), warm_up=0))
        run.on_row = kept.rows.append
        run.on_exchange = lambda exchange: kept.prompts.update({exchange.id: exchange.prompt[:80]})
        await run.make()
        async with Client(endpoint) as client:
            _, written = await client.get_json("/metronome", at_origin=True)
    return errors_of(kept.rows, kept.prompts, written, tempo)


def errors_of(
    rows: Sequence[RequestRow], prompts: Mapping[str, str], written: Sequence[Mapping[str, Any]], tempo: Tempo
) -> tuple[dict[str, Error], float]:
    """Set what the client measured beside what the server wrote.

    Args:
        rows: of the client.
        prompts: by the row's id: what tells which of the server's rows is meant.
        written: the server's rows.
        tempo: what the server meant to do.
    """
    by_prompt = {row["prompt"]: row for row in written}
    found: dict[str, list[float]] = {"time_to_first_token": [], "inter_chunk_latency": [], "end_to_end_latency": []}
    late: list[float] = []
    for row in rows:
        truth = by_prompt[prompts[row.id]]
        moments, received = truth["written"], truth["received"]
        assert row.time_to_first_token is not None
        assert row.end_to_end_latency is not None
        found["time_to_first_token"].append(abs(row.time_to_first_token - (moments[0] - received)))
        found["end_to_end_latency"].append(abs(row.end_to_end_latency - (moments[-1] - received)))
        gaps = [later - earlier for earlier, later in itertools.pairwise(moments)]
        if len(gaps) == len(row.gaps_us):
            found["inter_chunk_latency"] += [
                abs(seen / 1e6 - true) for seen, true in zip(row.gaps_us, gaps, strict=True)
            ]
        due = truth["due"] + tempo.time_to_first_token
        late += [moment - due - number / tempo.tokens_per_second for number, moment in enumerate(moments)]
    return {name: _error(values) for name, values in found.items()}, percentile(sorted(late), 0.5)


def _error(values: Sequence[float]) -> Error:
    ordered = sorted(values) or [float("inf")]
    return Error(len(values), percentile(ordered, 0.5), percentile(ordered, 0.99), ordered[-1])


def _first_cpu() -> set[int] | None:
    """Keep the fake server on one processor, where there are others for the client."""
    if not hasattr(os, "sched_getaffinity"):
        return None
    cpus = sorted(os.sched_getaffinity(0))
    return {cpus[0]} if len(cpus) > 1 else None
