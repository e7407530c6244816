"""The load client's connections to one endpoint: opened ahead, kept, and watched for what takes too long."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
import ssl
import sys
import time
from typing import Any, Self
from urllib.parse import urlsplit

from seatrial.bench.capture import Capture
from seatrial.bench.connection import READ_BYTES, SO_TIMESTAMPNS, Connection, StampedSocket, StampingSelector
from seatrial.bench.metrics import OWN_LIMIT
from seatrial.endpoint.address import Endpoint
from seatrial.endpoint.client import Limits, describe_failure
from seatrial.endpoint.exchange import Failure, FailureKind

WATCH_SECONDS = 0.1
"""How often time limits are looked at: one task for all requests, instead of a timer for each chunk."""
DONE_GRACE_SECONDS = 1.0
"""After `[DONE]` the response should end; a server that leaves it open is not waited for."""


class Pool:
    """Connections to one endpoint, as many as are needed, kept open. Use as an async context manager.

    The event loop must be made with a `StampingSelector` (`new_event_loop`).
    """

    def __init__(self, endpoint: Endpoint, limits: Limits, selector: StampingSelector) -> None:
        self.limits = limits
        self.selector = selector
        self.view = memoryview(bytearray(READ_BYTES))
        self._free: list[Connection] = []
        self._busy: set[Connection] = set()
        self._watching: asyncio.Task[None] | None = None
        url = urlsplit(endpoint.base_url)
        self._host, self._tls = url.hostname or "", url.scheme == "https"
        self._port = url.port or (443 if self._tls else 80)
        self._ssl = ssl.create_default_context() if self._tls else None
        self._addresses: list[tuple[int, tuple[Any, ...]]] = []
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

    def _take(self) -> Connection | None:
        while self._free:
            connection = self._free.pop()
            if not connection.closed and connection.transport and not connection.transport.is_closing():
                return connection
        return None

    async def _connect(self) -> Connection | Failure:
        loop, limits = asyncio.get_running_loop(), self.limits
        try:
            async with asyncio.timeout(limits.connect):
                if not self._addresses:
                    found = await loop.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM)
                    self._addresses = list(dict.fromkeys((entry[0], entry[4]) for entry in found))
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

    async def _connect_to_any(self, loop: asyncio.AbstractEventLoop) -> Connection:
        """Try the name's addresses in turn; the one that works is tried first from then on."""
        last: OSError | None = None
        for address in tuple(self._addresses):
            try:
                connection = await self._connect_to(loop, *address)
            except OSError as error:
                last = error
                continue
            self._addresses.remove(address)
            self._addresses.insert(0, address)
            return connection
        assert last is not None
        raise last

    async def _connect_to(self, loop: asyncio.AbstractEventLoop, family: int, address: tuple[Any, ...]) -> Connection:
        connection = Connection(self.selector, self.view, self.limits)
        sock = socket.socket(family, socket.SOCK_STREAM)
        try:
            sock.settimeout(0)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await loop.sock_connect(sock, address)
            if self._ssl is not None:
                await loop.create_connection(lambda: connection, sock=sock, ssl=self._ssl, server_hostname=self._host)
                return connection
            if sys.platform == "linux":
                sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        except BaseException:
            sock.close()
            raise
        connection.transport = StampedSocket(loop, sock, connection)
        return connection

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
