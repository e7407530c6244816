"""Groups the lines of tracebacks, also where several processes write theirs into one another."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field

from seatrial.doctor.model import LogLine, Traceback

MOST_FRAMES = 40
"""The innermost frames that are kept."""
MOST_LINES = 3000
"""A traceback without an end is given up after so many lines."""
MOST_OPEN = 64
LONGEST_ERROR = 2000

BEGIN = "Traceback (most recent call last)"
FRAME = re.compile(r'\s+File "[^"]*", line \d+')
CHAIN = re.compile(r"(?:During handling of the above exception|The above exception was the direct cause)")
ERROR = re.compile(
    r"(?!(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL)\b)"
    r"(?:[A-Za-z_]\w*\.)*(?:_?[A-Z]\w*|gaierror|herror|timeout|error)(?:: |:?$|\()"
)
"""The last line of a traceback: an exception's name, and what it says."""
GROUP = re.compile(r"^[ \t]*[|+][ \t]?")
"""The margin of an exception group."""


@dataclass(slots=True)
class _Open:
    line: int
    rank: str
    source: str
    chained: bool
    frames: deque[str] = field(default_factory=lambda: deque(maxlen=MOST_FRAMES))
    lines: int = 0


class TracebackReader:
    """Follows tracebacks line by line."""

    def __init__(self) -> None:
        self._open: list[_Open] = []
        self._chained = False

    @property
    def is_open(self) -> bool:
        """Whether a traceback has not ended: then every line must be shown to it."""
        return bool(self._open) or self._chained

    def feed(self, line: LogLine) -> Traceback | None:
        """Take a line; return the traceback that it ends."""
        text = line.text
        if BEGIN in text:
            if len(self._open) < MOST_OPEN:
                self._open.append(_Open(line.number, line.rank, line.source, self._chained))
            self._chained = False
            return None
        if CHAIN.search(text):
            self._chained = True
            return None
        self._chained = self._chained and not text.strip()
        for entry in self._open:
            entry.lines += 1
        if self._open and self._open[0].lines > MOST_LINES:
            del self._open[0]
        mine = self._belongs_to(line)
        if mine is None:
            return None
        bare = GROUP.sub("", text) if text.lstrip()[:1] in ("|", "+") else text
        if FRAME.match(bare):
            mine.frames.append(bare.strip())
            return None
        if bare[:1].isspace() or not ERROR.match(bare):
            return None
        self._open.remove(mine)
        return self._close(mine, line, bare)

    def unfinished(self) -> Traceback | None:
        """Return the first traceback whose end never came."""
        if not self._open:
            return None
        first = self._open[0]
        return Traceback(first.line, first.rank, "", tuple(first.frames), first.chained)

    def _belongs_to(self, line: LogLine) -> _Open | None:
        """Find the open traceback that a line continues: the newest of the same worker, else the newest of all.

        A line that begins a message of its own continues none: loggers put their prefix on the first line only.
        """
        if line.prefixed:
            return None
        same = [entry for entry in self._open if entry.source == line.source]
        if line.rank:
            same = [entry for entry in same if entry.rank == line.rank]
        return same[-1] if same else None

    @staticmethod
    def _close(entry: _Open, line: LogLine, error: str) -> Traceback:
        return Traceback(
            entry.line,
            entry.rank or line.rank,
            error[:LONGEST_ERROR],
            tuple(entry.frames),
            entry.chained,
            line.number,
        )
