"""One GPU's memory as a row of named parts that add up to all of it: what the pictures in terminal and report show."""

from __future__ import annotations

from dataclasses import dataclass

from seatrial.engines.sglang.memory.result import GpuMemory

GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Segment:
    """One part of a GPU's memory.

    Attributes:
        name: what it is, for people.
        key: the same, for programs and style sheets.
        gib: its size.
    """

    name: str
    key: str
    gib: float


def segments(gpu: GpuMemory) -> tuple[Segment, ...]:
    """Part one GPU's memory; empty where its size is not known. Parts of no size are left out.

    Where the parts together are more than there is, the last one is called missing and has the size of what is missing.
    """
    if gpu.total_gib is None or gpu.before_weights_gib is None:
        return ()
    states = ((gpu.conv_state_bytes or 0) + (gpu.ssm_state_bytes or 0) + (gpu.intermediate_state_bytes or 0)) / GIB
    keys = ((gpu.kv_cache_bytes or 0) + (gpu.draft_kv_cache_bytes or 0)) / GIB
    parts = [
        Segment("driver", "driver", gpu.driver_gib or 0),
        Segment("other processes", "others", gpu.others_gib or 0),
        Segment("CUDA context", "context", gpu.context_gib or 0),
        Segment("weights", "weights", gpu.weights_gib or 0),
        Segment("state slots", "states", states),
        Segment("KV cache", "kv", keys),
        Segment("request table", "table", (gpu.request_table_bytes or 0) / GIB),
        Segment("CUDA graphs (estimate)", "graphs", gpu.graphs_gib or 0),
        Segment("activations (estimate)", "activations", gpu.activations_gib or 0),
    ]
    left = gpu.total_gib - sum(part.gib for part in parts)
    parts.append(Segment("free", "free", left) if left >= 0 else Segment("missing", "missing", -left))
    return tuple(part for part in parts if part.gib > 0)
