"""Memory, shared memory, disk, processors, and the system's CUDA compiler."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from seatrial.facts.probe.commands import ask

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class FoundSystem:
    """What the system says; None for what it does not say."""

    memory_mib: int | None
    shm_mib: int | None
    disk_free_mib: int | None
    cpus: int | None
    nvcc_version: str | None
    notes: tuple[str, ...] = ()


def system_facts(store: Path) -> FoundSystem:
    """Ask the system. `store` need not exist: the folder above it that does is asked."""
    return FoundSystem(_memory_mib(), _size_mib(Path("/dev/shm")), _free_mib(store), _cpus(), _nvcc())  # noqa: S108 - its size


def _memory_mib() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // MIB
    except (OSError, ValueError):
        return None


def _size_mib(path: Path) -> int | None:
    try:
        return shutil.disk_usage(path).total // MIB
    except OSError:
        return None


def _free_mib(path: Path) -> int | None:
    path = path.absolute()
    for folder in (path, *path.parents):
        try:
            return shutil.disk_usage(folder).free // MIB
        except OSError:
            continue
    return None


def _cpus() -> int | None:
    try:
        return len(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        return os.cpu_count()


def _nvcc() -> str | None:
    if shutil.which("nvcc") is None:
        return None
    found = re.search(r"release (\d+\.\d+)", ask(["nvcc", "--version"]).output or "")
    return found[1] if found else None
