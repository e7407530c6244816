"""A text that the token budget cut in the middle of a loop: then less of the loop needs to be seen.

An answer that ends by itself may end on a refrain. One that was cut while it said the same words for the eighth time
was not about to stop. This needs to know that the text was cut (`finish_reason` length), so only `scan_answer` asks.
"""

from __future__ import annotations

from seatrial.degeneration.model import Degeneration, Kind, Severity, shorten
from seatrial.degeneration.request import read_request
from seatrial.degeneration.skeleton import skeleton_of
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
CODE = 0.03
"""Share of signs of code in the tail from which on it is taken for code, where lines may well repeat."""


def cut_in_loop(text: str, field: str, prompt: str | None) -> Degeneration | None:
    """Find the loop that a cut text ends in: the same words at least 8 times (120 bytes), or 5 times (300 bytes)."""
    tail = text[-TAIL:].rstrip("\ufffd")
    for period in range(2, min(LONGEST, len(tail) // SOME_COPIES) + 1):
        if tail[-period:] != tail[-2 * period : -period]:
            continue
        start = _start(tail, period)
        loop = tail[start:]
        copies, size = len(loop) / period, len(loop.encode("utf-8", errors="replace"))
        enough = (copies >= MANY_COPIES and size >= MANY_BYTES) or (copies >= SOME_COPIES and size >= SOME_BYTES)
        if not enough or not _is_wording(loop, period):
            return None
        request = read_request(prompt)
        if request is not None and not request.exceeded(copies, loop[:period]):
            return None
        onset = len(text) - len(text[-TAIL:]) + start
        return Degeneration(
            severity=Severity.FAIL,
            kind=Kind.EXACT_PERIOD,
            onset=onset,
            end=onset + len(loop),
            period=period,
            needle=shorten(loop[:period]),
            coverage=len(loop) / len(text),
            field=field,
            why=f"From character {onset:,} to its end: cut by the token budget while it said the same {period} "
            f"characters for the {int(copies)}th time.",
        )
    return None


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
    letters = sum(map(str.isalpha, unit))
    if letters < 2 or letters < WORDING * len(unit.replace(" ", "")) or len(set(unit)) == 1:
        return False  # one character over and over may be base64 of zeros: that is for the long look
    words = [word.strip(",;[]{}()\"'").lower() for word in loop.split()][1:-1]
    if words and DATA_WORDS.issuperset(words):
        return False
    return code_share(loop) < CODE and len(skeleton_of(loop)) >= WORDING * len(loop)
