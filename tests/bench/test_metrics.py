from __future__ import annotations

from dataclasses import replace

import pytest

from seatrial.bench.metrics import Offered, summarise
from seatrial.bench.plan import Level
from seatrial.bench.result import ClientFigures, RequestRow, ServerFigures
from seatrial.bench.server_metrics import difference, disagreements, read_prometheus

ONE_AT_ONCE = Offered("1 at once", 1)


def row(
    *,
    sent: float = 0.0,
    first: float = 0.1,
    answer: float | None = None,
    ended: float = 0.5,
    tokens: int = 5,
    gaps: tuple[int, ...] = (100_000,) * 4,
) -> RequestRow:
    return RequestRow(
        "b0001",
        0,
        "measured",
        scheduled=sent,
        started=sent,
        sent=sent,
        first_byte=sent + first,
        first_token=sent + first,
        first_answer_token=sent + (first if answer is None else answer),
        last_token=sent + ended,
        ended=sent + ended,
        chunks=len(gaps) + 1,
        output_tokens=tokens,
        tokens_counted_by_server=True,
        prompt_tokens=10,
        status=200,
        finish_reason="stop",
        gaps_us=gaps,
    )


def test_each_metric_follows_its_formula() -> None:
    level = summarise([row(answer=0.4)], ONE_AT_ONCE, window_seconds=2.0)
    metric = level.distributions
    assert metric["time_to_first_token"].p50 == pytest.approx(0.1)
    assert metric["time_to_first_answer_token"].p50 == pytest.approx(0.4)
    assert metric["time_per_output_token"].p50 == pytest.approx((0.5 - 0.1) / (5 - 1))
    assert metric["inter_chunk_latency"].count == 4
    assert metric["end_to_end_latency"].p50 == pytest.approx(0.5)
    assert level.output_token_throughput == pytest.approx(2.5)
    assert level.input_token_throughput == pytest.approx(5.0)
    assert level.request_throughput == pytest.approx(0.5)
    assert level.void is None


def test_the_window_reaches_from_the_first_request_sent_to_the_last_answer_ended() -> None:
    level = summarise([row(sent=1.0), row(sent=2.0, ended=2.0)], ONE_AT_ONCE)
    assert level.window_seconds == pytest.approx(3.0)
    assert level.request_throughput == pytest.approx(2 / 3)


def test_broken_answers_do_not_count_as_clean_throughput_and_void_the_level() -> None:
    loop = replace(row(tokens=30), degenerate=True)
    level = summarise([row(tokens=10), loop], Offered("2 at once", 2), window_seconds=1.0)
    assert level.output_token_throughput == pytest.approx(40)
    assert level.clean_output_token_throughput == pytest.approx(10)
    assert level.degenerate == 1
    assert level.void is not None
    assert "broken text" in level.void


def test_failed_requests_count_in_no_metric() -> None:
    failed = RequestRow("b0002", 0, "measured", 0.0, 0.0, failure="no answer within 1 s", ended=1.0)
    refused = replace(failed, status=503, failure="The request queue is full.")
    level = summarise([row(), failed, failed, refused], ONE_AT_ONCE, window_seconds=1.0)
    assert (level.completed, level.failed) == (1, 3)
    assert level.errors == {"no answer within 1 s": 2, "HTTP 503: The request queue is full.": 1}
    assert level.distributions["end_to_end_latency"].count == 1


def test_nothing_completed_is_void_and_divides_by_nothing() -> None:
    level = summarise([], ONE_AT_ONCE)
    assert level.void == "no request was completed"
    assert level.output_token_throughput == 0
    assert level.distributions == {}


def test_a_zero_duration_is_no_speed_of_millions() -> None:
    level = summarise([row(first=0.0, ended=0.0, tokens=1, gaps=())], ONE_AT_ONCE, window_seconds=1.0)
    assert "time_per_output_token" not in level.distributions
    assert level.output_token_throughput == 1.0


@pytest.mark.parametrize(
    ("client", "why"),
    [
        (ClientFigures(lag_p99_seconds=0.5), "late"),
        (ClientFigures(lag_p90_seconds=0.02), "late in one of ten moments"),
        (ClientFigures(cpu_share=0.99), "bottleneck"),
    ],
)
def test_a_client_that_lagged_voids_its_numbers(client: ClientFigures, why: str) -> None:
    level = summarise([row()], ONE_AT_ONCE, client=client, window_seconds=1.0)
    assert level.void is not None
    assert why in level.void


