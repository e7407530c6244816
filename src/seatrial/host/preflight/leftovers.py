"""What a server that died left behind: workers, shared memory, sockets. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from seatrial.findings import Finding, Level
from seatrial.host.preflight.gpus import holder
from seatrial.host.situation import Situation

SHOWN = 4
MIB = 1 << 20


def check(situation: Situation) -> Iterator[Finding]:
    """Name leftovers. Nothing is ended or removed: only a person knows whose they are."""
    on_gpus = {
        process.pid for gpu in (situation.host.gpus if situation.host else None) or () for process in gpu.processes
    }
    idle = [process for process in situation.leftovers if process.pid not in on_gpus]
    if idle:
        named = "; ".join(holder(process, situation) for process in idle[:SHOWN])
        yield Finding(
            Level.WARNING,
            "engine-processes-left",
            f"engine processes run that nothing looks after any more: {named}",
            f"If they are left over: kill {' '.join(str(process.pid) for process in idle[:SHOWN])} (SIGTERM first), "
            "then wait until their GPU memory is free.",
        )
    if situation.shared_memory:
        names = ", ".join(one.name for one in situation.shared_memory[:SHOWN])
        size = sum(one.size_bytes for one in situation.shared_memory) / MIB
        yield Finding(
            Level.WARNING,
            "shared-memory-left",
            f"{len(situation.shared_memory)} pieces of shared memory ({size:,.0f} MiB) are left that no process "
            f"uses, as "
            f"after kill -9: {names}",
            "Remove them before the start: a new engine may open them and hang. "
            f"rm {' '.join(one.name for one in situation.shared_memory[:SHOWN] if one.name.startswith('/'))}".rstrip(),
        )
