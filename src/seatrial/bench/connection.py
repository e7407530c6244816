"""The load client: sends requests, and stamps what comes with the moment at which the kernel had it.

Why not the client of trials (aiohttp)? It needs about 50 µs of Python a chunk, parses included; 64 streams that answer
in step are then stamped up to 3 ms late, which is the size of what is measured. Here a chunk costs one reading of the
socket and three appends (about 8 µs), and its stamp is the kernel's own (`SO_TIMESTAMPNS`, Linux), so that neither the
way to this process nor its other work counts. Over TLS, and where the kernel gives none, the stamp is the time at which
`select` returned. `benchmarks/bench_client.py` measures the difference. It speaks HTTP/1.1 and no more.
"""

from __future__ import annotations

import asyncio
import selectors
import socket
import struct
import time
from typing import Protocol

from seatrial.bench.capture import Capture
from seatrial.bench.framing import Framing, NotHttp
from seatrial.endpoint.client import Limits
from seatrial.endpoint.exchange import Failure, FailureKind

READ_BYTES = 2**20
"""One reading takes all that the kernel holds: small buffers make what came together look as if it came in turns."""
SO_TIMESTAMPNS = 35
"""From Linux's <asm-generic/socket.h>, which Python does not name. Also the type of the message that brings it."""
TIMESTAMP = struct.Struct("@ll")
"""A `struct timespec` of the wall clock."""
OLDEST_STAMP_SECONDS = 60.0
"""An older one shows that the wall clock was set meanwhile."""
DONE_LINE = b"\ndata: [DONE]"
"""Inside JSON no line feed stands as such, so no answer's text can look like this."""


class StampingSelector(selectors.DefaultSelector):
    """A selector that remembers when it last returned: what it reported was there by then."""

    ready_at = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Wait as the base class does."""
        ready = super().select(timeout)
        self.ready_at = time.monotonic()
        return ready


class _Transport(Protocol):
    """What a connection needs of a transport: asyncio's, or our own."""

    def write(self, data: bytes) -> None: ...

    def abort(self) -> None: ...

    def is_closing(self) -> bool: ...


class StampedSocket:
    """A plain TCP connection whose readings carry the kernel's own time of arrival."""

    def __init__(self, loop: asyncio.AbstractEventLoop, sock: socket.socket, connection: Connection) -> None:
        self._loop = loop
        self._socket = sock
        self._connection = connection
        self._buffers = [connection.view]
        self._left = bytearray()
        self._closed = False
        loop.add_reader(sock.fileno(), self._readable)

    def write(self, data: bytes) -> None:
        """Send it, at once as far as the kernel takes it."""
        try:
            sent = self._socket.send(data) if not self._left else 0
        except (BlockingIOError, InterruptedError):
            sent = 0
        except OSError as error:
            self._lose(error)
            return
        if sent < len(data):
            if not self._left:
                self._loop.add_writer(self._socket.fileno(), self._writable)
            self._left += data[sent:]

    def abort(self) -> None:
        """Close it."""
        if not self._closed:
            self._closed = True
            self._loop.remove_reader(self._socket.fileno())
            self._loop.remove_writer(self._socket.fileno())
            self._socket.close()

    def is_closing(self) -> bool:
        """Whether it is closed."""
        return self._closed

    def _readable(self) -> None:
        try:
            count, messages, _, _ = self._socket.recvmsg_into(self._buffers, 64)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._lose(error)
            return
        if count:
            self._connection.received(count, self._stamp(messages))
        else:
            self._lose(None)

    def _stamp(self, messages: list[tuple[int, int, bytes]]) -> float:
        """Turn the kernel's wall clock reading into one of the monotonic clock."""
        for level, kind, data in messages:
            if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPNS and len(data) == TIMESTAMP.size:
                seconds, nanoseconds = TIMESTAMP.unpack(data)
                age: float = (time.time_ns() - seconds * 1_000_000_000 - nanoseconds) / 1e9
                if 0 <= age < OLDEST_STAMP_SECONDS:
                    return time.monotonic() - age
        return self._connection.selected_at()

    def _writable(self) -> None:
        try:
            del self._left[: self._socket.send(self._left)]
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._lose(error)
            return
        if not self._left:
            self._loop.remove_writer(self._socket.fileno())

    def _lose(self, error: OSError | None) -> None:
        self.abort()
        self._connection.connection_lost(error)


