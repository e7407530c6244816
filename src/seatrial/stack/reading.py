"""Reads a stack file: text → `Stack`, or one clear line for everything that is wrong."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from seatrial.errors import InputError
from seatrial.stack.model import Stack
from seatrial.text_files import read_text
from seatrial.validation import as_input_error
from seatrial.yaml_text import read_yaml


def load_stack(path: Path) -> Stack:
    """Read the stack file at `path`.

    Raises:
        InputError: it can't be read, or something in it is wrong.
    """
    return parse_stack(read_text(path, "stack file"), where=str(path))


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
