"""Loops whose wording repeats while counters, time stamps, case or punctuation drift.

The skeleton of the text is searched for exact periods. What the raw copies differ in, and the shape in which they
stand, decides how many of them are too many (`counters.py`).
"""

from __future__ import annotations

from seatrial.degeneration.counters import PARAGRAPHS, Change, Frame, Shape, frame_of
from seatrial.degeneration.exact import STEP as BEAT
from seatrial.degeneration.model import Kind, Severity
from seatrial.degeneration.periods import Loop, LoopTracker
from seatrial.degeneration.request import Request
from seatrial.degeneration.sighting import Sighting
from seatrial.degeneration.skeleton import Skeleton
from seatrial.degeneration.tool_calls import calls_in, calls_needed
from seatrial.degeneration.window import Window

STEP, PHASE = 128, 64
"""Characters between two checks, which stand half-way between multiples of 128."""
TRACK_CHARS = 40
"""Skeleton characters from which on a repetition is followed."""
TIERS = ((1, 512, 1), (512, 2_048, 4))
SAMPLE = 6_000
"""Raw characters at the end of the span in which the numbers are compared."""
PATIENCE = 1.2
"""A loop is judged again at its next limit, or at so many times more copies; after half a copy at the soonest."""


class DriftingLoops:
    """Watches the skeleton of the text for loops that are no exact loops of the raw text."""

    __slots__ = ("_due", "_needle", "_request", "_start", "_watched", "skeleton", "tracker")

    def __init__(self, request: Request | None) -> None:
        self.skeleton = Skeleton()
        self.tracker = LoopTracker(TRACK_CHARS, TIERS)
        self._request = request
        self._watched: Loop | None = None
        self._due = 0.0
        self._start = 0
        self._needle = ""

    def check(self, window: Window, position: int, exact: Loop | None, *, last: bool = False) -> Sighting | None:
        """Look at the text up to `position`; `exact` is the exact loop that reaches it, if any."""
        skeleton = self.skeleton
        skeleton.advance(window, position, last=last)
        loop = self.tracker.update(skeleton.buf, skeleton.base, len(skeleton.buf))
        if loop is None and self.tracker.ended is None:
            return None
        found = None
        if self.tracker.ended is not None:
            found = self._judge(window, self.tracker.ended, exact)
        if loop is None or (found is not None and found.severity is Severity.FAIL):
            return found
        if loop is not self._watched:
            self._watch(window, loop)
        if loop.copies < self._due and not last:
            return found
        self._due = max(loop.copies * PATIENCE, loop.copies + 0.5)
        return self._judge(window, loop, exact) or found

    def _expect(self, frame: Frame, copies: float) -> None:
        """Set when to judge again: at the next limit, if that comes soon."""
        limit, per_copy = frame.limit(), frame.count(1)
        marks = [limit.warn / per_copy, (limit.fail or limit.warn) / per_copy]
        marks += [(self._request.enough + 1) / frame.entries] if self._request is not None else []
        self._due = max(min([self._due, *(mark for mark in marks if mark > copies)]), copies + 0.5)

    def grow(self, window: Window, position: int, sighting: Sighting) -> bool:
        """Move the end of a failure on to `position`; False once the loop is broken."""
        skeleton = self.skeleton
        loop = self._watched
        skeleton.advance(window, position, last=position % BEAT != 0)
        alive = self.tracker.update(skeleton.buf, skeleton.base, len(skeleton.buf))
        if loop is None or (alive is not loop and self.tracker.ended is not loop):
            return False
        sighting.end = max(self._raw_end(window, loop), sighting.end)
        if sighting.kind is Kind.DRIFTING_PERIOD:
            sighting.copies = int(loop.copies)
        elif sighting.period:
            sighting.copies = max(sighting.copies or 0, (sighting.end - sighting.start) // sighting.period)
        return alive is loop

    @property
    def start(self) -> int:
        """Where in the raw text the loop begins that was watched last."""
        return self._start

    def _watch(self, window: Window, loop: Loop) -> None:
        """Note, while it can still be read, where the loop begins and what its first copy is."""
        self._watched, self._due = loop, PARAGRAPHS.warn
        skeleton = self.skeleton
        if skeleton.buf[loop.start - skeleton.base : loop.start - skeleton.base + 1] == " ":
            self._start = skeleton.raw_position(loop.start + 2, window) - 1  # past whatever the blank stands for
        else:
            self._start = skeleton.raw_position(loop.start, window)
        self._needle = ""

    def _raw_end(self, window: Window, loop: Loop) -> int:
        skeleton = self.skeleton
        return skeleton.raw_end if loop.end >= skeleton.end else skeleton.raw_position(loop.end, window)

    def _judge(self, window: Window, loop: Loop, exact: Loop | None) -> Sighting | None:
        if loop.copies < PARAGRAPHS.warn or loop.chars < 2 * TRACK_CHARS:
            return None
        if loop is not self._watched:
            self._watch(window, loop)
        skeleton, start, end = self.skeleton, self._start, self._raw_end(window, loop)
        chars = end - start
        if exact is not None and exact.end - max(exact.start, start) >= 0.8 * chars:
            return None
        unit = skeleton.buf[max(loop.end - loop.period - skeleton.base, 0) : loop.end - skeleton.base]
        if len(unit) - unit.count(" ") < 2:
            return None
        sample = window.text(max(start, end - SAMPLE), end)
        period = max(round(chars / loop.copies), 1)
        if '"arguments"' in sample:
            self._due = loop.copies
            begin = max(start, end - SAMPLE)
            line = window.text(begin - 400, begin).rpartition("\n")[2]
            return _repeated_call(line + window.text(begin, end), begin - len(line), end)
        self._needle = self._needle or sample[:period]
        frame = frame_of(unit, sample, loop.copies * len(sample) / chars)
        self._expect(frame, loop.copies)
        severity, asked = self._severity(frame, unit, loop.copies, chars)
        if severity is None:
            return None
        return Sighting(
            severity=severity,
            kind=Kind.DRIFTING_PERIOD,
            start=start,
            end=end,
            period=period,
            needle=self._needle,
            claim=f"{frame.change.value} ({{copies}} copies of about {period} characters{asked})",
            copies=int(loop.copies),
        )

    def _severity(self, frame: Frame, unit: str, copies: float, chars: int) -> tuple[Severity | None, str]:
        """Return the severity, and what the prompt had asked for where that was exceeded."""
        request = self._request
        countable = frame.change is not Change.DATA and not frame.statements
        if request is not None and countable and request.overrun(copies * frame.entries, chars):
            return Severity.FAIL, f"; {request.wanted} were asked for"
        limit = frame.limit()
        count = frame.count(copies)
        if chars < limit.chars or count < limit.warn:
            return None, ""
        repeated = unit if frame.change is Change.NOTHING or frame.shape is Shape.ITEMS else None
        if request is not None and not request.exceeded(copies, repeated):
            return (None if request.excuses(copies, repeated) else Severity.WARN), ""
        return (Severity.FAIL if limit.fail is not None and count >= limit.fail else Severity.WARN), ""


def _repeated_call(text: str, start: int, end: int) -> Sighting | None:
    """Find the last run of equal calls in JSON lines of tool calls."""
    calls = calls_in(text)
    if not calls:
        return None
    run = 1
    while run < len(calls) and calls[-run - 1][2:] == calls[-1][2:]:
        run += 1
    name, arguments = calls[-1][2:]
    if run < calls_needed(name, arguments):
        return None
    first, last = calls[-run], calls[-1]
    return Sighting(
        severity=Severity.FAIL,
        kind=Kind.REPEATED_TOOL_CALL,
        start=start + first[0],
        end=end,
        period=(last[1] - first[0]) // run + 1,
        needle=text[first[0] : first[1]],
        claim=f"{name} called again and again with the same arguments, byte for byte ({{copies}} calls)",
        copies=run,
    )
