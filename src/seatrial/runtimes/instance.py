"""One start of an engine, and what can be asked of its launcher: the same words for a container and a process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from seatrial.planning.plan import Plan

STACK_LABEL = "seatrial.stack"
PLAN_LABEL = "seatrial.plan"


@dataclass(frozen=True, slots=True)
class Instance:
    """A container, or a process of this machine, that an engine was started in.

    Attributes:
        id: Docker's own; the process id.
        name: what people call it.
        state: created, running, restarting, exited …
        health: starting, healthy, unhealthy; empty where nothing checks it.
        exit_code: of one that ended; None where nobody knows.
        started_at: ISO 8601; empty before the start.
        image: the image as it was asked for, or the environment that holds the engine.
        image_id: digest of what runs; empty for a process.
        labels: the stack and the digest of the plan that it was started from.
        ports: published, `address:port` by the engine's port.
        oom_killed: the kernel ended it for memory.
        restarts: how often it was started again by itself.
    """

    id: str
    name: str
    state: str
    health: str = ""
    exit_code: int | None = None
    started_at: str = ""
    image: str = ""
    image_id: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    ports: Mapping[str, list[str]] = field(default_factory=dict)
    oom_killed: bool = False
    restarts: int = 0

    @property
    def is_running(self) -> bool:
        """Whether its process runs now."""
        return self.state == "running"

    @property
    def is_alive(self) -> bool:
        """Whether it runs, or will again without anybody's doing."""
        return self.state in ("running", "restarting")


class LogStream(Protocol):
    """A log that is followed as it grows; `close` may be called from another thread, and ends it."""

    def __iter__(self) -> Iterator[bytes]:
        """Give one line after another, each with its end."""

    def close(self) -> None:
        """Follow it no longer."""


class Launcher(Protocol):
    """What starts and stops one stack's engine."""

    @property
    def kind(self) -> str:
        """What it starts, for a sentence: "container" or "process"."""

    @property
    def where(self) -> str:
        """Who says it when something goes wrong: "docker compose", or the engine's log."""

    def up(self) -> None:
        """Start what is not running.

        Raises:
            StartError: it can't be started, with what to do about it.
        """

    def stop(self) -> None:
        """End it with everything that belongs to it, so that the GPU is free. Weights, caches and logs stay.

        Raises:
            StartError: it does not end.
        """

    def instances(self) -> list[Instance]:
        """List what was started, running or not.

        Raises:
            StartError: nobody answers who would know.
        """

    def log_lines(self, instance: str, *, since: str | None = None) -> LogStream:
        """Follow a log; the caller closes it."""

    def log_text(self, instance: str, *, tail: int | None = None, since: str | None = None) -> Iterator[bytes]:
        """Read a log as it is now, line by line."""


def runs_as_planned(plan: Plan, instances: list[Instance]) -> Instance | None:
    """Find the running one that was started from this very plan."""
    return next((one for one in instances if one.is_running and one.labels.get(PLAN_LABEL) == plan.digest), None)
