"""Reads small files that people write: one clear line where one can't be read."""

from __future__ import annotations

from pathlib import Path

from seatrial.errors import InputError

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
