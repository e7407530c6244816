"""The metrics of a benchmark, computed from exchanges. Pure.

Names and formulas are the field's (SGLang's bench_serving, vLLM, genai-bench, AIPerf); `FORMULAS` says each one, and
reports print it beside the number. Ours is `clean_output_token_throughput`: a looping server is fast.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from seatrial.degeneration import Severity
from seatrial.endpoint.answer import REASONING
from seatrial.endpoint.exchange import Exchange
from seatrial.trials.broken_text import degenerations

FORMULAS = {
    "time_to_first_token": "request sent → first token of any kind, seconds",
    "time_to_first_answer_token": "request sent → first token that is not reasoning, seconds",
    "time_per_output_token": "(end-to-end latency − time to first token) / (output tokens − 1), seconds",
    "inter_chunk_latency": "between two pieces of text of a stream, seconds; a piece can hold several tokens",
    "end_to_end_latency": "request sent → last byte, seconds",
    "output_token_throughput": "output tokens of completed requests / measured window, tokens per second",
    "clean_output_token_throughput": "the same, counting only answers whose text is not degenerate",
    "request_throughput": "completed requests / measured window, requests per second",
}


@dataclass(frozen=True, slots=True)
class Distribution:
    """A metric's values, summed up, in the metric's unit."""

    count: int
    mean: float
    p50: float
    p90: float
    p99: float


@dataclass(frozen=True, slots=True)
class LevelResult:
    """What one level of concurrency gave.

    Attributes:
        concurrency: requests under way at once.
        window_seconds: from the first request sent until the last answer ended.
        completed: requests with a whole answer.
        failed: requests without one; they count in no metric.
        degenerate: completed requests whose text is broken.
        output_tokens: of the completed requests, as the server counted them (else pieces of text).
        distributions: by metric name, see `FORMULAS`.
        output_token_throughput: tokens per second.
        clean_output_token_throughput: tokens per second.
        request_throughput: requests per second.
        client_lag_seconds: how late our own event loop was (99th percentile); the level is void above
            `LAG_LIMIT_SECONDS`.
        errors: what the failed requests said, with how often.
    """

    concurrency: int
    window_seconds: float
    completed: int
    failed: int
    degenerate: int
    output_tokens: int
    distributions: dict[str, Distribution]
    output_token_throughput: float
    clean_output_token_throughput: float
    request_throughput: float
    client_lag_seconds: float
    errors: dict[str, int]

    @property
    def void(self) -> str | None:
        """Say why the numbers must not be used; None when they may."""
        if not self.completed:
            return "no request was completed"
        if self.client_lag_seconds > LAG_LIMIT_SECONDS:
            return f"the client itself was {self.client_lag_seconds * 1000:.0f} ms late: this machine is too busy"
        if self.degenerate > self.completed * ALLOWED_DEGENERATE:
            return f"broken text in {self.degenerate} of {self.completed} answers: its speed is no result"
        return None


ALLOWED_DEGENERATE = 0.05
"""The largest share of broken answers beside which a speed still means something: one answer in twenty."""

LAG_LIMIT_SECONDS = 0.1
"""A client that is later than this shows its own delay as the server's: a tenth of what a reader notices as a pause."""


def summarise(
    exchanges: Sequence[Exchange], *, concurrency: int, window_seconds: float, client_lag_seconds: float
) -> LevelResult:
    """Compute the metrics of one level."""
    completed = [one for one in exchanges if one.failure is None]
    broken = [one for one in completed if is_degenerate(one)]
    tokens = sum(one.output_tokens for one in completed)
    clean_tokens = tokens - sum(one.output_tokens for one in broken)
    window = max(window_seconds, 1e-9)
    values: dict[str, list[float]] = {
        "time_to_first_token": [v for one in completed if (v := time_to_first_token(one)) is not None],
        "time_to_first_answer_token": [v for one in completed if (v := time_to_first_answer_token(one)) is not None],
        "time_per_output_token": [v for one in completed if (v := time_per_output_token(one)) is not None],
        "inter_chunk_latency": [v for one in completed for v in inter_chunk_latencies(one)],
        "end_to_end_latency": [one.timing.total for one in completed],
    }
    errors: dict[str, int] = {}
    for one in exchanges:
        if one.failure is not None:
            errors[one.failure.message] = errors.get(one.failure.message, 0) + 1
    return LevelResult(
        concurrency=concurrency,
        window_seconds=window_seconds,
        completed=len(completed),
        failed=len(exchanges) - len(completed),
        degenerate=len(broken),
        output_tokens=tokens,
        distributions={name: distribution(sample) for name, sample in values.items() if sample},
        output_token_throughput=tokens / window,
        clean_output_token_throughput=clean_tokens / window,
        request_throughput=len(completed) / window,
        client_lag_seconds=client_lag_seconds,
        errors=errors,
    )


def is_degenerate(exchange: Exchange) -> bool:
    """Tell whether any text of the answer is surely broken."""
    return any(found.severity is Severity.FAIL for found in degenerations(exchange))


def time_to_first_token(exchange: Exchange) -> float | None:
    """Seconds until the first piece of text; None for a whole answer."""
    arrivals = exchange.timing.arrivals
    return arrivals[0].seconds if arrivals else None


def time_to_first_answer_token(exchange: Exchange) -> float | None:
    """Seconds until the first piece that is no reasoning; None where none came."""
    return next((one.seconds for one in exchange.timing.arrivals if one.field != REASONING), None)


def time_per_output_token(exchange: Exchange) -> float | None:
    """Seconds a token after the first; None for fewer than two tokens."""
    first = time_to_first_token(exchange)
    if first is None or exchange.output_tokens < 2:
        return None
    return (exchange.timing.total - first) / (exchange.output_tokens - 1)


def inter_chunk_latencies(exchange: Exchange) -> list[float]:
    """Seconds between neighbouring pieces of text."""
    times = [one.seconds for one in exchange.timing.arrivals]
    return [later - earlier for earlier, later in itertools.pairwise(times)]


def distribution(values: Sequence[float]) -> Distribution:
    """Sum up values; `values` must not be empty."""
    ordered = sorted(values)
    return Distribution(
        len(ordered),
        math.fsum(ordered) / len(ordered),
        percentile(ordered, 0.50),
        percentile(ordered, 0.90),
        percentile(ordered, 0.99),
    )


def percentile(ordered: Sequence[float], share: float) -> float:
    """Return a percentile of sorted values, interpolated linearly between the two nearest ranks (as NumPy does)."""
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
