"""Findings about single flags, their values, and flags that do not go together. Pure."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Any

from seatrial.engines.sglang.catalogue import Catalogue, Flag, Variable, load, versions
from seatrial.engines.sglang.command_line import CommandLine, GivenFlag, Value
from seatrial.engines.versions import in_range
from seatrial.findings import Finding, Level
from seatrial.yaml_text import read_yaml

Where = Callable[[int], str | None]
"""Names the file and line of a word of the command."""

DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
QUOTES = "\"'\u201c\u201d\u2018\u2019"
UNEXPANDED = re.compile(r"\$\{?[A-Za-z_][A-Za-z0-9_]*\}?")
TYPES = {"bool": "true or false", "int": "a whole number", "float": "a number", "json": "JSON"}
BOOLEAN_WORDS = frozenset({"true", "false", "1", "0", "yes", "no", "on", "off"})
"""What `get_bool_env_var` and EnvBool of 0.5.16 understand; `y`, `n`, `t`, `f` too, but nobody should have to know."""
DECIMAL_SIZE = re.compile(r"\d+k\Z")

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
    findings = [
        finding for given in command.flags for finding in _given(given, catalogue, where(given.position), command)
    ]
    findings += [_stray(word, where(position), catalogue) for position, word in command.stray]
    findings += _repeated(command, where)
    findings += [finding for name, value in variables.items() for finding in check_variable(name, value, catalogue)]
    return findings + list(contradictions(command.values, catalogue.version))


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


def unknown(name: str, catalogue: Catalogue, where: str | None = None) -> Finding:
    """Say that the engine does not know a flag: it was removed, is newer, or is misspelt."""
    for version in versions():
        if version == catalogue.version:
            continue
        other = load(version).flag(name)
        if other is not None:
            older = versions().index(version) < versions().index(catalogue.version)
            verb = "was removed" if older else "came later"
            what = f" Use {' and '.join(other.instead)}." if other.instead else ""
            return Finding(
                Level.ERROR,
                "removed-flag" if older else "newer-flag",
                f"SGLang {catalogue.version} has no {name}: it {verb} ({version} has it); the engine ends at once",
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


def _given(given: GivenFlag, catalogue: Catalogue, where: str | None, command: CommandLine) -> Iterator[Finding]:
    if given.spelled.startswith(tuple(DASHES)) or any(dash in given.spelled for dash in DASHES):
        yield _typographic_dash(given.spelled, catalogue, where)
        return
    if given.flag is None:
        if len(given.candidates) > 1:
            yield Finding(
                Level.ERROR,
                "ambiguous-flag",
                f"{given.spelled} may be {', '.join(given.candidates[:4])}: the engine ends at once",
                "Write the whole name.",
                given.spelled,
                where,
            )
        else:
            yield unknown(given.spelled, catalogue, where)
        return
    flag = given.flag
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
    if flag.takes_value and not given.words:
        yield _wrong_type(flag, "nothing", where)
        return
    if not flag.takes_value and given.words:
        yield Finding(
            Level.ERROR,
            "needless-value",
            f"{flag.name} takes no value, and {given.words[0]!r} is given: the engine ends at once",
            f"Write {flag.name} alone{f', or {flag.negation}' if flag.negation else ''}; to switch it off, omit it.",
            flag.name,
            where,
        )
        return
    quoting = [finding for word in given.words for finding in _quoting(flag, word, where)]
    yield from quoting
    if not quoting:
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
    del command


def _value(flag: Flag, value: Value, where: str | None, *, well_typed: bool = True) -> Iterator[Finding]:
    items = value if isinstance(value, tuple) else (value,)
    if not well_typed or not all(_fits(flag, item) for item in items):
        yield _wrong_type(flag, " ".join(map(str, items)), where)
        return
    if flag.choices and not flag.many:
        wrong = [item for item in items if str(item) not in map(str, flag.choices)]
        if wrong:
            yield _bad_choice(flag, wrong[0], where)
            return
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


def _fits(flag: Flag, value: Any) -> bool:
    """Whether a typed value is of a flag's type."""
    if flag.type == "bool":
        return isinstance(value, bool)
    if isinstance(value, bool):
        return False
    if flag.type in ("int", "size"):
        return isinstance(value, int) or (
            flag.type == "size" and bool(re.fullmatch(r"\d+(\.\d+)?[kMGT]i?|\d+[KMGT]i", str(value)))
        )
    if flag.type == "float":
        return isinstance(value, int | float) and math.isfinite(value)
    if flag.type == "json":
        return _is_json(str(value))
    return True


def _same(default: Any, value: Value) -> bool:
    if isinstance(default, bool) or isinstance(value, bool):
        return default is value
    if isinstance(default, int | float) and isinstance(value, int | float):
        return default == value
    return bool(str(default) == str(value))


def _wrong_type(flag: Flag, found: str, where: str | None) -> Finding:
    wanted = {"int": "a whole number", "float": "a number", "size": "a whole number, or one like 256Ki", "json": "JSON"}
    what = wanted.get(flag.type, "no value" if flag.type == "bool" else "a value")
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


