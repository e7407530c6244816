"""Runs a small command and takes what it prints; a missing, failing or hanging one says nothing."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

HINT = re.compile(r"(Run|See) '.* --help'")
"""What Docker says after its error."""
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


def ask(command: Sequence[str], *, seconds: float = SECONDS, environment: Mapping[str, str] | None = None) -> Said:
    """Run a command for what it prints.

    Args:
        command: its words.
        seconds: it is given up after these.
        environment: variables that it gets besides ours; a secret is safe there, and not among the words.
    """
    try:
        done = subprocess.run(
            list(command),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            check=False,
            stdin=subprocess.DEVNULL,
            env={**os.environ, **environment} if environment else None,
        )
    except FileNotFoundError:
        return Said(None, f"{command[0]} is not installed")
    except subprocess.TimeoutExpired:
        return Said(None, f"{command[0]} did not answer within {seconds:g} s")
    except OSError as error:
        return Said(None, f"{command[0]} can't be run ({(error.strerror or str(error)).lower()})")
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        lines = [line for line in said if line.strip() and not HINT.match(line)]
        return Said(None, f"{command[0]} failed: {lines[-1][:400] if lines else f'status {done.returncode}'}")
    return Said(done.stdout)
