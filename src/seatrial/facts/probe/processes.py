"""Who a process is: its name, its account, its container. None for what the kernel does not tell."""

from __future__ import annotations

import pwd
import re
from pathlib import Path

CONTAINER = re.compile(
    r"(?:docker|containerd|libpod)[-/:](?:[^\n]*[-/:])?([0-9a-f]{64})\b|/([0-9a-f]{64})(?:\.scope)?$", re.MULTILINE
)
"""A container's id in /proc/PID/cgroup, as Docker with either cgroup driver and either version of cgroups writes it."""


def process_name(pid: int) -> str | None:
    """Name a process."""
    return _text(pid, "comm").strip() or None


def owner(pid: int) -> str | None:
    """Name the account that a process runs as; its number, where it has no name here."""
    try:
        uid = Path(f"/proc/{pid}").stat().st_uid
    except OSError:
        return None
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def container(pid: int) -> str | None:
    """Find the id of the container that a process is in, twelve digits of it as `docker ps` shows."""
    return container_in(_text(pid, "cgroup"))


def container_in(cgroups: str) -> str | None:
    """Read a container's id from the text of /proc/PID/cgroup."""
    found = CONTAINER.search(cgroups)
    return (found[1] or found[2])[:12] if found else None


def _text(pid: int, name: str) -> str:
    try:
        return Path(f"/proc/{pid}/{name}").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
