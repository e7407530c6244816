"""The stack's port: free, or already the stack's own. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from seatrial.findings import Finding, Level
from seatrial.host.situation import Situation


def check(situation: Situation) -> Iterator[Finding]:
    """Say who listens where the stack wants to."""
    listener, plan = situation.listener, situation.plan
    if listener is None or plan is None:
        return
    ours = {one.id for one in situation.containers or () if one.stack == plan.stack.name and one.is_alive}
    if listener.container in ours or (listener.container is None and listener.pid is None and ours):
        yield Finding(Level.NOTE, "port-is-ours", f"the stack itself listens on port {listener.port} already")
        return
    who = f"{listener.name or 'a program'}" + (f" (PID {listener.pid})" if listener.pid else "")
    if listener.container:
        named = next(
            (one.name for one in situation.containers or () if one.id == listener.container), listener.container
        )
        who += f" of the container {named}"
    yield Finding(
        Level.ERROR,
        "port-taken",
        f"{who} listens on port {listener.port} already",
        f"Stop it, or set serve.port; `ss -ltnp 'sport = :{listener.port}'` shows it to root.",
        "serve.port",
    )
