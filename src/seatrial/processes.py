"""Child processes that end with their parent, however it ends.

A parent that is killed can't clean up. So each child is told to end by two independent means: the kernel's
parent-death signal (Linux), and the end of its standard input, which works everywhere.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import signal
import sys
import threading
from typing import IO

PR_SET_PDEATHSIG = 1
"""From Linux's <sys/prctl.h>: the signal that a process gets when its parent dies."""

END_WITH_PARENT_VARIABLE = "SEATRIAL_END_WITH_PARENT"
"""The process id of the parent, set for a seatrial that must not outlive it (make): a killed make leaves nothing."""


def end_with_parent(parent: int | None = None) -> None:
    """Ask the kernel to end this process when its parent dies; do nothing where the kernel has no such thing.

    Args:
        parent: the parent's process id, if known: when it is gone already, this process ends at once.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if parent is not None and os.getppid() != parent:
        os._exit(1)


def end_with_input(stream: IO[str]) -> None:
    """End this process as soon as `stream` (its standard input) ends: the other end is gone then."""

    def wait() -> None:
        with contextlib.suppress(OSError, ValueError):
            while stream.read(1):
                pass
        os._exit(0)

    threading.Thread(target=wait, name="end-with-input", daemon=True).start()


def ending_with_us(command: list[str]) -> list[str]:
    """Wrap a command of somebody else's (pip) so that it ends when this process does."""
    return [sys.executable, "-m", "seatrial.processes", str(os.getpid()), *command]


async def end(process: asyncio.subprocess.Process, patience_seconds: float = 3.0) -> None:
    """End a child: ask through its standard input, then with SIGTERM, then with SIGKILL; wait until it is gone."""
    if process.stdin is not None:
        process.stdin.close()
    for signal_number in (None, signal.SIGTERM, signal.SIGKILL):
        if signal_number is not None:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal_number)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), patience_seconds)
            return


if __name__ == "__main__":
    end_with_parent(int(sys.argv[1]))
    os.execv(sys.argv[2], sys.argv[2:])  # noqa: S606 - a list of arguments, no shell
