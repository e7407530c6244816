"""Runs a small command and takes what it prints; a missing, failing or hanging one says nothing."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

SECONDS = 5.0
"""A command that only tells about this machine and takes longer hangs."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a command printed.

    Attributes:
        output: its standard output; None where it is not installed, failed or took too long.
        problem: why there is no output.
    """

    output: str | None
    problem: str = ""


def ask(command: Sequence[str], *, seconds: float = SECONDS) -> Said:
    """Run a command for what it prints."""
    try:
        done = subprocess.run(
            list(command),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except FileNotFoundError:
        return Said(None, f"{command[0]} is not installed")
    except subprocess.TimeoutExpired:
        return Said(None, f"{command[0]} did not answer within {seconds:g} s")
    except OSError as error:
        return Said(None, f"{command[0]} can't be run ({(error.strerror or str(error)).lower()})")
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        return Said(None, f"{command[0]} failed: {lines[-1][:200] if lines else f'status {done.returncode}'}")
    return Said(done.stdout)
