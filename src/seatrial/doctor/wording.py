"""Fills figures into the sentences of a signature. Pure."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

PLACE = re.compile(r"\{([a-z_][a-z0-9_]*)\}")
LONGEST_VALUE = 300


def fill(sentences: Sequence[str], figures: Mapping[str, Any]) -> str:
    """Take the first sentence whose names are all known, filled in; empty where none is."""
    for sentence in sentences:
        names = PLACE.findall(sentence)
        if all(figures.get(name) not in (None, "") for name in names):
            return PLACE.sub(lambda match: show(figures[match[1]]), sentence)
    return ""


def show(value: Any) -> str:
    """Write a value: numbers as the engine's flags take them, text cut where it is long."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".")
    text = str(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Find the known spelling that is nearest to a wrong one; None where none is near."""
    candidates = list(known)
    found = difflib.get_close_matches(word, candidates, n=1, cutoff=0.6)
    if found:
        return found[0]
    starts = [candidate for candidate in candidates if len(word) > 4 and candidate.startswith(word)]
    return min(starts, key=len) if starts else None
