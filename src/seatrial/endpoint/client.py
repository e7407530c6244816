"""The one client to an OpenAI-compatible server: asks, reads whole answers and streams, and records everything.

aiohttp, because it is kept up and reads streams fastest of the candidates (`benchmarks/http_clients.py`). A request
never raises for what a server does: every outcome is an `Exchange`.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import SimpleNamespace, TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import aiohttp

from seatrial.endpoint.address import Endpoint
from seatrial.endpoint.answer import Answer, Delta, StreamAssembler, parse_completion
from seatrial.endpoint.exchange import Arrival, Exchange, Failure, FailureKind, Timing
from seatrial.endpoint.sse import EventStream

Watch = Callable[[Delta], str | None]
"""Sees each piece of a stream's text; returns a reason to stop reading, or None to go on."""

QUOTE_LENGTH = 300


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

    async def _json(self, method: str, path: str, *, at_origin: bool, **parts: Any) -> tuple[int, Any]:
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
                return response.status, _parse_json(bytes(body))
        except (aiohttp.ClientError, TimeoutError) as error:
            raise OSError(describe_failure(error, self.limits, patience=patience).message) from None

    async def _ask(self, exchange: Exchange, watch: Watch | None) -> Exchange:
        # A kept-alive connection may have been closed by the server meanwhile: then nothing was asked yet, and
        # the request goes out again on another one. On a fresh connection a failure is a failure.
        while True:
            attempt = _Attempt()
            reading = _Reading(exchange, self.limits, watch)
            try:
                async with asyncio.timeout(self.limits.request):
                    await self._send(exchange, reading, attempt)
            except (aiohttp.ClientError, TimeoutError, ValueError) as error:
                stale = attempt.reused_connection and not reading.started and not isinstance(error, TimeoutError)
                if stale:
                    continue
                reading.failure = reading.failure or describe_failure(
                    error, self.limits, started=reading.started, patience=self._patience(exchange)
                )
            return reading.exchange()

    async def _send(self, exchange: Exchange, reading: _Reading, attempt: _Attempt) -> None:
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
            await reading.read(response)

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


