"""Lists this machine's containers, as Docker tells."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from seatrial.facts.host import HostFacts
from seatrial.facts.probe.commands import ask
from seatrial.host.situation import Container
from seatrial.runtimes.compose.project import COMPOSE_FILE
from seatrial.runtimes.instance import STACK_LABEL

FOLDER_LABEL = "com.docker.compose.project.working_dir"


def look_at_containers(host: HostFacts) -> tuple[Container, ...] | None:
    """List all containers, running or not; None where Docker can't be asked."""
    if host.docker is None or not host.docker.reachable:
        return None
    ids = (ask(["docker", "ps", "--all", "--quiet", "--no-trunc"]).output or "").split()
    if not ids:
        return ()
    said = ask(["docker", "inspect", *ids], seconds=30).output
    try:
        items = json.loads(said or "[]")
    except ValueError:
        return None
    return tuple(_container(item) for item in items if isinstance(item, dict))


def _container(item: dict[str, Any]) -> Container:
    state, config = item.get("State") or {}, item.get("Config") or {}
    settings = item.get("HostConfig") or {}
    labels = config.get("Labels") or {}
    requests = settings.get("DeviceRequests") or ()
    status = str(state.get("Status", ""))
    folder = str(labels.get(FOLDER_LABEL, ""))
    return Container(
        id=str(item["Id"])[:12],
        name=str(item.get("Name", "")).lstrip("/"),
        state=status,
        image=str(config.get("Image", "")),
        stack=labels.get(STACK_LABEL),
        folder=folder,
        exit_code=int(state.get("ExitCode") or 0) if status in ("exited", "dead") else None,
        oom_killed=bool(state.get("OOMKilled")),
        gpus=any("gpu" in str(request) for request in requests) or settings.get("Runtime") == "nvidia",
        looked_after=bool(folder) and (Path(folder) / COMPOSE_FILE).is_file(),
    )
