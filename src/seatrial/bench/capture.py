"""What came of one request, as it came: bytes and the moments of their reading. Nothing of it is understood yet.

While a level runs the client only writes captures to a spool; they are read afterwards (`reading.py`), so that parsing
never makes the client late.
"""

from __future__ import annotations

import pickle
import tempfile
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from seatrial.endpoint.exchange import Failure


@dataclass(slots=True)
class Capture:
    """One request on the wire; clock readings are `time.monotonic`, seconds.

    Attributes:
        number: unique in its run.
        body: of the request, JSON.
        scheduled: when it should have been sent.
        started: when work on it began.
        sent: when its bytes were handed to the connection.
        ended: when the last byte came, or when it failed.
        data: all bytes of the response, head and framing included.
        stamps: when each reading of the socket came.
        ends: how many bytes had come after each reading.
        status: HTTP status, once it came.
        failure: what the transport had to say; None for a whole response.
    """

    number: int
    body: bytes
    scheduled: float
    started: float
    sent: float | None = None
    ended: float = 0.0
    data: bytearray = field(default_factory=bytearray)
    stamps: array[float] = field(default_factory=lambda: array("d"))
    ends: array[int] = field(default_factory=lambda: array("Q"))
    status: int | None = None
    failure: Failure | None = None

    @property
    def is_refused(self) -> bool:
        """Whether it came to nothing, as far as the transport can tell."""
        return self.failure is not None or self.status is None or self.status >= 400


class Spool:
    """Captures on disk, in the order in which they ended; gone with the object, or with the process."""

    def __init__(self, folder: Path | None = None) -> None:
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed by `close`; the kernel does else
        self.count = 0

    def add(self, capture: Capture) -> None:
        """Append one."""
        pickle.dump(capture, self._file, protocol=5)
        self.count += 1

    def captures(self) -> Iterator[Capture]:
        """Read them back, in order."""
        self._file.seek(0)
        for _ in range(self.count):
            yield pickle.load(self._file)  # noqa: S301 - written by this very process, in a file without a name

    def close(self) -> None:
        """Let go of the disk space."""
        self._file.close()
