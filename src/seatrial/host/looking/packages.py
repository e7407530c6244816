"""Looks up packages of a Python environment by their metadata, without running anything of it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

DISTRIBUTION = re.compile(r"([A-Za-z0-9._]+)-([^-]+)\.dist-info\Z")


def package_versions(environment: Path, names: Iterable[str]) -> Mapping[str, str]:
    """Find installed versions; a `.pth` file may name further folders of packages.

    Args:
        environment: its folder.
        names: packages, spelled as the package index does.
    """
    wanted = {_plain(name): name for name in names}
    found: dict[str, str] = {}
    for place in _places(environment):
        for folder in sorted(place.glob("*.dist-info")):
            parts = DISTRIBUTION.match(folder.name)
            name = wanted.get(_plain(parts[1])) if parts else None
            if parts and name:
                found.setdefault(name, parts[2])
    return found


def _places(environment: Path) -> Iterable[Path]:
    for packages in sorted(environment.glob("lib*/python3*/site-packages")):
        yield packages
        for pointer in sorted(packages.glob("*.pth")):
            for line in pointer.read_text(encoding="utf-8", errors="replace").splitlines():
                if line.startswith(os.sep):
                    yield Path(line.strip())


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
