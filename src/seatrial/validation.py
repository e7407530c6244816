"""Turns what pydantic has to say about a file into sentences: line, key, what is wrong, the nearest spelling."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

from seatrial.errors import InputError

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

    from seatrial.yaml_text import YamlText


def as_input_error(error: ValidationError, document: YamlText, root: type) -> InputError:
    """Make one error of all mistakes, each on a line of its own.

    Args:
        error: what pydantic found.
        document: what it looked at, for the lines.
        root: the class that the document should be: a pydantic model or a dataclass.
    """
    return joined([_mistake(detail, document, root) for detail in error.errors(include_url=False)])


def joined(errors: Sequence[InputError]) -> InputError:
    """Make one error of several, each on a line of its own."""
    first, *rest = errors
    more = "".join(f"\n{mistake}" for mistake in rest)
    return InputError(first.problem, where=first.where, advice=(first.advice or "") + more or None)


def unknown_keys(document: YamlText, root: type) -> list[InputError]:
    """List the keys of a document that a dataclass has no fields for: pydantic passes over those of dataclasses."""
    return list(_unknown(document.value, (), document, root))


def _unknown(value: Any, path: tuple[str | int, ...], document: YamlText, root: type) -> Iterator[InputError]:
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _unknown(item, (*path, index), document, root)
    part = _part_at(root, path)
    if not isinstance(value, dict) or part is None:
        return
    for key, item in value.items():
        if key in _fields(part):
            yield from _unknown(item, (*path, key), document, root)
        else:
            yield _unknown_key((*path, key), document, root)


def _unknown_key(path: tuple[str | int, ...], document: YamlText, root: type) -> InputError:
    known = _keys_at(root, path[:-1])
    nearest = difflib.get_close_matches(str(path[-1]), known, n=1, cutoff=0.5)
    advice = f"Did you mean `{nearest[0]}`?" if nearest else f"Known here: {', '.join(known)}."
    return InputError(f"the key `{_dotted(path)}` is unknown", where=document.place(path), advice=advice)


def _mistake(detail: ErrorDetails, document: YamlText, root: type) -> InputError:
    """Turn one of pydantic's errors into a sentence with its line and the nearest right spelling."""
    path = tuple(part for part in detail["loc"] if not (isinstance(part, str) and part.startswith("function-")))
    where = document.place(path)
    key = _dotted(path)
    kind = detail["type"]
    if kind == "extra_forbidden":
        return _unknown_key(path, document, root)
    if kind == "missing":
        return InputError(f"the key `{key}` is missing", where=where, advice=_description(root, path))
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
            advice=_description(root, path),
        )
    if kind in ("model_type", "dict_type", "dataclass_type"):
        return InputError(f"`{key}` must be a mapping, not {_shown(detail['input'])}", where=where)
    message = detail["msg"].removeprefix("Input should be ")
    verb = "must be" if detail["msg"].startswith("Input should be") else "is wrong:"
    return InputError(
        f"`{key}` {verb} {message}, not {_shown(detail['input'])}", where=where, advice=_description(root, path)
    )


def _dotted(path: Sequence[str | int]) -> str:
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text or "the stack"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


def _keys_at(root: type, path: Sequence[str | int]) -> list[str]:
    part = _part_at(root, path)
    return list(_fields(part)) if part else []


def _description(root: type, path: Sequence[str | int]) -> str | None:
    part = _part_at(root, path[:-1])
    field = getattr(part, "model_fields", {}).get(str(path[-1])) if part and path else None
    return field.description if field and field.description else None


def _part_at(root: type, path: Sequence[str | int]) -> type | None:
    """Find the class that a path leads to."""
    part = root
    for step in path:
        if isinstance(step, int):
            continue
        inner = [item for item in _classes(_fields(part).get(step)) if _fields(item)]
        if not inner:
            return None
        part = inner[0]
    return part


def _fields(part: type) -> Mapping[str, Any]:
    """Name the fields of a pydantic model or a dataclass, each with its type."""
    fields = getattr(part, "model_fields", None)
    if isinstance(fields, dict):
        return {name: field.annotation for name, field in fields.items()}
    return get_type_hints(part) if dataclasses.is_dataclass(part) else {}


def _classes(annotation: Any) -> list[type]:
    if isinstance(annotation, type) and not get_args(annotation):
        return [annotation]
    return [found for inner in get_args(annotation) for found in _classes(inner)]
