"""The wording of a text without what drifts: case, digits, identifiers, dates, punctuation, spacing.

The skeleton of a stream is built piece by piece at fixed positions, with marks that lead back to the raw text.
Two copies of a frame that differ only in counters, time stamps or punctuation have the same skeleton.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from seatrial.degeneration.window import Window

STEP = 128
"""Raw characters of a piece. A piece ends at a separator where one stands in its last 48 characters."""
KEEP = 16_384
SLACK = 8_192

DROPPED = re.compile(
    r"[\s\d!-/:-@\[-`{-~\u0080-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf\u2000-\u206f\u3000-\u3004\u3008-\u303f"
    r"\u30fb\uff01-\uff20\uff3b-\uff40\uff5b-\uff65]+"
)
_DIGIT = re.compile(r"\d")
_IDENTIFIER = re.compile(r"(?<![^\W_])(?=[0-9a-fA-F-]{0,40}\d)[0-9a-fA-F-]{6,}(?![^\W_])")
_CALENDAR = re.compile(
    r"\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs(?:day)?)?|"
    r"fri(?:day)?|sat(?:urday)?|sun(?:day)?|[ap]m)\b",
    re.IGNORECASE,
)


def skeleton_of(piece: str) -> str:
    """Return the wording of a piece: lower case, each run of anything else one blank."""
    if _DIGIT.search(piece):
        piece = _CALENDAR.sub("0", _IDENTIFIER.sub("0", piece))
    return DROPPED.sub(" ", piece).lower()


class Skeleton:
    """The growing skeleton of a stream.

    Attributes:
        buf: the newest part of the skeleton.
        base: position in the whole skeleton of `buf[0]`.
        raw_end: position in the raw text up to which the skeleton reaches.
    """

    __slots__ = ("_marks", "_raws", "base", "buf", "raw_end")

    def __init__(self) -> None:
        self.buf = ""
        self.base = 0
        self.raw_end = 0
        self._marks: list[int] = [0]
        self._raws: list[int] = [0]

    @property
    def end(self) -> int:
        """Position after the newest character of the skeleton."""
        return self.base + len(self.buf)

    def advance(self, window: Window, position: int, *, last: bool = False) -> None:
        """Take in the raw text up to `position`, or up to the last separator before it."""
        piece = window.text(self.raw_end, position)
        if not last:
            found = max(piece.rfind(" ", len(piece) - 48), piece.rfind("\n", len(piece) - 48))
            if found > 0:
                piece = piece[: found + 1]
        words = skeleton_of(piece)
        if self.buf[-1:] == " " and words[:1] == " ":
            words = words[1:]
        if len(self.buf) > KEEP + SLACK:
            self._trim()
        self.buf += words
        self.raw_end += len(piece)
        if words:
            self._marks.append(self.end)
            self._raws.append(self.raw_end)
        else:
            self._raws[-1] = self.raw_end

    def raw_position(self, position: int, window: Window) -> int:
        """Lead a position in the skeleton back to the raw text, exactly where the raw text is still kept."""
        index = bisect_right(self._marks, position) - 1
        if index < 0:
            return self._raws[0]
        if index + 1 >= len(self._marks):
            return self._raws[index]
        low, high = self._raws[index], self._raws[index + 1]
        wanted = position - self._marks[index]
        start = low
        while low < high:
            middle = (low + high) // 2
            if len(skeleton_of(window.text(start, middle))) < wanted:
                low = middle + 1
            else:
                high = middle
        return low

    def _trim(self) -> None:
        cut = len(self.buf) - KEEP
        self.buf = self.buf[cut:]
        self.base += cut
        index = max(bisect_right(self._marks, self.base) - 1, 0)
        del self._marks[:index], self._raws[:index]
