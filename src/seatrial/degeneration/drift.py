"""Loops whose wording repeats while counters, time stamps, case or punctuation drift.

The skeleton of the text is searched for exact periods. What the raw copies differ in decides how many of them are
too many: nothing but punctuation, a counter that counts on, or numbers that carry data.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

from seatrial.degeneration.exact import STEP as BEAT
from seatrial.degeneration.model import Kind, Severity
from seatrial.degeneration.patterns import lazily
from seatrial.degeneration.periods import Loop, LoopTracker
from seatrial.degeneration.request import Request
from seatrial.degeneration.sighting import Sighting
from seatrial.degeneration.skeleton import Skeleton
from seatrial.degeneration.structure import code_share
from seatrial.degeneration.tool_calls import calls_in, calls_needed
from seatrial.degeneration.window import Window

STEP, PHASE = 128, 64
"""Characters between two checks, which stand half-way between multiples of 128."""
TRACK_CHARS = 40
"""Skeleton characters from which on a repetition is followed."""
TIERS = ((1, 512, 1), (512, 2_048, 8))
SAMPLE = 6_000
"""Raw characters at the end of the span in which the numbers are compared."""
_NUMBER = lazily(r"\d+")
_ROW = lazily(r"(?m)^\s*(?:[|\[{(<\"'`]|[-+*]\s|\d{4}-\d\d|\d+[.)]?\s*[|,;\t]|[A-Z]+ INTO )|\"\s*[:,]|\t.*\t|;\s*$")


_SENTENCE_LINE = lazily(r"[.!?…。！？,।]['\")*]*\s*\n")


class Change(Enum):
    """What differs from copy to copy."""

    NOTHING = "the same words, while only case, punctuation or spacing differ"
    COUNTER = "the same words with a number that only counts on"
    COUNTDOWN = "the same words with a number that counts down"
    DATA = "the same words around other numbers"


@dataclass(frozen=True, slots=True)
class Limit:
    """Copies and characters from which on a drifting loop is suspicious and a failure; None: never."""

    warn: int
    fail: int | None
    chars: int


TEXT_LIMITS = {
    Change.NOTHING: Limit(warn=5, fail=5, chars=270),
    Change.COUNTER: Limit(warn=41, fail=64, chars=1_200),
    Change.COUNTDOWN: Limit(warn=101, fail=128, chars=1_200),
    Change.DATA: Limit(warn=80, fail=120, chars=2_500),
}
"""Sentences: an honest check of forty cases passes, hundreds of copies do not."""
ROW_LIMITS = {
    Change.NOTHING: Limit(warn=24, fail=24, chars=600),
    Change.COUNTER: Limit(warn=110, fail=160, chars=1_500),
    Change.COUNTDOWN: Limit(warn=110, fail=200, chars=1_500),
    Change.DATA: Limit(warn=200, fail=None, chars=4_000),
}
"""Rows of tables, code, JSON, logs: ninety lines of a test log or a hundred SQL inserts are ordinary."""
WORDY_LIMIT = Limit(warn=200, fail=300, chars=4_000)
"""Rows that are mostly wording, such as the same log message with ever new time stamps."""
ONE_WORD_COPIES = 30
LONG_FRAME = 150
"""Letters of a frame that is a paragraph by itself: then LONG_LIMIT holds for a counter that counts on."""
LONG_LIMIT = Limit(warn=12, fail=20, chars=6_000)


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
        self._due = max(loop.copies * 1.15, loop.copies + 1)
        return self._judge(window, loop, exact) or found

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
            sighting.copies = (sighting.end - sighting.start) // sighting.period
        return alive is loop

    def _watch(self, window: Window, loop: Loop) -> None:
        """Note, while it can still be read, where the loop begins and what its first copy is."""
        self._watched, self._due = loop, 4.0
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
        if loop.copies < 4 or loop.chars < 2 * TRACK_CHARS:
            return None
        if loop is not self._watched:
            self._watch(window, loop)
        skeleton, start, end = self.skeleton, self._start, self._raw_end(window, loop)
        chars = end - start
        if exact is not None and exact.end - max(exact.start, start) >= 0.8 * chars:
            return None
        unit = skeleton.buf[max(loop.end - loop.period - skeleton.base, 0) : loop.end - skeleton.base]
        letters = len(unit) - unit.count(" ")
        if letters < 2:
            return None
        sample = window.text(max(start, end - SAMPLE), end)
        period = max(round(chars / loop.copies), 1)
        if '"arguments"' in sample:
            begin = max(start, end - SAMPLE)
            line = window.text(begin - 400, begin).rpartition("\n")[2]
            return _repeated_call(line + window.text(begin, end), begin - len(line), end)
        self._needle = self._needle or sample[:period]
        change = change_between(sample, len(sample) / period)
        severity = self._severity(change, sample[-2 * period :], unit, loop.copies, chars, letters)
        if severity is None:
            return None
        return Sighting(
            severity=severity,
            kind=Kind.DRIFTING_PERIOD,
            start=start,
            end=end,
            period=period,
            needle=self._needle,
            claim=f"{change.value} ({{copies}} copies of about {period} characters)",
            copies=int(loop.copies),
        )

    def _severity(
        self, change: Change, frame: str, unit: str, copies: float, chars: int, letters: int
    ) -> Severity | None:
        row = is_row(frame)
        limit = (ROW_LIMITS if row else TEXT_LIMITS)[change]
        if change is Change.COUNTER and letters >= LONG_FRAME and not row:
            limit = LONG_LIMIT
        if row and change is Change.DATA and letters >= max(20, 0.4 * chars / copies):
            limit = WORDY_LIMIT
        if change is Change.NOTHING and len(unit.split()) == 1:
            copies_needed = ONE_WORD_COPIES * (4 if letters == 1 else 1)
            limit = Limit(warn=copies_needed, fail=copies_needed, chars=TEXT_LIMITS[change].chars)
        warn, fail = limit.warn, limit.fail
        if chars < limit.chars or copies < warn:
            return None
        repeated = unit if change is Change.NOTHING else None
        if self._request is not None and not self._request.exceeded(copies, repeated):
            return None if self._request.excuses(copies, repeated) else Severity.WARN
        return Severity.FAIL if fail is not None and copies >= fail else Severity.WARN


def is_row(frame: str) -> bool:
    """Tell whether copies look like rows of a table, code, JSON, a log or a list rather than sentences."""
    if _ROW().search(frame) or code_share(frame) >= 0.15:
        return True
    return "\n" in frame and _SENTENCE_LINE().search(frame) is None


def change_between(sample: str, copies: float) -> Change:
    """Compare the numbers of about `copies` copies of one frame, place by place."""
    numbers = [int(digits[:15]) for digits in _NUMBER().findall(sample)]
    places = round(len(numbers) / max(copies, 1))
    if not numbers or (places == 0 and len(numbers) <= 2):
        return Change.NOTHING
    if places == 0 or abs(len(numbers) - places * copies) > places + 1:
        return Change.DATA
    steps = set()
    uneven = False
    for place in range(places):
        column = numbers[place::places]
        differences = Counter(b - a for a, b in pairwise(column))
        if not differences:
            continue
        step, count = differences.most_common(1)[0]
        if count < 0.85 * (len(column) - 1) - 1:
            return Change.DATA
        uneven = uneven or (step == 0 and count < len(column) - 1)
        steps.add(step)
    if any(step > 0 for step in steps):
        return Change.COUNTER
    if any(step < 0 for step in steps):
        return Change.COUNTDOWN
    return Change.DATA if uneven else Change.NOTHING


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
