"""The metrics of one level of load, computed from its rows. Pure.

Names and formulas are the field's (SGLang's bench_serving, vLLM, genai-bench, AIPerf); `FORMULAS` says each one, and
reports print it beside the number. Ours is `clean_output_token_throughput`: a looping server is fast. A level is summed
up row by row, so that a hundred thousand requests need no more memory than a thousand.
"""

from __future__ import annotations

import statistics as standard
from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from seatrial.bench.result import FORMULAS as FORMULAS  # noqa: PLC0414 - this is where readers look for them
from seatrial.bench.result import LATENCIES, ClientFigures, Interval, LevelResult, RequestRow, ServerFigures
from seatrial.bench.server_metrics import disagreements
from seatrial.bench.statistics import Ratio, Sample, design_effect

ALLOWED_DEGENERATE = 0.05
"""The largest share of broken answers beside which a speed still means something: one answer in twenty."""

LAG_LIMIT_SECONDS = 0.1
"""A client that is later than this (99th percentile) shows its own delay as the server's, whatever is measured."""

LAG_SHARE = 0.1
"""So much of the median time to first token may be the client's own lateness (90th percentile); more voids a level."""

LEAST_LAG_SECONDS = 0.005
"""Lateness below this never voids a level: timers are a millisecond late on an idle machine."""

BUSY_CLIENT = 0.95
"""From this share of one core on, the client can't have kept up."""

LATE_SENDING_SECONDS = 0.05
"""A request that was sent so much later than it was scheduled (99th percentile) voids an open loop's level."""

OWN_LIMIT = "this machine allows the client no more connections"
"""How a request fails that the client itself could not make; a level with one is void."""

DRAWN = ("time_to_first_token", "inter_chunk_latency", "time_per_output_token", "end_to_end_latency")
"""Metrics whose histograms are kept, to draw from."""

MANY_GROUPS = 20_000
"""Requests whose pieces are looked at for how they hang together."""


@dataclass(frozen=True, slots=True)
class Offered:
    """The load of one level: either `concurrency` or `rate` is set."""

    name: str
    concurrency: int | None = None
    rate: float | None = None


