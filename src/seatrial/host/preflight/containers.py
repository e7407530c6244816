"""Containers that an earlier start left: of this stack, of another one, and how the last one ended. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from seatrial.findings import Finding, Level
from seatrial.host.situation import Container, Situation

KILLED = 137
"""128 + SIGKILL, as Docker reports it."""
SOAK_REQUESTS = 200


def check(situation: Situation) -> Iterator[Finding]:
    """Find what would be in the way. Only what carries seatrial's own label is offered to be stopped."""
    name = situation.plan.stack.name if situation.plan else None
    for container in situation.containers or ():
        if container.stack is None:
            continue
        ours = name is not None and container.stack == name and _same_folder(container, situation)
        if not ours:
            yield from _orphan(container, situation)
        elif container.state in ("created", "dead"):
            yield Finding(
                Level.WARNING,
                "container-never-started",
                f"the container {container.name} of this stack was made and never started, as an `up` leaves it "
                f"that was killed",
                "`seatrial up` takes it up; `seatrial stop` removes it.",
            )
        elif container.exit_code == KILLED or container.oom_killed:
            yield Finding(
                Level.WARNING,
                "unclean-stop",
                f"the container {container.name} ended by SIGKILL"
                + (": the kernel ended it for memory" if container.oom_killed else "")
                + "; an engine has been seen healthy after that, and hung after 80 to 140 requests",
                f"After the start let {SOAK_REQUESTS} requests through (`seatrial bench`) before anyone relies on it; "
                "`seatrial stop` ends it with SIGTERM.",
            )


def _same_folder(container: Container, situation: Situation) -> bool:
    return not container.folder or not situation.folder or container.folder == situation.folder


def _orphan(container: Container, situation: Situation) -> Iterator[Finding]:
    if situation.plan is None:
        return
    if not container.is_alive and container.stack != situation.plan.stack.name:
        return
    same_name = container.stack == situation.plan.stack.name
    holds = " and holds GPUs" if container.gpus and container.is_alive else ""
    if container.looked_after and not same_name:
        yield Finding(
            Level.NOTE,
            "other-stack",
            f"the stack {container.stack} runs beside this one (container {container.name}, from "
            f"{container.folder}){holds}",
            "Plan with what it leaves of the GPUs.",
        )
        return
    where = f" from {container.folder}" if container.folder else ""
    remedy = (
        f"seatrial stop --stack {container.folder}/stack.yaml"
        if container.looked_after
        else f"docker stop {container.name}"
    )
    yield Finding(
        Level.WARNING,
        "orphan-container",
        f"the container {container.name} of the stack {container.stack}{where} is {container.state}{holds}; no "
        f"stack here "
        "looks after it any more: killing the command that started it did not stop it",
        f"If nobody needs it: {remedy}.",
    )
