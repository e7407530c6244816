"""Reads what `lint` and `adopt` are given: a Compose file, or a command after `--`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.launches.launch import Launch


def read_launch(file: Path | None, words: Sequence[str], *, service: str | None) -> Launch:
    """Read the launch that a command line names.

    Raises:
        InputError: neither or both are given, or what is given can't be read.
    """
    from seatrial.errors import InputError
    from seatrial.launches.command import read_command
    from seatrial.launches.compose_file import read_compose
    from seatrial.stack.reading import read_text

    if file is not None and words:
        raise InputError("a file and a command are given", where="--", advice="Give one of the two.")
    if words:
        return read_command(words)
    path = file or _default()
    if path.is_dir():
        path = _default(path)
    return read_compose(
        read_text(path, "Compose file"),
        where=str(path),
        service=service,
        environment=os.environ,
        read_file=lambda name: _beside(path, name),
    )


def _default(folder: Path = Path()) -> Path:
    """Find the Compose file of a folder, by Docker's names in Docker's order."""
    from seatrial.errors import InputError

    for name in ("compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml"):
        if (folder / name).is_file():
            return folder / name
    raise InputError(
        "there is no Compose file here",
        where=str(folder.absolute()),
        advice="Name one, or give a command: seatrial lint -- python3 -m sglang.launch_server …",
    )


def _beside(path: Path, name: str) -> str | None:
    try:
        return (path.parent / name).read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return None
