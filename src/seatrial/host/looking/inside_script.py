"""What runs in a container of the engine's image, to tell what it may do there. Standard library only; Python 3.8.

Its one argument is JSON: `hub` (folder of models), `caches` (folder of compiled kernels, or null), `packages` (names),
`gpus` (whether it was given some). It prints one JSON object.
"""

# It runs in images whose Python may be old, and paths are given as text.
# ruff: noqa: PTH103, PTH104, PTH108, PTH118, UP032, UP045

from __future__ import annotations

import getpass
import json
import os
import subprocess
import sys
from importlib import metadata
from typing import Any, Dict, List, Optional  # noqa: UP035 - Python 3.8


def main() -> None:
    """Try everything, and tell."""
    asked = json.loads(sys.argv[1])
    variable, hub = hub_folder()
    name, problem = user()
    told = {
        "uid": os.getuid(),
        "user": name,
        "user_problem": problem,
        "hub_variable": variable,
        "hub": written(hub),
        "caches": written(asked["caches"]) if asked["caches"] else None,
        "versions": versions(asked["packages"]),
        "gpus": gpus() if asked["gpus"] else None,
    }
    print("\n" + json.dumps(told))  # noqa: T201 - this is the answer


def hub_folder() -> List[str]:  # noqa: UP006
    """Find the folder of models as huggingface_hub does, and the variable that says it."""
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if os.environ.get(name):
            return [name, os.environ[name]]
    if os.environ.get("HF_HOME"):
        return ["HF_HOME", os.path.join(os.environ["HF_HOME"], "hub")]
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.environ.get("HOME") or "/", ".cache")
    return ["", os.path.join(home, "huggingface", "hub")]


def user() -> List[Any]:  # noqa: UP006
    """Name the account as Python's libraries do: by USER and its like, else by /etc/passwd."""
    try:
        return [getpass.getuser(), ""]
    except Exception as error:  # noqa: BLE001 - KeyError up to 3.12, OSError from 3.13 on
        return [None, "{}: {}".format(type(error).__name__, error)]


def written(folder: str) -> Dict[str, Any]:  # noqa: UP006
    """Touch, rename and unlink a file."""
    told = {"path": folder, "problem": "", "mounted": mounted(folder)}  # type: Dict[str, Any]
    first = os.path.join(folder, ".seatrial-write-test-{}".format(os.getpid()))
    try:
        os.makedirs(folder, exist_ok=True)
        os.close(os.open(first, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        os.rename(first, first + ".renamed")
        os.unlink(first + ".renamed")
    except OSError as error:
        told["problem"] = (error.strerror or str(error)).lower()
    return told


def mounted(folder: str) -> Optional[bool]:
    """Whether a folder lies on a mount, and not in the container's own layer."""
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as file:  # noqa: PTH123
            points = [line.split()[4] for line in file]
    except OSError:
        return None
    place = os.path.realpath(folder)
    return any(point != "/" and (place == point or place.startswith(point.rstrip("/") + "/")) for point in points)


def versions(names: List[str]) -> Dict[str, str]:  # noqa: UP006
    """Look up installed packages."""
    found = {}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def gpus() -> List[str]:  # noqa: UP006
    """Name the GPUs that are seen here."""
    try:
        done = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=20, check=False)  # noqa: S607
    except (OSError, subprocess.SubprocessError):
        return []
    return [line for line in done.stdout.splitlines() if line.startswith("GPU ")]


if __name__ == "__main__":
    main()
