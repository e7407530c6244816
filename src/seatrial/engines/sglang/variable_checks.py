"""Findings about environment variables: SGLang never complains about one that it does not know. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from seatrial.engines.sglang.catalogue import Catalogue, Variable
from seatrial.engines.sglang.quoting import is_json
from seatrial.findings import Finding, Level

BOOLEANS: Mapping[str, bool] = {
    **dict.fromkeys(("true", "1", "yes", "y"), True),
    **dict.fromkeys(("false", "0", "no", "n"), False),
}
"""What EnvBool of 0.5.16 reads, in any case (`environ.py:125`); for any other word it warns and takes its default."""
TYPES = {"bool": "true or false", "int": "a whole number", "float": "a number", "json": "JSON"}
PREFIXES = ("SGLANG_", "SGL_")


def check_variable(name: str, value: str | None, catalogue: Catalogue, where: str | None = None) -> Iterator[Finding]:
    """Check one environment variable; those of other programs are no concern here."""
    found = catalogue.find(name)
    if not isinstance(found, Variable):
        if name.startswith(PREFIXES):
            yield _unknown(name, catalogue, where)
        return
    if found.deprecated:
        yield Finding(
            Level.WARNING,
            "deprecated-variable",
            f"{name} is deprecated in SGLang {catalogue.version}",
            f"Use {' and '.join(found.instead)}." if found.instead else "Take it out.",
            name,
            where,
        )
    if value is not None:
        yield from _value(found, value, where)


def _unknown(name: str, catalogue: Catalogue, where: str | None) -> Finding:
    renamed = f"SGLANG_{name.removeprefix('SGL_')}" if name.startswith("SGL_") else ""
    if catalogue.find(renamed) is not None:
        return Finding(
            Level.WARNING,
            "deprecated-variable",
            f"{name} is an old name: SGLang takes its value for {renamed}, and warns",
            f"Use {renamed}.",
            name,
            where,
        )
    nearest = catalogue.nearest(name)
    return Finding(
        Level.WARNING,
        "unknown-variable",
        f"SGLang {catalogue.version} does not know {name}, and does not say so: it has no effect",
        f"Did you mean {nearest}?" if nearest else "Remove it.",
        name,
        where,
    )


def _value(variable: Variable, value: str, where: str | None) -> Iterator[Finding]:
    name = variable.name
    if variable.choices and value not in variable.choices:
        fallback = variable.default or "its default"
        yield Finding(
            Level.ERROR,
            "bad-choice",
            f"{name} can't be {value!r}: the engine silently takes {fallback} instead",
            f"It can be {', '.join(map(str, variable.choices))}.",
            name,
            where,
        )
    elif not _fits(variable.type, value):
        yield Finding(
            Level.ERROR,
            "wrong-type",
            f"{name} takes {TYPES.get(variable.type, variable.type)}, and {value!r} is set",
            "Correct it; the engine goes on with its default.",
            name,
            where,
        )
    elif variable.default is not None and _same(variable, value):
        yield Finding(
            Level.NOTE,
            "no-op",
            f"{name}={value} changes nothing: that is the default",
            "Keep it if you want it stated.",
            name,
            where,
        )


def _fits(kind: str, value: str) -> bool:
    try:
        if kind == "int":
            int(value)
        elif kind == "float":
            float(value)
    except ValueError:
        return False
    if kind == "json":
        return not value or is_json(value) or "/" in value  # a file is read instead
    return kind != "bool" or value.lower() in BOOLEANS


def _same(variable: Variable, value: str) -> bool:
    if variable.type == "bool":
        return BOOLEANS[value.lower()] is bool(variable.default)
    if variable.type in ("int", "float"):
        return float(value) == float(variable.default)
    return str(variable.default) == value
