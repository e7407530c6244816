"""The detector itself: text goes in piece by piece, a finding comes out as soon as it is sure.

All checks happen at fixed positions of the text (each 64 characters), so that the borders of the pieces never
change a result, and scanning a whole text is the same as feeding it.
"""

from __future__ import annotations

from seatrial.degeneration import drift, enumeration, novelty, salad
from seatrial.degeneration.drift import DriftingLoops
from seatrial.degeneration.ending import TAIL, torn_in_loop
from seatrial.degeneration.enumeration import Enumerations
from seatrial.degeneration.exact import STEP, ExactLoops
from seatrial.degeneration.model import Degeneration, Kind, Severity
from seatrial.degeneration.novelty import Novelty
from seatrial.degeneration.periods import common_prefix
from seatrial.degeneration.request import read_request
from seatrial.degeneration.salad import TokenSalad
from seatrial.degeneration.sighting import Sighting
from seatrial.degeneration.window import Window

PATIENCE = 3_000
"""Characters without a renewed sign after which a shuffle or salad is taken to have ended."""
ALMOST = 64
"""Characters that the beginning of a shuffle may lie before that of the loop that it really is."""
_LOOPS = frozenset({Kind.DRIFTING_PERIOD, Kind.REPEATED_TOOL_CALL})
_EXACT = frozenset({Kind.EXACT_PERIOD, Kind.CHARACTER_RUN, Kind.WHITESPACE_FLOOD})
BLOCK = 8_192
"""Characters taken in at once from a large piece."""


