"""Writes small files whole: beside their place first, then renamed; secrets so that nobody else can ever read them."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def write_text(path: Path, text: str, *, mode: int = 0o644) -> None:
    """Write a file, whole or not at all.

    Raises:
        StorageError: the folder can't be written, or the disk is full.
    """
    from seatrial.errors import StorageError

    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise StorageError(f"it can't be written ({(error.strerror or str(error)).lower()})", where=str(path)) from None


def write_secret(path: Path, text: str) -> None:
    """Write a secret: the folder 0700, the file 0600 from its first moment on."""
    if not path.parent.exists():
        path.parent.mkdir(parents=True, mode=0o700)
    write_text(path, text, mode=0o600)
