"""Rules on names of places, people and files that come back cut or with a letter wrong. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import islice

from seatrial.checks.asked import Asked
from seatrial.checks.dictated.values import PATH_KEYS, Miss, Value
from seatrial.checks.finding import shown

MAX_NAMES = 200
"""Names in a prompt that are looked at: nobody dictates more."""

_CAPITAL = r"[A-ZÄÖÜÅÆØÉ][\w'’-]{1,30}"
_NAME = re.compile(
    rf"\b(?:in|for|at|from|to|near|of)\s+(?P<name>{_CAPITAL})(?P<more>(?:\s+(?:(?:de|da|do|la|le|am|an|der)\s+)?{_CAPITAL})*)"
)
_FILE = re.compile(r"(?<![\w/.-])[\w-][\w./-]*\.[A-Za-z]\w{0,5}(?!\w)")
_NAME_KEYS = re.compile(
    r"city|town|place|location|country|region|room|person|customer|user_?name|first_?name|last_?name", re.IGNORECASE
)
_FIRST_NAMES = frozenset(
    re.findall(
        r"\w+", "New San Santa Santo Los Las Rio Saint St Port Cape El La Le Buenos Hong Kuala Tel Fort Mount Salt Bad"
    )
)
"""First words of place names that are no place by themselves."""
_PARTICLES = frozenset({"de", "da", "do", "la", "le", "am", "an", "der"})


def name_misspelled(asked: Asked, values: Sequence[Value]) -> Miss:
    """A name after an English preposition comes back cut, doubled, or with a letter or two wrong."""
    words = set(re.findall(r"[\w'’-]+", asked.prompt))
    for match in islice(_NAME.finditer(asked.prompt), MAX_NAMES):
        name = re.sub(r"['’]s?$", "", match["name"])
        full = name + match["more"]
        for value in values:
            if re.fullmatch(rf"{re.escape(name)}(?:[\s,]+{re.escape(name)})+", value.text.strip()):
                return value.position, f"{shown(value.key)} repeats {shown(name)}: {shown(value.text)}"
            if _NAME_KEYS.search(value.key) and _is_cut_name(value.text.strip(), name, full):
                return (
                    value.position,
                    f"{shown(value.key)} should be {shown(full)} as in the prompt, got {shown(value.text)}",
                )
        if any(name in value.text for value in values):
            continue
        for value in values:
            text = value.text.strip()
            if not text or " " in text or text in words or not _NAME_KEYS.search(value.key):
                continue
            if _folded(text) == _folded(name):
                if text != name and _without_marks(text) == text and _without_marks(name) == name:
                    return (
                        value.position,
                        f"{shown(value.key)} should be {shown(full)} as in the prompt, got {shown(text)}",
                    )
                continue
            if _is_misspelled(text, name):
                return value.position, f"{shown(value.key)} should be {shown(full)} as in the prompt, got {shown(text)}"
    return None


def _is_cut_name(text: str, name: str, full: str) -> bool:
    if name.startswith(text) and text not in {name, name.removesuffix("s")} and len(name) >= 4:
        return True
    return full.startswith(f"{text} ") and (text in _FIRST_NAMES or text.rpartition(" ")[2] in _PARTICLES)


def _is_misspelled(text: str, name: str) -> bool:
    """Whether a letter or two are wrong; another ending may be the name in another language (Milan, Milano)."""
    if len(name) < 4 or _distance(text, name, 2) > 2:
        return False
    same = next((i for i, (a, b) in enumerate(zip(text, name, strict=False)) if a != b), min(len(text), len(name)))
    return same < len(name) - 2 or sorted(text) == sorted(name)


def file_cut(asked: Asked, values: Sequence[Value]) -> Miss:
    """The name of a file comes back without its first or last letters."""
    files = [match.group() for match in islice(_FILE.finditer(asked.prompt), MAX_NAMES)]
    for value in values:
        text = value.text
        if not text or not PATH_KEYS.search(value.key) or text in files or text.endswith("/"):
            continue
        for file in files:
            if any(file in other.text for other in values):
                continue
            cut = file.startswith(text) and file[len(text)] != "/" and len(text) >= len(file) - 5
            if cut or (len(file) > 5 and file.endswith(text) and file[-len(text) - 1].isalnum()):
                return value.position, f"{shown(value.key)} should be {shown(file)} as in the prompt, got {shown(text)}"
    return None


def _folded(text: str) -> str:
    return _without_marks(text).casefold()


def _without_marks(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


def _distance(left: str, right: str, limit: int) -> int:
    """Return how many letters must be added, dropped or changed; more than `limit` counts as `limit + 1`."""
    if abs(len(left) - len(right)) > limit or max(len(left), len(right)) > 60:
        return limit + 1
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, start=1):
        previous, row = row, [i]
        for j, b in enumerate(right, start=1):
            row.append(min(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (a != b)))
    return row[-1]
