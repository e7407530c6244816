"""Text that is hardly more than numbers: empty list markers, runs that grow, counting without end."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from seatrial.degeneration.model import Kind, Severity
from seatrial.degeneration.request import Request
from seatrial.degeneration.sighting import Sighting
from seatrial.degeneration.window import Window

FEW_LETTERS = 21
"""Stretches of 128 characters with at most so much wording are looked at."""
TAIL = 384
"""Characters that are looked at for markers and runs."""
EMPTY_MARKERS = 45
"""Markers in one line with nothing after them; a form with numbered empty lines has them on lines of their own."""
EMPTY_MARKER_LINES = 130
GROWING_TOKENS = 12
GROWING_LENGTHS = 8
"""Runs in a row, and how many lengths must differ: a number pyramid has nine rows."""
COUNT_WARN = 400
COUNT_FAIL = 1_500
"""Numbers of a count; 300 are ordinary when asked for, and the prompt may ask for more."""

_MARKERS = re.compile(r"(?<!\S)(?:(?:[-*•#] ?)?\d+[.):]\s{1,40}){20,}\Z")
_TOKEN = re.compile(r"\w+")
_RUN = re.compile(r"(\w)\1{2,}$")
_NUMBERS = re.compile(r"\d+")


class Enumerations:
    """Watches stretches of text that have hardly any letters or hardly any different characters."""

    __slots__ = ("_count_at", "_count_start", "_counted", "_next", "_request")

    def __init__(self, request: Request | None) -> None:
        self._request = request
        self._counted = 0
        self._count_start = 0
        self._count_at = 0
        self._next = 0

    def check(self, window: Window, position: int) -> Sighting | None:
        """Look at the text up to `position` for empty markers and for counting."""
        tail = window.text(position - TAIL, position)
        found = self._markers(window, tail, position)
        return found or self._count(window, position)

    def runs(self, window: Window, position: int) -> Sighting | None:
        """Look for words that are runs of one character and grow."""
        offset = max(position - 2 * TAIL, 0)
        lengths: list[int] = []
        start = end = position
        for token in reversed(list(_TOKEN.finditer(window.text(offset, position)))):
            run = _RUN.search(token[0])
            if run is None or token.end() + offset < start - 6 or token.start() < 1 <= offset:
                if lengths or token.end() + offset < position - TAIL // 2:
                    break
                continue
            end = end if lengths else token.end() + offset
            start = token.start() + offset
            lengths.insert(0, len(run[0]))
        ups = sum(b >= a for a, b in pairwise(lengths))
        if len(lengths) < GROWING_TOKENS or len(set(lengths)) < GROWING_LENGTHS:
            return None
        if ups < 0.8 * (len(lengths) - 1) or end - start < TAIL // 2:
            return None
        return Sighting(
            severity=Severity.FAIL,
            kind=Kind.GROWING_RUNS,
            start=start,
            end=end,
            period=None,
            needle=window.text(start, end),
            claim=f"{len(lengths)} tokens in a row that are runs of one character, from {lengths[0]} to "
            f"{max(lengths)} characters long ({{chars}} characters)",
        )

    def _markers(self, window: Window, tail: str, position: int) -> Sighting | None:
        if not _MARKERS.search(tail + " "):
            return None
        reach = window.text(position - 2_400, position)
        match = _MARKERS.search(reach + " ")
        if match is None:
            return None
        numbers = [int(digits[:15]) for digits in _NUMBERS.findall(match[0])]
        rising = sum(b - a == 1 for a, b in pairwise(numbers))
        lines = match[0].count("\n") > len(numbers) // 2
        needed = EMPTY_MARKER_LINES if lines else EMPTY_MARKERS
        if len(numbers) < needed or rising < 0.8 * len(numbers):
            return None
        if self._request is not None and not self._request.exceeded(len(numbers)):
            return None
        start = position - len(reach) + match.start()
        return Sighting(
            severity=Severity.FAIL,
            kind=Kind.EMPTY_ENUMERATION,
            start=start,
            end=position,
            period=round((position - start) / len(numbers)),
            needle=match[0].strip(),
            claim=f"list markers that count on from {numbers[0]} with nothing after them",
        )

    def _count(self, window: Window, position: int) -> Sighting | None:
        """Count on over tails: numbers or dates whose steps are always the same."""
        if position - self._count_at < TAIL and self._count_at <= position:
            return None
        numbers = [int(digits[:15]) for digits in _NUMBERS.findall(window.text(position - TAIL, position))][1:-1]
        places = _places(numbers)
        if not places:
            self._counted = 0
            self._count_at = position
            return None
        if self._counted == 0 or position - self._count_at > TAIL:
            self._count_start = position - TAIL
            self._counted = 0
        self._counted += (len(numbers) + 2) // places
        self._count_at = position
        if self._counted < COUNT_WARN:
            return None
        fails = self._counted >= COUNT_FAIL
        if self._request is not None and not self._request.exceeded(self._counted):
            return None
        return Sighting(
            severity=Severity.FAIL if fails else Severity.WARN,
            kind=Kind.ENDLESS_COUNT,
            start=max(self._count_start, 0),
            end=position,
            period=round((position - self._count_start) / self._counted),
            needle=window.text(position - 80, position),
            claim=f"about {self._counted:,} numbers that only count on",
        )


def _places(numbers: list[int]) -> int:
    """Return how many numbers one entry of a count has, or 0 where nothing counts with equal steps."""
    for places in (1, 2, 3, 4, 5, 6):
        if len(numbers) < 8 * places:
            return 0
        moves = False
        for place in range(places):
            column = numbers[place::places]
            steps = Counter(b - a for a, b in pairwise(column))
            step, often = steps.most_common(1)[0]
            if often < 0.8 * (len(column) - 1):
                break
            moves = moves or step != 0
        else:
            return places if moves else 0
    return 0
