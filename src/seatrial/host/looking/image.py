"""Looks at the engine's image on this machine, and remembers which one a good start ran on."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from seatrial.facts.probe.commands import ask
from seatrial.host.situation import Image
from seatrial.runtimes.snapshot import STATE_FOLDER
from seatrial.text_files import write_whole

LOCK = "image.json"
REQUIRED_CUDA = re.compile(r"cuda>=(\d+\.\d+)")
GONE = ("manifest unknown", "no such manifest", "not found", "manifest for")
REGISTRY_SECONDS = 15.0


def look_at_image(name: str, folder: Path, *, online: bool) -> Image:
    """Find what a name means on this machine now.

    Args:
        name: as the stack has it.
        folder: the stack's, where the lock lies.
        online: ask the registry, where the image is not here.
    """
    found = _inspect(name)
    locked = locked_image(folder, name)
    still_here = None if locked is None else _inspect(locked) is not None
    if found is None:
        return Image(name, in_registry=_in_registry(name) if online else None, locked=locked, locked_is_here=still_here)
    config = found.get("Config") or {}
    return Image(
        name,
        id=str(found["Id"]),
        digests=tuple(found.get("RepoDigests") or ()),
        cuda=_cuda(config.get("Env") or []),
        user=str(config.get("User") or ""),
        locked=locked,
        locked_is_here=still_here,
    )


def lock_image(folder: Path, name: str, image_id: str) -> None:
    """Remember which image a good start ran on.

    Raises:
        StorageError: the stack's folder can't be written.
    """
    write_whole(folder / STATE_FOLDER / LOCK, json.dumps({"image": name, "id": image_id}, indent=2) + "\n")


def locked_image(folder: Path, name: str) -> str | None:
    """Find the digest that the last good start of an image's name ran on; None where there was none."""
    try:
        document = json.loads((folder / STATE_FOLDER / LOCK).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(document, dict) or document.get("image") != name:
        return None
    return str(document["id"]) if "id" in document else None


def _inspect(name: str) -> dict[str, Any] | None:
    try:
        found = json.loads(ask(["docker", "image", "inspect", name]).output or "[]")
    except ValueError:
        return None
    return found[0] if found and isinstance(found[0], dict) else None


def _cuda(variables: list[str]) -> str | None:
    """Read the image's CUDA from what NVIDIA's base images set."""
    values = dict(variable.partition("=")[::2] for variable in variables)
    if re.match(r"\d+\.\d+", values.get("CUDA_VERSION", "")):
        return values["CUDA_VERSION"]
    found = REQUIRED_CUDA.search(values.get("NVIDIA_REQUIRE_CUDA", ""))
    return found[1] if found else None


def _in_registry(name: str) -> bool | None:
    """Ask the registry for a name; None where it can't be asked."""
    said = ask(["docker", "manifest", "inspect", name], seconds=REGISTRY_SECONDS)
    if said.output is not None:
        return True
    return False if any(word in said.problem.lower() for word in GONE) else None
