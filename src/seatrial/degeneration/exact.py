"""Exact loops of raw characters: judged against what the structure around them excuses."""

from __future__ import annotations

from seatrial.degeneration.model import Kind, Severity
from seatrial.degeneration.periods import Loop, LoopTracker
from seatrial.degeneration.request import Request
from seatrial.degeneration.sighting import Sighting
from seatrial.degeneration.structure import Allowance, aligned, aligned_shift, allowance
from seatrial.degeneration.window import Window

STEP = 64
"""Characters between two checks; the positions are fixed, so that chunk borders never matter."""
TRACK_CHARS = 128
"""A span is followed as a possible loop from this length on."""
LONG_CHARS, LONG_COPIES = 4_160, 8.5
"""No structure excuses more than this: so any text that is repeated often enough is caught."""
WARN_CHARS = 200
WARN_COPIES = 4.0


class ExactLoops:
    """Watches the end of the text for an exact loop."""

    __slots__ = ("_allowances", "_request", "tracker")

    def __init__(self, request: Request | None) -> None:
        self.tracker = LoopTracker(TRACK_CHARS)
        self._request = request
        self._allowances: tuple[Loop, Allowance, str, str] | None = None

    def check(self, window: Window, position: int) -> Sighting | None:
        """Look at the text up to `position`."""
        loop = self.tracker.update(window.buf, window.base, position - window.base)
        ended = self.tracker.ended
        if loop is None and ended is None:
            return None
        found = self._judge(window, ended, at_end=False) if ended is not None else None
        if loop is None or (found is not None and found.severity is Severity.FAIL):
            return found
        return self._judge(window, loop, at_end=False) or found

    def finish(self, window: Window, position: int) -> Sighting | None:
        """Look a last time: a structure that was never closed excuses less, and a short loop may still warn."""
        found = self.check(window, position)
        loop = self.tracker.loop
        if loop is None or (found is not None and found.severity is Severity.FAIL):
            return found
        return self._judge(window, loop, at_end=True) or found

    def _judge(self, window: Window, loop: Loop, *, at_end: bool) -> Sighting | None:
        if loop.chars < WARN_CHARS:
            return None
        allowed, unit, previous = self._allowance(window, loop)
        enough = loop.chars >= allowed.chars and loop.copies >= allowed.copies
        enough = enough or (loop.chars >= LONG_CHARS and loop.copies >= LONG_COPIES)
        if not enough and at_end and allowed.open_chars is not None:
            enough = loop.chars >= allowed.open_chars
        if not enough:
            over = loop.closed or at_end
            if over and allowed.warns and loop.copies >= WARN_COPIES and not self._excused(loop, unit):
                return _sighting(loop, Severity.WARN, allowed, unit, previous)
            return None
        if self._request is None or self._request.exceeded(loop.copies, unit):
            return _sighting(loop, Severity.FAIL, allowed, unit, previous)
        if self._request.excuses(loop.copies, unit) or not (loop.closed or at_end):
            return None
        return _sighting(loop, Severity.WARN, allowed, unit, previous)

    def _excused(self, loop: Loop, unit: str) -> bool:
        return self._request is not None and self._request.excuses(loop.copies, unit)

    def _allowance(self, window: Window, loop: Loop) -> tuple[Allowance, str, str]:
        if self._allowances is not None and self._allowances[0] is loop:
            return self._allowances[1:]
        unit = window.text(loop.start, loop.start + loop.period)
        if len(unit) < loop.period:
            unit = window.text(loop.end - loop.period, loop.end)
        before = window.text(loop.start - 500, loop.start)
        allowed = allowance(aligned(unit), before, fenced=window.fenced(loop.start))
        self._allowances = (loop, allowed, unit, before[-1:])
        return allowed, unit, before[-1:]


def _sighting(loop: Loop, severity: Severity, allowed: Allowance, unit: str, previous: str) -> Sighting:
    shift = aligned_shift(unit, previous)
    kind = Kind.EXACT_PERIOD
    if not unit.strip():
        kind = Kind.WHITESPACE_FLOOD
    elif loop.period == 1:
        kind = Kind.CHARACTER_RUN
    return Sighting(
        severity=severity,
        kind=kind,
        start=loop.start + shift,
        end=loop.end,
        period=loop.period,
        needle=unit[shift:] + unit[:shift],
        claim=_claim(kind, loop.period, allowed),
    )


def _claim(kind: Kind, period: int, allowed: Allowance) -> str:
    what = {
        Kind.WHITESPACE_FLOOD: "nothing but white space",
        Kind.CHARACTER_RUN: "one and the same character",
    }.get(kind, f"the same {period} characters again and again")
    excuse = f"; {allowed.name} would excuse fewer" if allowed.name else ""
    return what + " ({copies} copies, {chars} characters)" + excuse
