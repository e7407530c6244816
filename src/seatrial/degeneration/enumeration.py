"""Text that is hardly more than numbers: empty list markers, runs that grow, counting without end."""

from __future__ import annotations

from itertools import pairwise

from seatrial.degeneration.counters import counting_places
from seatrial.degeneration.model import Kind, Severity
from seatrial.degeneration.patterns import lazily
from seatrial.degeneration.request import Request
from seatrial.degeneration.sighting import Sighting
from seatrial.degeneration.window import Window

FEW_LETTERS = 21
"""Stretches of 128 characters with at most so much wording are looked at."""
TAIL = 384
"""Characters that are looked at for markers and runs."""
EMPTY_MARKERS = 45
"""Markers in one line with nothing after them; a form with numbered empty lines has them on lines of their own."""
EMPTY_MARKER_LINES = 72
"""The longest such form of the sets in order has 50."""
GROWING_TOKENS = 12
GROWING_LENGTHS = 8
"""Runs in a row, and how many lengths must differ: a number pyramid has nine rows."""
SIGNS, FEW_SIGNS = 640, 8
"""So many characters in one line with so few different ones, none a letter or digit, are a flood."""
_DNA = frozenset("acgtun")
_MORSE, _BRAINF = frozenset(".-/ ·−–"), frozenset("+-<>[]., ")
COUNT_WARN = 400
COUNT_FAIL = 513
"""Numbers of a count: 300 are ordinary, a year has 366 days, an index 512 places; the prompt may ask for more."""
DOMINANT_CHARS, DOMINANT = 64, 24
"""Of the newest 64 characters 24 are the same one where runs grow, or where a line is made of two or three."""
_FEW_LETTERS_KINDS = 3

_MARKERS = lazily(r"(?<!\S)((?:(?:[-*•#] ?)?\(?\d+[.):]\s{1,40}){20,})(?:[-*•#] ?)?\(?\d{0,6} ?\Z")
_MARKER = lazily(r"\d[.):]\s")
_REPEATED = lazily(r"(\w)\1\1")
_TOKEN = lazily(r"\w+")
_RUN = lazily(r"(\w)\1{2,}$")
_NUMBERS = lazily(r"\d+")


class Enumerations:
    """Watches stretches of text that have hardly any letters or hardly any different characters."""

    __slots__ = ("_count_at", "_count_start", "_counted", "_next", "_request")

    def __init__(self, request: Request | None) -> None:
        self._request = request
        self._counted = 0
        self._count_start = 0
        self._count_at = 0
        self._next = 0

    def check(self, window: Window, position: int, *, looping: bool) -> Sighting | None:
        """Look at the text up to `position` for floods without words, empty markers and counting.

        `looping` tells that an exact loop is alive here: then it is judged as that.
        """
        tail = window.text(position - TAIL, position)
        if len(tail) == TAIL and not looping:
            flood = _blank(window, tail, position) or _few_kinds(window, position)
            if flood is not None:
                return flood
        found = self._markers(window, tail, position)
        return found or self._count(window, position)

    def runs(self, window: Window, position: int) -> Sighting | None:
        """Look for words that are runs of one character and grow, and for lines of a few letters."""
        poor = _few_kinds(window, position)
        if poor is not None:
            return poor
        newest = window.text(position - TAIL // 2, position)
        if not _REPEATED().search(newest) or not all(map(_RUN().search, _TOKEN().findall(newest)[-2:])):
            return None
        lengths, start, end = _last_runs(window, position, 2 * TAIL)
        if len(lengths) >= GROWING_TOKENS:
            lengths, start, end = _last_runs(window, position, 8_192)
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
        if not _MARKER().search(tail[-24:] + " ") or not _MARKERS().search(tail + " "):
            return None
        reach = window.text(position - 2_400, position)
        match = _MARKERS().search(reach + " ")
        if match is None:
            return None
        numbers = [int(digits[:15]) for digits in _NUMBERS().findall(match[1])]
        rising = sum(b - a == 1 for a, b in pairwise(numbers))
        lines = match[1].count("\n") > len(numbers) // 2
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
            needle=match[1].strip(),
            claim=f"list markers that count on from {numbers[0]} with nothing after them",
        )

    def _count(self, window: Window, position: int) -> Sighting | None:
        """Count on over tails: numbers or dates whose steps are always the same."""
        if position - self._count_at < TAIL and self._count_at <= position:
            return None
        numbers = [int(digits[:15]) for digits in _NUMBERS().findall(window.text(position - TAIL, position))][1:-1]
        places = counting_places(numbers)
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


def _blank(window: Window, tail: str, position: int) -> Sighting | None:
    """Find white space in any mixture."""
    if not tail.isspace():
        return None
    text = window.text(position - 8_192, position)
    start = position - len(text) + len(text.rstrip())
    return Sighting(
        severity=Severity.FAIL,
        kind=Kind.WHITESPACE_FLOOD,
        start=start,
        end=position,
        period=None,
        needle=tail,
        claim="nothing but white space ({chars} characters)",
    )


def dominated(window: Window, position: int) -> bool:
    """Tell, at little cost, whether one character makes up much of the newest text."""
    newest = window.text(position - DOMINANT_CHARS, position)
    return newest.count(newest[20]) >= DOMINANT or newest.count(newest[40]) >= DOMINANT


def _few_kinds(window: Window, position: int) -> Sighting | None:
    """Find a line made of a few signs, or of two or three letters, in ever new order."""
    if len(set(window.text(position - 48, position))) > FEW_SIGNS:
        return None
    text = window.text(position - SIGNS, position)
    different = set(text.lower())
    if len(text) < SIGNS or len(different) > FEW_SIGNS or "\n" in text:
        return None
    if all(map(str.isalpha, different)):
        if not 1 < len(different) <= _FEW_LETTERS_KINDS or different <= _DNA:
            return None
        what = f"{len(different)} letters in changing order, without a blank"
    elif any(map(str.isalnum, different)) or different <= _MORSE or different <= _BRAINF:
        return None
    else:
        what = f"{len(different)} signs in changing order"
    return Sighting(
        severity=Severity.FAIL,
        kind=Kind.LOW_NOVELTY,
        start=position - SIGNS,
        end=position,
        period=None,
        needle=text,
        claim=f"nothing but {what}",
    )


def _last_runs(window: Window, position: int, reach: int) -> tuple[list[int], int, int]:
    """Return how long the runs are that the last words end in, and where those words begin and end."""
    offset = max(position - reach, 0)
    lengths: list[int] = []
    start = end = position
    for token in reversed(list(_TOKEN().finditer(window.text(offset, position)))):
        run = _RUN().search(token[0])
        if run is None or token.end() + offset < start - 6 or token.start() < 1 <= offset:
            if lengths or token.end() + offset < position - TAIL // 2:
                break
            continue
        end = end if lengths else token.end() + offset
        start = token.start() + offset
        lengths.append(len(run[0]))
    return lengths[::-1], start, end
