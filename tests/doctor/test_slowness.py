"""Why it is slow, why it is waiting: from batch lines of the log and from /metrics, a sentence each."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from seatrial.doctor import diagnose
from seatrial.doctor.metrics_text import read_metrics

DECODE = (
    "[2031-02-03 04:05:06 TP0] Decode batch, #running-req: {running}, #full token: 9000, full token usage: {usage}, "
    "mamba usage: {state}, cuda graph: {graph}, gen throughput (token/s): 12.1, #queue-req: {queue}"
)
PREFILL = (
    "[2031-02-03 04:05:06 TP0] Prefill batch, #new-seq: 1, #new-token: {new}, #cached-token: {cached}, #queue-req: 0"
)


def decode(*, running: int = 3, usage: float = 0.2, state: float = 0.1, graph: bool = True, queue: int = 0) -> str:
    return DECODE.format(running=running, usage=usage, state=state, graph=graph, queue=queue)


def reasons(lines: list[str], metrics: str | None = None) -> dict[str, str]:
    return {reason.id: reason.cause for reason in diagnose(lines, metrics=metrics).slow}


def test_a_server_that_does_well_is_not_called_slow() -> None:
    assert reasons([decode()] * 50 + [PREFILL.format(new=100, cached=900)] * 50) == {}


def test_requests_that_wait_are_said_to_wait_for_what_is_full() -> None:
    assert "the KV cache is full (97% used)" in reasons([decode(queue=4, usage=0.97)] * 30)["requests-wait"]
    assert "recurrent state cache is full" in reasons([decode(queue=4, state=0.95)] * 30)["requests-wait"]
    assert "27 run already" in reasons([decode(queue=4, running=27)] * 30)["requests-wait"]
    assert reasons([decode(queue=4), decode(queue=0)] * 20) == {}


def test_steps_without_a_cuda_graph_are_counted() -> None:
    assert (
        "30 of the newest 40 decode batches" in reasons([decode(graph=False)] * 30 + [decode()] * 10)["no-cuda-graph"]
    )


def test_a_prefix_cache_that_is_never_hit_is_named_where_much_was_computed() -> None:
    assert "Only 0%" in reasons([PREFILL.format(new=2000, cached=0)] * 20)["low-cache-hit-rate"]
    assert reasons([PREFILL.format(new=20, cached=0)] * 20) == {}


def test_metrics_say_the_same_with_totals() -> None:
    text = """# HELP sglang:num_queue_reqs waiting
sglang:num_queue_reqs{model_name="m",tp_rank="0"} 7.0
sglang:num_running_reqs{model_name="m"} 27.0
sglang:token_usage{model_name="m"} 0.31
sglang:num_retracted_requests_total{model_name="m"} 12.0
sglang:cuda_graph_passes_total{mode="decode_none"} 900.0
sglang:cuda_graph_passes_total{mode="decode_cuda_graph"} 100.0
sglang:prompt_tokens_total{model_name="m"} 500000.0
sglang:cached_tokens_total{model_name="m",cache_source="device"} 1000.0
"""
    found = reasons([], text)
    assert set(found) == {"requests-wait", "requests-retracted", "no-cuda-graph", "low-cache-hit-rate"}
    assert found["requests-wait"].startswith("7 requests wait (says /metrics), because 27 run already")
    assert "12 running requests were thrown back" in found["requests-retracted"]


def test_compiling_at_first_use_and_retractions_are_seen_in_the_log() -> None:
    found = diagnose(
        ["flashinfer.jit: Loading JIT ops: x", "KV cache pool is full. Retract requests. #retracted_reqs: 3"]
    )
    assert found.cause is not None
    assert {found.cause.id, *(other.id for other in found.others)} == {"compiling-at-first-use", "requests-retracted"}
    assert not found.deadly


@given(st.text(max_size=400))
def test_any_text_can_be_read_as_metrics(text: str) -> None:
    assert read_metrics(text).total("num_queue_reqs") is None or "num_queue_reqs" in text