def test_a_lag_that_is_small_beside_what_is_measured_voids_nothing() -> None:
    slow = row(first=5.0, ended=9.0)
    late = ClientFigures(lag_p90_seconds=0.02, lag_p99_seconds=0.05)
    assert summarise([slow], ONE_AT_ONCE, client=late, window_seconds=9.0).void is None


def test_requests_that_were_sent_late_void_an_open_loop_only() -> None:
    late = replace(row(), scheduled=-1.0)
    offered = Level(rate=2.0, requests=1).offered()
    assert "later than they were scheduled" in (summarise([late], offered, window_seconds=1.0).void or "")
    assert summarise([late], ONE_AT_ONCE, window_seconds=1.0).void is None


def test_goodput_counts_what_meets_all_objectives() -> None:
    rows = [replace(row(), meets_objectives=True), replace(row(), meets_objectives=False)]
    level = summarise(rows, ONE_AT_ONCE, window_seconds=2.0, objectives={"time_to_first_token": 0.2})
    assert level.goodput == pytest.approx(0.5)
    assert summarise(rows, ONE_AT_ONCE, window_seconds=2.0).goodput is None


def test_the_cache_hit_rate_is_the_servers_word_or_nobodys() -> None:
    assert summarise([row()], ONE_AT_ONCE).cache_hit_rate is None
    cached = replace(row(), cached_tokens=4)
    assert summarise([cached], ONE_AT_ONCE).cache_hit_rate == pytest.approx(0.4)


def test_answers_without_usage_are_told() -> None:
    guessed = replace(row(), tokens_counted_by_server=False, prompt_tokens=None)
    level = summarise([row(), guessed], ONE_AT_ONCE)
    assert level.input_tokens is None
    assert any("without usage" in note for note in level.notes)


METRICS = """
# HELP sglang:generation_tokens_total Number of generation tokens processed.
# TYPE sglang:generation_tokens_total counter
sglang:generation_tokens_total{model_name="m",tp_rank="0"} 100.0
sglang:generation_tokens_total{model_name="n",tp_rank="0"} 20.0
sglang:time_to_first_token_seconds_bucket{le="0.1",model_name="m"} 3.0
sglang:time_to_first_token_seconds_sum{model_name="m"} 4.0
sglang:time_to_first_token_seconds_count{model_name="m"} 10.0
sglang:cache_hit_rate NaN
not a metric at all
"""


def test_prometheus_text_is_read_and_summed_over_labels() -> None:
    found = read_prometheus(METRICS)
    assert found["sglang:generation_tokens_total"] == 120
    assert "sglang:cache_hit_rate" not in found
    assert not any(name.endswith("_bucket") for name in found)


def test_a_levels_server_figures_are_the_difference_of_two_readings() -> None:
    before = read_prometheus(METRICS)
    after = before | {
        "sglang:generation_tokens_total": 320.0,
        "sglang:time_to_first_token_seconds_sum": 5.0,
        "sglang:time_to_first_token_seconds_count": 12.0,
    }
    found = difference(before, after)
    assert found is not None
    assert found.source == "sglang"
    assert found.figures["output_tokens"] == 200
    assert found.figures["time_to_first_token"] == pytest.approx(0.5)
    assert difference({}, {"process_cpu_seconds_total": 1.0}) is None
    assert difference(after, before) is None, "a server that was restarted in between has no figures"


def test_a_server_that_disagrees_is_told() -> None:
    level = summarise([row()], ONE_AT_ONCE, window_seconds=1.0)
    busy = replace(level, server=ServerFigures("vllm", {"output_tokens": 500.0}))
    assert "somebody else uses it" in disagreements(busy)[0]
    proxied = replace(level, server=ServerFigures("vllm", {"output_tokens": 5.0, "time_to_first_token": 0.01}))
    assert "network, proxies" in disagreements(proxied)[0]
    agreeing = replace(level, server=ServerFigures("vllm", {"output_tokens": 5.0, "time_to_first_token": 0.095}))
    assert disagreements(agreeing) == []
