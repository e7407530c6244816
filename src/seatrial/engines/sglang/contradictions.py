"""Finds settings that do not go together; which do not is data (`flags/contradictions.yaml`). Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Any

from seatrial.engines.sglang.flag_values import Value
from seatrial.engines.versions import in_range
from seatrial.findings import Finding, Level
from seatrial.yaml_text import read_yaml

TESTS: Mapping[str, Callable[[Value, Any, Mapping[str, Value]], bool]] = {
    "above": lambda value, wanted, _values: _number(value) is not None and float(str(value)) > wanted,
    "is_not": lambda value, wanted, _values: str(value) != str(wanted),
    "same_as": lambda value, wanted, values: wanted in values and str(values[wanted]) == str(value),
    "not_multiple_of": lambda value, wanted, values: _not_multiple(value, values.get(wanted)),
}
"""What may be asked of a value beside being equal: a number, or another setting by name."""


def contradictions(
    values: Mapping[str, Value], version: str, places: Mapping[str, str | None] | None = None
) -> Iterator[Finding]:
    """Find flags and variables that do not go together.

    Args:
        values: what is set, by canonical name.
        version: of the engine.
        places: the file and line of each.
    """
    for row in rows():
        if not in_range(version, row.get("versions", "")):
            continue
        if any(_is(values, name, wanted) for name, wanted in row.get("unless", {}).items()):
            continue
        if all(_is(values, name, wanted) for name, wanted in row["when"].items()):
            first = next(iter(row["when"]))
            yield Finding(
                Level(row["level"]), row["id"], row["message"], row["advice"], first, (places or {}).get(first)
            )


@cache
def rows() -> tuple[Mapping[str, Any], ...]:
    """Load what does not go together."""
    file = resources.files(__package__).joinpath("flags", "contradictions.yaml")
    return tuple(read_yaml(file.read_text(encoding="utf-8"), where="contradictions.yaml").value)


def _is(values: Mapping[str, Value], name: str, wanted: Any) -> bool:
    """Whether a setting is there and is what a row asks for: true means given at all."""
    if name not in values:
        return False
    value = values[name]
    if wanted is True:
        return value is not False
    if isinstance(wanted, Mapping):
        return all(TESTS[test](value, operand, values) for test, operand in wanted.items())
    if isinstance(wanted, bool) or isinstance(value, bool):
        return wanted is value
    number = _number(value)
    return number == wanted if isinstance(wanted, int | float) and number is not None else str(value) == str(wanted)


def _number(value: Value | None) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _not_multiple(value: Value, of: Value | None) -> bool:
    """Whether a whole number is no multiple of another; what is not above zero switches things off instead."""
    if not isinstance(value, int) or not isinstance(of, int) or value <= 0 or of <= 0:
        return False
    return value % of != 0
