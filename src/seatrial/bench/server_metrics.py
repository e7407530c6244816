"""What a server says about itself in `/metrics` (Prometheus text), set beside what the client saw. Pure.

Names as in SGLang 0.5.16 (srt/metrics/collector.py), vLLM (v1/metrics) and llama.cpp's server. Counters and histograms
only grow: a level's figures are the difference between two readings.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from seatrial.bench.result import ServerFigures

if TYPE_CHECKING:
    from seatrial.bench.result import LevelResult

Reading = Mapping[str, float]
"""Values by name, summed over all labels."""

COUNTERS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "sglang": {
        "output_tokens": ("sglang:generation_tokens_total",),
        "input_tokens": ("sglang:prompt_tokens_total",),
        "cached_tokens": ("sglang:cached_tokens_total",),
        "requests": ("sglang:num_requests_total",),
    },
    "vllm": {
        "output_tokens": ("vllm:generation_tokens_total",),
        "input_tokens": ("vllm:prompt_tokens_total",),
        "cached_tokens": ("vllm:prefix_cache_hits_total",),
        "requests": ("vllm:request_success_total",),
    },
    "llamacpp": {
        "output_tokens": ("llamacpp:tokens_predicted_total",),
        "input_tokens": ("llamacpp:prompt_tokens_total",),
    },
}
MEANS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "sglang": {
        "time_to_first_token": ("sglang:time_to_first_token_seconds",),
        "inter_token_latency": ("sglang:inter_token_latency_seconds", "sglang:time_per_output_token_seconds"),
        "end_to_end_latency": ("sglang:e2e_request_latency_seconds",),
    },
    "vllm": {
        "time_to_first_token": ("vllm:time_to_first_token_seconds",),
        "inter_token_latency": ("vllm:inter_token_latency_seconds", "vllm:time_per_output_token_seconds"),
        "end_to_end_latency": ("vllm:e2e_request_latency_seconds",),
    },
    "llamacpp": {},
}
TOKENS_DIFFER = 0.05
"""A larger share between the server's and the client's count of tokens is told."""
TIMES_DIFFER = 0.2
LEAST_DIFFERENCE_SECONDS = 0.02

_LINE = re.compile(r"^([A-Za-z_:][\w:]*)(?:\{[^}]*\})?\s+(\S+)")


def read_prometheus(text: str) -> dict[str, float]:
    """Read Prometheus' text format: the values of one name summed over its labels; NaN and infinities are left out."""
    found: dict[str, float] = {}
    for line in text.splitlines():
        match = _LINE.match(line)
        if match is None or match[1].endswith("_bucket"):
            continue
        try:
            value = float(match[2])
        except ValueError:
            continue
        if value == value and abs(value) != float("inf"):  # noqa: PLR0124 - NaN is unlike itself
            found[match[1]] = found.get(match[1], 0.0) + value
    return found


def difference(before: Reading, after: Reading) -> ServerFigures | None:
    """Return what happened between two readings; None where no known server wrote them, or it was restarted."""
    for source, counters in COUNTERS.items():
        if not any(name.startswith(f"{source}:") for name in after):
            continue
        figures: dict[str, float] = {}
        for figure, names in counters.items():
            if (grown := _grown(before, after, names)) is not None:
                figures[figure] = grown
        for figure, names in MEANS[source].items():
            for name in names:
                total, count = (_grown(before, after, (f"{name}_{part}",)) for part in ("sum", "count"))
                if total is not None and count:
                    figures[figure] = total / count
                    break
        if any(value < 0 for value in figures.values()):
            return None
        if figures.get("input_tokens") and "cached_tokens" in figures:
            figures["cache_hit_rate"] = figures["cached_tokens"] / figures["input_tokens"]
        return ServerFigures(source, figures) if figures else None
    return None


def _grown(before: Reading, after: Reading, names: tuple[str, ...]) -> float | None:
    """Return by how much a counter grew; one that appears at its first event began at 0."""
    for name in names:
        if name in after:
            return after[name] - before.get(name, 0.0)
    return None


def disagreements(level: LevelResult) -> list[str]:
    """Say where the server's own figures and the client's differ, and what that means."""
    server = level.server
    if server is None or not level.completed:
        return []
    notes = []
    theirs, ours = server.figures.get("output_tokens"), level.output_tokens
    if theirs is not None and ours and abs(theirs - ours) > TOKENS_DIFFER * ours and not level.failed:
        reason = "somebody else uses it too" if theirs > ours else "its metrics lag behind, or leave some out"
        notes.append(f"the server counted {theirs:.0f} output tokens, the client {ours}: {reason}")
    first = level.distributions.get("time_to_first_token")
    inside = server.figures.get("time_to_first_token")
    if first and inside is not None:
        outside = first.mean - inside
        if abs(outside) > max(TIMES_DIFFER * inside, LEAST_DIFFERENCE_SECONDS):
            where = (
                "the rest is network, proxies and the client"
                if outside > 0
                else "its figure holds other requests too, or counts from elsewhere"
            )
            notes.append(
                f"mean time to first token: {inside * 1000:.0f} ms by the server's metrics, {first.mean * 1000:.0f} ms "
                f"seen here; {where}"
            )
    return notes
