"""Understands a command line as SGLang's parser would, without ending at the first mistake. Pure.

argparse's rules (CPython 3.11 and 3.12, SGLang 0.5.16 and 0.5.23): `--flag value` and `--flag=value` are the same; a
beginning that fits one spelling only stands for it; a flag given twice keeps its last value; a word that looks like a
negative number is a value; a word with a space in it is a value unless it names a flag before an `=`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seatrial.engines.sglang.catalogue import Catalogue, Flag
from seatrial.engines.sglang.flag_values import Value, typed

NEGATIVE_NUMBER = re.compile(r"-\d+\Z|-\d*\.\d+\Z")
ENTRY = re.compile(r"(?:-m)?(?:.*/)?(?:sglang[./]launch_server(?:\.py)?|launch_server\.py)\Z")
HELP = Flag("--help", "bool", ("-h",))
"""argparse's own; it prints and ends."""
CONFIG = "--config"
MODEL_TYPE = "--model-type"
"""An option of `sglang serve` itself: which kind of server starts."""


@dataclass(frozen=True, slots=True)
class GivenFlag:
    """One flag as it was given.

    Attributes:
        name: canonical, or as it was written where the engine does not know it.
        spelled: as it was written, without its value.
        words: its values as they were written.
        value: its value by the flag's type; the text itself where it is of another type.
        position: which word of the command it is.
        flag: what the catalogue says; None for an unknown one.
        candidates: what an ambiguous beginning could mean.
        well_typed: whether its words are of the flag's type.
        abbreviated: whether only the beginning of the name was written.
        attached: whether its value was written behind an `=`.
        from_config: whether it stands in the file that `--config` names.
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
    attached: bool = False
    from_config: bool = False

    @property
    def sets(self) -> tuple[str, Value]:
        """The setting that it decides: a deprecated flag often writes into another one's field."""
        if self.flag is None or self.flag.sets is None:
            return self.name, self.value
        return self.flag.sets, self.value if self.flag.sets_to is None else self.flag.sets_to


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A command, understood.

    Attributes:
        program: the words before the engine's own.
        flags: in the order in which they count, those of a config file first; a flag given twice stands there twice.
        stray: words that belong to no flag, by position.
    """

    program: tuple[str, ...]
    flags: tuple[GivenFlag, ...]
    stray: tuple[tuple[int, str], ...]

    @property
    def values(self) -> Mapping[str, Value]:
        """What each known flag is set to in the end; a deprecated one counts for what it sets."""
        return dict(given.sets for given in self.flags if given.flag is not None and given.flag is not HELP)

    @property
    def config(self) -> str | None:
        """The file that the engine reads more flags from: only `--config FILE`, in two words, makes it do so."""
        files = [
            given.words[0] for given in self.flags if given.spelled == CONFIG and given.words and not given.attached
        ]
        return files[0] if files else None


@dataclass(frozen=True, slots=True)
class _Option:
    """A word that names an option."""

    spelled: str
    attached: str | None
    flag: Flag | None
    candidates: tuple[str, ...] = ()
    negated: bool = False
    abbreviated: bool = False


def understand(words: Sequence[str], catalogue: Catalogue, config: Mapping[str, Any] | None = None) -> CommandLine:
    """Understand a whole command: the program, then its flags.

    Args:
        words: of the command, program first, or only flags.
        catalogue: flags of the engine's version.
        config: what the file holds that `--config` names, where it was read.
    """
    begin = _begin(words)
    numbered = [(at, words[at]) for at in range(begin, len(words))]
    flags: list[GivenFlag] = []
    if begin and words[begin - 1] == "serve":
        numbered = _without_model_type(numbered)
        if numbered and not numbered[0][1].startswith("-"):
            at, model = numbered.pop(0)
            flags.append(GivenFlag("--model-path", "MODEL", (model,), model, at, catalogue.flag("--model-path")))
    given, stray = _read(numbered, catalogue)
    flags += given
    command = CommandLine(tuple(words[:begin]), tuple(flags), tuple(stray))
    if config is None or command.config is None:
        return command
    place = next(one.position for one in flags if one.spelled == CONFIG)
    extra, more = _read([(place, word) for word in words_of_config(config, catalogue)], catalogue, from_config=True)
    return CommandLine(command.program, (*extra, *command.flags), (*more, *command.stray))


def _begin(words: Sequence[str]) -> int:
    """Find where the engine's own words begin."""
    for index, word in enumerate(words):
        if ENTRY.match(word):
            return index + 1
        if (
            word == "serve"
            and index
            and words[index - 1].rsplit("/", 1)[-1] in ("sglang", "sglang.cli", "sglang.cli.main")
        ):
            return index + 1
    return next((index for index, word in enumerate(words) if word.startswith("--")), len(words))


