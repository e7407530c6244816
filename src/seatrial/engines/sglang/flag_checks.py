"""Findings about single flags and their values; what goes wrong between several is in `contradictions`. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Any

from seatrial.engines.sglang.catalogue import Catalogue, Flag, Variable, load, versions
from seatrial.engines.sglang.command_line import CONFIG, HELP, CommandLine, GivenFlag
from seatrial.engines.sglang.contradictions import contradictions
from seatrial.engines.sglang.flag_values import Value, one_of
from seatrial.engines.sglang.quoting import about_stray, about_value, has_typographic_dash, is_json, typographic_dash
from seatrial.engines.sglang.variable_checks import check_variable
from seatrial.findings import Finding, Level
from seatrial.yaml_text import read_yaml

Where = Callable[[int], str | None]
"""Names the file and line of a word of the command."""

DECIMAL_SIZE = re.compile(r"\d+k\Z")
WANTED = {"int": "a whole number", "float": "a number", "size": "a whole number, or one like 256Ki", "json": "JSON"}

FALLBACKS: Mapping[str, float] = {
    "--mamba-full-memory-ratio": 0.9,
    "--hicache-ratio": 2.0,
    "--swa-full-tokens-ratio": 0.8,
}
"""0.5.23 leaves these unset and falls back to the same numbers that 0.5.16 has as defaults."""


def check_command(
    command: CommandLine,
    variables: Mapping[str, str | None],
    catalogue: Catalogue,
    where: Where = lambda _position: None,
) -> list[Finding]:
    """Check a command line and the environment variables beside it."""
    findings = [finding for given in command.flags for finding in _given(given, catalogue, where(given.position))]
    findings += [about_stray(word, where(position), catalogue) for position, word in command.stray]
    findings += _repeated(command, where)
    findings += [finding for name, value in variables.items() for finding in check_variable(name, value, catalogue)]
    values = {**{name: value for name, value in variables.items() if value is not None}, **command.values}
    places = {given.sets[0]: where(given.position) for given in command.flags}
    return findings + list(contradictions(values, catalogue.version, places))


def check_values(values: Mapping[str, Value], catalogue: Catalogue) -> list[Finding]:
    """Check settings by name and value, as a stack file has them."""
    findings: list[Finding] = []
    for name, value in values.items():
        found = catalogue.find(name)
        if isinstance(found, Variable) or not name.startswith("-"):
            findings += check_variable(name, str(value), catalogue)
        elif found is None:
            findings.append(unknown(name, catalogue))
        else:
            findings += _value(found, value, None)
            findings += _age(found, catalogue, None)
    return findings + list(contradictions(values, catalogue.version))


def check_config(document: Mapping[str, Any], catalogue: Catalogue, where: str | None = None) -> list[Finding]:
    """Check the keys of a file that `--config` names; their values are checked as flags are.

    SGLang (0.5.16, `server_args_config_parser.py`) makes a flag of each key as it is written, and refuses keys of flags
    that do more than store a value.
    """
    findings = []
    for key in document:
        name = f"--{key}"
        flag = catalogue.flag(name.replace("_", "-"))
        if flag is not None and not flag.config_file:
            message = f"a config file can't hold {key}: the engine ends at once"
            advice = (
                f"Use {' and '.join(flag.instead)} there." if flag.instead else f"Give {flag.name} on the command line."
            )
            findings.append(Finding(Level.ERROR, "config-key-refused", message, advice, flag.name, where))
        elif flag is not None and catalogue.flag(name) is None:
            message = f"the key {key} becomes the flag {name}, which the engine does not know: it ends at once"
            findings.append(
                Finding(Level.ERROR, "unknown-flag", message, f"Write {flag.name[2:]} with hyphens.", flag.name, where)
            )
    return findings


def unknown(name: str, catalogue: Catalogue, where: str | None = None) -> Finding:
    """Say that the engine does not know a flag: it was removed, is newer, or is misspelt."""
    level, hedge = Level.ERROR, "; the engine ends at once"
    if not catalogue.exact:  # the flags of a neighbouring version are held against it
        level, hedge = Level.WARNING, f"; whether {catalogue.wanted or 'this version'} has it is not known here"
    for version in versions():
        other = load(version).flag(name)
        if version == catalogue.version or other is None:
            continue
        older = versions().index(version) < versions().index(catalogue.version)
        verb = "was removed" if older else "came later"
        what = f" Use {' and '.join(other.instead)}." if other.instead else ""
        return Finding(
            level,
            "removed-flag" if older else "newer-flag",
            f"SGLang {catalogue.version} has no {name}: it {verb} ({version} has it){hedge}",
            f"Take it out.{what}",
            name,
            where,
        )
    nearest = catalogue.nearest(name)
    return Finding(
        Level.ERROR,
        "unknown-flag",
        f"SGLang {catalogue.version} does not know {name}, and ends at once with a usage message",
        f"Did you mean {nearest}?" if nearest else "Take it out.",
        name,
        where,
    )


def _given(given: GivenFlag, catalogue: Catalogue, where: str | None) -> Iterator[Finding]:
    if has_typographic_dash(given.spelled):
        yield typographic_dash(given.spelled, catalogue, where)
        return
    flag = given.flag
    if flag is None:
        yield _not_understood(given, catalogue, where)
        return
    if flag is HELP:
        message = f"{given.spelled} makes the engine print its flags and end"
        yield Finding(Level.ERROR, "help-asked", message, "Take it out.", HELP.name, where)
        return
    if given.abbreviated:
        yield Finding(
            Level.WARNING,
            "abbreviated-flag",
            f"{given.spelled} stands for {flag.name} only while no other flag begins so; a later version may have one",
            f"Write {flag.name}.",
            flag.name,
            where,
        )
    yield from _age(flag, catalogue, where)
    if flag.name == CONFIG and (given.attached or given.abbreviated):
        message = "the engine reads the file only where --config stands alone, followed by the file; here it is ignored"
        yield Finding(Level.ERROR, "config-not-read", message, "Write --config FILE, in two words.", CONFIG, where)
    if flag.takes_value and not given.words and not flag.optional:
        yield _wrong_type(flag, "nothing", where)
    elif not flag.takes_value and given.words:
        yield Finding(
            Level.ERROR,
            "needless-value",
            f"{flag.name} takes no value, and {given.words[0]!r} is given: the engine ends at once",
            f"Write {flag.name} alone{f', or {flag.negation}' if flag.negation else ''}; to switch it off, omit it.",
            flag.name,
            where,
        )
    else:
        yield from _words(given, flag, where)


def _not_understood(given: GivenFlag, catalogue: Catalogue, where: str | None) -> Finding:
    gone = unknown(given.spelled, catalogue, where)
    if not given.candidates or gone.id != "unknown-flag":  # a flag that was removed may be the beginning of two others
        return gone
    return Finding(
        Level.ERROR,
        "ambiguous-flag",
        f"{given.spelled} may be {', '.join(given.candidates[:4])}: the engine ends at once",
        "Write the whole name.",
        given.spelled,
        where,
    )


def _words(given: GivenFlag, flag: Flag, where: str | None) -> Iterator[Finding]:
    quoting = [finding for word in given.words for finding in about_value(flag, word, where)]
    yield from quoting
    if quoting:
        return
    yield from _value(flag, given.value, where, well_typed=given.well_typed)
    if flag.type == "size" and given.words and DECIMAL_SIZE.match(given.words[0]):
        number = given.words[0][:-1]
        yield Finding(
            Level.WARNING,
            "decimal-size",
            f"{flag.name} {given.words[0]} is {int(number) * 1000:,}, and not {int(number) * 1024:,}",
            f"Write {number}Ki for {int(number) * 1024:,}, or the number itself.",
            flag.name,
            where,
        )


def _value(flag: Flag, value: Value, where: str | None, *, well_typed: bool = True) -> Iterator[Finding]:
    if flag.optional and value is True:
        return  # it stands alone, and means something so
    items = value if isinstance(value, tuple) else (value,)
    if not well_typed or not all(_fits(flag, item) for item in items):
        yield _wrong_type(flag, " ".join(map(str, items)), where)
        return
    if flag.choices:
        wrong = [item for item in items if str(item) not in map(str, flag.choices)]
        if wrong:
            yield _bad_choice(flag, wrong[0], where)
            return
    for item in items:
        if instead := old_values().get(flag.name, {}).get(str(item)):
            message = f"SGLang is giving up {flag.name} {item}"
            yield Finding(Level.WARNING, "deprecated-value", message, f"Use {instead}.", flag.name, where)
    if flag.name == "--served-model-name" and ":" in str(value):
        yield Finding(
            Level.ERROR,
            "colon-in-served-name",
            f"--served-model-name must not hold a colon: {value}",
            "Take another name.",
            flag.name,
            where,
        )
    default = FALLBACKS.get(flag.name) if flag.default is None else flag.default
    if default is not None and _same(default, value):
        yield Finding(
            Level.NOTE,
            "no-op",
            f"{flag.name} {'' if value is True else value} changes nothing: that is the default".replace("  ", " "),
            "Keep it if you want it stated; it fixes nothing.",
            flag.name,
            where,
        )


@cache
def old_values() -> Mapping[str, Mapping[str, str]]:
    """Load the values that are going or gone: by flag and value, what to use instead."""
    file = resources.files(__package__).joinpath("flags", "values.yaml")
    found: Mapping[str, Mapping[str, str]] = read_yaml(file.read_text(encoding="utf-8"), where="values.yaml").value
    return found


def _fits(flag: Flag, value: Any) -> bool:
    """Whether a typed value is of a flag's type."""
    if flag.type == "bool":
        return isinstance(value, bool)
    if isinstance(value, bool):
        return False
    if flag.type in ("int", "size"):
        return isinstance(value, int) or (flag.type == "size" and one_of("size", str(value))[1])
    if flag.type == "float":
        return isinstance(value, int | float) and math.isfinite(value)
    if flag.type == "json":
        return is_json(str(value))
    return True


