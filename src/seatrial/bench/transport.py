"""The load client: sends requests, and stamps what comes at the moment when the kernel said that it was there.

Why not the client of trials (aiohttp)? It needs about 50 µs of Python a chunk, parses included; 64 streams that answer
in step are then stamped up to 3 ms late, which is the size of what is measured. Here a chunk costs one `recv_into` and
three appends (about 8 µs), and is stamped with the time at which `select` returned: before any other chunk of the same
moment is looked at. `benchmarks/bench_client.py` measures the difference. It speaks HTTP/1.1 and no more.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import selectors
import socket
import ssl
import time
from typing import Self
from urllib.parse import urlsplit

from seatrial.bench.capture import Capture
from seatrial.bench.framing import Framing, NotHttp
from seatrial.bench.metrics import OWN_LIMIT
from seatrial.endpoint.address import Endpoint
from seatrial.endpoint.client import Limits, describe_failure
from seatrial.endpoint.exchange import Failure, FailureKind

READ_BYTES = 2**20
"""One reading takes all that the kernel holds: small buffers make what came together look as if it came in turns."""
WATCH_SECONDS = 0.1
"""How often time limits are looked at: one task for all requests, instead of a timer for each chunk."""
DONE_LINE = b"\ndata: [DONE]"
"""Inside JSON no line feed stands as such, so no answer's text can look like this."""
DONE_GRACE_SECONDS = 1.0
"""After `[DONE]` the response should end; a server that leaves it open is not waited for."""


class StampingSelector(selectors.DefaultSelector):
    """A selector that remembers when it last returned: what it reported was there by then."""

    ready_at = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Wait as the base class does."""
        ready = super().select(timeout)
        self.ready_at = time.monotonic()
        return ready


class _Connection(asyncio.BufferedProtocol):
    """One connection: at most one request at a time."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._selector = pool.selector
        self._view = pool.view
        self.transport: asyncio.Transport | None = None
        self.used = 0
        self.closed = False
        self.capture: Capture | None = None
        self.done_at: float | None = None
        self._framing = Framing()
        self._over: asyncio.Future[None] | None = None

    # --- asyncio's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the transport."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - asyncio's signature
        """Hand out the one buffer: it is emptied before the next reading."""
        return self._view

    def buffer_updated(self, nbytes: int) -> None:
        """Stamp and keep what came."""
        capture = self.capture
        if capture is None:  # nothing was asked: this connection is of no use any more
            self.drop()
            return
        capture.stamps.append(self._selector.ready_at)
        data = capture.data
        data += self._view[:nbytes]
        capture.ends.append(len(data))
        try:
            over = self._framing.is_over(data)
        except NotHttp:
            message = "what answers there is not HTTP, or not HTTP that can be read"
            self.fail(Failure(FailureKind.UNREACHABLE, message))
            return
        if over:
            self._end(self._framing.keeps_alive)
        elif len(data) > self._pool.answer_bytes:
            size = self._pool.limits.answer_bytes // 2**20
            message = f"the answer is longer than {size} MiB and goes on"
            self.fail(Failure(FailureKind.TOO_LONG, message, self._framing.status))
        elif self.done_at is None and data.find(DONE_LINE, max(len(data) - nbytes - len(DONE_LINE), 0)) >= 0:
            self.done_at = capture.stamps[-1]

    def eof_received(self) -> bool:
        """Let the transport close."""
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


