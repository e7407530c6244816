"""Finds what a shell, a YAML list or a word processor did to a command line: quotes, dashes, white space. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from seatrial.engines.sglang.catalogue import Catalogue, Flag
from seatrial.findings import Finding, Level

DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
QUOTES = "\"'\u201c\u201d\u2018\u2019"
UNEXPANDED = re.compile(r"\$\{?[A-Za-z_][A-Za-z0-9_]*\}?")
BRACKETS = ("{", "[")


def about_value(flag: Flag, word: str, where: str | None) -> Iterator[Finding]:
    """Check one word that a flag takes as its value."""
    problem, advice = _mistake(flag, word)
    if problem:
        yield Finding(Level.ERROR, "quoting", f"{flag.name}: {problem}", advice, flag.name, where)


def _mistake(flag: Flag, word: str) -> tuple[str, str]:
    if flag.type != "json" and len(word) > 1 and word[0] in QUOTES and word[-1] in QUOTES:
        return f"its value holds the quotes themselves: {word}", f"Write {word[1:-1]} without quotes there."
    if word == "":
        if flag.type == "text" and flag.default == "":
            return "", ""
        return "its value is empty", "Write a value, or take the flag out; an unset variable leaves such a hole."
    if word.startswith("="):
        return "its value begins with a stray '='", f"Write {flag.name}={word[1:]} without a space."
    if word != word.strip() and flag.type != "json":
        return f"its value has white space around it: {word!r}", "Remove it."
    if word.endswith("\\"):
        return "a backslash of a line continuation is part of its value", "In a list, every word stands alone."
    if UNEXPANDED.fullmatch(word):
        return (
            f"{word} is passed on as it is: no shell fills it in here",
            "Write the value, or let Compose fill in ${NAME}.",
        )
    if " --" in word and not word.lstrip().startswith(BRACKETS):
        return f"{word!r} holds a flag more: it is one word", "Make a word of each flag and each value."
    if is_broken_json(flag, word):
        return f"{word} is no JSON: its quotes were lost", "Quote the whole text once: '{\"key\": 1}'."
    return "", ""


def is_broken_json(flag: Flag, word: str) -> bool:
    """Whether a word begins as JSON does and is none; some flags take JSON as plain text."""
    begins = word.lstrip().startswith("{") or (flag.type == "json" and word.lstrip().startswith(BRACKETS))
    return begins and not is_json(word)


def is_json(text: str) -> bool:
    """Whether a text is JSON."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def about_stray(word: str, where: str | None, catalogue: Catalogue) -> Finding:
    """Say what a word is that belongs to no flag."""
    if any(dash in word[:2] for dash in DASHES):
        return typographic_dash(word, catalogue, where)
    name = word.strip().partition(" ")[0].partition("=")[0]
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
        message = (
            "a line continuation became a word of its own" if "\\" in word else "an empty word stands among the flags"
        )
        return Finding(Level.ERROR, "quoting", message, "Remove it; in a list every word stands alone.", where=where)
    return Finding(
        Level.ERROR,
        "stray-word",
        f"{word!r} belongs to no flag: the engine ends with 'unrecognized arguments'",
        "Remove it, or name its flag.",
        where=where,
    )


def has_typographic_dash(spelled: str) -> bool:
    """Whether a word processor made one dash of two hyphens."""
    return any(dash in spelled for dash in DASHES)


def typographic_dash(word: str, catalogue: Catalogue, where: str | None) -> Finding:
    """Say that a name holds a dash that no shell knows."""
    bare = word.lstrip("-" + DASHES).translate({ord(dash): "-" for dash in DASHES})
    name = "--" + bare.partition("=")[0].partition(" ")[0]
    nearest = catalogue.nearest(name) or name
    return Finding(
        Level.ERROR,
        "quoting",
        f"{word!r} holds a typographic dash where two hyphens belong",
        f"Write {nearest}.",
        nearest,
        where,
    )
