"""The shapes are those of real files: sglang 0.5.16 (`--output-details`) and aiperf 0.13."""

from __future__ import annotations

import csv
import json

import pytest

from seatrial.bench.exports import STATISTICS, aiperf_csv, sglang_jsonl
from seatrial.bench.metrics import Offered, summarise
from seatrial.bench.result import BenchResult, LoadFigures, RequestRow
from seatrial.bench.workload import builtin

SGLANG_KEYS = {
    "backend", "completed", "concurrency", "dataset_name", "duration", "errors", "input_lens", "input_throughput",
    "itls", "max_concurrency", "max_concurrent_requests", "max_output_tokens_per_s", "mean_e2e_latency_ms",
    "mean_itl_ms", "mean_tpot_ms", "mean_ttft_ms", "median_e2e_latency_ms", "median_itl_ms", "median_tpot_ms",
    "median_ttft_ms", "output_lens", "output_throughput", "p90_e2e_latency_ms", "p95_itl_ms", "p99_itl_ms",
    "p99_tpot_ms", "p99_ttft_ms", "request_rate", "request_throughput", "server_info", "std_ttft_ms", "tag",
    "total_input_text_tokens", "total_input_tokens", "total_output_tokens", "total_output_tokens_retokenized",
    "total_throughput", "ttfts",
}  # fmt: skip


def rows() -> list[RequestRow]:
    def one(number: int, level: int, phase: str = "measured", failure: str | None = None) -> RequestRow:
        sent = float(number)
        return RequestRow(
            f"b{number}", level, phase, sent, sent, sent=sent, first_token=sent + 0.2, first_answer_token=sent + 0.3,
            ended=sent + 1.2, chunks=3, output_tokens=3, tokens_counted_by_server=True, prompt_tokens=10,
            failure=failure, gaps_us=(400_000, 600_000),
        )  # fmt: skip

    return [one(0, -1, "warm-up"), one(1, 0), one(2, 1), one(3, 1), one(4, 1, failure="HTTP 503")]


def result() -> BenchResult:
    by_level = [[row for row in rows() if row.level == level] for level in (0, 1)]
    levels = tuple(
        summarise(some, Offered(f"{count} at once", count)) for count, some in zip((1, 2), by_level, strict=True)
    )
    workload = builtin("chat")
    return BenchResult(levels, 256, {}, {}, workload.figures(), LoadFigures("closed", None, 1), 0.0)


def test_sglangs_shape_is_a_line_a_level_with_its_keys() -> None:
    lines = [json.loads(line) for line in sglang_jsonl(result(), rows()).splitlines()]
    assert [line["max_concurrency"] for line in lines] == [1, 2]
    assert not SGLANG_KEYS - lines[0].keys()
    two = lines[1]
    assert two["completed"] == 2
    assert two["median_ttft_ms"] == pytest.approx(200)
    assert two["median_tpot_ms"] == pytest.approx(500)
    assert two["mean_itl_ms"] == pytest.approx(500)
    assert (len(two["ttfts"]), len(two["itls"]), two["errors"][-1]) == (3, 3, "HTTP 503")
    assert two["itls"][0] == [0.4, 0.6]


def test_aiperfs_shape_is_two_tables() -> None:
    first, second = aiperf_csv(result(), rows()).split("\n\n")
    table = list(csv.reader(first.splitlines()))
    assert table[0] == ["Level", "Metric", *STATISTICS]
    values = {(row[0], row[1]): dict(zip(STATISTICS, row[2:], strict=True)) for row in table[1:]}
    assert values["2 at once", "Time to First Token (ms)"]["avg"] == "200.00"
    assert values["2 at once", "Inter Chunk Latency (ms)"]["max"] == "600.00"
    assert values["1 at once", "Output Sequence Length (tokens)"]["sum"] == "3.00"
    singles = {(row[0], row[1]): row[2] for row in list(csv.reader(second.splitlines()))[1:]}
    assert singles["2 at once", "Request Count"] == "2.00"
    assert singles["2 at once", "Request Error Rate (%)"] == "33.33"


def test_one_level_has_aiperfs_own_columns() -> None:
    one = result()
    alone = BenchResult(one.levels[:1], 256, {}, {}, one.workload, one.load, 0.0)
    assert aiperf_csv(alone, rows()).startswith("Metric,avg,min,max,sum,p1,")