def _without_model_type(words: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Take out the option that `sglang serve` reads before the parser sees the others."""
    kept: list[tuple[int, str]] = []
    skip = False
    for at, word in words:
        if skip or word.startswith(f"{MODEL_TYPE}="):
            skip = False
        elif word == MODEL_TYPE:
            skip = True
        else:
            kept.append((at, word))
    return kept


def _read(
    words: list[tuple[int, str]], catalogue: Catalogue, *, from_config: bool = False
) -> tuple[list[GivenFlag], list[tuple[int, str]]]:
    """Split numbered words into flags with their values, and words that belong to none."""
    end = next((index for index, (_, word) in enumerate(words) if word == "--"), len(words))
    options = [_option(word, catalogue) if index < end else None for index, (_, word) in enumerate(words)]
    flags: list[GivenFlag] = []
    stray = words[end:]  # argparse does not know `--` either: nothing may follow it
    index = 0
    while index < end:
        option = options[index]
        if option is None:
            stray.append(words[index])
            index += 1
            continue
        until = next((after for after in range(index + 1, end) if options[after] is not None), end)
        following = tuple(word for _, word in words[index + 1 : until])
        given = _given(option, following, words[index][0], from_config=from_config)
        flags.append(given)
        index += 1 if option.attached is not None else 1 + len(given.words)
    return flags, sorted(stray)


def _option(word: str, catalogue: Catalogue) -> _Option | None:
    """Tell whether a word names an option, as argparse does: None for a value."""
    if not word.startswith("-") or word == "-":
        return None
    exact = _exact(word, None, catalogue)
    if exact:
        return exact
    spelled, equals, attached = word.partition("=")
    if equals and (found := _exact(spelled, attached, catalogue)):
        return found
    value = attached if equals else None
    if word.startswith("--"):
        fitting = catalogue.starting_with(spelled)
        if HELP.name.startswith(spelled):
            fitting = (*fitting, HELP.name)
        if len(fitting) == 1:
            flag = HELP if fitting[0] == HELP.name else catalogue.flag(fitting[0])
            negated = flag is not None and fitting[0] == flag.negation
            return _Option(spelled, value, flag, negated=negated, abbreviated=True)
        if fitting:
            return _Option(spelled, value, None, fitting)
    if NEGATIVE_NUMBER.match(word) or " " in word:
        return None
    return _Option(spelled, value, None)


def _exact(spelled: str, attached: str | None, catalogue: Catalogue) -> _Option | None:
    flag = HELP if spelled in (HELP.name, *HELP.aliases) else catalogue.flag(spelled)
    return _Option(spelled, attached, flag, negated=spelled == flag.negation) if flag else None


def _given(option: _Option, following: tuple[str, ...], position: int, *, from_config: bool) -> GivenFlag:
    """Give an option the values that are its own."""
    flag, attached = option.flag, option.attached is not None
    own = (option.attached,) if option.attached is not None else ()
    if flag is None:
        words = own or following
        value: Value = words if len(words) > 1 else words[0] if words else True
        return GivenFlag(
            option.spelled,
            option.spelled,
            words,
            value,
            position,
            None,
            option.candidates,
            attached=attached,
            from_config=from_config,
        )
    if not flag.takes_value:
        words, value, fits = own, not option.negated, not attached
    else:
        words = own or (following if flag.many else following[:1])
        value, fits = typed(flag, words)
    return GivenFlag(
        flag.name, option.spelled, words, value, position, flag, (), fits, option.abbreviated, attached, from_config
    )


def words_of_config(document: Mapping[str, Any], catalogue: Catalogue) -> list[str]:
    """Turn the mapping of a `--config` file into words, as SGLang's ConfigArgumentMerger does (0.5.16).

    Keys go in as they are written: `tp_size` becomes `--tp_size`, which the parser does not know. Keys that it refuses
    (deprecated flags and those with a negation) are left out here; `flag_checks` reports them.
    """
    import json  # noqa: PLC0415 - few launches have such a file

    words: list[str] = []
    for key, value in document.items():
        flag = catalogue.flag(f"--{str(key).replace('_', '-')}")
        if flag is not None and not flag.config_file:
            continue
        if isinstance(value, bool) and flag is not None and not flag.takes_value:
            words += [f"--{key}"] if value else []
        elif isinstance(value, list):
            words += [f"--{key}", *map(str, value)] if value else []
        else:
            text = str(value).lower() if isinstance(value, bool) else str(value)
            words += [f"--{key}", json.dumps(value) if isinstance(value, dict) else text]
    return words
