from __future__ import annotations

import random
import statistics

import pytest

from seatrial.bench.metrics import distribution, percentile, summarise, time_per_output_token
from seatrial.endpoint.answer import CONTENT, REASONING, Answer, Usage
from seatrial.endpoint.exchange import Arrival, Exchange, Failure, FailureKind, Timing


def exchange(
    times: list[tuple[float, str]], total: float, tokens: int, *, content: str = "A short and varied answer."
) -> Exchange:
    arrivals = tuple(Arrival(seconds, field, 4) for seconds, field in times)
    return Exchange(
        "r0001",
        "bench/test",
        {"stream": True, "messages": []},
        Timing(0.0, 0.05, total, arrivals),
        200,
        Answer("m", content, finish_reason="stop", usage=Usage(10, tokens, 10 + tokens)),
    )


def test_each_metric_follows_its_formula() -> None:
    one = exchange([(0.1, REASONING), (0.2, REASONING), (0.4, CONTENT), (0.5, CONTENT)], total=0.5, tokens=5)
    level = summarise([one], concurrency=1, window_seconds=2.0, client_lag_seconds=0.0)
    metric = level.distributions
    assert metric["time_to_first_token"].p50 == pytest.approx(0.1)
    assert metric["time_to_first_answer_token"].p50 == pytest.approx(0.4)
    assert metric["time_per_output_token"].p50 == pytest.approx((0.5 - 0.1) / (5 - 1))
    assert metric["inter_chunk_latency"].count == 3
    assert metric["end_to_end_latency"].p50 == pytest.approx(0.5)
    assert level.output_token_throughput == pytest.approx(2.5)
    assert level.request_throughput == pytest.approx(0.5)
    assert level.void is None


def test_broken_answers_do_not_count_as_clean_throughput_and_void_the_level() -> None:
    good = exchange([(0.1, CONTENT)], total=0.5, tokens=10)
    loop = exchange([(0.1, CONTENT)], total=0.5, tokens=30, content="round and " * 100)
    level = summarise([good, loop], concurrency=2, window_seconds=1.0, client_lag_seconds=0.0)
    assert level.output_token_throughput == pytest.approx(40)
    assert level.clean_output_token_throughput == pytest.approx(10)
    assert level.degenerate == 1
    assert level.void is not None
    assert "broken text" in level.void


def test_failed_requests_count_in_no_metric() -> None:
    failure = Failure(FailureKind.TIMED_OUT, "no answer within 1 s")
    failed = Exchange("r0002", "bench/test", {"messages": []}, Timing(0.0, total=1.0), failure=failure)
    good = exchange([(0.1, CONTENT)], total=0.5, tokens=10)
    level = summarise([good, failed, failed], concurrency=1, window_seconds=1.0, client_lag_seconds=0.0)
    assert (level.completed, level.failed) == (1, 2)
    assert level.errors == {"no answer within 1 s": 2}
    assert level.distributions["end_to_end_latency"].count == 1


def test_nothing_completed_is_void_and_divides_by_nothing() -> None:
    level = summarise([], concurrency=1, window_seconds=0.0, client_lag_seconds=0.0)
    assert level.void == "no request was completed"
    assert level.output_token_throughput == 0


def test_a_late_client_voids_its_numbers() -> None:
    good = exchange([(0.1, CONTENT)], total=0.5, tokens=10)
    level = summarise([good], concurrency=1, window_seconds=1.0, client_lag_seconds=0.5)
    assert level.void is not None
    assert "late" in level.void


def test_one_token_has_no_time_per_output_token() -> None:
    assert time_per_output_token(exchange([(0.1, CONTENT)], total=0.1, tokens=1)) is None


def test_percentiles_interpolate_as_the_standard_library_does() -> None:
    pick = random.Random(3)
    values = sorted(pick.random() for _ in range(101))
    ninths = statistics.quantiles(values, n=10, method="inclusive")
    assert percentile(values, 0.9) == pytest.approx(ninths[8])
    assert distribution([2.0]).p99 == 2.0
