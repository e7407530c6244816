"""Docker: there, new enough, ours to talk to, and able to hand GPUs to a container. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from seatrial.facts.host import DockerFacts
from seatrial.findings import Finding, Level
from seatrial.host.situation import Person, Situation

OLDEST_ENGINE = (20, 10)
"""Reservations of devices in a Compose file, and `host-gateway`."""
OLDEST_COMPOSE = (2, 0)
CDI_GPU = "nvidia.com/gpu"


def check(situation: Situation) -> Iterator[Finding]:
    """Look at Docker, where the stack needs it."""
    plan, host = situation.plan, situation.host
    if host is None or (plan is not None and plan.stack.engine.environment is not None):
        return
    docker = host.docker
    if docker is None:
        if host.source == "this host":
            yield Finding(
                Level.ERROR if plan is not None else Level.WARNING,
                "no-docker",
                "Docker is not installed",
                "Install Docker Engine with the Compose plugin.",
            )
        return
    yield from _versions(docker)
    if docker.reachable is False:
        yield _unreachable(situation.person)
        return
    if host.gpus:
        yield from _gpus(docker, situation)


def _versions(docker: DockerFacts) -> Iterator[Finding]:
    if (engine := _pair(docker.version)) and engine < OLDEST_ENGINE:
        yield Finding(
            Level.ERROR,
            "docker-too-old",
            f"Docker Engine is {docker.version}: a Compose file can't reserve GPUs before 20.10",
            "Update Docker Engine.",
        )
    if docker.compose_version is None:
        yield Finding(
            Level.ERROR,
            "no-compose",
            "`docker compose` is not installed",
            "Install the Compose plugin (docker-compose-plugin); the old docker-compose is not enough.",
        )
    elif (compose := _pair(docker.compose_version)) and compose < OLDEST_COMPOSE:
        yield Finding(
            Level.ERROR, "compose-too-old", f"Docker Compose is {docker.compose_version}", "Install version 2 or newer."
        )


def _unreachable(person: Person | None) -> Finding:
    if person is not None and "docker" in person.new_login:
        return Finding(
            Level.ERROR,
            "new-login-needed",
            f"{person.name} is in the group docker, and this session began before that: Docker refuses it",
            'Log in anew; until then: sg docker -c "seatrial up".',
        )
    if person is not None and person.uid != 0 and "docker" not in person.groups:
        return Finding(
            Level.ERROR,
            "not-in-docker-group",
            f"{person.name} may not talk to Docker: the account is not in the group docker, and that membership "
            f"is root "
            "on this host",
            "Run it as the service account (sudo -u sglang …); or, knowing what it gives: "
            f"usermod -aG docker {person.name}, then a new login.",
        )
    return Finding(
        Level.ERROR,
        "docker-unreachable",
        "Docker's engine does not answer",
        "systemctl start docker; then `docker info`.",
    )


def _gpus(docker: DockerFacts, situation: Situation) -> Iterator[Finding]:
    runtime = any("nvidia" in name for name in docker.runtimes)
    cdi = [name for name in docker.cdi_devices if name.startswith(CDI_GPU)]
    inside = situation.inside
    if inside is not None and inside.gpu_problem:
        yield Finding(
            Level.ERROR,
            "gpu-not-in-containers",
            f"Docker could not give a container the GPUs: {inside.gpu_problem}",
            _toolkit(runtime=runtime, cdi=bool(cdi)),
        )
    elif inside is not None and inside.gpus:
        ways = " and ".join(name for name, there in (("the nvidia runtime", runtime), ("CDI", bool(cdi))) if there)
        yield Finding(
            Level.NOTE, "gpu-in-containers", f"a container sees {len(inside.gpus)} GPUs ({ways or 'Docker itself'})"
        )
    elif not runtime and not cdi:
        yield Finding(
            Level.ERROR,
            "no-nvidia-runtime",
            "Docker knows neither the nvidia runtime nor a CDI device of NVIDIA's: a container sees no GPU",
            _toolkit(runtime=False, cdi=False),
        )
    elif not runtime:
        yield Finding(
            Level.WARNING,
            "cdi-only",
            f"Docker knows the GPUs through CDI only ({cdi[0]}): engines before CDI served `driver: nvidia` "
            f"need the runtime",
            "If the start says `could not select device driver`: nvidia-ctk runtime configure --runtime=docker, "
            "restart Docker.",
        )


def _toolkit(*, runtime: bool, cdi: bool) -> str:
    if runtime or cdi:
        return "Renew its configuration: nvidia-ctk runtime configure --runtime=docker (and nvidia-ctk cdi "
        "generate), restart Docker."
    return "Install nvidia-container-toolkit, run `nvidia-ctk runtime configure --runtime=docker`, restart Docker."


def _pair(version: str | None) -> tuple[int, int] | None:
    found = re.match(r"v?(\d+)\.(\d+)", version or "")
    return (int(found[1]), int(found[2])) if found else None
