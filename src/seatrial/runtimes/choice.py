"""Which runtime a stack asks for: an environment means a process, everything else a container."""

from __future__ import annotations

from pathlib import Path

from seatrial.runtimes.project import Project
from seatrial.stack.model import Stack


def project_of(stack_file: Path, stack: Stack) -> Project:
    """Find the project of a stack file."""
    if stack.engine.environment is not None:
        from seatrial.runtimes.process.project import ProcessProject  # noqa: PLC0415 - one of the two is needed

        return ProcessProject(stack_file)
    from seatrial.runtimes.compose.project import ComposeProject  # noqa: PLC0415 - one of the two is needed

    return ComposeProject(stack_file)