def _same(default: Any, value: Value) -> bool:
    if isinstance(default, bool) or isinstance(value, bool):
        return default is value
    if isinstance(default, int | float) and isinstance(value, int | float):
        return default == value
    return bool(str(default) == str(value))


def _wrong_type(flag: Flag, found: str, where: str | None) -> Finding:
    what = WANTED.get(flag.type, "no value" if flag.type == "bool" else "a value")
    return Finding(
        Level.ERROR,
        "wrong-type",
        f"{flag.name} takes {what}, and {found!r} is given: the engine ends at once",
        "Correct it.",
        flag.name,
        where,
    )


def _bad_choice(flag: Flag, value: Any, where: str | None) -> Finding:
    import difflib  # noqa: PLC0415 - only a wrong value needs it

    close = difflib.get_close_matches(str(value), [str(choice) for choice in flag.choices], n=1, cutoff=0.5)
    if instead := old_values().get(flag.name, {}).get(str(value)):
        close = [instead]
    shown = ", ".join(map(str, flag.choices[:12])) + (" …" if len(flag.choices) > 12 else "")
    return Finding(
        Level.ERROR,
        "bad-choice",
        f"{flag.name} can't be {value!r}: the engine ends at once",
        f"Did you mean {close[0]}? It can be {shown}." if close else f"It can be {shown}.",
        flag.name,
        where,
    )