class StreamDetector:
    """Judges one text while it streams; memory is bounded, whatever the length.

    Args:
        field: which part of the answer this is; it comes back in the finding.
        prompt: what the user asked, if known: repetition that was asked for is excused.
    """

    __slots__ = (
        "_drift",
        "_enumerations",
        "_exact",
        "_failed",
        "_field",
        "_finished",
        "_growing",
        "_head",
        "_letters",
        "_novelty",
        "_pending",
        "_pending_chars",
        "_position",
        "_request",
        "_salad",
        "_warned",
        "_window",
    )

    def __init__(self, *, field: str = "content", prompt: str | None = None) -> None:
        request = read_request(prompt)
        self._field = field
        self._request = request
        self._window = Window()
        self._exact = ExactLoops(request)
        self._drift = DriftingLoops(request)
        self._enumerations = Enumerations(request)
        self._novelty = Novelty(request)
        self._salad = TokenSalad()
        self._letters = 0
        self._pending: list[str] = []
        self._pending_chars = 0
        self._position = 0
        self._head = ""
        self._failed: Sighting | None = None
        self._growing = False
        self._warned: Sighting | None = None
        self._finished = False

    def feed(self, chunk: str) -> Degeneration | None:
        """Take in the next piece of the text.

        Returns:
            The finding once the text is surely broken (severity fail): abort the stream. None until then.
        """
        self._pending.append(chunk)
        self._pending_chars += len(chunk)
        if self._pending_chars >= STEP:
            text = "".join(self._pending)
            whole = len(text) // STEP * STEP
            for start in range(0, whole, BLOCK):
                self._take(text[start : min(start + BLOCK, whole)])
            rest = text[whole:]
            self._pending = [rest] if rest else []
            self._pending_chars = len(rest)
        return self._failed.report(self._position + self._pending_chars, self._field) if self._failed else None

    @property
    def warning(self) -> Degeneration | None:
        """What is only suspicious so far (severity warn): the text may be broken, and may still turn out in order."""
        if self._failed is not None or self._warned is None:
            return None
        return self._warned.report(self._position + self._pending_chars, self._field)

    def finish(self) -> Degeneration | None:
        """Judge the whole text that was fed; equal to `scan` of it. Call it once, at the end."""
        if not self._finished:
            self._finished = True
            rest = "".join(self._pending)
            self._pending, self._pending_chars = [], 0
            self._finish(rest)
        best = self._failed or self._warned
        return best.report(self._position, self._field) if best else None

    def _take(self, block: str) -> None:
        """Take in a block whose length is a multiple of STEP."""
        if not self._position:
            self._head = block[:STEP]
        self._window.append(block)
        if self._failed is not None:
            before = self._position
            self._position += len(block)
            self._grow(self._failed, before)
            return
        position, stop = self._position, self._position + len(block)
        while position < stop and self._failed is None:
            position += STEP
            self._check(position)
        self._position = stop
        if self._failed is not None:
            self._grow(self._failed, position)

    def _check(self, position: int) -> None:
        sighting = self._exact.check(self._window, position)
        if sighting is None or sighting.severity is not Severity.FAIL:
            if sighting is not None:
                self._note(sighting)
            sighting = None
            if position % drift.STEP or self._drift.tracker.loop is not None:
                sighting = self._drift.check(self._window, position, self._exact.tracker.latest)
            if position % drift.STEP == 0 and (sighting is None or sighting.severity is not Severity.FAIL):
                self._note(sighting)
                sighting = self._check_words(position)
        if sighting is not None:
            self._note(sighting)

    def _check_words(self, position: int) -> Sighting | None:
        """Look for all that is no loop: at multiples of 128, 512 and 2,048 characters."""
        window, skeleton = self._window, self._drift.skeleton
        end = skeleton.base + len(skeleton.buf)
        letters, self._letters = end - self._letters, end
        found: Sighting | None = None
        if letters <= enumeration.FEW_LETTERS:
            found = self._enumerations.check(
                window, position, looping=self._exact.tracker.loop is not None
            ) or self._enumerations.runs(window, position)
        elif enumeration.dominated(window, position):
            found = self._enumerations.runs(window, position)
        if position % novelty.STEP == 0:
            found = found or self._novelty.check(window, position, skeleton)
        found = found or self._novelty.check_soon(window, position, skeleton, letters)
        if found is not None and self._is_one_loop(found):
            found = None
        if position % salad.STEP == 0 or position == salad.FIRST:
            found = found or self._salad.check(window, position, skeleton)
        return found

    def _is_one_loop(self, sighting: Sighting) -> bool:
        """Tell whether what looks like a shuffle is one living loop, which has limits of its own."""
        if sighting.kind is not Kind.LOW_NOVELTY:
            return False
        exact = self._exact.tracker.loop
        starts = [self._drift.start] if self._drift.tracker.loop is not None else []
        starts += [exact.start] if exact is not None else []
        return any(start <= sighting.start + ALMOST for start in starts)

    def _note(self, sighting: Sighting | None) -> None:
        """Keep the first failure, else the longest warning."""
        if sighting is None:
            return
        if sighting.severity is Severity.FAIL:
            self._failed, self._growing = sighting, True
        elif self._warned is None or sighting.end - sighting.start >= self._warned.end - self._warned.start:
            self._warned = sighting

    def _grow(self, sighting: Sighting, checked: int) -> None:
        """Follow the failure that was found: does it go on past the position that was checked last?"""
        window = self._window
        if not self._growing:
            return
        if sighting.period is not None and sighting.kind in _EXACT:
            at = sighting.end - window.base
            more = common_prefix(window.buf, at, at - sighting.period, len(window.buf) - at)
            sighting.end += more
            self._growing = sighting.end == window.end
            return
        position = checked
        while self._growing and position < window.end:
            position = min(position + STEP, window.end)
            if sighting.kind in _LOOPS:
                self._growing = self._drift.grow(window, position, sighting)
            else:
                self._grow_other(sighting, position)

    def _grow_other(self, sighting: Sighting, position: int) -> None:
        """Look again at the intervals of the layer that found it; the first look that finds nothing is the end."""
        window, skeleton = self._window, self._drift.skeleton
        last = position % STEP != 0
        if position % drift.STEP == drift.PHASE or last:
            skeleton.advance(window, position, last=last)
        if position % (salad.STEP if sighting.kind is Kind.TOKEN_SALAD else novelty.STEP) and not last:
            return
        again: Sighting | None
        if sighting.kind is Kind.LOW_NOVELTY:
            again = self._novelty.check(window, position, skeleton, gated=False)
            again = again or self._enumerations.check(window, position, looping=False)
            again = again or self._enumerations.runs(window, position)
        elif sighting.kind is Kind.TOKEN_SALAD:
            again = self._salad.check(window, position, skeleton)
        elif sighting.kind is Kind.GROWING_RUNS:
            again = self._enumerations.runs(window, position)
        else:
            again = self._enumerations.check(window, position, looping=self._exact.tracker.loop is not None)
        if again is not None:
            sighting.end = max(sighting.end, again.end)
        self._growing = position - sighting.end < PATIENCE

    def _finish(self, rest: str) -> None:
        if not self._position:
            self._head = rest
        checked = self._position
        self._window.append(rest)
        self._position += len(rest)
        if self._failed is not None:
            self._grow(self._failed, checked)
            return
        position = self._position
        self._note(self._exact.finish(self._window, position))
        if self._failed is None:
            self._note(self._drift.check(self._window, position, self._exact.tracker.latest, last=True))
        if self._failed is None:
            self._check_last(position)
        if self._failed is None:
            self._note(torn_in_loop(self._window.text(position - TAIL, position), position, self._request))
        if self._failed is None and position <= STEP and self._head.strip() and not self._head.strip().strip("!"):
            self._note(_only_placeholder(self._head))

    def _check_last(self, position: int) -> None:
        window, skeleton = self._window, self._drift.skeleton
        found = (
            self._enumerations.check(window, position, looping=self._exact.tracker.loop is not None)
            or self._enumerations.runs(window, position)
            or self._novelty.check(window, position, skeleton)
        )
        if found is not None and self._is_one_loop(found):
            found = None
        self._note(found or self._salad.check(window, position, skeleton))


def _only_placeholder(text: str) -> Sighting:
    return Sighting(
        severity=Severity.WARN,
        kind=Kind.PLACEHOLDER_ONLY,
        start=0,
        end=len(text),
        period=None,
        needle=text,
        claim="the whole text is '!', the token with id 0 of many vocabularies; compare with a known answer",
    )


def scan(text: str, *, field: str = "content", prompt: str | None = None) -> Degeneration | None:
    """Judge a whole text.

    Args:
        text: any string; lone surrogates are fine.
        field: which part of the answer it is; it comes back in the finding.
        prompt: what the user asked, if known: repetition that was asked for is excused.

    Returns:
        The first sure failure, else the longest suspicious span, else None.
    """
    detector = StreamDetector(field=field, prompt=prompt)
    detector.feed(text)
    return detector.finish()