class Pool:
    """Connections to one endpoint, as many as are needed, kept open. Use as an async context manager.

    The event loop must be made with a `StampingSelector` (`new_event_loop`).
    """

    def __init__(self, endpoint: Endpoint, limits: Limits, selector: StampingSelector) -> None:
        self.limits = limits
        self.selector = selector
        self.answer_bytes = limits.answer_bytes * 2  # with the JSON around each token and the framing
        self.view = memoryview(bytearray(READ_BYTES))
        self._free: list[_Connection] = []
        self._busy: set[_Connection] = set()
        self._watching: asyncio.Task[None] | None = None
        url = urlsplit(endpoint.base_url)
        self._host, self._tls = url.hostname or "", url.scheme == "https"
        self._port = url.port or (443 if self._tls else 80)
        self._ssl = ssl.create_default_context() if self._tls else None
        self._addresses: list[str] = []
        key = endpoint.api_key
        lines = [
            f"POST {url.path}/chat/completions HTTP/1.1",
            f"Host: {url.netloc}",
            "User-Agent: seatrial",
            "Accept: text/event-stream, application/json",
            "Content-Type: application/json",
            *([f"Authorization: Bearer {key.reveal()}"] if key is not None else []),
        ]
        self._head = ("\r\n".join(lines) + "\r\nContent-Length: ").encode("latin-1")

    async def __aenter__(self) -> Self:
        self._watching = asyncio.create_task(self._watch())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._watching is not None:
            self._watching.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watching
        for connection in (*self._free, *self._busy):
            connection.drop()

    async def open(self, count: int) -> None:
        """Open connections in advance, so that a burst of requests does not wait for them; failures come later."""
        for _ in range(count - len(self._free)):
            made = await self._connect()
            if isinstance(made, Failure):
                return
            self._free.append(made)

    async def ask(self, capture: Capture) -> None:
        """Send `capture.body`, and fill the capture with what comes. Never raises for what a server does."""
        payload = b"%b%d\r\n\r\n%b" % (self._head, len(capture.body), capture.body)
        while True:
            connection = self._take()
            if connection is None:
                made = await self._connect()
                if isinstance(made, Failure):
                    capture.failure, capture.ended = made, time.monotonic()
                    return
                connection = made
            was_used = connection.used > 0
            self._busy.add(connection)
            try:
                await connection.send(capture, payload)
            except asyncio.CancelledError:
                connection.drop()
                raise
            finally:
                self._busy.discard(connection)
            if not connection.closed:
                self._free.append(connection)
            stale = capture.failure is not None and capture.failure.kind is FailureKind.UNREACHABLE
            if stale and was_used and not capture.data:
                # The server had closed a kept connection meanwhile: nothing was asked yet.
                capture.failure = capture.sent = None
                continue
            return

    def _take(self) -> _Connection | None:
        while self._free:
            connection = self._free.pop()
            if not connection.closed and connection.transport and not connection.transport.is_closing():
                return connection
        return None

    async def _connect(self) -> _Connection | Failure:
        loop, limits = asyncio.get_running_loop(), self.limits
        try:
            async with asyncio.timeout(limits.connect):
                if not self._addresses:
                    found = await loop.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM)
                    self._addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
                return await self._connect_to_any(loop)
        except TimeoutError:
            return Failure(FailureKind.TIMED_OUT, f"no connection within {limits.connect:g} s")
        except socket.gaierror:
            return Failure(FailureKind.UNREACHABLE, "the host name is not known")
        except ssl.SSLError as error:
            return Failure(FailureKind.UNREACHABLE, f"no TLS connection: {error}")
        except ConnectionRefusedError:
            return Failure(FailureKind.REFUSED, "nothing listens on that port")
        except OSError as error:
            said = OWN_LIMIT if error.errno in {errno.EMFILE, errno.ENFILE} else error.strerror or str(error)
            return Failure(FailureKind.UNREACHABLE, said)

    async def _connect_to_any(self, loop: asyncio.AbstractEventLoop) -> _Connection:
        """Try the name's addresses in turn; the one that works is tried first from then on."""
        last: OSError | None = None
        for address in tuple(self._addresses):
            try:
                _, connection = await loop.create_connection(
                    lambda: _Connection(self),
                    address,
                    self._port,
                    ssl=self._ssl,
                    server_hostname=self._host if self._tls else None,
                )
            except OSError as error:
                last = error
                continue
            self._addresses.remove(address)
            self._addresses.insert(0, address)
            return connection
        assert last is not None
        raise last

    async def _watch(self) -> None:
        """End what takes longer than it may."""
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            now = time.monotonic()
            for connection in tuple(self._busy):
                capture = connection.capture
                if capture is None or capture.sent is None:
                    continue
                heard = capture.stamps[-1] if capture.stamps else capture.sent
                if connection.done_at is not None and now - connection.done_at > DONE_GRACE_SECONDS:
                    connection.finish_early()
                elif now - capture.sent > self.limits.request or now - heard > self.limits.silence:
                    patience = min(self.limits.request, self.limits.silence)
                    connection.fail(
                        describe_failure(TimeoutError(), self.limits, started=bool(capture.data), patience=patience)
                    )


def new_event_loop() -> tuple[asyncio.AbstractEventLoop, StampingSelector]:
    """Make an event loop whose selector stamps."""
    selector = StampingSelector()
    return asyncio.SelectorEventLoop(selector), selector