class _Reading:
    """The state of reading one response."""

    def __init__(self, exchange: Exchange, limits: Limits, watch: Watch | None) -> None:
        self._exchange = exchange
        self._limits = limits
        self._watch = watch
        self._began = time.perf_counter()
        self._status: int | None = None
        self._headers: float | None = None
        self._arrivals: list[Arrival] = []
        self._answer: Answer | None = None
        self._assembler: StreamAssembler | None = None
        self._raw: Any = None
        self._stopped: str | None = None
        self.failure: Failure | None = None

    @property
    def started(self) -> bool:
        return self._headers is not None

    def exchange(self) -> Exchange:
        answer = self._answer
        if answer is None and self._assembler is not None:
            answer = self._assembler.answer()
        return replace(
            self._exchange,
            timing=replace(
                self._exchange.timing,
                headers=self._headers,
                total=self._elapsed(),
                arrivals=tuple(self._arrivals),
            ),
            status=self._status,
            answer=answer,
            failure=self.failure,
            stopped=self._stopped,
            raw=self._raw,
        )

    async def read(self, response: aiohttp.ClientResponse) -> None:
        self._status = response.status
        self._headers = self._elapsed()
        is_stream = "text/event-stream" in response.headers.get("Content-Type", "")
        if response.status == 200 and is_stream and self._exchange.streamed:
            await self._read_stream(response)
        else:
            await self._read_whole(response)

    async def _read_whole(self, response: aiohttp.ClientResponse) -> None:
        body = bytearray()
        async for chunk in response.content.iter_any():
            body += chunk
            if len(body) > self._limits.answer_bytes:
                self.failure = self._too_long()
                return
        text = body.decode("utf-8", errors="replace")
        self._raw = _parse_json(bytes(body))
        if 300 <= response.status < 400:
            target = response.headers.get("Location", "nowhere").partition("?")[0]
            message = f"it redirects to {shorten(target)}, which is not followed"
            self.failure = Failure(FailureKind.HTTP_STATUS, message, response.status)
        elif response.status != 200:
            self.failure = Failure(FailureKind.HTTP_STATUS, error_message(self._raw, text), response.status)
        elif self._raw is None:
            kind = response.headers.get("Content-Type", "no content type")
            self.failure = Failure(FailureKind.NOT_JSON, f"the body is not JSON ({kind}): {shorten(text)}", 200)
        elif (answer := parse_completion(self._raw)) is None:
            message = error_message(self._raw, text)
            self.failure = Failure(FailureKind.NOT_A_COMPLETION, f"the JSON has no message: {message}", 200)
        else:
            self._answer = answer
            if self._exchange.streamed:
                self._answer = replace(answer, defects=(*answer.defects, "a stream was asked for, a whole answer came"))
        if self._raw is None:
            self._raw = shorten(text, 2000)

    async def _read_stream(self, response: aiohttp.ClientResponse) -> None:
        events, assembler = EventStream(), StreamAssembler()
        self._assembler, self._raw = assembler, []
        size = 0
        while True:
            async with asyncio.timeout(self._limits.silence):
                chunk = await response.content.readany()
            if not chunk:
                break
            size += len(chunk)
            if size > self._limits.answer_bytes:
                self.failure = self._too_long()
                return
            for event in events.feed(chunk):
                if event.data == "[DONE]":
                    self._raw.append(event.data)
                    return
                self._take(event.data, event.event, assembler)
                if self.failure is not None or self._stopped is not None:
                    return
        rest = events.finish()
        if rest is not None and rest.data == "[DONE]":
            self._raw.append(rest.data)
            return
        if rest is not None and _parse_json(rest.data) is not None:  # half an event is no event
            self._take(rest.data, rest.event, assembler)
        if self.failure is None and assembler.answer().finish_reason is None:
            self.failure = Failure(
                FailureKind.BROKEN_STREAM,
                f"the stream ended after {assembler.chunks} chunks without a finish_reason and without [DONE]",
                self._status,
            )

    def _take(self, data: str, event: str, assembler: StreamAssembler) -> None:
        self._raw.append(data)
        try:
            chunk = json.loads(data)
        except (ValueError, RecursionError):
            self.failure = Failure(
                FailureKind.NOT_JSON, f"a chunk of the stream is not JSON: {shorten(data)}", self._status
            )
            return
        if event == "error" or (isinstance(chunk, dict) and "error" in chunk and "choices" not in chunk):
            self.failure = Failure(FailureKind.ERROR_EVENT, error_message(chunk, data), self._status)
            return
        now = self._elapsed()
        for delta in assembler.add(chunk):
            self._arrivals.append(Arrival(now, delta.field, len(delta.text)))
            if self._watch is not None and self._stopped is None:
                self._stopped = self._watch(delta)

    def _elapsed(self) -> float:
        return time.perf_counter() - self._began

    def _too_long(self) -> Failure:
        size = self._limits.answer_bytes // 2**20
        return Failure(FailureKind.TOO_LONG, f"the answer is longer than {size} MiB and goes on", self._status)


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


def error_message(body: Any, text: str) -> str:
    """Find the words in an error answer: OpenAI's `error.message`, SGLang's `message`, FastAPI's `detail`."""
    if isinstance(body, Mapping):
        error = body.get("error", body)
        for holder in (error, body):
            if isinstance(holder, Mapping):
                for key in ("message", "detail", "error"):
                    if isinstance(holder.get(key), str):
                        return shorten(holder[key])
        if isinstance(error, str):
            return shorten(error)
    return shorten(text) or "empty body"


def shorten(text: str, length: int = QUOTE_LENGTH) -> str:
    """Fit a text on one line, its end cut off where it is too long."""
    line = " ".join(text[: length * 4].split())
    return line if len(line) <= length else line[: length - 1] + "…"


def _parse_json(body: bytes | str) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None
