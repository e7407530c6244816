"""The one client to an OpenAI-compatible server: asks, reads whole answers and streams, and records everything.

aiohttp, because it is kept up and reads streams fastest of the candidates (`benchmarks/http_clients.py`). A request
never raises for what a server does: every outcome is an `Exchange`.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace, TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import aiohttp

from seatrial.endpoint.address import Endpoint
from seatrial.endpoint.exchange import Exchange, Failure, FailureKind, Timing
from seatrial.endpoint.reading import Reading, Watch, error_message, parse_json, shorten

__all__ = ["Client", "Limits", "Watch", "describe_failure", "error_message", "shorten"]


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a client waits, in seconds, and how much it reads. Every wait has a limit.

    Attributes:
        connect: until a connection stands.
        request: until the whole answer is there.
        silence: between two pieces of a stream, and until its first one.
        answer_bytes: the largest answer that is read.
    """

    connect: float = 10.0
    request: float = 300.0
    silence: float = 120.0
    answer_bytes: int = 64 * 1024 * 1024


class Client:
    """Asks one endpoint. Use as an async context manager.

    Ids of exchanges are `id_prefix` and a number: two clients that record into one run need two prefixes.
    `asked` is how many ids are taken already.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        limits: Limits | None = None,
        *,
        record: Callable[[Exchange], None] | None = None,
        id_prefix: str = "r",
        asked: int = 0,
    ) -> None:
        self.endpoint = endpoint
        self.limits = limits or Limits()
        self._record = record
        self._id_prefix = id_prefix
        self._asked = asked
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        headers = {"User-Agent": "seatrial"}
        if self.endpoint.api_key is not None:
            headers["Authorization"] = f"Bearer {self.endpoint.api_key.reveal()}"
        self._session = aiohttp.ClientSession(
            headers=headers,
            # No limit on connections and a large buffer: a client's own queue must not show up as server latency.
            connector=aiohttp.TCPConnector(limit=0),
            trace_configs=[_reuse_trace()],
            read_bufsize=2**20,
            # Both: `connect` holds for the look-up of the name too, and for all of a name's addresses together.
            timeout=aiohttp.ClientTimeout(total=None, connect=self.limits.connect, sock_connect=self.limits.connect),
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()

    async def chat(self, request: Mapping[str, Any], *, label: str, watch: Watch | None = None) -> Exchange:
        """Ask for one chat completion; `request` is the JSON body without `model`.

        A body with `"stream": true` is read as a stream, and `watch` may stop it.
        """
        self._asked += 1
        body = {"model": self.endpoint.model, **request}
        exchange = await self._ask(
            Exchange(f"{self._id_prefix}{self._asked:04d}", label, body, Timing(time.time())), watch
        )
        if self._record is not None:
            self._record(exchange)
        return exchange

    async def refuses_connections(self, patience_seconds: float) -> bool:
        """Tell whether nobody listens at the server's port any more; waits so long for that to come true."""
        url = urlsplit(self.endpoint.origin)
        port = url.port or (443 if url.scheme == "https" else 80)
        until = time.monotonic() + patience_seconds
        while True:
            try:
                async with asyncio.timeout(self.limits.connect):
                    _, writer = await asyncio.open_connection(url.hostname, port)
                writer.close()
            except ConnectionRefusedError:
                return True
            except (OSError, TimeoutError):
                return False
            if time.monotonic() > until:
                return False
            await asyncio.sleep(0.1)

    async def get_json(self, path: str, *, at_origin: bool = False, api_key: str | None = None) -> tuple[int, Any]:
        """Get a JSON document of the server; returns its status and body (None where it is not JSON).

        Raises:
            OSError: there is no connection, or it took longer than the request limit.
        """
        headers = {} if api_key is None else {"Authorization": f"Bearer {api_key}"}
        return await self._json("GET", path, at_origin=at_origin, headers=headers)

    async def post_json(self, path: str, body: Any, *, at_origin: bool = False) -> tuple[int, Any]:
        """Post a JSON document that asks for no completion; returns and raises as `get_json`."""
        return await self._json("POST", path, at_origin=at_origin, json=body)

    async def get_text(self, path: str, *, at_origin: bool = False) -> tuple[int, str]:
        """Get a text document of the server; returns its status and text, and raises as `get_json`."""
        status, body = await self._bytes("GET", path, at_origin=at_origin)
        return status, (body or b"").decode("utf-8", errors="replace")

    async def _json(self, method: str, path: str, *, at_origin: bool, **parts: Any) -> tuple[int, Any]:
        status, body = await self._bytes(method, path, at_origin=at_origin, **parts)
        return status, None if body is None else parse_json(body)

    async def _bytes(self, method: str, path: str, *, at_origin: bool, **parts: Any) -> tuple[int, bytes | None]:
        """Return a response's status and body; None for one that is longer than anything that is read."""
        assert self._session is not None
        url = (self.endpoint.origin if at_origin else self.endpoint.base_url) + path
        patience = min(self.limits.request, self.limits.silence)
        body = bytearray()
        try:
            async with (
                asyncio.timeout(patience),
                self._session.request(method, url, allow_redirects=False, **parts) as response,
            ):
                async for chunk in response.content.iter_any():
                    body += chunk
                    if len(body) > self.limits.answer_bytes:
                        return response.status, None
                return response.status, bytes(body)
        except (aiohttp.ClientError, TimeoutError) as error:
            raise OSError(describe_failure(error, self.limits, patience=patience).message) from None

    async def _ask(self, exchange: Exchange, watch: Watch | None) -> Exchange:
        # A kept-alive connection may have been closed by the server meanwhile: then nothing was asked yet, and
        # the request goes out again on another one. On a fresh connection a failure is a failure.
        while True:
            attempt = _Attempt()
            reading = Reading(exchange, self.limits.answer_bytes, watch)
            began = time.perf_counter()
            try:
                async with asyncio.timeout(self.limits.request):
                    await self._send(exchange, reading, attempt, began)
            except (aiohttp.ClientError, TimeoutError, ValueError) as error:
                stale = attempt.reused_connection and not reading.started and not isinstance(error, TimeoutError)
                if stale:
                    continue
                reading.failure = reading.failure or describe_failure(
                    error, self.limits, started=reading.started, patience=self._patience(exchange)
                )
            return reading.exchange(time.perf_counter() - began)

    async def _send(self, exchange: Exchange, reading: Reading, attempt: _Attempt, began: float) -> None:
        assert self._session is not None
        async with (
            asyncio.timeout(self._patience(exchange)) as until_headers,
            self._session.post(
                f"{self.endpoint.base_url}/chat/completions",
                data=json.dumps(exchange.request).encode(),
                headers={"Content-Type": "application/json"},
                allow_redirects=False,
                trace_request_ctx=attempt,
            ) as response,
        ):
            until_headers.reschedule(None)
            kind, location = response.headers.get("Content-Type", ""), response.headers.get("Location", "")
            reading.begin(response.status, kind, location, time.perf_counter() - began)
            silence = self.limits.silence if exchange.streamed else None
            while True:
                async with asyncio.timeout(silence):
                    data = await response.content.readany()
                if not data:
                    reading.end(time.perf_counter() - began)
                    return
                if not reading.feed(data, time.perf_counter() - began):
                    return

    def _patience(self, exchange: Exchange) -> float:
        """How long the headers may take: a server sends those of a stream with, or before, its first piece."""
        return min(self.limits.request, self.limits.silence) if exchange.streamed else self.limits.request


