"""Reads a stack file: text → `Stack`, or one clear line for everything that is wrong."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from pydantic import BaseModel, ValidationError

from seatrial.errors import InputError
from seatrial.stack.model import Stack
from seatrial.yaml_text import YamlText, read_yaml

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

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
        first, *rest = (_mistake(detail, document) for detail in error.errors(include_url=False))
        more = "".join(f"\n{mistake}" for mistake in rest)
        raise InputError(first.problem, where=first.where, advice=(first.advice or "") + more or None) from None


def _mistake(detail: ErrorDetails, document: YamlText) -> InputError:
    """Turn one of pydantic's errors into a sentence with its line and the nearest right spelling."""
    path = tuple(part for part in detail["loc"] if not (isinstance(part, str) and part.startswith("function-")))
    where = document.place(path)
    key = _dotted(path)
    kind = detail["type"]
    if kind == "extra_forbidden":
        known = _keys_at(path[:-1])
        nearest = difflib.get_close_matches(str(path[-1]), known, n=1, cutoff=0.5)
        advice = f"Did you mean `{nearest[0]}`?" if nearest else f"Known here: {', '.join(known)}."
        return InputError(f"the key `{key}` is unknown", where=where, advice=advice)
    if kind == "missing":
        return InputError(f"the key `{key}` is missing", where=where, advice=_description(path))
    if kind == "literal_error":
        expected = str(detail.get("ctx", {}).get("expected", ""))
        choices = [choice.strip(" '") for choice in expected.replace(" or ", ", ").split(",")]
        nearest = difflib.get_close_matches(str(detail["input"]), choices, n=1, cutoff=0.5)
        advice = f"Did you mean `{nearest[0]}`?" if nearest else ""
        return InputError(f"`{key}` must be {expected}, not {_shown(detail['input'])}", where=where, advice=advice)
    if kind == "value_error":
        return InputError(f"`{key}`: {detail['msg'].removeprefix('Value error, ')}", where=where)
    if kind == "string_pattern_mismatch":
        return InputError(
            f"`{key}` is {_shown(detail['input'])}, which does not have the form {detail['ctx']['pattern']}",
            where=where,
            advice=_description(path),
        )
    if kind in ("model_type", "dict_type"):
        return InputError(f"`{key}` must be a mapping, not {_shown(detail['input'])}", where=where)
    message = detail["msg"].removeprefix("Input should be ")
    verb = "must be" if detail["msg"].startswith("Input should be") else "is wrong:"
    return InputError(
        f"`{key}` {verb} {message}, not {_shown(detail['input'])}", where=where, advice=_description(path)
    )


def _dotted(path: Sequence[str | int]) -> str:
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text or "the stack"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


def _part_at(path: Sequence[str | int]) -> type[BaseModel] | None:
    """Find the model class that a path leads to."""
    part: type[BaseModel] = Stack
    for step in path:
        if isinstance(step, int):
            continue
        field = part.model_fields.get(step)
        inner = [item for item in _classes(field.annotation) if issubclass(item, BaseModel)] if field else []
        if not inner:
            return None
        part = inner[0]
    return part


def _classes(annotation: Any) -> list[type]:
    if isinstance(annotation, type) and not get_args(annotation):
        return [annotation]
    return [found for inner in get_args(annotation) for found in _classes(inner)]


def _keys_at(path: Sequence[str | int]) -> list[str]:
    part = _part_at(path)
    return list(part.model_fields) if part else []


def _description(path: Sequence[str | int]) -> str | None:
    part = _part_at(path[:-1])
    field = part.model_fields.get(str(path[-1])) if part and path else None
    return field.description if field and field.description else None