@dataclass(slots=True)
class LevelTally:
    """Sums up the rows of a level, one after the other."""

    objectives: Mapping[str, float] = field(default_factory=dict)
    allowed_degenerate: float = ALLOWED_DEGENERATE
    completed: int = 0
    failed: int = 0
    degenerate: int = 0
    output_tokens: int = 0
    clean_tokens: int = 0
    counted: int = 0
    input_tokens: int = 0
    with_input: int = 0
    cached_tokens: int = 0
    with_cached: int = 0
    good: int = 0
    errors: dict[str, int] = field(default_factory=dict)
    samples: dict[str, Sample] = field(default_factory=lambda: {name: Sample() for name in LATENCIES})
    first_sent: float | None = None
    last_ended: float = 0.0
    lateness: Sample = field(default_factory=Sample)
    _ratios: dict[str, Ratio] = field(default_factory=dict)
    _group_sizes: array[int] = field(default_factory=lambda: array("L"))
    _group_means: array[float] = field(default_factory=lambda: array("d"))

    def add(self, row: RequestRow) -> None:
        """Take one measured request."""
        self.lateness.add(max(row.started - row.scheduled, 0.0))
        if row.sent is not None and (self.first_sent is None or row.sent < self.first_sent):
            self.first_sent = row.sent
        self.last_ended = max(self.last_ended, row.ended)
        if row.failure is not None:
            self.failed += 1
            said = row.failure if row.status in {None, 200} else f"HTTP {row.status}: {row.failure}"
            if said in self.errors or len(self.errors) < 100:
                self.errors[said] = self.errors.get(said, 0) + 1
            return
        self.completed += 1
        self.degenerate += row.degenerate
        self.output_tokens += row.output_tokens
        self.counted += row.tokens_counted_by_server
        clean = 0 if row.degenerate else row.output_tokens
        self.clean_tokens += clean
        if row.prompt_tokens is not None:
            self.with_input += 1
            self.input_tokens += row.prompt_tokens
        if row.cached_tokens is not None:
            self.with_cached += 1
            self.cached_tokens += row.cached_tokens
        good = bool(row.meets_objectives)
        self.good += good
        for name in LATENCIES:
            if name != "inter_chunk_latency" and (value := getattr(row, name)) is not None:
                self.samples[name].add(max(value, 0.0))
        gaps = self.samples["inter_chunk_latency"]
        for gap in row.gaps_us:
            gaps.add(gap / 1e6)
        if row.gaps_us and len(self._group_sizes) < MANY_GROUPS:
            self._group_sizes.append(len(row.gaps_us))
            self._group_means.append(standard.fmean(row.gaps_us) / 1e6)
        busy = row.end_to_end_latency or 0.0
        for name, amount in (
            ("output_token_throughput", row.output_tokens),
            ("clean_output_token_throughput", clean),
            ("input_token_throughput", row.prompt_tokens or 0),
            ("request_throughput", 1),
            ("goodput", good),
        ):
            self._ratios.setdefault(name, Ratio()).add(float(amount), busy)

    def result(
        self,
        offered: Offered,
        *,
        client: ClientFigures,
        began: float = 0.0,
        server: ServerFigures | None = None,
        seed: int = 0,
        window_seconds: float | None = None,
    ) -> LevelResult:
        """Compute the metrics.

        Args:
            offered: what the level was.
            client: how the client itself did.
            began: when it began, seconds after the run's beginning.
            server: what the server's metrics say.
            seed: of the resampling.
            window_seconds: the measured window, where the rows do not tell it.
        """
        window = self.last_ended - (self.first_sent or 0.0) if window_seconds is None else window_seconds
        window = max(window, 0.0)
        rates = {
            "output_token_throughput": self._rate(self.output_tokens, window),
            "clean_output_token_throughput": self._rate(self.clean_tokens, window),
            "request_throughput": self._rate(self.completed, window),
        }
        all_counted = self.with_input == self.completed and self.completed > 0
        has_input = self._rate(self.input_tokens, window) if all_counted else None
        goodput = self._rate(self.good, window) if self.objectives else None
        optional = {"input_token_throughput": has_input, "goodput": goodput}
        known = rates | {name: value for name, value in optional.items() if value is not None}
        distributions = {}
        for name, sample in self.samples.items():
            if sample.count:
                effect = self._design_effect(sample) if name == "inter_chunk_latency" else 1.0
                distributions[name] = sample.distribution(seed, effect)
        knows_cached = self.with_cached > 0 and self.input_tokens > 0
        hit_rate = self.cached_tokens / self.input_tokens if knows_cached else None
        if hit_rate is None and server is not None:
            hit_rate = server.figures.get("cache_hit_rate")
        lateness = self.lateness.quantile(0.99) if self.lateness.count else 0.0
        client = ClientFigures(
            client.lag_p50_seconds,
            client.lag_p90_seconds,
            client.lag_p99_seconds,
            client.lag_max_seconds,
            lateness,
            client.cpu_share,
        )
        result = LevelResult(
            name=offered.name,
            concurrency=offered.concurrency,
            rate=offered.rate,
            began=began,
            window_seconds=window,
            completed=self.completed,
            failed=self.failed,
            degenerate=self.degenerate,
            output_tokens=self.output_tokens,
            output_tokens_counted=self.counted,
            input_tokens=self.input_tokens if all_counted else None,
            cached_tokens=self.cached_tokens if knows_cached else None,
            cache_hit_rate=hit_rate,
            distributions=distributions,
            output_token_throughput=rates["output_token_throughput"],
            clean_output_token_throughput=rates["clean_output_token_throughput"],
            input_token_throughput=has_input,
            request_throughput=rates["request_throughput"],
            goodput=goodput,
            intervals=self._intervals(known, is_open=offered.rate is not None, seed=seed),
            histograms={name: self.samples[name].histogram() for name in DRAWN if self.samples[name].count},
            client=client,
            client_lag_seconds=client.lag_p99_seconds,
            server=server,
            errors=dict(self.errors),
        )
        return _judged(result, self.allowed_degenerate)

    @staticmethod
    def _rate(amount: float, window: float) -> float:
        return amount / max(window, 1e-9) if amount else 0.0

    def _design_effect(self, sample: Sample) -> float:
        return design_effect(tuple(zip(self._group_sizes, self._group_means, strict=True)), sample.variance)

    def _intervals(self, rates: Mapping[str, float], *, is_open: bool, seed: int) -> dict[str, Interval]:
        """Bootstrap the rates over requests.

        In a closed loop the window is the sum of the requests' own times: a rate is a ratio of sums. In an open loop
        the schedule makes the window, and only the amounts vary.
        """
        found: dict[str, Interval] = {}
        for name, value in rates.items():
            ratio = self._ratios.get(name)
            interval = None if ratio is None else ratio.relative_interval(seed, fixed_window=is_open)
            if interval is not None:
                found[name] = (value * interval[0], value * interval[1])
        return found