class Connection(asyncio.BufferedProtocol):
    """One connection: at most one request at a time."""

    def __init__(self, selector: StampingSelector, view: memoryview, limits: Limits) -> None:
        self._selector = selector
        self._limits = limits
        self._largest = limits.answer_bytes * 2  # with the JSON around each token and the framing
        self.view = view
        self.transport: _Transport | None = None
        self.used = 0
        self.closed = False
        self.capture: Capture | None = None
        self.done_at: float | None = None
        self._framing = Framing()
        self._over: asyncio.Future[None] | None = None

    # --- the transport's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take asyncio's transport."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - asyncio's signature
        """Hand out the one buffer: it is emptied before the next reading."""
        return self.view

    def buffer_updated(self, nbytes: int) -> None:
        """Take what asyncio's transport read."""
        self.received(nbytes, self._selector.ready_at)

    def selected_at(self) -> float:
        """Say when the event loop was told of what is being read."""
        return self._selector.ready_at

    def received(self, nbytes: int, stamp: float) -> None:
        """Keep what stands in the buffer, with its moment."""
        capture = self.capture
        if capture is None:  # nothing was asked: this connection is of no use any more
            self.drop()
            return
        capture.stamps.append(stamp)
        data = capture.data
        data += self.view[:nbytes]
        capture.ends.append(len(data))
        try:
            over = self._framing.is_over(data)
        except NotHttp:
            message = "what answers there is not HTTP, or not HTTP that can be read"
            self.fail(Failure(FailureKind.UNREACHABLE, message))
            return
        if over:
            self._end(self._framing.keeps_alive)
        elif len(data) > self._largest:
            size = self._limits.answer_bytes // 2**20
            message = f"the answer is longer than {size} MiB and goes on"
            self.fail(Failure(FailureKind.TOO_LONG, message, self._framing.status))
        elif self.done_at is None and data.find(DONE_LINE, max(len(data) - nbytes - len(DONE_LINE), 0)) >= 0:
            self.done_at = stamp

    def eof_received(self) -> bool:
        """Let asyncio's transport close."""
        return False

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """See what the end of the connection means for the request."""
        self.closed = True
        capture = self.capture
        if capture is None:
            return
        if self._framing.close(capture.data):
            self._end(reusable=False)
            return
        started = bool(capture.data)
        where = "in mid-answer" if started else "before an answer"
        kind = FailureKind.BROKEN_STREAM if started else FailureKind.UNREACHABLE
        self.fail(Failure(kind, f"the connection broke off {where}"))

    # --- the pool's side

    def send(self, capture: Capture, payload: bytes) -> asyncio.Future[None]:
        """Send a request; the future ends with the response, whatever becomes of it."""
        assert self.transport is not None
        self.used += 1
        self.capture, self.done_at, self._framing = capture, None, Framing()
        self._over = asyncio.get_running_loop().create_future()
        capture.sent = time.monotonic()
        self.transport.write(payload)
        return self._over

    def fail(self, failure: Failure) -> None:
        """Give the request up."""
        capture = self.capture
        if capture is not None:
            capture.failure = failure
            self._end(reusable=False)

    def finish_early(self) -> None:
        """Take the response as whole: its last event came, and its framing does not end."""
        self._end(reusable=False)

    def drop(self) -> None:
        """Close it."""
        self.closed = True
        if self.transport is not None:
            self.transport.abort()

    def _end(self, reusable: bool) -> None:
        capture, over = self.capture, self._over
        self.capture = self._over = None
        assert capture is not None
        capture.status = self._framing.status
        capture.ended = capture.stamps[-1] if capture.stamps and capture.failure is None else time.monotonic()
        if not reusable:
            self.drop()
        if over is not None and not over.done():
            over.set_result(None)


def new_event_loop() -> tuple[asyncio.AbstractEventLoop, StampingSelector]:
    """Make an event loop whose selector stamps."""
    selector = StampingSelector()
    return asyncio.SelectorEventLoop(selector), selector
