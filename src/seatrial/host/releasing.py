"""Waits until the memory of ended processes is free again: workers can outlive the server that started them."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection

from seatrial.facts.host import GpuProcess
from seatrial.facts.probe.gpus import FoundGpus, gpu_facts

LOOK_SECONDS = 0.5
PATIENCE_SECONDS = 60.0
"""A driver frees tens of GiB within seconds; what holds longer has not ended."""


def wait_until_released(
    pids: Collection[int],
    *,
    seconds: float = PATIENCE_SECONDS,
    ask: Callable[[], FoundGpus] = gpu_facts,
    sleep: Callable[[float], None] = time.sleep,
) -> tuple[GpuProcess, ...]:
    """Wait until none of these processes holds GPU memory any more.

    Returns:
        Those that still do after `seconds`, each with PID, account and container; empty when all is free. Nothing is
        ended here.
    """
    until = time.monotonic() + seconds
    while True:
        holding = {process.pid: process for gpu in ask().gpus or () for process in gpu.processes if process.pid in pids}
        if not holding or time.monotonic() > until:
            return tuple(holding.values())
        sleep(LOOK_SECONDS)
