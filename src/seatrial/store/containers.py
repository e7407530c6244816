"""Which containers there are, running or stopped, what they were told, and which folders of the host they mount."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ENGINES = ("docker", "podman")
DOCKER_SECONDS = 30.0
ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Container:
    """One container, running or not.

    Attributes:
        name: what people call it.
        state: running, exited, created …
        text: its command, environment and labels.
        words: its command alone.
        sources: folders of the host that it mounts.
        folder: of the Compose project that it belongs to.
    """

    name: str
    state: str
    text: str
    words: tuple[str, ...]
    sources: tuple[Path, ...]
    folder: Path | None


def find_containers() -> tuple[tuple[Container, ...], tuple[str, ...]]:
    """List the containers of Docker and Podman, running or stopped; and why some can't be known."""
    found: list[Container] = []
    unknown: list[str] = []
    for engine in ENGINES:
        if shutil.which(engine) is None:
            continue
        try:
            found += _inspect_all(engine)
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            said = (getattr(error, "stderr", "") or str(error)).strip().splitlines()
            unknown.append(f"{engine} does not say which containers there are ({said[-1][:200] if said else error})")
    return tuple(found), tuple(unknown)


def _inspect_all(engine: str) -> list[Container]:
    """Look into every container; where one goes meanwhile, the second question fails, and both are asked again."""
    for attempt in range(ATTEMPTS):
        ids = _run([engine, "ps", "--all", "--quiet", "--no-trunc"]).split()
        if not ids:
            return []
        try:
            return [_container(item) for item in json.loads(_run([engine, "inspect", *ids]))]
        except subprocess.CalledProcessError:
            if attempt == ATTEMPTS - 1:
                raise
    return []


def _run(command: list[str]) -> str:
    done = subprocess.run(
        command, capture_output=True, text=True, errors="replace", timeout=DOCKER_SECONDS, check=True,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return done.stdout


def _container(item: dict[str, Any]) -> Container:
    config = item.get("Config") or {}
    labels = config.get("Labels") or {}
    words = [str(item.get("Path") or ""), *map(str, item.get("Args") or ())]
    for part in (config.get("Entrypoint"), config.get("Cmd")):
        words += [str(word) for word in part] if isinstance(part, list) else [str(part)] if part else []
    folder = labels.get("com.docker.compose.project.working_dir")
    return Container(
        name=str(item.get("Name", "")).lstrip("/"),
        state=str((item.get("State") or {}).get("Status", "")),
        text="\n".join([*words, *map(str, config.get("Env") or ()), *map(str, labels.values())]),
        words=tuple(words),
        sources=tuple(
            Path(str(mount["Source"]))
            for mount in item.get("Mounts") or ()
            if str(mount.get("Source", "")).startswith("/")
        ),
        folder=Path(folder) if folder else None,
    )
