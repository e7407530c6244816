"""Reads and writes small files: one clear line where one can't be read; whole or not at all where one is written."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from seatrial.errors import InputError, StorageError

LARGEST_BYTES = 1_048_576
"""A longer file is no stack file."""


def read_text(path: Path, kind: str) -> str:
    """Read a configuration file's text.

    Raises:
        InputError: it is missing, unreadable, too long, or no UTF-8.
    """
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_BYTES + 1)
    except OSError as error:
        advice = (
            "`seatrial init` writes a stack file." if kind == "stack file" else "Check the name and the permissions."
        )
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"the {kind} can't be read ({reason})", where=str(path), advice=advice) from None
    except ValueError as error:
        raise InputError(f"this is no file name ({error})", where=repr(str(path))) from None
    if len(data) > LARGEST_BYTES:
        raise InputError(f"it is longer than a {kind} can be (1 MiB)", where=str(path))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"it is no UTF-8 text (byte {error.start})", where=str(path)) from None


def write_whole(path: Path, text: str, *, mode: int = 0o644) -> None:
    """Write a file beside its place, then rename it; its folder is made where it is missing.

    Raises:
        StorageError: the folder can't be written, or the disk is full.
    """
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
    """Write a secret: its folder 0700 where it is new, the file 0600 from its first moment on.

    Raises:
        StorageError: the folder can't be written, or the disk is full.
    """
    if not path.parent.exists():
        path.parent.mkdir(parents=True, mode=0o700)
    write_whole(path, text, mode=0o600)
