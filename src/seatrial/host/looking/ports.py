"""Finds out who listens on a port, as far as this account may see."""

from __future__ import annotations

import contextlib
import socket

from seatrial.facts.probe.processes import container, process_name
from seatrial.host.situation import Listener

PROXY = "docker-proxy"


def listener_on(host: str, port: int) -> Listener | None:
    """Name who listens; None where nobody does."""
    import psutil  # noqa: PLC0415 - 30 ms that most verbs don't need

    try:
        socket.create_connection((host, port), timeout=1).close()
    except OSError:
        return None
    with contextlib.suppress(psutil.Error, OSError):
        for connection in psutil.net_connections(kind="tcp"):
            listens = connection.status == psutil.CONN_LISTEN and getattr(connection.laddr, "port", None) == port
            if listens and connection.pid:
                name = process_name(connection.pid)
                if name == PROXY:
                    return Listener(port, None, name, published_by(port))
                return Listener(port, connection.pid, name, container(connection.pid))
    return Listener(port, container=published_by(port))


def published_by(port: int) -> str | None:
    """Find the container that publishes a port."""
    from seatrial.facts.probe.commands import ask  # noqa: PLC0415 - only where the port is taken

    said = ask(["docker", "ps", "--quiet", "--filter", f"publish={port}"]).output
    return said.split()[0] if said and said.split() else None