def _age(flag: Flag, catalogue: Catalogue, where: str | None) -> Iterator[Finding]:
    if not flag.deprecated:
        return
    gone = [
        version
        for version in versions()[versions().index(catalogue.version) + 1 :]
        if not load(version).flag(flag.name)
    ]
    later = f"; {gone[0]} no longer knows it" if gone else ""
    yield Finding(
        Level.WARNING,
        "deprecated-flag",
        f"{flag.name} is deprecated in SGLang {catalogue.version}{later}",
        f"Use {' and '.join(flag.instead)}." if flag.instead else "Plan to do without it.",
        flag.name,
        where,
    )


def _repeated(command: CommandLine, where: Where) -> Iterator[Finding]:
    seen: dict[str, GivenFlag] = {}
    for given in command.flags:
        name, value = given.sets
        before = seen.get(name)
        if before is not None and given.flag is not None and before.from_config == given.from_config:
            same = "" if before.sets[1] == value else f", and {value} replaces {before.sets[1]}"
            spelled = (
                f"{name} is given twice" if before.name == given.name else f"{before.name} and {given.name} are one"
            )
            files = name == CONFIG
            yield Finding(
                Level.ERROR if files else Level.WARNING,
                "repeated-flag",
                f"{spelled}{': the engine ends at once' if files else same}",
                "Keep one of the two.",
                name,
                where(given.position),
            )
        seen[name] = given
