"""What the management library answers on machines of several kinds, and what `nvidia-smi topo` prints there.

`one_h200` was recorded (`nvml_tape.py`). The others are written from the tables that owners of such machines published:
names, sizes, links and peer access are theirs, the rest is what the library's documentation says such a card answers.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any

import pynvml  # type: ignore[import-untyped]

from facts.nvml_tape import Tape

MIB = 1 << 20
FOLDER = Path(__file__).parent / "machines"
NODE, SINGLE_SWITCH, SYSTEM = 40, 10, 50
GPU_NOT_SUPPORTED = 2
"""NVML_P2P_STATUS_GPU_NOT_SUPPORTED: what the driver says of GeForce cards."""


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine: its tape, and the two tables of `nvidia-smi topo`."""

    tape: Tape
    topology: str
    peers: str


def machine(
    name: str,
    count: int,
    *,
    memory_mib: int,
    capability: tuple[int, int],
    level: int,
    links: int,
    switched: bool,
    peer: int,
) -> Tape:
    """Write the tape of a machine with equal cards.

    Args:
        name: of each card.
        count: how many.
        memory_mib: of each.
        capability: compute capability.
        level: `nvmlGpuTopologyLevel_t` between any two.
        links: active NVLinks of each card.
        switched: they lead to switches, and not to the other card.
        peer: `nvmlGpuP2PStatus_t` between any two.
    """
    answers: list[list[Any]] = [
        ["nvmlDeviceGetCount", [], count],
        ["nvmlSystemGetCudaDriverVersion", [], 13000],
        ["nvmlSystemGetDriverVersion", [], "580.95.05"],
    ]
    for card in range(count):
        answers += [
            ["nvmlDeviceGetHandleByIndex", [card], card],
            ["nvmlDeviceGetName", [card], name],
            ["nvmlDeviceGetMemoryInfo", [card], {"total": memory_mib * MIB, "free": (memory_mib - 500) * MIB}],
            ["nvmlDeviceGetPciInfo", [card], {"busId": bus(card)}],
            ["nvmlDeviceGetCudaComputeCapability", [card], list(capability)],
            ["nvmlDeviceGetPersistenceMode", [card], 0],
            ["nvmlDeviceGetCurrPcieLinkGeneration", [card], 1],
            ["nvmlDeviceGetMaxPcieLinkGeneration", [card], 4],
            ["nvmlDeviceGetCurrPcieLinkWidth", [card], 8],
            ["nvmlDeviceGetMaxPcieLinkWidth", [card], 16],
            ["nvmlDeviceGetTemperature", [card, pynvml.NVML_TEMPERATURE_GPU], 41],
            ["nvmlDeviceGetComputeRunningProcesses", [card], []],
        ]
        for link in range(links):
            kind = pynvml.NVML_NVLINK_DEVICE_TYPE_SWITCH if switched else pynvml.NVML_NVLINK_DEVICE_TYPE_GPU
            remote = "00000000:AA:00.0" if switched else bus(1 - card)
            answers += [
                ["nvmlDeviceGetNvLinkState", [card, link], 1],
                ["nvmlDeviceGetNvLinkRemotePciInfo", [card, link], {"busId": remote}],
                ["nvmlDeviceGetNvLinkRemoteDeviceType", [card, link], kind],
            ]
    for one, other in permutations(range(count), 2):
        answers.append(["nvmlDeviceGetTopologyCommonAncestor", [one, other], level])
        rights = (pynvml.NVML_P2P_CAPS_INDEX_READ, pynvml.NVML_P2P_CAPS_INDEX_WRITE)
        answers += [["nvmlDeviceGetP2PStatus", [one, other, right], peer] for right in rights]
    return {"answers": answers}


def bus(card: int) -> str:
    return f"00000000:{card + 1:02X}:00.0"


def table(count: int, word: str, *, cards: tuple[str, ...] = (), affinity: str = "0-63\t0\t\tN/A") -> str:
    """Write a table as `nvidia-smi topo -m` does, network cards between the GPUs and the affinities."""
    names = [f"GPU{card}" for card in range(count)]
    lines = ["\t" + "\t".join([*names, *cards, "CPU Affinity\tNUMA Affinity\tGPU NUMA ID"])]
    for name in names:
        cells = [" X " if name == other else word for other in names] + ["PXB"] * len(cards)
        lines.append("\t".join([name, *cells, affinity]))
    for card in cards:
        others = [" X " if card == other else "SYS" for other in cards]
        lines += ["\t".join([card, *["PXB"] * count, *others])]
    return "\n".join(
        [*lines, "", "Legend:", "", "  X    = Self", "  NV#  = Connection traversing a bonded set of # NVLinks", ""]
    )


def peers(count: int, word: str) -> str:
    """Write a table as `nvidia-smi topo -p2p r` does: a blank before each name, a tab at each end."""
    names = [f"GPU{card}" for card in range(count)]
    lines = [" \t" + "\t".join(names) + "\t"]
    lines += [f" {name}\t" + "\t".join("X" if name == other else word for other in names) + "\t" for name in names]
    return "\n".join([*lines, "", "Legend:", "", "  OK   = Status Ok", "  GNS  = GPU not supported", ""])


def two_4090() -> Machine:
    """Two RTX 4090 on separate host bridges; the driver forbids peer access."""
    tape = machine(
        "NVIDIA GeForce RTX 4090",
        2,
        memory_mib=24_564,
        capability=(8, 9),
        level=NODE,
        links=0,
        switched=False,
        peer=GPU_NOT_SUPPORTED,
    )
    return Machine(tape, table(2, "NODE"), peers(2, "GNS"))


def two_3090() -> Machine:
    """Two RTX 3090 with a bridge: four NVLinks, and peer access through them."""
    tape = machine(
        "NVIDIA GeForce RTX 3090",
        2,
        memory_mib=24_576,
        capability=(8, 6),
        level=SYSTEM,
        links=4,
        switched=False,
        peer=0,
    )
    return Machine(tape, table(2, "NV4"), peers(2, "OK"))


def eight_h100() -> Machine:
    """Eight H100 whose eighteen links each lead to switches, with network cards in the table."""
    tape = machine(
        "NVIDIA H100 80GB HBM3", 8, memory_mib=81_559, capability=(9, 0), level=SYSTEM, links=18, switched=True, peer=0
    )
    return Machine(tape, table(8, "NV18", cards=("NIC0", "NIC1"), affinity="0-47,96-143\t0\t\tN/A"), peers(8, "OK"))


def one_h200() -> Machine:
    """One H200, recorded."""
    tape = json.loads((FOLDER / "one-h200.json").read_text(encoding="utf-8"))
    return Machine(tape, tape["topo -m"], tape["topo -p2p r"])


def none() -> Machine:
    """A driver without a card."""
    return Machine({"answers": [["nvmlDeviceGetCount", [], 0]]}, "", "")
