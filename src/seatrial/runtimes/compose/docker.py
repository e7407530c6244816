"""Talks to real Docker: `docker compose` for one project, and what its containers say. Decides nothing."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from seatrial.errors import StartError
from seatrial.runtimes.instance import Instance

QUICK_SECONDS = 30.0
"""A command that only asks and takes longer: the engine hangs."""
STOP_SECONDS = 600.0
"""The engine's own grace period, and then some."""
PULL_SECONDS = 4 * 3600.0
"""`up` may have to pull an image of tens of GB."""

HINTS = (
    (
        'could not select device driver "nvidia"',
        (
            "Docker has no NVIDIA runtime here: install nvidia-container-toolkit, run `nvidia-ctk runtime configure "
            "--runtime=docker`, and restart Docker."
        ),
    ),
    (
        "port is already allocated",
        "Another container publishes that port: `docker ps` names it; stop it, or set serve.port.",
    ),
    (
        "address already in use",
        "Another program listens on that port: `ss -ltnp` names it; stop it, or set serve.port.",
    ),
    (
        "Cannot connect to the Docker daemon",
        "Start it (`systemctl start docker`), or use an account in the docker group.",
    ),
    (
        "permission denied while trying to connect",
        "This account may not talk to Docker: it must be in the docker group.",
    ),
    ("manifest unknown", "The image has no such tag: look at engine.image."),
    ("pull access denied", "The image does not exist, or needs `docker login`."),
    ("No such image", "The image is not here and could not be pulled: look at engine.image and the network."),
    ("no such host", "The registry can't be reached: pull the image where there is a network, or load it from a file."),
    ("no space left on device", "The disk is full: `docker system df` says what takes it."),
)
"""What Docker says, and what to do: its own words, seen with Docker 20.10 and 28."""


class DockerLog:
    """What `docker logs` prints, line by line."""

    def __init__(self, arguments: list[str]) -> None:
        self._process = subprocess.Popen(
            ["docker", "logs", *arguments],  # noqa: S607 - whichever docker the account uses
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
        )

    def __iter__(self) -> Iterator[bytes]:
        assert self._process.stdout is not None
        yield from self._process.stdout

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()


class Compose:
    """One Compose project: the file `compose.yaml` of a folder."""

    kind = "container"
    where = "docker compose"

    def __init__(self, folder: Path, project: str, file: str = "compose.yaml") -> None:
        self.folder = folder
        self.project = project
        self._base = ["docker", "compose", "--project-name", project, "--file", str(folder / file)]

    def up(self) -> None:
        """Create and start what is missing.

        Raises:
            StartError: Docker's own error, with what to do about it.
        """
        self._run([*self._base, "up", "--detach", "--remove-orphans"], PULL_SECONDS)

    def stop(self) -> None:
        """Stop the containers and remove them: the GPU is free. Volumes, images and weights stay.

        Raises:
            StartError: Docker's own error.
        """
        self._run([*self._base, "down", "--remove-orphans"], STOP_SECONDS)

    def instances(self) -> list[Instance]:
        """List the project's containers, running or not.

        Raises:
            StartError: Docker does not answer.
        """
        label = f"label=com.docker.compose.project={self.project}"
        ids = self._run(["docker", "ps", "--all", "--quiet", "--no-trunc", "--filter", label], QUICK_SECONDS).split()
        if not ids:
            return []
        return [_instance(item) for item in json.loads(self._run(["docker", "inspect", *ids], QUICK_SECONDS))]

    def log_lines(self, instance: str, *, since: str | None = None) -> DockerLog:
        """Follow a container's log; the caller closes it."""
        return DockerLog(["--follow", *(["--since", since] if since else []), instance])

    def log_text(self, instance: str, *, tail: int | None = None, since: str | None = None) -> Iterator[bytes]:
        """Read a container's log as it is now, line by line."""
        more = (["--tail", str(tail)] if tail is not None else []) + (["--since", since] if since else [])
        log = DockerLog([*more, instance])
        try:
            yield from log
        finally:
            log.close()

    def _run(self, command: Sequence[str], seconds: float) -> str:
        try:
            done = subprocess.run(
                list(command),
                cwd=self.folder,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=seconds,
                check=False,
                stdin=subprocess.DEVNULL,
            )
        except FileNotFoundError:
            raise StartError(
                "Docker is not installed", where="docker", advice="Install Docker Engine with Compose v2."
            ) from None
        except subprocess.TimeoutExpired:
            words = " ".join(word for word in command if not word.startswith("/"))
            raise StartError(f"Docker did not answer within {seconds:g} s", where=words) from None
        if done.returncode:
            raise docker_error(done.stderr or done.stdout)
        return done.stdout


def docker_error(text: str) -> StartError:
    """Make one line of what Docker said: its error, and what to do."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    said = next((line for line in reversed(lines) if "rror" in line or "denied" in line or "Cannot" in line), "")
    said = said or (lines[-1] if lines else "no message")
    advice = next((hint for words, hint in HINTS if words.lower() in text.lower()), None)
    return StartError(
        f"Docker says: {said.removeprefix('Error response from daemon: ')[:400]}", where="docker compose", advice=advice
    )


def _instance(item: dict[str, Any]) -> Instance:
    state = item.get("State") or {}
    published = (item.get("NetworkSettings") or {}).get("Ports") or {}
    return Instance(
        id=item["Id"],
        name=str(item.get("Name", "")).lstrip("/"),
        state=str(state.get("Status", "")),
        health=str((state.get("Health") or {}).get("Status", "")),
        exit_code=int(state.get("ExitCode") or 0),
        started_at=str(state.get("StartedAt", "")),
        image=str((item.get("Config") or {}).get("Image", "")),
        image_id=str(item.get("Image", "")),
        labels=dict((item.get("Config") or {}).get("Labels") or {}),
        ports={
            port.partition("/")[0]: [f"{binding.get('HostIp')}:{binding.get('HostPort')}" for binding in bindings or ()]
            for port, bindings in published.items()
        },
        oom_killed=bool(state.get("OOMKilled")),
        restarts=int(item.get("RestartCount") or 0),
    )
