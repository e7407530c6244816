"""The part of a stream that detectors may look back on: the last 32 Ki characters and a few counters."""

from __future__ import annotations

KEEP = 32_768
"""Characters that stay readable behind the newest one: 3.5 copies of the longest period (8,192) fit."""
SLACK = 8_192
"""How much the buffer may grow past KEEP before it is cut: one copy of the buffer for each 8 Ki characters."""
FENCE = "```"


class Window:
    """The newest characters of a text, addressed by their absolute position.

    Attributes:
        buf: the characters that are kept.
        base: position in the whole text of `buf[0]`.
    """

    __slots__ = ("_fences", "base", "buf")

    def __init__(self) -> None:
        self.buf = ""
        self.base = 0
        self._fences = 0

    def append(self, text: str) -> None:
        """Add text at the end, and forget what lies further back than KEEP + SLACK characters."""
        cut = len(self.buf) - KEEP
        if cut >= SLACK:
            self._fences += self.buf.count(FENCE, 0, cut + len(FENCE) - 1)
            self.buf = self.buf[cut:] + text
            self.base += cut
        else:
            buf, self.buf = self.buf, ""  # the only reference: the next line grows it in place
            buf += text
            self.buf = buf

    @property
    def end(self) -> int:
        """Position after the newest character."""
        return self.base + len(self.buf)

    def text(self, start: int, stop: int) -> str:
        """Return the characters from one position to another, as far as they are still kept."""
        return self.buf[max(start - self.base, 0) : max(stop - self.base, 0)]

    def fenced(self, position: int) -> bool:
        """Tell whether the position lies inside a fenced code block."""
        return (self._fences + self.buf.count(FENCE, 0, max(position - self.base, 0))) % 2 == 1
