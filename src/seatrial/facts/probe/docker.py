"""Docker, Compose and the NVIDIA runtime, as Docker itself tells."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from seatrial.facts.host import DockerFacts
from seatrial.facts.probe.commands import ask


@dataclass(frozen=True, slots=True)
class FoundDocker:
    """What Docker says; None where it is not installed."""

    docker: DockerFacts | None
    notes: tuple[str, ...] = ()


def docker_facts() -> FoundDocker:
    """Ask Docker about itself."""
    info = ask(["docker", "info", "--format", "{{json .}}"])
    if info.problem.endswith("is not installed"):
        return FoundDocker(None, ("Docker is not installed",))
    compose = ask(["docker", "compose", "version", "--short"])
    notes = [] if compose.output else [f"there is no Docker Compose: {compose.problem}"]
    document = _json(info.output)
    errors = document.get("ServerErrors") or []
    if not document.get("ServerVersion"):
        reason = errors[0] if errors else info.problem or "no answer"
        client = ask(["docker", "version", "--format", "{{.Client.Version}}"])
        return FoundDocker(
            DockerFacts(
                version=client.output.strip() if client.output else None,
                compose_version=_stripped(compose.output),
                reachable=False,
            ),
            (f"Docker's engine can't be reached: {reason}", *notes),
        )
    return FoundDocker(
        DockerFacts(
            version=str(document["ServerVersion"]),
            compose_version=_stripped(compose.output),
            runtimes=tuple(sorted(document.get("Runtimes") or {})),
            cdi_devices=tuple(
                sorted(str(device.get("ID", device)) for device in document.get("DiscoveredDevices") or () if device)
            ),
            reachable=True,
            root=str(document["DockerRootDir"]) if document.get("DockerRootDir") else None,
        ),
        tuple(notes),
    )


def _json(text: str | None) -> dict[str, Any]:
    try:
        document = json.loads(text or "{}")
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


def _stripped(text: str | None) -> str | None:
    return text.strip().removeprefix("v") or None if text else None
