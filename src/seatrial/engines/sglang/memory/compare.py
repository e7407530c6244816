"""Holds a plan against what the server said when it started, figure by figure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from seatrial.engines.sglang.boot_log import BootRecord
from seatrial.engines.sglang.memory.plan import Measured
from seatrial.engines.sglang.memory.result import MemoryPlan
from seatrial.findings import Finding, Level

TOLERANCE = 0.03
"""A figure further off than this is a finding: three times what the plan promises for a measured kind of GPU."""
GIB = 1 << 30
SETTINGS = ("mem_fraction_static", "context_length", "chunked_prefill_size")
"""Figures that a launch sets: where they differ, all others may."""
ROUNDING_GIB = 0.006
"""The log has two decimals: what is under this is no difference."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One figure, as it was planned and as it came.

    Attributes:
        figure: its name in the plan.
        planned: what the plan said.
        actual: what the server said.
        share: how far the plan was off, as a share of the actual figure; None where the actual is zero.
        within: the actual lies in the spread that the plan gave; None where it gave none.
        finding: there is one where it is off by more than 3%.
    """

    figure: str
    planned: float
    actual: float
    share: float | None
    within: bool | None = None
    finding: Finding | None = None


def compare(plan: MemoryPlan, record: BootRecord) -> tuple[Difference, ...]:
    """Compare every figure that both the plan and the server know.

    Args:
        plan: made before the boot.
        record: read from the server's log or `/server_info`.
    """
    pairs = list(_pairs(plan, record))
    other = [name for name, planned, actual in pairs if name in SETTINGS and abs(planned - actual) > 1e-3 * abs(actual)]
    return tuple(_difference(plan, name, planned, actual, other) for name, planned, actual in pairs)


def measured(record: BootRecord) -> Measured:
    """Take from a boot the figures that a plan can start from."""
    return Measured(
        begin_gib=record.begin_gib,
        end_gib=record.end_gib,
        weights_gib=record.weights_gib,
    )


def _pairs(plan: MemoryPlan, record: BootRecord) -> Iterator[tuple[str, float, float]]:
    gpu = min(plan.gpus, key=lambda gpu: gpu.after_weights_gib or 0) if plan.gpus else None
    fraction = record.settings.get("mem_fraction_static")
    known: list[tuple[str, float | None, float | None]] = [
        ("mem_fraction_static", plan.mem_fraction_static, fraction if isinstance(fraction, float) else None),
        ("weights_gib", plan.weights_gib, record.weights_gib),
        ("after_weights_gib", gpu.after_weights_gib if gpu else None, record.end_gib),
        ("mamba_slots", plan.mamba_slots, record.mamba_slots),
        ("kv_cache_tokens", plan.kv_cache_tokens, record.kv_cache_tokens),
        ("swa_cache_tokens", plan.swa_cache_tokens, record.swa_cache_tokens),
        ("max_running_requests", plan.max_running_requests, record.max_running_requests),
        ("context_length", plan.context_length, record.context_length),
        ("chunked_prefill_size", plan.chunked_prefill_size, record.chunked_prefill_size),
    ]
    if gpu is not None:
        known += [
            ("conv_state_gib", _gib(gpu.conv_state_bytes), record.conv_state_gib),
            ("ssm_state_gib", _gib(gpu.ssm_state_bytes), record.ssm_state_gib),
            ("kv_cache_gib", _gib(gpu.kv_cache_bytes), record.kv_cache_gib),
            ("pools_end_gib", gpu.pools_end_gib, record.pools_end_gib),
        ]
    for name, planned, actual in known:
        if planned is not None and actual is not None:
            yield name, float(planned), float(actual)


def _gib(size: int | None) -> float | None:
    return None if size is None else size / GIB


def _difference(plan: MemoryPlan, name: str, planned: float, actual: float, other: Sequence[str]) -> Difference:
    share = None if actual == 0 else (planned - actual) / abs(actual)
    spread = plan.spread.get(name)
    within = None if spread is None else spread.low <= actual <= spread.high
    gap = abs(planned - actual)
    small = gap < ROUNDING_GIB if name.endswith("_gib") else gap <= 1
    finding = None
    if not small and (share is None or abs(share) > TOLERANCE):
        off = "" if share is None else f", {share:+.1%}"
        advice = (
            f"The server ran with other settings than the plan's ({', '.join(other)}): plan what was started."
            if other
            else "Report the log: the arithmetic, the facts about the GPU, or the launch differ from what was planned."
        )
        finding = Finding(
            Level.WARNING,
            "memory-plan-off",
            f"{name}: {_written(planned)} was planned, the server has {_written(actual)}{off}.",
            advice,
        )
    return Difference(name, planned, actual, share, within, finding)


def _written(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.3f}"
