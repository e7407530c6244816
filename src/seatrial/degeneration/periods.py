"""Exact periods in a growing text: find one, follow it, say where it began. Slices and `rfind` only.

`find_period` looks for the last few characters further back. Where they stand, a period is guessed, and one
comparison of two slices proves or refutes it for the whole span. Ordinary text costs one search that fails.
"""

from __future__ import annotations

from dataclasses import dataclass

PROBE = 16
MAX_PERIOD = 8_192
"""Longest exact period that is looked for, in characters."""
TIERS = ((1, 512, 1), (512, 2_048, 4), (2_048, MAX_PERIOD, 16))
"""Shortest and longest period, and how many steps lie between two looks. A loop is sure after 3.5 copies, and the
look may come one interval later: 3.5 P + interval must stay within 4 P, so the interval is at most P / 2."""


def common_prefix(buf: str, left: int, right: int, limit: int) -> int:
    """Return how many characters from `left` on equal those from `right` on, at most `limit`."""
    done, size = 0, limit
    while size > 0:
        if buf[left + done : left + done + size] == buf[right + done : right + done + size]:
            done += size
            size = min(size, limit - done)
        else:
            size //= 2
    return done


def common_suffix(buf: str, left: int, right: int, limit: int) -> int:
    """Return how many characters before `left` equal those before `right`, at most `limit`."""
    done, size = 0, limit
    while size > 0:
        if buf[left - done - size : left - done] == buf[right - done - size : right - done]:
            done += size
            size = min(size, limit - done)
        else:
            size //= 2
    return done


def find_period(buf: str, end: int, shortest: int, longest: int, min_chars: int) -> int:
    """Return the smallest period that the text before `end` has had for a while, or 0.

    "A while" is 2.5 periods, and at least `min_chars` characters. Periods from `shortest` to `longest` count.
    """
    size = PROBE
    while shortest <= longest:
        if end < size + shortest:
            return 0
        at = buf.rfind(buf[end - size : end], max(end - size - longest, 0), end - shortest)
        if at < 0:
            return 0
        period = end - size - at
        span = max(min_chars, 5 * period // 2)
        if span <= end and buf[end - span + period : end] == buf[end - span : end - period]:
            return period
        shortest = period + 1
        size = min(size * 4, 1_024)
    return 0


@dataclass(slots=True)
class Loop:
    """A span of the text that repeats itself: positions are absolute, `end` is exclusive."""

    period: int
    start: int
    end: int
    closed: bool = False

    @property
    def chars(self) -> int:
        """Length of the span, its first copy included."""
        return self.end - self.start

    @property
    def copies(self) -> float:
        """How often the unit stands in the span."""
        return (self.end - self.start) / self.period


class LoopTracker:
    """Follows at most one loop at the end of a growing buffer.

    Attributes:
        loop: the loop that reaches the newest character, if any.
        ended: the loop that the last `update` saw break, if any.
        latest: the loop that was seen last, alive or not.
    """

    __slots__ = ("_min_chars", "_steps", "_tiers", "ended", "latest", "loop")

    def __init__(self, min_chars: int, tiers: tuple[tuple[int, int, int], ...] = TIERS) -> None:
        self._min_chars = min_chars
        self._tiers = tiers
        self._steps = 0
        self.loop: Loop | None = None
        self.ended: Loop | None = None
        self.latest: Loop | None = None

    def update(self, buf: str, base: int, end: int) -> Loop | None:
        """Look at the text up to index `end` of `buf`, which starts at position `base`; return the living loop."""
        self._steps += 1
        self.ended = None
        loop = self.loop
        if loop is not None:
            old, period = loop.end - base, loop.period
            if buf[old:end] == buf[old - period : end - period]:
                loop.end = base + end
                if loop.chars >= 4 * self._tiers[0][1]:
                    return loop
            else:
                loop.end += common_prefix(buf, old, old - period, end - old)
                loop.closed = True
                self.ended, self.loop, loop = loop, None, None
        elif self._steps & 3 and buf.rfind(buf[end - PROBE : end], max(end - PROBE - 512, 0), end - 1) < 0:
            return None  # ordinary text, between the looks for longer periods
        for shortest, longest, every in self._tiers:
            if (loop is None or shortest > loop.period) and self._steps % every == 0:
                period = find_period(buf, end, shortest, longest, self._min_chars)
                if period:
                    found = self._begin(buf, base, end, period)
                    if loop is None or found.start < loop.start:
                        self.loop = self.latest = found
                    break
        return self.loop

    @staticmethod
    def _begin(buf: str, base: int, end: int, period: int) -> Loop:
        reach = common_suffix(buf, end - period, end, end - period)
        return Loop(period=period, start=base + end - reach - period, end=base + end)
