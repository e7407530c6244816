"""The values of calls as the rules about dictation see them. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NUMBER_WORDS = re.findall(r"\w+", "one two three four five six seven eight nine ten eleven twelve")
NUMBERS = {word: number for number, word in enumerate(_NUMBER_WORDS, start=1)}
NUMBER = rf"(?:\d+|{'|'.join(NUMBERS)})"
PATH_KEYS = re.compile(r"path|file", re.IGNORECASE)
FREE_KEYS = re.compile(
    r"content|text|body|code|command|script|pattern|query|regex|message|comment|diff|patch|cmd", re.IGNORECASE
)

Miss = tuple[int, str] | None
"""The position of the call that is wrong, and what is wrong with it; None where nothing is."""


@dataclass(frozen=True, slots=True)
class Value:
    """One text in the arguments: the call that it belongs to, the path to it, and the text."""

    position: int
    key: str
    text: str


def read_number(text: str | None) -> int | None:
    """Read a number in digits or as an English word; None for any other text."""
    if text is None or len(text) > 15:
        return None
    return int(text) if text.isdecimal() else NUMBERS.get(text.lower())
