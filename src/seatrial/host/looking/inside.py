"""Starts a container of the engine's image for some seconds, as the plan would, to try what it may do there."""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

from seatrial.facts.probe.commands import ask
from seatrial.host.situation import Inside, Written
from seatrial.launches.interpolation import parse_env_file
from seatrial.planning.container import DEFAULT_CACHES
from seatrial.planning.plan import Plan
from seatrial.planning.setting import text_of
from seatrial.runtimes.compose.rendering import CACHES_WITHOUT_ROOT

PACKAGES = (
    "sglang",
    "sglang-kernel",
    "sgl-kernel",
    "flashinfer-python",
    "flashinfer-jit-cache",
    "flashinfer-cubin",
    "torch",
)
SECONDS = 60.0
"""Most of it is Docker's own; a container that takes longer hangs."""
PROBE_LABEL = "seatrial.probe"
NO_GPUS = ("could not select device driver", "nvidia-container-cli", "cdi", "unknown or invalid runtime", "libnvidia")


def look_inside(plan: Plan, folder: Path, *, gpus: bool) -> Inside:
    """Try a container: with GPUs where there are some, and without when Docker can't give them.

    Nothing is pulled and the container has no network; folders that are missing are not made.
    """
    began = time.monotonic()
    output, problem = _run(plan, folder, gpus=gpus)
    gpu_problem = ""
    if output is None and gpus and any(word in problem.lower() for word in NO_GPUS):
        gpu_problem = problem
        output, problem = _run(plan, folder, gpus=False)
    if output is None:
        return Inside(problem=problem, gpu_problem=gpu_problem, seconds=time.monotonic() - began)
    return Inside(
        uid=output["uid"],
        user=output["user"],
        user_problem=output["user_problem"],
        hub=_written(output["hub"]) if (folder / plan.stack.store).is_dir() else None,
        hub_variable=output["hub_variable"],
        caches=_written(output["caches"]) if output["caches"] else None,
        versions=output["versions"],
        gpus=tuple(output["gpus"]) if output["gpus"] is not None else None,
        gpu_problem=gpu_problem,
        seconds=time.monotonic() - began,
    )


def _written(told: dict[str, Any]) -> Written:
    return Written(told["path"], told["problem"], told["mounted"])


def _run(plan: Plan, folder: Path, *, gpus: bool) -> tuple[dict[str, Any] | None, str]:
    name = f"seatrial-probe-{os.getpid()}-{secrets.token_hex(3)}"
    said = ask(container_command(plan, folder, name, gpus=gpus), seconds=SECONDS, environment=dict(_variables(plan)))
    if said.output is None:
        # A client that was given up on leaves its container behind.
        ask(["docker", "rm", "--force", name])
        return None, said.problem.removeprefix("docker failed: ").removeprefix("docker: ")
    try:
        return json.loads(said.output.strip().splitlines()[-1]), ""
    except (ValueError, IndexError):
        return None, "its answer can't be read"


def container_command(plan: Plan, folder: Path, name: str, *, gpus: bool) -> list[str]:
    """Write the command: image, account, mounts and variables of the plan, our script in the engine's place."""
    stack = plan.stack
    caches = CACHES_WITHOUT_ROOT if stack.container.non_root else DEFAULT_CACHES
    has_caches = (folder / stack.jit_cache).is_dir()
    asked = {"caches": caches if has_caches else None, "packages": PACKAGES, "gpus": gpus}
    user = _user(plan, folder)
    return [
        *("docker", "run", "--rm", "--name", name, "--label", f"{PROBE_LABEL}=1", "--network", "none"),
        *("--pull", "never", "--entrypoint", "python3"),
        *(("--gpus", "all") if gpus else ()),
        *(("--user", user) if user else ()),
        *(word for mount in _mounts(plan, folder, caches, with_caches=has_caches) for word in ("--volume", mount)),
        *(word for variable, _ in _variables(plan) for word in ("--env", variable)),
        stack.engine.image,
        *("-c", script(), json.dumps(asked)),
    ]


def script() -> str:
    """Read what runs in there."""
    return (resources.files("seatrial.host.looking") / "inside_script.py").read_text(encoding="utf-8")


def _user(plan: Plan, folder: Path) -> str:
    stated = plan.stack.container.extra.get("user")
    if stated is not None:
        return str(stated)
    if not plan.stack.container.non_root:
        return ""
    try:
        variables = parse_env_file((folder / ".env").read_text(encoding="utf-8"))
    except OSError:
        variables = {}
    return f"{variables.get('SGLANG_UID', os.getuid())}:{variables.get('SGLANG_GID', os.getgid())}"


def _mounts(plan: Plan, folder: Path, caches: str, *, with_caches: bool) -> Iterator[str]:
    home = plan.setting("HF_HOME")
    store = (folder / plan.stack.store).resolve()
    if store.is_dir():
        yield f"{store}:{text_of(home.value) if home else '/hf-cache'}"
    if with_caches:
        yield f"{(folder / plan.stack.jit_cache).resolve()}:{caches}"
    more = plan.stack.container.extra.get("volumes")
    for mount in more if isinstance(more, list) else ():
        if isinstance(mount, str):
            source, colon, rest = mount.partition(":")
            yield f"{(folder / source).resolve()}{colon}{rest}" if source.startswith((".", "/")) else mount


def _variables(plan: Plan) -> Iterator[tuple[str, str]]:
    """List variables. Only their names are among the command's words: a value may be a token."""
    for setting in plan.settings:
        if not setting.is_flag:
            yield setting.name, text_of(setting.value)
    yield from plan.stack.container.environment.items()