@dataclass(slots=True)
class _Attempt:
    """What the transport tells about one attempt."""

    reused_connection: bool = False


def _reuse_trace() -> aiohttp.TraceConfig:
    async def reused(_session: aiohttp.ClientSession, context: SimpleNamespace, _parameters: object) -> None:
        if isinstance(context.trace_request_ctx, _Attempt):
            context.trace_request_ctx.reused_connection = True

    trace = aiohttp.TraceConfig()
    trace.on_connection_reuseconn.append(reused)
    return trace


def describe_failure(
    error: Exception, limits: Limits, *, started: bool = False, patience: float | None = None
) -> Failure:
    """Turn what the transport raised into words; `patience` is how long it waited for an answer to begin."""
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return Failure(FailureKind.TIMED_OUT, f"no connection within {limits.connect:g} s")
    if isinstance(error, TimeoutError):
        if started:
            return Failure(
                FailureKind.TIMED_OUT,
                f"the answer began and did not end (limits: {limits.silence:g} s of silence, "
                f"{limits.request:g} s in all)",
            )
        return Failure(FailureKind.TIMED_OUT, f"no answer within {patience or limits.request:g} s")
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return Failure(FailureKind.UNREACHABLE, "the host name is not known")
    if isinstance(error, aiohttp.ClientConnectorCertificateError | aiohttp.ClientConnectorSSLError):
        return Failure(FailureKind.UNREACHABLE, f"no TLS connection: {error}")
    if isinstance(error, aiohttp.ClientConnectorError):
        refused = isinstance(error.os_error, ConnectionRefusedError)
        return Failure(
            FailureKind.REFUSED if refused else FailureKind.UNREACHABLE,
            "nothing listens on that port" if refused else (error.os_error.strerror or str(error)),
        )
    if isinstance(error, aiohttp.ClientResponseError):
        return Failure(FailureKind.UNREACHABLE, "what answers there is not HTTP, or not HTTP that can be read")
    if started:
        return Failure(FailureKind.BROKEN_STREAM, f"the connection broke off in mid-answer ({type(error).__name__})")
    return Failure(FailureKind.UNREACHABLE, f"the connection broke off before an answer ({type(error).__name__})")
