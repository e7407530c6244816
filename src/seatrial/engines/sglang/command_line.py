"""Understands a command line as SGLang's parser would, without ending at the first mistake. Pure.

argparse's rules (0.5.16): `--flag value` and `--flag=value` are the same; an unambiguous beginning of a name stands for
it; a flag given twice keeps its last value; a word that looks like a negative number is a value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seatrial.engines.sglang.catalogue import Catalogue, Flag

Value = str | int | float | bool | tuple[str | int | float, ...]

NEGATIVE_NUMBER = re.compile(r"-\d+\Z|-\d*\.\d+\Z")
SIZE = re.compile(r"(\d+(?:\.\d+)?)(Ki|Mi|Gi|Ti|k|M|G|T|)\Z")
SIZE_UNITS = {
    "": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40,
}  # fmt: skip
"""`human_readable_int` of 0.5.16: `256k` is 256,000, and `256Ki` 262,144; only decimal units take a fraction."""
ENTRY = re.compile(r"(?:.*/)?(?:sglang[./]launch_server(?:\.py)?|launch_server\.py)\Z")


@dataclass(frozen=True, slots=True)
class GivenFlag:
    """One flag as it was given.

    Attributes:
        name: canonical, or as it was written where the engine does not know it.
        spelled: as it was written.
        words: its values as they were written.
        value: its value by the flag's type; the text itself where it is of another type.
        position: which word of the command it is.
        flag: what the catalogue says; None for an unknown one.
        candidates: what an ambiguous beginning could mean.
        well_typed: whether its words are of the flag's type.
        abbreviated: whether only the beginning of the name was written.
    """

    name: str
    spelled: str
    words: tuple[str, ...]
    value: Value
    position: int
    flag: Flag | None
    candidates: tuple[str, ...] = ()
    well_typed: bool = True
    abbreviated: bool = False


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A command, understood.

    Attributes:
        program: the words before the engine's own.
        flags: in their order; a flag given twice stands there twice.
        stray: words that belong to no flag, by position.
    """

    program: tuple[str, ...]
    flags: tuple[GivenFlag, ...]
    stray: tuple[tuple[int, str], ...]

    @property
    def values(self) -> Mapping[str, Value]:
        """What each known flag is set to in the end."""
        return {given.name: given.value for given in self.flags if given.flag is not None}


def understand(words: Sequence[str], catalogue: Catalogue) -> CommandLine:
    """Understand a whole command: the program, then its flags."""
    begin = _begin(words)
    flags: list[GivenFlag] = []
    stray: list[tuple[int, str]] = []
    at = begin
    model = _positional_model(words, begin)
    while at < len(words):
        word = words[at]
        if at == model:
            flags.append(GivenFlag("--model-path", "MODEL", (word,), word, at, catalogue.flag("--model-path")))
            at += 1
        elif _is_option(word):
            given, at = _option(words, at, catalogue)
            flags.append(given)
        else:
            stray.append((at, word))
            at += 1
    return CommandLine(tuple(words[:begin]), tuple(flags), tuple(stray))


def _begin(words: Sequence[str]) -> int:
    """Find where the engine's own words begin."""
    for index, word in enumerate(words):
        if ENTRY.match(word):
            return index + 1
        if word == "serve" and index and words[index - 1].rsplit("/", 1)[-1] in ("sglang", "sglang.cli"):
            return index + 1
    return next((index for index, word in enumerate(words) if word.startswith("--")), len(words))


def _positional_model(words: Sequence[str], begin: int) -> int | None:
    """Find the model of `sglang serve MODEL`."""
    if begin and words[begin - 1] == "serve" and begin < len(words) and not _is_option(words[begin]):
        return begin
    return None


def _is_option(word: str) -> bool:
    return word.startswith("-") and len(word) > 1 and not NEGATIVE_NUMBER.match(word) and " " not in word


def _option(words: Sequence[str], at: int, catalogue: Catalogue) -> tuple[GivenFlag, int]:
    spelled, equals, attached = words[at].partition("=")
    flag = catalogue.flag(spelled)
    candidates: tuple[str, ...] = ()
    if flag is None and spelled.startswith("--") and len(spelled) > 2:
        candidates = catalogue.starting_with(spelled)
        flag = catalogue.flag(candidates[0]) if len(candidates) == 1 else None
    abbreviated = flag is not None and bool(candidates)
    following = _following(words, at + 1)
    if flag is None:
        taken = (attached,) if equals else following[:1]
        value: Value = taken[0] if taken else True
        step = at + 1 + (0 if equals else len(taken))
        return GivenFlag(spelled, spelled, taken, value, at, None, candidates, well_typed=True), step
    if not flag.takes_value:
        off = spelled == flag.negation
        taken = (attached,) if equals else ()
        return GivenFlag(
            flag.name, spelled, taken, not off, at, flag, well_typed=not equals, abbreviated=abbreviated
        ), at + 1
    taken = (attached,) if equals else following if flag.many else following[:1]
    value, well_typed = typed(flag, taken)
    step = at + 1 + (0 if equals else len(taken))
    return GivenFlag(flag.name, spelled, taken, value, at, flag, (), well_typed, abbreviated), step


def _following(words: Sequence[str], start: int) -> tuple[str, ...]:
    """List the words up to the next option."""
    end = start
    while end < len(words) and not _is_option(words[end]):
        end += 1
    return tuple(words[start:end])


def typed(flag: Flag, words: Sequence[str]) -> tuple[Value, bool]:
    """Turn a flag's words into its value; and say whether they are of its type."""
    if not words:
        return "", False
    made = [_typed(flag.type, word) for word in words]
    right = all(fits for _, fits in made)
    if flag.many:
        return tuple(value for value, _ in made), right
    return made[0][0], right


def _typed(kind: str, word: str) -> tuple[Any, bool]:
    try:
        if kind == "int":
            return int(word), True
        if kind == "float":
            return float(word), True
        if kind == "json":
            json.loads(word)
            return word, True
    except (ValueError, RecursionError):
        return word, False
    if kind == "size":
        found = SIZE.match(word.strip())
        if not found or ("." in found[1] and found[2] in ("", "Ki", "Mi", "Gi", "Ti")):
            return word, False
        return round(float(found[1]) * SIZE_UNITS[found[2]]) if "." in found[1] else int(found[1]) * SIZE_UNITS[
            found[2]
        ], True
    return word, True


def from_config(document: Mapping[str, Any], catalogue: Catalogue) -> CommandLine:
    """Understand the mapping of a `--config` file: keys with `-` or `_`, booleans for flags without a value."""
    words: list[str] = []
    for key, value in document.items():
        name = f"--{str(key).replace('_', '-')}"
        if value is False or value is None:
            continue
        words.append(name)
        if value is True:
            continue
        items = value if isinstance(value, list) else [value]
        words += [json.dumps(item) if isinstance(item, dict | list) else str(item) for item in items]
    return understand(["sglang.launch_server", *words], catalogue)
