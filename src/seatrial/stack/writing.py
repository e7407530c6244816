"""Writes a stack file that a person wants to edit: each key with a comment, what is not set commented out. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pydantic import BaseModel

from seatrial.stack.model import Override, Stack
from seatrial.yaml_writing import block, scalar

COMMENT_COLUMN = 44
WIDTH = 120

ALWAYS = {
    "name",
    "engine",
    "image",
    "model",
    "repo",
    "served_name",
    "serve",
    "host",
    "port",
    "context_length",
    "tensor_parallel",
    "store",
    "policy",
    "over_long_input",
    "prove",
    "debug",
}
"""Keys that are written even where they hold their default: what a reader looks for first."""


def write_stack(stack: Stack, *, head: Iterable[str] = (), tail: Iterable[str] = ()) -> str:
    """Write a stack as commented YAML; `parse_stack` of the text gives the same stack.

    Args:
        stack: what to write.
        head: lines of comment before it.
        tail: lines of comment after it.
    """
    lines = ["# yaml-language-server: $schema=stack.schema.json", *map(_comment, head), *_part(stack, 0)]
    rest = list(map(_comment, tail))
    return "\n".join([*lines, *(["", *rest] if rest else []), ""])


def _part(part: BaseModel, depth: int) -> list[str]:
    lines: list[str] = []
    indent = "  " * depth
    for name, field in type(part).model_fields.items():
        value = getattr(part, name)
        default = field.get_default(call_default_factory=True)
        if value == default and name not in ALWAYS:
            continue
        if value is None:
            lines.append(_commented(f"{indent}# {name}:", field.description))
        elif isinstance(value, BaseModel):
            lines += [f"{indent}{name}:", *_part(value, depth + 1)]
        elif name == "settings":
            lines += [f"{indent}{name}:", *(line for override in value for line in _override(override, depth + 1))]
        elif isinstance(value, Mapping | list):
            lines += [f"{indent}{name}:", *block(value, depth + 1)] if value else [f"{indent}{name}: {{}}"]
        else:
            lines.append(_commented(f"{indent}{name}: {scalar(value)}", field.description))
    return lines


def _override(override: Override, depth: int) -> list[str]:
    indent = "  " * depth
    kind = "flag" if override.flag else "variable"
    lines = [f"{indent}- {kind}: {scalar(override.name)}"]
    if override.omit:
        lines.append(f"{indent}  omit: true")
    elif override.value is not True:
        if isinstance(override.value, Mapping | list) and override.value:
            lines += [f"{indent}  value:", *block(override.value, depth + 2)]
        else:
            lines.append(f"{indent}  value: {scalar(override.value)}")
    lines.append(f"{indent}  why: {scalar(override.why)}")
    return lines


def _commented(line: str, description: str | None) -> str:
    if not description:
        return line
    return f"{line:<{COMMENT_COLUMN}}  # {description}" if len(line) < WIDTH else line


def _comment(line: str) -> str:
    text = line.strip()
    return text if text.startswith("#") else f"# {text}".rstrip()