def _quoting(flag: Flag, word: str, where: str | None) -> Iterator[Finding]:
    problem = advice = None
    if len(word) > 1 and word[0] in QUOTES and word[-1] in QUOTES:
        problem, advice = f"its value holds the quotes themselves: {word}", f"Write {word[1:-1]} without quotes there."
    elif word.startswith("=") or word == "":
        problem, advice = (
            "its value begins with a stray '='" if word else "its value is empty",
            "Write --flag=value without spaces.",
        )
    elif word != word.strip():
        problem, advice = f"its value has white space around it: {word!r}", "Remove it."
    elif word.endswith("\\"):
        problem, advice = (
            "a backslash of a line continuation is part of its value",
            "In a list, every word stands alone.",
        )
    elif UNEXPANDED.fullmatch(word):
        problem, advice = (
            f"{word} is passed on as it is: no shell fills it in here",
            "Write the value, or let Compose fill in ${NAME}.",
        )
    elif word.lstrip().startswith("{") and not _is_json(word):
        problem, advice = f"{word} is no JSON: its quotes were lost", "Quote the whole text once: '{\"key\": 1}'."
    if problem:
        yield Finding(Level.ERROR, "quoting", f"{flag.name}: {problem}", advice or "", flag.name, where)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _stray(word: str, where: str | None, catalogue: Catalogue) -> Finding:
    if any(dash in word[:2] for dash in DASHES):
        return _typographic_dash(word, catalogue, where)
    name = word.partition(" ")[0].partition("=")[0]
    if word.startswith("--") and " " in word:
        return Finding(
            Level.ERROR,
            "quoting",
            f"{word!r} is one word, so the engine looks for a flag of that whole name",
            f"Make two words of it, or write {'='.join(word.split(None, 1))}.",
            name,
            where,
        )
    if word.strip() in ("\\", ""):
        return Finding(
            Level.ERROR,
            "quoting",
            "a line continuation became a word of its own",
            "Remove it; in a list every word stands alone.",
            None,
            where,
        )
    return Finding(
        Level.ERROR,
        "stray-word",
        f"{word!r} belongs to no flag: the engine ends with 'unrecognized arguments'",
        "Remove it, or name its flag.",
        None,
        where,
    )


def _typographic_dash(word: str, catalogue: Catalogue, where: str | None) -> Finding:
    plain = (
        "--"
        + word.lstrip("-" + DASHES).translate({ord(dash): "-" for dash in DASHES}).partition("=")[0].partition(" ")[0]
    )
    nearest = catalogue.nearest(plain) or plain
    return Finding(
        Level.ERROR,
        "quoting",
        f"{word!r} holds a typographic dash where two hyphens belong",
        f"Write {nearest}.",
        nearest,
        where,
    )


def _repeated(command: CommandLine, where: Where) -> Iterator[Finding]:
    seen: dict[str, GivenFlag] = {}
    for given in command.flags:
        before = seen.get(given.name)
        if before is not None and given.flag is not None:
            same = "" if before.value == given.value else f", and {given.value} replaces {before.value}"
            yield Finding(
                Level.WARNING,
                "repeated-flag",
                f"{given.name} is given twice{same}",
                "Keep one of the two.",
                given.name,
                where(given.position),
            )
        seen[given.name] = given


def check_variable(name: str, value: str | None, catalogue: Catalogue) -> Iterator[Finding]:
    """Check one environment variable: SGLang never complains about one that it does not know."""
    found = catalogue.find(name)
    if found is None:
        if name.startswith(("SGLANG_", "SGL_")):
            nearest = catalogue.nearest(name)
            yield Finding(
                Level.WARNING,
                "unknown-variable",
                f"SGLang {catalogue.version} does not know {name}, and does not say so: it has no effect",
                f"Did you mean {nearest}?" if nearest else "Remove it.",
                name,
            )
        return
    if not isinstance(found, Variable) or value is None:
        return
    if found.choices and value not in found.choices:
        yield Finding(
            Level.ERROR,
            "bad-choice",
            f"{name} can't be {value!r}: the engine silently takes {found.default or 'its default'} instead",
            f"It can be {', '.join(map(str, found.choices))}.",
            name,
        )
    elif not _variable_fits(found.type, value):
        yield Finding(
            Level.ERROR,
            "wrong-type",
            f"{name} takes {TYPES.get(found.type, found.type)}, and {value!r} is set",
            "Correct it.",
            name,
        )
    elif found.default is not None and str(found.default).lower() == value.lower():
        yield Finding(
            Level.NOTE,
            "no-op",
            f"{name}={value} changes nothing: that is the default",
            "Keep it if you want it stated.",
            name,
        )


def _variable_fits(kind: str, value: str) -> bool:
    try:
        if kind == "int":
            int(value)
        elif kind == "float":
            float(value)
        elif kind == "json":
            json.loads(value)
        elif kind == "bool":
            return value.lower() in BOOLEAN_WORDS | {"y", "n", "t", "f"}
    except ValueError:
        return False
    return True


def contradictions(values: Mapping[str, Value], version: str) -> Iterator[Finding]:
    """Find flags that do not go together."""
    for row in _contradictions():
        if not in_range(version, row.get("versions", "")):
            continue
        if all(_is(values, name, wanted) for name, wanted in row["when"].items()) and not (
            row.get("unless") and all(_is(values, name, wanted) for name, wanted in row["unless"].items())
        ):
            yield Finding(Level(row["level"]), row["id"], row["message"], row["advice"], next(iter(row["when"])))


def _is(values: Mapping[str, Value], name: str, wanted: Any) -> bool:
    if name not in values:
        return False
    value = values[name]
    if wanted is True:
        return value is not False
    if isinstance(wanted, Mapping):
        if "above" in wanted:
            return isinstance(value, int | float) and value > wanted["above"]
        return bool(value != wanted["is_not"])
    return _same(wanted, value)


@cache
def _contradictions() -> list[dict[str, Any]]:
    file = resources.files(__package__).joinpath("flags", "contradictions.yaml")
    return list(read_yaml(file.read_text(encoding="utf-8"), where="contradictions.yaml").value)
