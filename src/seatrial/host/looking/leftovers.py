"""Finds what a server that died left: engine processes without a parent that looks after them, shared memory."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

from seatrial.facts.host import GpuProcess
from seatrial.facts.probe.processes import container, owner, process_name
from seatrial.host.situation import SharedMemory

ENGINE = re.compile(r"sglang(::|\.launch_server|\.srt)|sglang_router")
"""Command lines of SGLang's server, and the titles that its workers give themselves (`sglang::scheduler`)."""
SHARED = re.compile(r"(psm_|sem\.mp-|nccl-|torch_|sglang|shm_broadcast|vllm)")
"""Names in /dev/shm: Python's shared memory and semaphores, NCCL's, PyTorch's, the engine's own."""
INITS = ("systemd", "init", "tini", "dumb-init")
"""Who takes over processes whose parent is gone; a session has a systemd of its own."""
YOUNG_SECONDS = 60.0
"""Something younger may belong to a start that is under way."""


def engine_processes() -> tuple[GpuProcess, ...]:
    """List engine processes of this machine, outside of containers, whose parent is gone (init has them now)."""
    return tuple(_orphans())


def _orphans() -> Iterator[GpuProcess]:
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        with contextlib.suppress(OSError, ValueError, IndexError):
            words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            if not ENGINE.search(words):
                continue
            parent = int((folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[1])
            pid = int(folder.name)
            if (parent == 1 or process_name(parent) in INITS) and container(pid) is None:
                yield GpuProcess(pid, process_name(pid), None, owner(pid), None)


def unused_shared_memory(folder: Path = Path("/dev/shm")) -> tuple[SharedMemory, ...]:  # noqa: S108 - looked at
    """List shared memory of engines that no process has open or mapped."""
    found = []
    with contextlib.suppress(OSError):
        entries = [path for path in folder.iterdir() if SHARED.match(path.name)]
        used = _mapped(str(folder)) if entries else set()
        for path in entries:
            with contextlib.suppress(OSError):
                facts = path.stat()
                age = time.time() - facts.st_mtime
                if str(path) not in used and age > YOUNG_SECONDS and facts.st_uid in (os.getuid(), 0):
                    found.append(SharedMemory(str(path), facts.st_size, age))
    return tuple(sorted(found, key=lambda one: one.name))


def _mapped(folder: str) -> set[str]:
    """Name the files of a folder that some process has mapped or open."""
    used = set()
    for process in Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            for line in (process / "maps").read_text(encoding="utf-8", errors="replace").splitlines():
                place = line.partition(folder)
                if place[1]:
                    used.add(place[1] + place[2])
        with contextlib.suppress(OSError):
            for descriptor in (process / "fd").iterdir():
                with contextlib.suppress(OSError):
                    used.add(str(descriptor.readlink()))
    return used
