"""A text that the token budget cut in the middle of a loop: then less of the loop needs to be seen.

An answer that ends by itself may end on a refrain. One that was cut while it said the same words for the eighth time
was not about to stop. That it was cut is known from its `finish_reason` (length), which only `scan_answer` has, or is
seen where the text ends in the middle of a sentence or a word of the loop.
"""

from __future__ import annotations

from seatrial.degeneration.model import Degeneration, Kind, Severity
from seatrial.degeneration.request import Request, read_request
from seatrial.degeneration.sighting import Sighting
from seatrial.degeneration.skeleton import DROPPED, skeleton_of
from seatrial.degeneration.structure import code_share

LONGEST = 400
"""Characters of a unit that is looked for."""
TAIL = 4_096
MANY_COPIES, MANY_BYTES = 8, 120
"""So many copies, and so many bytes of them (UTF-8: a Chinese character is three, and about as many tokens)."""
SOME_COPIES, SOME_BYTES = 5, 300
WORDING = 0.6
"""Share of the unit that must be letters: rows of zeros, rulers and tables have less."""
DATA_WORDS = frozenset({"null", "none", "nan", "true", "false", "n/a"})
"""Cells of data, which may well be the same for long."""
_ENDS = frozenset(".!?…。！？।؟\n")
CODE = 0.03
"""Share of signs of code in the tail from which on it is taken for code, where lines may well repeat."""


def cut_in_loop(text: str, field: str, prompt: str | None) -> Degeneration | None:
    """Find the loop that a cut text ends in: the same words at least 8 times (120 bytes), or 5 times (300 bytes)."""
    found = _loop_at_end(text[-TAIL:].rstrip("\ufffd"), read_request(prompt))
    if found is None:
        return None
    start, period, loop = found
    return _sighting(len(text) - len(text[-TAIL:]) + start, period, loop).report(len(text), field)


def torn_in_loop(tail: str, position: int, request: Request | None) -> Sighting | None:
    """Find such a loop in a text that ends, at `position`, in the middle of a sentence or a word of it."""
    found = _loop_at_end(tail[-TAIL:].rstrip("\ufffd"), request)
    if found is None or not _is_torn(found[2], found[1]):
        return None
    start, period, loop = found
    return _sighting(position - len(tail[-TAIL:]) + start, period, loop)


def _loop_at_end(tail: str, request: Request | None) -> tuple[int, int, str] | None:
    """Return the start, the period and the text of the loop that ends the tail, if it is long enough and wording."""
    for period in range(2, min(LONGEST, len(tail) // SOME_COPIES) + 1):
        if tail[-period:] != tail[-2 * period : -period]:
            continue
        start = _start(tail, period)
        loop = tail[start:]
        copies, size = len(loop) / period, len(loop.encode("utf-8", errors="replace"))
        enough = (copies >= MANY_COPIES and size >= MANY_BYTES) or (copies >= SOME_COPIES and size >= SOME_BYTES)
        if not enough or not _is_wording(loop, period):
            return None
        if request is not None and not request.exceeded(copies, loop[:period]):
            return None
        return start, period, loop
    return None


def _sighting(onset: int, period: int, loop: str) -> Sighting:
    return Sighting(
        severity=Severity.FAIL,
        kind=Kind.EXACT_PERIOD,
        start=onset,
        end=onset + len(loop),
        period=period,
        needle=loop[:period],
        claim=f"cut while it said the same {period} characters for the {len(loop) // period + 1}th time",
    )


def _is_torn(loop: str, period: int) -> bool:
    """Tell whether a loop breaks off inside a sentence or line, or where it has neither, inside a word."""
    last, following = loop.rstrip()[-1:], loop[-period]
    if last in _ENDS or following in _ENDS:
        return False
    if any(char in _ENDS for char in loop[-period:]):
        return True
    return " " in loop[-period:] and not DROPPED().search(last + following)


def _start(tail: str, period: int) -> int:
    """Return where the run that ends the tail begins to repeat with this period."""
    at = len(tail) - period
    step = period
    while step:
        while at - step >= 0 and tail[at - step : at] == tail[at - step + period : at + period]:
            at -= step
        step //= 2
    return at


def _is_wording(loop: str, period: int) -> bool:
    unit = loop[-period:]
    letters = len(DROPPED().sub("", unit))
    if letters < 2 or letters < WORDING * len(unit.replace(" ", "")) or len(set(unit)) == 1:
        return False  # one character over and over may be base64 of zeros: that is for the long look
    words = [word.strip(",;[]{}()\"'").lower() for word in loop.split()][1:-1]
    if words and DATA_WORDS.issuperset(words):
        return False
    return code_share(loop) < CODE and len(skeleton_of(loop)) >= WORDING * len(loop)
