"""HTTP/1.1 responses as a benchmark needs them: when one has ended, and where its body lies in what came. Pure.

RFC 9112: status line and headers, Content-Length, chunked transfer coding, or a body that ends with the connection.
It works on the raw bytes where they lie, so that reading costs the client next to nothing while it measures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

LARGEST_HEAD = 64 * 1024
LARGEST_CHUNK_LINE = 4096


class NotHttp(ValueError):  # noqa: N818 - what it is, not that it is an error
    """What came is no HTTP/1.1 response."""


@dataclass(slots=True)
class Framing:
    """The state of one response; `data` is always all that came of it so far.

    Attributes:
        status: None until the head is whole.
        headers: names in lower case.
        segments: where the body lies in the data: start and end offsets, in order.
        ended: whether the response is whole.
        keeps_alive: whether the connection may be used again.
    """

    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    segments: list[tuple[int, int]] = field(default_factory=list)
    ended: bool = False
    keeps_alive: bool = True
    _at: int = 0
    _body_at: int = 0
    _left: int | None = None
    _chunked: bool = False
    _in_trailers: bool = False

    def advance(self, data: bytes | bytearray) -> bool:
        """Read on in the data; return whether the response has ended.

        Raises:
            NotHttp: it can't be read.
        """
        while self.status is None or 100 <= self.status < 200:
            if not self._read_head(data):
                return False
        if self._chunked:
            return self._read_chunks(data)
        if self._left is None:
            return False
        whole = self._at + self._left
        self.ended = len(data) >= whole
        if self.ended and self._left:
            self.segments = [(self._at, whole)]
        return self.ended

    def body(self, data: bytes | bytearray) -> list[tuple[int, int]]:
        """Return where the body lies, also of a response that broke off."""
        if self.segments or self._chunked or self.status is None:
            return self.segments
        return [(self._body_at, len(data))] if len(data) > self._body_at else []

    def is_over(self, data: bytes | bytearray) -> bool:
        """Tell cheaply whether the response may have ended; look closely only where it may."""
        if self._chunked and not data.endswith(b"\r\n\r\n"):
            return False  # chunked coding ends with an empty line, after the last chunk and the trailers
        return self.advance(data)

    def close(self, data: bytes | bytearray) -> bool:
        """The connection has ended; return whether the response is whole."""
        self.keeps_alive = False
        if self.status is not None and not self._chunked and self._left is None:
            self.segments = [(self._at, len(data))] if len(data) > self._at else []
            self.ended = True
        return self.ended

    def _read_head(self, data: bytes | bytearray) -> bool:
        end = data.find(b"\r\n\r\n", self._at)
        if end < 0:
            if len(data) - self._at > LARGEST_HEAD or (len(data) >= 5 and not data.startswith(b"HTTP/")):
                raise NotHttp
            return False
        first, *lines = bytes(data[self._at : end]).decode("latin-1").split("\r\n")
        version, _, rest = first.partition(" ")
        if not version.startswith("HTTP/1.") or not rest[:3].isdigit():
            raise NotHttp
        headers: dict[str, str] = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers[name.strip().lower()] = value.strip()
        self.status, self.headers = int(rest[:3]), headers
        self._at = self._body_at = end + 4
        connection = headers.get("connection", "").lower()
        self.keeps_alive = connection == "keep-alive" if version == "HTTP/1.0" else connection != "close"
        self._chunked = "chunked" in headers.get("transfer-encoding", "").lower()
        if not self._chunked:
            self._left = _length(headers.get("content-length"), self.status)
        return True

    def _read_chunks(self, data: bytes | bytearray) -> bool:
        while not self._in_trailers:
            end = data.find(b"\r\n", self._at)
            if end < 0:
                if len(data) - self._at > LARGEST_CHUNK_LINE:
                    raise NotHttp
                return False
            try:
                size = int(bytes(data[self._at : end]).partition(b";")[0], 16)
            except ValueError:
                raise NotHttp from None
            if size == 0:
                self._in_trailers, self._at = True, end + 2
                break
            start = end + 2
            if len(data) < start + size + 2:
                return False
            self.segments.append((start, start + size))
            self._at = start + size + 2
        while True:
            end = data.find(b"\r\n", self._at)
            if end < 0:
                return False
            empty, self._at = end == self._at, end + 2
            if empty:
                self.ended = True
                return True


def _length(text: str | None, status: int) -> int | None:
    if status in {204, 304}:
        return 0
    if text is None:
        return None
    if not text.isdigit():
        raise NotHttp
    return int(text)