def summarise(
    rows: Iterable[RequestRow],
    offered: Offered,
    *,
    client: ClientFigures | None = None,
    window_seconds: float | None = None,
    objectives: Mapping[str, float] | None = None,
) -> LevelResult:
    """Compute the metrics of rows that are there all at once."""
    tally = LevelTally(objectives or {})
    for row in rows:
        tally.add(row)
    return tally.result(offered, client=client or ClientFigures(), window_seconds=window_seconds)


def _judged(level: LevelResult, allowed_degenerate: float) -> LevelResult:
    return replace(level, void=why_void(level, allowed_degenerate), notes=notes_about(level))


def why_void(level: LevelResult, allowed_degenerate: float = ALLOWED_DEGENERATE) -> str | None:
    """Say why the numbers must not be used; None when they may."""
    client, first = level.client, level.distributions.get("time_to_first_token")
    if OWN_LIMIT in level.errors:
        return f"{OWN_LIMIT} (ulimit -n)"
    if not level.completed:
        return "no request was completed"
    if level.degenerate > level.completed * allowed_degenerate:
        return f"broken text in {level.degenerate} of {level.completed} answers: its speed is no result"
    allowed_lag = max(LEAST_LAG_SECONDS, LAG_SHARE * first.p50) if first else LAG_LIMIT_SECONDS
    if client.lag_p99_seconds > LAG_LIMIT_SECONDS:
        return f"the client itself was {client.lag_p99_seconds * 1000:.0f} ms late: this machine is too busy"
    if client.lag_p90_seconds > allowed_lag:
        return (
            f"the client itself was {client.lag_p90_seconds * 1000:.1f} ms late in one of ten moments, and the median "
            f"time to first token is {first.p50 * 1000 if first else 0:.0f} ms: this machine is too busy"
        )
    if client.cpu_share > BUSY_CLIENT:
        return f"the client used {client.cpu_share:.0%} of a core: it was the bottleneck, not the server"
    if level.rate is not None and client.send_lateness_p99_seconds > LATE_SENDING_SECONDS:
        late = client.send_lateness_p99_seconds * 1000
        return f"the client sent requests {late:.0f} ms later than they were scheduled: it could not keep the rate"
    return None


def notes_about(level: LevelResult) -> tuple[str, ...]:
    """Say what a reader should know before using the numbers."""
    notes = []
    if level.completed and level.output_tokens_counted < level.completed:
        missing = level.completed - level.output_tokens_counted
        notes.append(f"{missing} answers came without usage: their tokens are pieces of text that were counted")
    gaps = level.distributions.get("inter_chunk_latency")
    tokens_a_chunk = _tokens_a_chunk(level)
    if gaps and tokens_a_chunk is not None and tokens_a_chunk > 1.05:
        notes.append(
            f"a piece of text holds {tokens_a_chunk:.1f} tokens on average: inter-chunk latency is about pieces"
        )
    if gaps and level.client.lag_p99_seconds > max(gaps.p50 / 2, LEAST_LAG_SECONDS):
        late = level.client.lag_p99_seconds * 1000
        notes.append(f"the client was up to {late:.0f} ms late (p99): the tail of inter-chunk latency may be its own")
    if 0 < level.completed < 100 and "time_to_first_token" in level.distributions:
        notes.append(f"{level.completed} requests: a p99 is about the slowest of them, and has no interval")
    if level.failed:
        notes.append(f"{level.failed} of {level.completed + level.failed} requests failed: they count in no figure")
    return (*notes, *disagreements(level))


def _tokens_a_chunk(level: LevelResult) -> float | None:
    gaps = level.distributions.get("inter_chunk_latency")
    if not gaps or level.output_tokens_counted < level.completed:
        return None
    return level.output_tokens / (gaps.count + level.completed)
