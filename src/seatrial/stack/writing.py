"""Writes a stack file that a person wants to edit: each key with a comment, what is not set commented out. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from seatrial.stack.model import Override, Stack
from seatrial.yaml_text import plain

BARE = re.compile(r"(?!---|\.\.\.)(-{0,2}[A-Za-z0-9_./+])[A-Za-z0-9_./@:+=-]*\Z")
BOOLEANS_ELSEWHERE = frozenset({"yes", "no", "on", "off", "y", "n"})
"""YAML 1.1 readers take these for booleans, so they are quoted."""
PROSE = re.compile(r"[A-Za-z(][A-Za-z0-9_ ,;.()/'+=%-]*[A-Za-z0-9_.)]")
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


def block(value: Any, depth: int) -> list[str]:
    """Write a mapping or a list as indented lines."""
    indent = "  " * depth
    if isinstance(value, Mapping):
        lines = []
        for key, item in value.items():
            if isinstance(item, list) and item and all(isinstance(number, int | float) for number in item):
                lines.append(f"{indent}{scalar(str(key))}: [{', '.join(map(scalar, item))}]")
            elif isinstance(item, Mapping | list) and item:
                lines += [f"{indent}{scalar(str(key))}:", *block(item, depth + 1)]
            else:
                lines.append(f"{indent}{scalar(str(key))}: {scalar(item)}")
        return lines
    lines = []
    for item in value:
        if isinstance(item, Mapping | list) and item:
            first, *rest = block(item, depth + 1)
            lines += [f"{indent}- {first.lstrip()}", *rest]
        else:
            lines.append(f"{indent}- {scalar(item)}")
    return lines


def scalar(value: Any) -> str:
    """Write one value so that it is read back as the same: text is quoted only where it must be."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, Mapping | Sequence) and not isinstance(value, str):
        return "{}" if isinstance(value, Mapping) else "[]"
    if isinstance(value, int | float):
        return repr(value) if math.isfinite(value) else _special(value)
    text = str(value)
    if plain(text) == text and isinstance(plain(text), str) and text.lower() not in BOOLEANS_ELSEWHERE:
        bare = BARE.match(text) and not text.endswith(":")
        if bare or PROSE.fullmatch(text):
            return text
    return quoted(text)


def quoted(text: str) -> str:
    """Write text in double quotes; what can't be printed is escaped as YAML has it."""
    escapes = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
    return '"' + "".join(escapes.get(sign) or (sign if sign.isprintable() else _escaped(sign)) for sign in text) + '"'


def _escaped(sign: str) -> str:
    code = ord(sign)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _special(value: float) -> str:
    return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"


def _commented(line: str, description: str | None) -> str:
    if not description:
        return line
    return f"{line:<{COMMENT_COLUMN}}  # {description}" if len(line) < WIDTH else line


def _comment(line: str) -> str:
    text = line.strip()
    return text if text.startswith("#") else f"# {text}".rstrip()
