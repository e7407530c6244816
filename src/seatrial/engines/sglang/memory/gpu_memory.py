"""What of a GPU's memory the engine finds free before it loads weights. Data: `data/gpu_kinds.json`.

The engine sizes its pools from two measurements: free memory before the weights (after the CUDA context and the
communication buffers), and after them. Before a boot both must be estimated; each figure says how far it may be off.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from seatrial.engines.sglang.memory.parallel import Parallel
from seatrial.facts.host import GpuFacts, HostFacts

MIB_OF_GIB = 1024


@dataclass(frozen=True, slots=True)
class Kind:
    """What is known of one kind of GPU; MiB."""

    reserved_mib: int
    context_mib: int
    context_spread_mib: int
    source: str
    shared_with_host: bool = False


@dataclass(frozen=True, slots=True)
class Free:
    """Free memory of one GPU before the weights, and what takes the rest. GiB, unless the name says otherwise.

    Attributes:
        gpu: which one.
        total_gib: all of it.
        driver_gib: the driver's own.
        others_gib: what other processes hold; 0 where nobody could look.
        context_gib: this process's context and communication buffers.
        before_weights_gib: what is left.
        spread_gib: how far `before_weights_gib` may be off, either way.
        kernels_gib: what grows beside the tensors until the pools are sized.
        source: what it comes from.
        assumed_idle: nobody could look what else is on it.
    """

    gpu: GpuFacts
    total_gib: float
    driver_gib: float
    others_gib: float
    context_gib: float
    before_weights_gib: float
    spread_gib: float
    kernels_gib: float
    source: str
    assumed_idle: bool


def free_memory(host: HostFacts, parallel: Parallel) -> tuple[Free, ...] | None:
    """Say what each GPU of the launch has free before the weights; None where the GPUs are not known.

    The first GPUs of the host are taken, as the engine does.
    """
    if not host.gpus or len(host.gpus) < parallel.gpus:
        return None
    return tuple(_free(gpu, host, parallel) for gpu in host.gpus[: parallel.gpus])


def gpu_kind(name: str) -> Kind:
    """Look up what is known of GPUs of this name."""
    for item in _data()["kinds"]:
        if re.search(item["match"], name, re.IGNORECASE):
            return Kind(
                item["reserved_mib"],
                item["context_mib"],
                item["context_spread_mib"],
                item["source"],
                item.get("shared_with_host", False),
            )
    raise AssertionError("the last kind matches every name")


def _free(gpu: GpuFacts, host: HostFacts, parallel: Parallel) -> Free:
    kind = gpu_kind(gpu.name)
    usable = max(0, gpu.memory_mib - kind.reserved_mib)
    held = sum(process.memory_mib or 0 for process in gpu.processes)
    idle = gpu.free_mib is None and not gpu.processes
    now = gpu.free_mib if gpu.free_mib is not None else usable - held
    communication, spread = _communication(host, parallel)
    context = kind.context_mib + communication
    data = _data()["kernels"]
    kernels = data["single_mib"] if parallel.world == 1 else data["several_mib"]
    return Free(
        gpu=gpu,
        total_gib=gpu.memory_mib / MIB_OF_GIB,
        driver_gib=kind.reserved_mib / MIB_OF_GIB,
        others_gib=max(0, usable - now) / MIB_OF_GIB,
        context_gib=context / MIB_OF_GIB,
        before_weights_gib=max(0, now - context) / MIB_OF_GIB,
        spread_gib=(kind.context_spread_mib + spread + (0 if gpu.free_mib is not None else 64)) / MIB_OF_GIB,
        kernels_gib=kernels / MIB_OF_GIB,
        source=kind.source,
        assumed_idle=idle,
    )


def _communication(host: HostFacts, parallel: Parallel) -> tuple[int, int]:
    """Estimate the communication buffers of one process, and how far that may be off (MiB)."""
    data: dict[str, Any] = _data()["communication"]
    if parallel.world == 1:
        return data["single_mib"], 10
    if parallel.world == 2:
        if host.nvlink:
            return data["nvlink_pair_mib"], data["nvlink_pair_spread_mib"]
        return data["pcie_pair_mib"], 60
    row = next((row for row in data["more"] if parallel.world <= row["gpus"]), data["more"][-1])
    return row["mib"], row["spread_mib"]


@cache
def _data() -> dict[str, Any]:
    text = resources.files(__package__).joinpath("data", "gpu_kinds.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded
