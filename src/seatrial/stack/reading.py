"""Reads a stack file: text → `Stack`, or one clear line for everything that is wrong."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from seatrial.errors import InputError
from seatrial.stack.model import Stack
from seatrial.validation import as_input_error
from seatrial.yaml_text import read_yaml

LARGEST_BYTES = 1_048_576
"""A longer file is no stack file."""


def load_stack(path: Path) -> Stack:
    """Read the stack file at `path`.

    Raises:
        InputError: it can't be read, or something in it is wrong.
    """
    return parse_stack(read_text(path, "stack file"), where=str(path))


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


def parse_stack(text: str, *, where: str) -> Stack:
    """Read a stack from its text.

    Raises:
        InputError: with every mistake on a line of its own: file, line, key, what is wrong, and the nearest spelling.
    """
    document = read_yaml(text, where=where)
    if not isinstance(document.value, dict):
        raise InputError(
            "a stack file is a mapping with at least `name` and `model`",
            where=document.place(),
            advice="`seatrial init` writes one to begin with.",
        )
    try:
        return Stack.model_validate(document.value)
    except ValidationError as error:
        raise as_input_error(error, document, Stack) from None
