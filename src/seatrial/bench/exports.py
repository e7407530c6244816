"""A benchmark in the shapes of other tools, so that people can use what they have. Pure.

SGLang's `bench_serving` writes one JSON object a line, one line a run: here one a level of load (sglang 0.5.16,
benchmark/serving.py, with the per-request lists that `--output-details` adds). AIPerf's `profile_export_aiperf.csv`
(0.13) has a table of distributions and a table of single values; here with a `Level` column in front where there are
several levels. Where the definitions differ the numbers are theirs: SGLang's `itl` and AIPerf's `inter_chunk_latency`
are our inter-chunk latency; AIPerf's inter-token latency is our time per output token.
"""

from __future__ import annotations

import csv
import io
import json
import math
import statistics as standard
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from seatrial.bench.reading import MEASURED
from seatrial.bench.result import BenchResult, LevelResult, RequestRow
from seatrial.bench.statistics import percentile

STATISTICS = ("avg", "min", "max", "sum", "p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "std")
"""Columns of AIPerf's table of distributions."""

Values = Callable[[RequestRow], Iterable[float]]


def sglang_jsonl(result: BenchResult, rows: Iterable[RequestRow]) -> str:
    """Write the shape of SGLang's bench_serving: a line a level."""
    by_level = _by_level(rows)
    lines = [_sglang_line(result, level, by_level.get(number, [])) for number, level in enumerate(result.levels)]
    return "".join(json.dumps(line) + "\n" for line in lines)


def _sglang_line(result: BenchResult, level: LevelResult, rows: Sequence[RequestRow]) -> dict[str, Any]:
    done = [row for row in rows if row.failure is None]
    window = max(level.window_seconds, 1e-9)
    latencies = {
        "e2e_latency": _values(done, lambda row: _some(row.end_to_end_latency)),
        "ttft": _values(done, lambda row: _some(row.time_to_first_token)),
        "tpot": _values(done, lambda row: _some(row.time_per_output_token)),
        "itl": _values(done, _gaps),
    }
    figures: dict[str, Any] = {}
    for name, values in latencies.items():
        milliseconds = [value * 1000 for value in values] or [0.0]
        figures[f"mean_{name}_ms"] = standard.fmean(milliseconds)
        figures[f"median_{name}_ms"] = _percentile(milliseconds, 50)
        figures[f"std_{name}_ms"] = standard.pstdev(milliseconds)
        for share in (90, 95, 99):
            figures[f"p{share}_{name}_ms"] = _percentile(milliseconds, share)
    total_input = sum(row.prompt_tokens or 0 for row in done)
    return {
        "tag": f"seatrial {level.name}",
        "backend": "sglang-oai-chat",
        "dataset_name": result.workload.name,
        "request_rate": "inf" if level.rate is None else level.rate,
        "max_concurrency": level.concurrency,
        "sharegpt_output_len": None,
        "random_input_len": result.workload.input_tokens,
        "random_output_len": result.workload.output_tokens,
        "random_range_ratio": None,
        "server_info": None,
        "duration": level.window_seconds,
        "completed": level.completed,
        "total_input_tokens": total_input,
        "total_input_text_tokens": total_input,
        "total_input_vision_tokens": 0,
        "total_output_tokens": level.output_tokens,
        "total_output_tokens_retokenized": level.output_tokens,
        "request_throughput": level.request_throughput,
        "input_throughput": total_input / window,
        "output_throughput": level.output_token_throughput,
        "total_throughput": (total_input + level.output_tokens) / window,
        **figures,
        "concurrency": sum(latencies["e2e_latency"]) / window,
        "accept_length": None,
        "max_output_tokens_per_s": _busiest_second(done),
        "max_concurrent_requests": _most_at_once(rows),
        "input_lens": [row.prompt_tokens or 0 for row in rows],
        "output_lens": [row.output_tokens for row in rows],
        "ttfts": [row.time_to_first_token or 0.0 for row in rows],
        "itls": [list(_gaps(row)) for row in rows],
        "errors": [row.failure or "" for row in rows],
    }


AIPERF_METRICS: tuple[tuple[str, Values], ...] = (
    ("Time to First Token (ms)", lambda row: _milliseconds(row.time_to_first_token)),
    ("Time to First Output Token (ms)", lambda row: _milliseconds(row.time_to_first_answer_token)),
    ("Inter Token Latency (ms)", lambda row: _milliseconds(row.time_per_output_token)),
    ("Inter Chunk Latency (ms)", lambda row: (gap * 1000 for gap in _gaps(row))),
    ("Request Latency (ms)", lambda row: _milliseconds(row.end_to_end_latency)),
    ("Output Sequence Length (tokens)", lambda row: (float(row.output_tokens),)),
    ("Input Sequence Length (tokens)", lambda row: _some(row.prompt_tokens)),
)


def aiperf_csv(result: BenchResult, rows: Iterable[RequestRow]) -> str:
    """Write the shape of AIPerf's CSV: distributions first, then single values, parted by an empty line."""
    by_level = _by_level(rows)
    several = len(result.levels) > 1
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")

    def write(level: LevelResult, *cells: object) -> None:
        out.writerow([level.name, *cells] if several else list(cells))

    out.writerow([*(["Level"] if several else []), "Metric", *STATISTICS])
    for number, level in enumerate(result.levels):
        done = [row for row in by_level.get(number, []) if row.failure is None]
        for name, values_of in AIPERF_METRICS:
            if values := _values(done, values_of):
                write(level, name, *(f"{figure:.2f}" for figure in _statistics(values)))
    text.write("\n")
    out.writerow([*(["Level"] if several else []), "Metric", "Value"])
    for level in result.levels:
        write(level, "Benchmark Duration (sec)", f"{level.window_seconds:.2f}")
        write(level, "Output Token Throughput (tokens/sec)", f"{level.output_token_throughput:.2f}")
        write(level, "Clean Output Token Throughput (tokens/sec)", f"{level.clean_output_token_throughput:.2f}")
        write(level, "Request Throughput (requests/sec)", f"{level.request_throughput:.2f}")
        if level.goodput is not None:
            write(level, "Goodput (requests/sec)", f"{level.goodput:.2f}")
        if level.input_token_throughput is not None:
            write(level, "Input Token Throughput (tokens/sec)", f"{level.input_token_throughput:.2f}")
        asked = level.completed + level.failed
        write(level, "Completed Requests (Success + Error)", f"{asked:.2f}")
        write(level, "Request Count", f"{level.completed:.2f}")
        write(level, "Request Error Rate (%)", f"{100 * level.failed / max(asked, 1):.2f}")
        write(level, "Total Output Tokens (tokens)", f"{level.output_tokens:.2f}")
    return text.getvalue()


def _statistics(values: Sequence[float]) -> list[float]:
    shares = [float(name.removeprefix("p")) for name in STATISTICS if name[0] == "p"]
    spread = standard.stdev(values) if len(values) > 1 else 0.0
    ends = [standard.fmean(values), min(values), max(values), math.fsum(values)]
    return [*ends, *(_percentile(values, share) for share in shares), spread]


def _by_level(rows: Iterable[RequestRow]) -> dict[int, list[RequestRow]]:
    found: dict[int, list[RequestRow]] = {}
    for row in rows:
        if row.phase == MEASURED:
            found.setdefault(row.level, []).append(row)
    return found


def _values(rows: Sequence[RequestRow], values_of: Values) -> list[float]:
    return [float(value) for row in rows for value in values_of(row)]


def _some(value: float | None) -> tuple[float, ...]:
    return () if value is None else (value,)


def _milliseconds(value: float | None) -> tuple[float, ...]:
    return () if value is None else (value * 1000,)


def _gaps(row: RequestRow) -> tuple[float, ...]:
    return tuple(gap / 1e6 for gap in row.gaps_us)


def _percentile(values: Sequence[float], share: float) -> float:
    return percentile(sorted(values), share / 100)


def _busiest_second(rows: Sequence[RequestRow]) -> float:
    """Count the pieces of text of the busiest second, as SGLang does."""
    seconds: dict[int, int] = {}
    for row in rows:
        if row.first_token is None:
            continue
        moment = row.first_token
        seconds[int(moment)] = seconds.get(int(moment), 0) + 1
        for gap in _gaps(row):
            moment += gap
            seconds[int(moment)] = seconds.get(int(moment), 0) + 1
    return float(max(seconds.values(), default=0))


def _most_at_once(rows: Sequence[RequestRow]) -> int:
    moments = [(row.sent, 1) for row in rows if row.sent is not None] + [(row.ended, -1) for row in rows if row.sent]
    most = now = 0
    for _, step in sorted(moments):
        now += step
        most = max(most, now)
    return most
