"""How GPUs are joined, as `nvidia-smi topo -m` and `nvidia-smi topo -p2p r` print it: for what NVML does not tell."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import combinations

from seatrial.facts.host import GpuLink
from seatrial.facts.probe.commands import ask
from seatrial.facts.probe.gpus import FoundGpus

ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
GPU = re.compile(r"GPU(\d+)\Z")
JOINED = re.compile(r"(?:NV\d+|PIX|PXB|PHB|NODE|SYS)\Z")
PEER = {"OK": True, "CNS": False, "GNS": False, "TNS": False, "NS": False, "DR": False}
"""Words of `topo -p2p`; `U` is unknown. Older drivers also print `PHB` and the like, which say nothing about access."""

Cells = Mapping[tuple[int, int], str]


def completed(found: FoundGpus) -> FoundGpus:
    """Ask `nvidia-smi` for what NVML left open about the links."""
    if len(found.gpus or ()) < 2:
        return found
    by_pair = {(link.a, link.b): link for link in found.links}
    pairs = combinations([gpu.index for gpu in found.gpus or ()], 2)
    links = [by_pair.get(pair, GpuLink(*pair)) for pair in pairs]
    if any(link.topology is None for link in links):
        links = with_topology(links, ask(["nvidia-smi", "topo", "-m"]).output or "")
    if any(link.peer_access is None for link in links):
        links = with_peer_access(links, ask(["nvidia-smi", "topo", "-p2p", "r"]).output or "")
    return replace(found, links=tuple(links))


def parse_topology(text: str) -> tuple[GpuLink, ...]:
    """Read the links between GPUs from `nvidia-smi topo -m`; network cards and affinities are passed over."""
    cells = _matrix(text)
    pairs = sorted(pair for pair in cells if pair[0] < pair[1])
    return tuple(with_topology([GpuLink(*pair) for pair in pairs], text))


def with_topology(links: list[GpuLink], text: str) -> list[GpuLink]:
    """Fill in what `topo -m` says."""

    def fill(link: GpuLink, word: str) -> GpuLink:
        if link.topology is not None or not JOINED.match(word):
            return link
        return replace(link, topology=word, nvlinks=int(word[2:]) if word.startswith("NV") else 0)

    return _filled(links, text, fill)


def with_peer_access(links: list[GpuLink], text: str) -> list[GpuLink]:
    """Fill in what `topo -p2p r` says."""

    def fill(link: GpuLink, word: str) -> GpuLink:
        return link if link.peer_access is not None else replace(link, peer_access=PEER.get(word))

    return _filled(links, text, fill)


def _filled(links: list[GpuLink], text: str, fill: Callable[[GpuLink, str], GpuLink]) -> list[GpuLink]:
    cells = _matrix(text)
    return [fill(link, cells.get((link.a, link.b), "")) for link in links]


def _matrix(text: str) -> Cells:
    """Read the cells between GPUs. A column is found by its place: affinities may hold anything, the matrix words."""
    columns: list[int | None] = []
    cells: dict[tuple[int, int], str] = {}
    for line in ESCAPES.sub("", text).splitlines():
        words = line.split()
        if not words:
            if cells:
                break
            continue
        row = GPU.match(words[0])
        if row and not columns:
            columns = [int(found[1]) if (found := GPU.match(word)) else None for word in words]
        elif row:
            for column, word in zip(columns, words[1:], strict=False):
                if column is not None:
                    cells[int(row[1]), column] = word
    return cells
