"""Fills in `$NAME`, `${NAME:-default}` and the like, as Docker Compose does in every text of its file. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

VARIABLE = re.compile(
    r"\$(?:(?P<escaped>\$)|(?P<plain>[A-Za-z_][A-Za-z0-9_]*)"
    r"|\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?:(?P<operator>:?[-?+])(?P<rest>[^{}]*(?:\{[^{}]*\}[^{}]*)*))?\})"
)


def interpolate(value: Any, variables: Mapping[str, str], unset: set[str]) -> Any:
    """Fill in variables in every text of a value; names without a value go into `unset` and become empty."""
    if isinstance(value, str):
        return _text(value, variables, unset)
    if isinstance(value, list):
        return [interpolate(item, variables, unset) for item in value]
    if isinstance(value, dict):
        return {key: interpolate(item, variables, unset) for key, item in value.items()}
    return value


def _text(text: str, variables: Mapping[str, str], unset: set[str]) -> str:
    def fill(found: re.Match[str]) -> str:
        if found["escaped"]:
            return "$"
        name = found["plain"] or found["name"]
        value = variables.get(name)
        operator, rest = found["operator"] or "", found["rest"] or ""
        empty_counts = operator.startswith(":")
        is_set = value is not None and not (empty_counts and value == "")
        if operator.endswith("+"):
            return _text(rest, variables, unset) if is_set else ""
        if is_set:
            return value or ""
        if operator.endswith("-"):
            return _text(rest, variables, unset)
        unset.add(name)
        return ""

    return VARIABLE.sub(fill, text) if "$" in text else text


def parse_env_file(text: str) -> dict[str, str]:
    """Read the lines `NAME=value` of an env file; comments, quotes and `export` as Compose takes them."""
    variables: dict[str, str] = {}
    for line in text.splitlines():
        stripped = line.strip().removeprefix("export ").lstrip()
        if not stripped or stripped.startswith("#"):
            continue
        name, equals, value = stripped.partition("=")
        if not equals:
            continue
        value = value.strip()
        if len(value) >= 2 and value[0] in "\"'" and value[-1] == value[0]:
            value = value[1:-1]
        else:
            value = re.sub(r"\s+#.*\Z", "", value)
        variables[name.strip()] = value
    return variables
