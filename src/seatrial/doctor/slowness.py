"""Answers "why is it slow" and "why is it waiting", from the log's batch lines and `/metrics`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from seatrial.doctor.metrics_text import Metrics, read_metrics
from seatrial.doctor.model import Level, Named, Role
from seatrial.doctor.reading import parse_line

if TYPE_CHECKING:
    from seatrial.doctor.watching import Watcher

QUEUE = re.compile(r"#queue-req: (\d+)")
RUNNING = re.compile(r"#running-req: (\d+)")
USAGE = re.compile(r"(?:full )?token usage: ([\d.]+)")
STATE_USAGE = re.compile(r"mamba usage: ([\d.]+)")
GRAPH = re.compile(r"(?:cuda|cpu) graph: (True|False)")
SPEED = re.compile(r"gen throughput \(token/s\): ([\d.]+)")
CACHED = re.compile(r"#new-token: (\d+), #cached-token: (\d+)")
ACCEPT = re.compile(r"accept (?:len|length): ([\d.]+)")

NEWEST = 200
"""Batch lines that count as "now"."""
FEW = 8
"""With fewer lines nothing is said about shares."""
NEARLY_FULL = 0.9
LOW_HIT_RATE = 0.1
MANY_PROMPT_TOKENS = 20_000
SHORT_ACCEPT = 1.3


def why_slow(watcher: Watcher, metrics: str | None) -> tuple[Named, ...]:
    """List why a server is slow or lets requests wait; empty where nothing speaks for it."""
    found = [*_from_log(watcher)]
    if metrics is not None:
        said = {entry.id for entry in found}
        found += [entry for entry in _from_metrics(read_metrics(metrics)) if entry.id not in said]
    return tuple(found)


def _from_log(watcher: Watcher) -> Iterable[Named]:
    lines = [parse_line(raw, 0).text for raw in list(watcher.batches)[-NEWEST:]]
    decodes = [line for line in lines if "Decode batch" in line]
    prefills = [line for line in lines if "Prefill batch" in line]
    if decodes and (queue := _numbers(QUEUE, decodes[-20:])) and min(queue) > 0:
        yield _waiting(
            queue[-1],
            (_numbers(RUNNING, decodes[-1:]) or [0])[0],
            (_numbers(USAGE, decodes[-1:]) or [0.0])[0],
            (_numbers(STATE_USAGE, decodes[-1:]) or [0.0])[0],
            seen=f"in the newest {len(queue)} batch lines",
        )
    graphs = GRAPH.findall("\n".join(decodes))
    off = graphs.count("False")
    if len(graphs) >= FEW and off * 2 > len(graphs) and "cpu graph" not in decodes[-1]:
        yield _slow(
            "no-cuda-graph",
            f"{off} of the newest {len(graphs)} decode batches ran without a CUDA graph: each step launches every "
            "kernel.",
            "Remove --disable-cuda-graph; for batches larger than the largest graph, --cuda-graph-max-bs-decode.",
        )
    pairs = [(int(match[1]), int(match[2])) for line in prefills if (match := CACHED.search(line))]
    new, cached = sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)
    if new + cached > MANY_PROMPT_TOKENS and cached < LOW_HIT_RATE * (new + cached):
        yield _low_hit_rate(cached / (new + cached))
    accepted = _numbers(ACCEPT, decodes)
    if len(accepted) >= FEW and sum(accepted) / len(accepted) < SHORT_ACCEPT:
        yield _short_accept(sum(accepted) / len(accepted))


def _from_metrics(metrics: Metrics) -> Iterable[Named]:
    waiting, running = metrics.total("num_queue_reqs"), metrics.total("num_running_reqs")
    if waiting:
        yield _waiting(
            int(waiting),
            int(running or 0),
            metrics.largest("token_usage", "full_token_usage") or 0.0,
            metrics.largest("mamba_usage") or 0.0,
            seen="says /metrics",
        )
    retracted = metrics.total("num_retracted_requests_total", "num_retracted_reqs_total")
    if retracted:
        yield _slow(
            "requests-retracted",
            f"{retracted:.0f} running requests were thrown back since the start: the KV cache was full.",
            "Lower --max-running-requests, raise --schedule-conservativeness, or give the cache more room.",
        )
    grammar = metrics.total("num_grammar_queue_reqs")
    if grammar:
        yield _slow(
            "grammar-queue",
            f"{grammar:.0f} requests wait for their grammar (JSON schema) to be compiled.",
            "Use fewer different schemas; a compiled one is kept.",
        )
    passes = metrics.by_label("cuda_graph_passes_total", "mode")
    if passes:
        eager = sum(count for mode, count in passes.items() if "none" in mode.lower() or "eager" in mode.lower())
        if sum(passes.values()) > 100 and eager * 2 > sum(passes.values()):
            yield _slow(
                "no-cuda-graph",
                f"{eager:.0f} of {sum(passes.values()):.0f} forward passes ran without a CUDA graph.",
                "Remove --disable-cuda-graph; for batches larger than the largest graph, --cuda-graph-max-bs-decode.",
            )
    prompt, cached = metrics.total("prompt_tokens_total"), metrics.total("cached_tokens_total")
    if prompt and prompt > MANY_PROMPT_TOKENS and (cached or 0.0) < LOW_HIT_RATE * prompt:
        yield _low_hit_rate((cached or 0.0) / prompt)
    accept = metrics.largest("spec_accept_length")
    if accept and accept < SHORT_ACCEPT:
        yield _short_accept(accept)
    queued = metrics.mean("queue_time_seconds")
    if queued is not None and queued > 1.0 and not waiting:
        yield _slow(
            "queue-time",
            f"Requests waited {queued:.1f} s in the queue on average since the start.",
            "Send fewer at once, or give it more room (--max-running-requests, --mem-fraction-static, more GPUs).",
        )


def _waiting(queue: float, running: float, usage: float, state_usage: float, *, seen: str) -> Named:
    if usage >= NEARLY_FULL:
        why = f"the KV cache is full ({usage:.0%} used)"
        fix = "Shorter requests, --kv-cache-dtype fp8_e4m3, a larger --mem-fraction-static, or more GPUs."
    elif state_usage >= NEARLY_FULL:
        why = f"the recurrent state cache is full ({state_usage:.0%} used)"
        fix = "--max-mamba-cache-size, --mamba-ssm-dtype bfloat16 (prove it), or a larger --mem-fraction-static."
    else:
        why = f"{running:.0f} run already, as many as --max-running-requests or the pools allow"
        fix = f"Raise --max-running-requests if the cache has room ({usage:.0%} is used), or send fewer at once."
    return _slow("requests-wait", f"{queue:.0f} requests wait ({seen}), because {why}.", fix)


def _low_hit_rate(rate: float) -> Named:
    return _slow(
        "low-cache-hit-rate",
        f"Only {rate:.0%} of the prompt tokens came from the prefix cache: nearly every prompt is computed whole.",
        "Put what is the same (system prompt, tools, documents) at the beginning of each prompt; "
        "do not set --disable-radix-cache.",
    )


def _short_accept(length: float) -> Named:
    return _slow(
        "speculation-does-not-pay",
        f"Speculative decoding accepts only {length:.2f} tokens a step: it costs more than it gives.",
        "Try without it, or with fewer draft tokens.",
    )


def _slow(name: str, cause: str, fix: str) -> Named:
    return Named(name, Level.SLOW, Role.CAUSE, "run time", cause, fix, 0)


def _numbers(pattern: re.Pattern[str], lines: Iterable[str]) -> list[float]:
    found = []
    for line in lines:
        if match := pattern.search(line):
            try:
                found.append(float(match[1]))
            except ValueError:
                continue
    return found
