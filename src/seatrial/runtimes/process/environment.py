"""The Python environment that holds an engine: its interpreter, its version, and where it must not lie."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from seatrial.errors import InputError

PRODUCTION = Path("/opt/sglang")
"""The deployment notes' tree: "no bare-metal venv" may lie there; production runs from the pinned image."""
PRODUCTION_COMPOSE = Path("docker/compose.yaml")
"""What marks such a tree anywhere else."""


@dataclass(frozen=True, slots=True)
class EngineEnvironment:
    """An environment with an engine.

    Attributes:
        folder: as it was named.
        python: its interpreter.
        version: of the engine that is installed there.
    """

    folder: Path
    python: Path
    version: str


def find_environment(folder: Path, package: str = "sglang") -> EngineEnvironment:
    """Look into an environment.

    Raises:
        InputError: it is none, it holds no such engine, or it is seatrial's own.
    """
    python = folder / "bin" / "python"
    if not python.exists():
        raise InputError(
            "this is no Python environment: it has no bin/python",
            where=f"engine.environment: {folder}",
            advice="Make one (`python3 -m venv FOLDER`), and install the engine there.",
        )
    if folder.resolve() == Path(sys.prefix).resolve():
        raise InputError(
            "this is seatrial's own environment; the engine needs one of its own",
            where=f"engine.environment: {folder}",
            advice="What the engine pins would change what seatrial runs on: make another environment.",
        )
    version = _installed(folder, package)
    if version is None:
        raise InputError(
            f"{package} is not installed there",
            where=f"engine.environment: {folder}",
            advice=f"{python} -m pip install {package}",
        )
    return EngineEnvironment(folder, python, version)


def _installed(folder: Path, package: str) -> str | None:
    """Read a package's version from its metadata; a `.pth` file may name further folders of packages."""
    for packages in sorted(folder.glob("lib*/python3*/site-packages")):
        places = [packages]
        for pointer in packages.glob("*.pth"):
            lines = pointer.read_text(encoding="utf-8", errors="replace").splitlines()
            places += [Path(line.strip()) for line in lines if line.startswith(os.sep)]
        for place in places:
            for found in place.glob(f"{package}-*.dist-info"):
                return found.name.removeprefix(f"{package}-").removesuffix(".dist-info")
    return None


def production_tree(path: Path) -> Path | None:
    """Find the production tree that a path lies in; None where it lies in none."""
    resolved = path.resolve()
    for folder in (resolved, *resolved.parents):
        if folder == PRODUCTION or (folder / PRODUCTION_COMPOSE).is_file():
            return folder
    return None
