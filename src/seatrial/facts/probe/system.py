"""Memory, shared memory, disk, processors, and the system's CUDA compiler."""

from __future__ import annotations

import ctypes
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
    clock_synchronized: bool | None = None
    notes: tuple[str, ...] = ()


def system_facts(store: Path) -> FoundSystem:
    """Ask the system. `store` need not exist: the folder above it that does is asked."""
    shm = Path("/dev/shm")  # noqa: S108 - its size
    return FoundSystem(_memory_mib(), _size_mib(shm), free_mib(store), _cpus(), _nvcc(), _clock())


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


def free_mib(path: Path) -> int | None:
    """Measure the free space where a folder lies, or would lie."""
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


class _Timex(ctypes.Structure):
    """`struct timex` of adjtimex(2), whose size is all that is needed here."""

    _fields_ = (("modes", ctypes.c_uint), ("rest", ctypes.c_ubyte * 252))


TIME_ERROR = 5
"""adjtimex(2): the clock is not synchronised."""


def _clock() -> bool | None:
    """Ask the kernel whether a time server keeps the clock right; changes nothing (`modes` is 0)."""
    try:
        state = int(ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.byref(_Timex())))
    except (OSError, AttributeError):
        return None
    return None if state < 0 else state != TIME_ERROR


def _nvcc() -> str | None:
    if shutil.which("nvcc") is None:
        return None
    found = re.search(r"release (\d+\.\d+)", ask(["nvcc", "--version"]).output or "")
    return found[1] if found else None
