"""What a benchmark measured: the shape of `bench.json` and of the rows of `bench_requests.jsonl`. Values only.

`docs/benchmark.md` says what each figure is. Seconds, and rates per second; None where nothing was measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

FORMAT = 2
"""Of `bench.json`. Format 1 had no intervals."""

FORMULAS: Mapping[str, str] = {
    "time_to_first_token": "request sent → first token of any kind, seconds",
    "time_to_first_answer_token": "request sent → first token that is not reasoning, seconds",
    "time_per_output_token": "(end-to-end latency − time to first token) / (output tokens − 1), seconds",
    "inter_chunk_latency": "between two pieces of text of a stream, seconds; a piece can hold several tokens",
    "end_to_end_latency": "request sent → last byte, seconds",
    "output_token_throughput": "output tokens of completed requests / measured window, tokens per second",
    "clean_output_token_throughput": "the same, counting only answers whose text is not degenerate",
    "input_token_throughput": "input tokens of completed requests / measured window, tokens per second",
    "request_throughput": "completed requests / measured window, requests per second",
    "goodput": "completed, clean requests that meet every stated objective / measured window, requests per second",
    "cache_hit_rate": "input tokens that came from the prefix cache / input tokens",
}
LATENCIES = tuple(name for name in FORMULAS if name.endswith(("_token", "_latency")))
RATES = tuple(name for name in FORMULAS if name.endswith("throughput") or name == "goodput")

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Distribution:
    """A metric's values, summed up, in the metric's unit; `intervals` are 95% bootstrap intervals by figure."""

    count: int
    mean: float
    p50: float
    p90: float
    p99: float
    intervals: Mapping[str, Interval] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts of values between neighbouring edges; `edges` is one longer than `counts`."""

    edges: tuple[float, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ClientFigures:
    """How the client itself did during a level.

    Attributes:
        lag_p50_seconds: how late its event loop was, median.
        lag_p90_seconds: 90th percentile.
        lag_p99_seconds: 99th percentile.
        lag_max_seconds: at worst.
        send_lateness_p99_seconds: from when a request was scheduled until the client began to work on it.
        cpu_share: CPU time of the thread that puts the load on, over the window: 1 is one whole core.
    """

    lag_p50_seconds: float = 0.0
    lag_p90_seconds: float = 0.0
    lag_p99_seconds: float = 0.0
    lag_max_seconds: float = 0.0
    send_lateness_p99_seconds: float = 0.0
    cpu_share: float = 0.0


@dataclass(frozen=True, slots=True)
class ServerFigures:
    """What the server's own `/metrics` say about a level: the difference between its end and its beginning.

    Attributes:
        source: whose names they are: `sglang`, `vllm` or `llamacpp`.
        figures: `output_tokens`, `input_tokens`, `requests`, `cached_tokens`, and means in seconds by metric name.
    """

    source: str
    figures: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class LevelResult:
    """What one level of load gave.

    Attributes:
        name: e.g. `8 at once` or `2 requests/s`.
        concurrency: requests under way at once; None in an open loop.
        rate: requests offered per second; None in a closed loop.
        began: seconds after the run's `began_at`.
        window_seconds: from the first request sent until the last answer ended.
        completed: requests with a whole answer.
        failed: requests without one; they count in no metric.
        degenerate: completed requests whose text is broken.
        output_tokens: of the completed requests, as the server counted them (else pieces of text).
        output_tokens_counted: answers whose tokens the server counted.
        input_tokens: of the completed requests; None where the server did not count them all.
        cached_tokens: input tokens that came from the prefix cache; None where the server does not say.
        cache_hit_rate: share of the input tokens that came from the prefix cache; None where nobody says.
        distributions: by metric name, see `FORMULAS`.
        output_token_throughput: tokens per second.
        clean_output_token_throughput: tokens per second.
        input_token_throughput: tokens per second, or None.
        request_throughput: requests per second.
        goodput: requests per second that meet all objectives; None where none was stated.
        intervals: 95% bootstrap intervals of the rates.
        histograms: to draw from, by metric name.
        client: how the client itself did.
        client_lag_seconds: how late its event loop was (99th percentile).
        server: what the server's own metrics say; None where it has none.
        errors: what the failed requests said, with how often.
        notes: what a reader should know before using the numbers.
        void: why the numbers must not be used; None when they may.
    """

    name: str
    concurrency: int | None
    rate: float | None
    began: float
    window_seconds: float
    completed: int
    failed: int
    degenerate: int
    output_tokens: int
    output_tokens_counted: int
    input_tokens: int | None
    cached_tokens: int | None
    cache_hit_rate: float | None
    distributions: Mapping[str, Distribution]
    output_token_throughput: float
    clean_output_token_throughput: float
    input_token_throughput: float | None
    request_throughput: float
    goodput: float | None
    intervals: Mapping[str, Interval]
    histograms: Mapping[str, Histogram]
    client: ClientFigures
    client_lag_seconds: float
    server: ServerFigures | None
    errors: Mapping[str, int]
    notes: tuple[str, ...] = ()
    void: str | None = None


@dataclass(frozen=True, slots=True)
class Knee:
    """Where more load stops to give more throughput.

    Attributes:
        concurrency: the smallest level that reaches nearly all of the best level's clean throughput.
        clean_output_token_throughput: what it gives.
        why: in a sentence.
        saturated: whether the ramp went far enough to know.
    """

    concurrency: int
    clean_output_token_throughput: float
    why: str
    saturated: bool = True


@dataclass(frozen=True, slots=True)
class WorkloadFigures:
    """What was asked, see `docs/benchmark.md`."""

    name: str
    description: str
    output_tokens: int
    input_tokens: int | None
    seed: int
    nonce: str
    prefix_cache: str
    ignore_eos: bool


@dataclass(frozen=True, slots=True)
class LoadFigures:
    """How load was put on: `kind` is closed, open or ramp; `arrivals` is poisson or constant in an open loop."""

    kind: str
    arrivals: str | None
    warm_up: int


@dataclass(frozen=True, slots=True)
class BenchResult:
    """What a benchmark measured, level by level, with the formula of each metric.

    `complete` is false where it was interrupted: the levels are those that had ended.
    """

    levels: tuple[LevelResult, ...]
    output_tokens_limit: int
    sampling: Mapping[str, object]
    formulas: Mapping[str, str]
    workload: WorkloadFigures
    load: LoadFigures
    began_at: float
    objectives: Mapping[str, float] = field(default_factory=dict)
    knee: Knee | None = None
    notes: tuple[str, ...] = ()
    complete: bool = True
    void: str | None = None
    format: int = FORMAT


@dataclass(frozen=True, slots=True)
class RequestRow:
    """One request of a benchmark: a line of `bench_requests.jsonl`. Clock readings are seconds after `began_at`.

    Attributes:
        id: of the exchange in `requests.jsonl`.
        level: index of the level; -1 for warm-up.
        phase: `warm-up` or `measured`.
        scheduled: when it should have been sent.
        started: when the client began to work on it.
        sent: when its bytes were handed to the connection; None where none stood.
        first_byte: of the answer, its headers included.
        first_token: first piece of text of any kind.
        first_answer_token: first piece that is no reasoning.
        last_token: last piece of text.
        ended: last byte, or when it failed.
        chunks: pieces of text.
        output_tokens: as the server counted them, else pieces of text.
        tokens_counted_by_server: which of the two.
        prompt_tokens: as the server counted them.
        cached_tokens: of those, from the prefix cache.
        status: HTTP status.
        finish_reason: as the server said.
        degenerate: whether the text is broken.
        meets_objectives: None where none was stated.
        failure: why there is no whole answer.
        gaps_us: microseconds between neighbouring pieces of text.
    """

    id: str
    level: int
    phase: str
    scheduled: float
    started: float
    sent: float | None = None
    first_byte: float | None = None
    first_token: float | None = None
    first_answer_token: float | None = None
    last_token: float | None = None
    ended: float = 0.0
    chunks: int = 0
    output_tokens: int = 0
    tokens_counted_by_server: bool = False
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    status: int | None = None
    finish_reason: str | None = None
    degenerate: bool = False
    meets_objectives: bool | None = None
    failure: str | None = None
    gaps_us: tuple[int, ...] = ()

    @property
    def time_to_first_token(self) -> float | None:
        """Seconds from sent to the first piece of text; None for a whole answer."""
        return self._after_sent(self.first_token)

    @property
    def time_to_first_answer_token(self) -> float | None:
        """Seconds from sent to the first piece that is no reasoning."""
        return self._after_sent(self.first_answer_token)

    @property
    def time_per_output_token(self) -> float | None:
        """Seconds a token after the first; None for fewer than two tokens."""
        first, total = self.time_to_first_token, self.end_to_end_latency
        if first is None or total is None or self.output_tokens < 2:
            return None
        return (total - first) / (self.output_tokens - 1)

    @property
    def end_to_end_latency(self) -> float | None:
        """Seconds from sent to the last byte."""
        return self._after_sent(self.ended)

    def _after_sent(self, moment: float | None) -> float | None:
        return None if moment is None or self.sent is None else moment - self.sent
