"""Machines by description: `2x RTX 4090`, `4x3090`, `1x H100`. From data, and marked as a description."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import combinations

from seatrial.errors import InputError
from seatrial.facts.host import GpuFacts, GpuLink, HostFacts
from seatrial.yaml_text import read_yaml

SPEC = re.compile(r"\s*(?:(\d{1,2})\s*[x×*]\s*)?(.+?)\s*\Z", re.IGNORECASE)
MOST_GPUS = 64


@dataclass(frozen=True, slots=True)
class GpuKind:
    """One kind of GPU, as the data has it.

    Attributes:
        name: the driver's name.
        names: other ways to say it.
        memory_mib: `memory.total`.
        capability: compute capability.
        nvlinks: links of each card to the others of its host; 0 for none.
        peer: the driver lets one card read another's memory.
    """

    name: str
    names: tuple[str, ...]
    memory_mib: int
    capability: tuple[int, int]
    nvlinks: int
    peer: bool


@cache
def gpu_kinds() -> tuple[GpuKind, ...]:
    """Load all kinds."""
    text = (resources.files("seatrial.facts") / "gpus.yaml").read_text(encoding="utf-8")
    return tuple(
        GpuKind(
            row["name"],
            tuple(map(str, row["names"])),
            row["memory_mib"],
            (row["capability"][0], row["capability"][1]),
            row["nvlinks"],
            row["peer"],
        )
        for row in read_yaml(text, where="gpus.yaml").value
    )


def find_gpu(name: str) -> GpuKind | None:
    """Find a kind by the driver's name, or by how people call it."""
    return _spellings().get(_plain(name))


def host_from_spec(spec: str) -> HostFacts:
    """Make a host of a description: a count and a GPU, or several of them joined by `+`.

    Raises:
        InputError: the GPU is not known, or the count is none.
    """
    kinds: list[GpuKind] = []
    for part in spec.split("+"):
        found = SPEC.match(part)
        count = int(found[1] or 1) if found else 0
        kind = find_gpu(found[2]) if found else None
        if kind is None or not 1 <= count <= MOST_GPUS:
            raise InputError(
                "this names no GPUs that are known" if kind is None else f"a host has 1 to {MOST_GPUS} GPUs",
                where=f"--gpus {spec!r}",
                advice=_advice(found[2] if found else spec),
            )
        kinds += [kind] * count
    gpus = tuple(
        GpuFacts(index, kind.name, kind.memory_mib, compute_capability=kind.capability)
        for index, kind in enumerate(kinds)
    )
    links = tuple(
        GpuLink(
            a,
            b,
            topology=f"NV{kinds[a].nvlinks}" if kinds[a].nvlinks and kinds[b] == kinds[a] else "NODE",
            nvlinks=kinds[a].nvlinks if kinds[b] == kinds[a] else 0,
            peer_access=kinds[a].peer and kinds[b].peer and kinds[a] == kinds[b],
        )
        for a, b in combinations(range(len(kinds)), 2)
    )
    return HostFacts(gpus=gpus, links=links, source=f"described as {spec.strip()!r}")


@cache
def _spellings() -> Mapping[str, GpuKind]:
    spellings: dict[str, GpuKind] = {}
    for kind in gpu_kinds():
        for name in (kind.name, kind.name.removeprefix("NVIDIA "), *kind.names):
            spellings.setdefault(_plain(name), kind)
    return spellings


def _plain(name: str) -> str:
    text = re.sub(r"[^a-z0-9]", "", name.lower())
    return re.sub(r"^(nvidia)?(geforce|tesla)?", "", text)


def _advice(name: str) -> str:
    close = difflib.get_close_matches(_plain(name), list(_spellings()), n=1, cutoff=0.5)
    if close:
        return f"Did you mean {_spellings()[close[0]].name}? Otherwise: `seatrial facts > facts.yaml` on that machine."
    return (
        "E.g. '2x RTX 4090'; for others run `seatrial facts > facts.yaml` on that machine, and give --facts facts.yaml."
    )
