"""The flags and environment variables of one SGLang version, as its own argument parser knows them.

The data (`flags/*.json`) is written by `scripts/sglang_flags.py`, which asks an installed SGLang; what each one does is
in `flags/help.yaml`, in our words. Loading makes no object before one is asked for.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from packaging.version import Version

from seatrial.engines.versions import parse_version

FOLDER = "flags"
CLOSE = 0.6
"""Similarity from which another spelling is worth proposing (difflib's own default)."""

Scalar = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Flag:
    """One flag.

    Attributes:
        name: canonical, SGLang's first long spelling.
        type: bool (takes no value), int, float, size (an int, or `256k`), json, text.
        aliases: other spellings.
        negation: the spelling that switches it off, if it has one.
        many: it takes several values.
        choices: what it may be; empty for anything.
        required: the engine does not start without it.
        default: what it is where it is not given; None where the engine decides, or has none.
        deprecated: it still works, and will go.
        instead: what takes its place.
        optional: it may stand without a value.
        sets: the flag that a deprecated one writes into; None where it has a field of its own.
        sets_to: what it writes there, where that is always the same.
        config_file: whether a file given with `--config` may name it.
    """

    name: str
    type: str
    aliases: tuple[str, ...] = ()
    negation: str | None = None
    many: bool = False
    choices: tuple[Scalar, ...] = ()
    required: bool = False
    default: Any = None
    deprecated: bool = False
    instead: tuple[str, ...] = ()
    optional: bool = False
    sets: str | None = None
    sets_to: Scalar | None = None
    config_file: bool = True

    @property
    def takes_value(self) -> bool:
        """Whether a value follows it."""
        return self.type != "bool"


@dataclass(frozen=True, slots=True)
class Variable:
    """One environment variable.

    Attributes:
        name: its name.
        type: bool, int, float, json, list (with commas), text.
        default: what it is where it is not set.
        choices: what it may be, where the engine takes only some values.
        deprecated: the engine warns of it.
        instead: what takes its place.
    """

    name: str
    type: str
    default: Any = None
    choices: tuple[Scalar, ...] = ()
    deprecated: bool = False
    instead: tuple[str, ...] = ()


class Catalogue:
    """All flags and variables of one version."""

    def __init__(self, version: str, wanted: str, document: Mapping[str, Any]) -> None:
        self.version = version
        """Whose flags these are."""
        self.wanted = wanted
        """Which version was asked for; empty where nobody knows."""
        self._rows: dict[str, Mapping[str, Any]] = {row["name"]: row for row in document["flags"]}
        self._variables: dict[str, Mapping[str, Any]] = {row["name"]: row for row in document["variables"]}
        self._spellings = {name: name for name in self._rows}
        for name, row in self._rows.items():
            for spelling in (*row.get("aliases", ()), *([row["negation"]] if "negation" in row else ())):
                self._spellings[spelling] = name

    @property
    def exact(self) -> bool:
        """Whether these are the flags of the very version that was asked for."""
        return self.version == self.wanted

    def find(self, name: str) -> Flag | Variable | None:
        """Find a flag by any full spelling, or a variable by its name."""
        if name in self._variables:
            row = self._variables[name]
            return Variable(
                name,
                row["type"],
                row.get("default"),
                VARIABLE_CHOICES.get(name, ()),
                row.get("deprecated", False),
                tuple(row.get("instead", ())),
            )
        flag = self._spellings.get(name)
        return _flag(self._rows[flag]) if flag else None

    def flag(self, name: str) -> Flag | None:
        """Find a flag by any full spelling."""
        found = self.find(name)
        return found if isinstance(found, Flag) else None

    def starting_with(self, prefix: str) -> tuple[str, ...]:
        """List the spellings that a prefix may stand for: argparse takes a prefix that fits only one."""
        return tuple(sorted(spelling for spelling in self._spellings if spelling.startswith(prefix)))

    def nearest(self, name: str) -> str | None:
        """Find the spelling that resembles a wrong one most."""
        known = self._variables if not name.startswith("-") else self._spellings
        name = name if not name.startswith("-") else f"--{name.lstrip('-').replace('_', '-').lower()}"
        if name in known:
            return name
        found = difflib.get_close_matches(name, known, n=1, cutoff=CLOSE)
        return found[0] if found else None

    def names(self) -> Iterator[str]:
        """List every canonical flag and every variable."""
        yield from self._rows
        yield from self._variables


VARIABLE_CHOICES: Mapping[str, tuple[str, ...]] = {
    "SGLANG_MAMBA_CONV_DTYPE": ("float32", "bfloat16", "float16"),
    "SGLANG_MAMBA_SSM_DTYPE": ("float32", "bfloat16", "float16"),
}
"""Values that the engine takes for a variable; any other is silently its default (0.5.16, `configs/mamba_utils.py`)."""


def versions() -> tuple[str, ...]:
    """List the versions whose flags are known, the oldest first."""
    names = (entry.name for entry in resources.files(__package__).joinpath(FOLDER).iterdir())
    found = [name.removesuffix(".json") for name in names if name.endswith(".json") and name[0].isdigit()]
    return tuple(sorted(found, key=lambda version: parse_version(version) or Version("0")))


@cache
def load(wanted: str = "") -> Catalogue:
    """Load the flags of a version; where it is not known, those of the nearest older one, else of the oldest.

    Args:
        wanted: e.g. `0.5.16`; empty or no version at all (`nightly`): the newest that is known.
    """
    known = versions()
    version = wanted if wanted in known else _closest(wanted, known)
    file = resources.files(__package__).joinpath(FOLDER, f"{version}.json")
    return Catalogue(version, wanted, json.loads(file.read_text(encoding="utf-8")))


def _closest(wanted: str, known: tuple[str, ...]) -> str:
    asked = parse_version(wanted)
    if asked is None:
        return known[-1]
    older = [version for version in known if (parsed := parse_version(version)) and parsed <= asked]
    return older[-1] if older else known[0]


@cache
def help_texts() -> Mapping[str, str]:
    """Load what each flag and variable does, in one sentence each."""
    from seatrial.yaml_text import read_yaml  # noqa: PLC0415 - only `explain` needs it

    file = resources.files(__package__).joinpath(FOLDER, "help.yaml")
    return read_yaml(file.read_text(encoding="utf-8"), where="help.yaml").value or {}


def _flag(row: Mapping[str, Any]) -> Flag:
    return Flag(
        row["name"],
        row["type"],
        tuple(row.get("aliases", ())),
        row.get("negation"),
        row.get("many", False),
        tuple(row.get("choices", ())),
        row.get("required", False),
        row.get("default"),
        row.get("deprecated", False),
        tuple(row.get("instead", ())),
        row.get("optional", False),
        row.get("sets"),
        row.get("sets_to"),
        row.get("config_file", True),
    )
