"""Real boots, the shapes that were booted, and hosts to plan for."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from seatrial.engines.sglang.boot_log import BootRecord, read_boot_log
from seatrial.engines.sglang.memory.options import MemoryOptions
from seatrial.engines.sglang.memory.plan import Measured, plan_memory
from seatrial.engines.sglang.memory.result import MemoryPlan
from seatrial.facts.host import GpuFacts, GpuLink, HostFacts
from seatrial.facts.model import ModelFacts, TensorFacts
from seatrial.facts.model_config import read_model

DATA = Path(__file__).with_name("data")
GIB = 1 << 30
DTYPE_BYTES = {"BF16": 2, "F16": 2, "F32": 4, "I32": 4, "F8_E4M3": 1}


@cache
def load(name: str) -> Any:
    return json.loads((DATA / name).read_text(encoding="utf-8"))


@cache
def shape(name: str, *, with_headers: bool = False) -> ModelFacts:
    return read_model(load("shapes.json")[name], source=name, tensors=headers(name) if with_headers else {})


def headers(name: str) -> dict[str, TensorFacts]:
    found = {}
    for pattern, dtype, sizes, *layers in load("headers.json")[name]:
        for number in layers[0] if layers else [0]:
            size = DTYPE_BYTES[dtype]
            for side in sizes:
                size *= side
            found[pattern.replace("{}", str(number))] = TensorFacts(dtype, tuple(sizes), size)
    return found


BOOTS: list[dict[str, Any]] = load("boots.json")


def boot(name: str) -> dict[str, Any]:
    return next(item for item in BOOTS if item["name"] == name)


def record(item: dict[str, Any]) -> BootRecord:
    return read_boot_log("\n".join(item["log"]))


def h200(free_mib: int | None = 143153, memory_mib: int = 143771, count: int = 1) -> HostFacts:
    gpus = tuple(GpuFacts(number, "NVIDIA H200", memory_mib, free_mib, (9, 0)) for number in range(count))
    pairs = [(a, b) for a in range(count) for b in range(a + 1, count)]
    return HostFacts(gpus=gpus, links=tuple(GpuLink(a, b, "NV18", 18, peer_access=True) for a, b in pairs))


def rtx4090(count: int = 2, free_mib: int | None = None) -> HostFacts:
    name = "NVIDIA GeForce RTX 4090"
    gpus = tuple(GpuFacts(number, name, 24564, free_mib, (8, 9)) for number in range(count))
    pairs = [(a, b) for a in range(count) for b in range(a + 1, count)]
    return HostFacts(gpus=gpus, links=tuple(GpuLink(a, b, "PHB", 0, peer_access=False) for a, b in pairs))


def planned(item: dict[str, Any], measured: Measured | None = None) -> MemoryPlan:
    host = h200(item["gpu"]["free_mib"], item["gpu"]["memory_mib"])
    return plan_memory(shape(item["shape"]), host, MemoryOptions.from_settings(item["settings"]), measured=measured)
