"""What a runtime must do: start a server, hand over its endpoint, end it whole."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from seatrial.endpoint.address import Endpoint

OnPhase = Callable[[str], None]
"""Told the name of each phase of a start as it begins: "process", "weights", "first answer"."""


class RunningServer(Protocol):
    """A server that answered once."""

    @property
    def endpoint(self) -> Endpoint:
        """Where it answers; its `answered_by_ours` is set."""

    @property
    def log(self) -> Path:
        """The engine's own log."""

    @property
    def start_seconds(self) -> float:
        """From the start until the first real answer."""

    def failure(self) -> str | None:
        """Say why it no longer runs; None while it does."""

    async def stop(self) -> None:
        """End it with all its processes; return when they are gone. Calling it twice is fine."""


class Runtime(Protocol):
    """Something that can start servers."""

    async def start(self, log: Path, on_phase: OnPhase) -> RunningServer:
        """Start the server and wait until it really answers.

        Raises:
            StartError: it did not come up; the message names the cause and the log.
        """
