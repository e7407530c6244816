"""Writes plain values as YAML that every reader takes for the same: text is quoted wherever it must be. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from seatrial.yaml_text import plain

BARE = re.compile(r"(?!---|\.\.\.)(-{0,2}[A-Za-z0-9_./+])[A-Za-z0-9_./@:+=-]*\Z")
BOOLEANS_ELSEWHERE = frozenset({"yes", "no", "on", "off", "y", "n"})
"""YAML 1.1 readers take these for booleans, so they are quoted."""
PROSE = re.compile(r"[A-Za-z(][A-Za-z0-9_ ,;.()/'+=%-]*[A-Za-z0-9_.)]")


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
