"""The wording of a text without what drifts: case, digits, identifiers, dates, punctuation, spacing.

The skeleton of a stream is built piece by piece at fixed positions, with marks that lead back to the raw text.
Two copies of a frame that differ only in counters, time stamps or punctuation have the same skeleton.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from seatrial.degeneration.patterns import lazily
from seatrial.degeneration.window import Window

STEP = 128
"""Raw characters of a piece. A piece ends at a separator where one stands in its last 48 characters."""
KEEP = 16_384
SLACK = 8_192

DROPPED = lazily(
    r"[\s\d!-/:-@\[-`{-~\u0080-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf\u2000-\u206f\u3000-\u3004\u3008-\u303f"
    r"\u30fb\uff01-\uff20\uff3b-\uff40\uff5b-\uff65]+"
)
_DIGIT = lazily(r"\d")
_HEX_RUN = lazily(r"[0-9a-fA-F-]{6}")
_IDENTIFIER = lazily(r"(?<![^\W_])(?=[0-9a-fA-F-]{0,40}\d)[0-9a-fA-F-]{6,}(?![^\W_])")
_NAME = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs(?:day)?)?|"
    r"fri(?:day)?|sat(?:urday)?|sun(?:day)?)"
)
_AFTER_DIGIT = lazily(
    rf"\d(?:(?:st|nd|rd|th|e|er|ème|º|ª)(?![^\W_])|\s?[ap]m\b|[ ,./-]{{1,2}}{_NAME}\b)", re.IGNORECASE
)
"""Endings of ordinals, `am` and `pm`, names of months and days behind a number; elsewhere "may" and "am" are words."""
_BEFORE_DIGIT = lazily(rf"\b{_NAME}(?=\.?,?[ /-]?\d)", re.IGNORECASE)
FEW_DIGITS = 4
"""A piece with fewer digits holds no date, time or identifier whose letters matter."""


_ASCII = bytes(code if 97 <= code <= 122 else 32 for code in bytes(range(256)).lower())
_ASCII_DIGITS = b"0123456789"


def _without_stamps(piece: str, digits: int) -> str:
    if digits >= FEW_DIGITS:
        if _HEX_RUN().search(piece):
            piece = _IDENTIFIER().sub("0", piece)
        piece = _BEFORE_DIGIT().sub("0", piece)
    return _AFTER_DIGIT().sub("0", piece)


def names_beside_numbers(text: str) -> set[str]:
    """Return the names of months and days that the skeleton leaves out."""
    return {found[0].lower().strip("0123456789 ,./-") for found in _BEFORE_DIGIT().finditer(text)} | {
        found[0].lower().strip("0123456789 ,./-") for found in _AFTER_DIGIT().finditer(text)
    }


def skeleton_of(piece: str) -> str:
    """Return the wording of a piece: lower case, each run of anything else one blank."""
    if piece.isascii():
        raw = piece.encode()
        plain = raw.translate(_ASCII)
        if plain.isspace():
            return " "
        digits = len(raw) - len(raw.translate(None, _ASCII_DIGITS))
        if digits:
            plain = _without_stamps(piece, digits).encode().translate(_ASCII)
        words = b" ".join(plain.split())
        if plain[:1] == b" ":
            words = b" " + words
        if plain[-1:] == b" " and words != b" ":
            words += b" "
        return words.decode()
    if _DIGIT().search(piece):
        piece = _without_stamps(piece, FEW_DIGITS)
    return DROPPED().sub(" ", piece).lower()


def _border(raw: str, begin: int, stop: int) -> int:
    """Return where a piece ends: behind a separator, and not between a number and a word, which may be one date."""
    at = stop
    for _ in range(4):
        at = max(raw.rfind(" ", stop - 48, at), raw.rfind("\n", stop - 48, at))
        if at < begin:
            break
        if raw[at + 1 : stop] and not (raw[at + 1].isdigit() or raw[at - 1].isdigit()):
            return at + 1
    cut = max(raw.rfind(" ", stop - 48, stop), raw.rfind("\n", stop - 48, stop)) + 1
    return cut if cut > begin else stop


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
        raw, base = window.buf, window.base
        begin, stop = self.raw_end - base, position - base
        if not last:
            stop = _border(raw, begin, stop)
        words = skeleton_of(raw[begin:stop])
        self.raw_end = base + stop
        buf, self.buf = self.buf, ""  # the only reference: the next line grows it in place
        if words[:1] == " " and buf[-1:] == " ":
            words = words[1:]
        buf += words
        self.buf = buf
        if not words:
            self._raws[-1] = self.raw_end
            return
        self._marks.append(self.base + len(buf))
        self._raws.append(self.raw_end)
        if len(buf) > KEEP + SLACK:
            self._trim()

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
        joined = self._marks[index] - self.base - 1
        if joined >= 0 and self.buf[joined] == " " and skeleton_of(window.text(start, start + 1)) == " ":
            wanted += 1  # the blank that this piece began with was already there
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
