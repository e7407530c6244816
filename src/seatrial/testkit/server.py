"""A fake OpenAI-compatible server: right in everything by default, and wrong in exactly what its script says.

It speaks like SGLang 0.5.16: `/health`, `/v1/models`, `/v1/chat/completions` (whole and streamed), `/tokenize`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from seatrial.testkit.faults import Fault
from seatrial.testkit.framing import Piece, frame, split
from seatrial.testkit.script import Script, Seen
from seatrial.testkit.serving import Refusal, refuse, serve
from seatrial.testkit.tokens import count_prompt, token_ids
from seatrial.testkit.wire import Wire

CHAT = "/v1/chat/completions"
HTML = "<!DOCTYPE html>\n<html><head><title>Welcome</title></head><body><h1>It works!</h1></body></html>\n"
LARGEST_REQUEST = 256 * 1024 * 1024
"""Bytes. Over-long input must reach the check of its tokens."""

_WHOLE_SERVER = (Fault.STATUS_500, Fault.STATUS_503, Fault.STATUS_429, Fault.DEAD_BEHIND_HEALTH)
_STATUSES = {
    Fault.STATUS_500: (500, "InternalServerError", "Internal server error"),
    Fault.STATUS_503: (503, "ServiceUnavailableError", "The request queue is full."),
    Fault.STATUS_429: (429, "RateLimitError", "Too many requests"),
    Fault.DEAD_BEHIND_HEALTH: (503, "ServiceUnavailableError", "The engine does not answer."),
}


class FakeServer:
    """Serves a script, on 127.0.0.1 unless told otherwise. Use as an async context manager.

    Attributes:
        script: what it does; may be replaced between requests.
        requests: every request that it got, in order.
    """

    def __init__(self, script: Script | None = None, *, host: str = "127.0.0.1", port: int = 0) -> None:
        self.script = script or Script()
        self.requests: list[Seen] = []
        self._host = host
        self._wanted_port = port
        self._port = 0
        self._runner: web.AppRunner | None = None
        self._site: web.TCPSite | None = None
        self._closing = asyncio.Event()
        self._answering: list[Seen] = []
        self._asked_before: set[str] = set()
        self._connections: dict[int, tuple[asyncio.BaseTransport, int]] = {}

    @property
    def origin(self) -> str:
        """The server's URL without a path."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def base_url(self) -> str:
        """The root of the API."""
        return f"{self.origin}/v1"

    @property
    def chats(self) -> list[Seen]:
        """The chat requests that it got, in order."""
        return [seen for seen in self.requests if seen.path == CHAT]

    async def __aenter__(self) -> Self:
        application = web.Application(client_max_size=LARGEST_REQUEST)
        application.router.add_route("*", "/{path:.*}", self._take)
        # A handler that sleeps must end when its client goes, and when the server does.
        self._runner = web.AppRunner(
            application, access_log=None, handler_cancellation=True, shutdown_timeout=0.2, keepalive_timeout=75
        )
        await self._runner.setup()
        self._site = web.TCPSite(self._runner, self._host, self._wanted_port, backlog=1024)
        await self._site.start()
        self._port = int(self._runner.addresses[0][1])
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        if self._runner is not None:
            await self._runner.cleanup()

    # --- one request

    async def _take(self, request: web.Request) -> web.StreamResponse:
        seen = await self._see(request)
        if self._is_stale(request):
            return self._hang_up(request)
        refusal = self._refusal_of_all(request, seen)
        if refusal is not None:
            return refusal
        handlers: dict[tuple[str, str], Callable[[web.Request, Seen], Awaitable[web.StreamResponse]]] = {
            ("GET", "/health"): self._health,
            ("GET", "/v1/models"): self._models,
            ("GET", "/testkit/requests"): self._list_requests,
            ("POST", "/tokenize"): self._tokenize,
            ("POST", "/v1/tokenize"): self._tokenize,
            ("POST", CHAT): self._chat,
        }
        handler = handlers.get((request.method, request.path))
        if handler is None:
            return web.json_response({"detail": "Not Found"}, status=404)
        try:
            return await handler(request, seen)
        except ConnectionResetError:  # the client has gone: there is nobody to tell
            return web.Response(status=499)

    async def _see(self, request: web.Request) -> Seen:
        received_at = time.monotonic()
        await asyncio.sleep(0)  # requests that came together get their times before any of them is worked on
        text = await request.text() if request.can_read_body else ""
        try:
            body = json.loads(text) if text else None
        except (ValueError, RecursionError):
            body = text
        transport = request.transport
        seen = Seen(
            number=len(self.requests) + 1,
            method=request.method,
            path=request.path_qs,
            headers={name.lower(): value for name, value in request.headers.items()},
            body=body,
            connection=id(transport),
            in_flight=len(self._answering) + (request.path == CHAT),
            received_at=received_at,
        )
        self.requests.append(seen)
        return seen

    def _is_stale(self, request: web.Request) -> bool:
        """Whether this is a later request on a connection that the script closes under it."""
        transport = request.transport
        if transport is None or not self.script.has(Fault.STALE_KEEP_ALIVE):
            return False
        _, before = self._connections.get(id(transport), (transport, 0))
        self._connections[id(transport)] = (transport, before + 1)  # keeps it alive, so that its id stays its own
        return before > 0

    def _refusal_of_all(self, request: web.Request, seen: Seen) -> web.StreamResponse | None:
        script, path = self.script, request.path
        health = path == "/health"
        if script.has(Fault.HTML_EVERYWHERE):
            return web.Response(text=HTML, content_type="text/html")
        for fault in _WHOLE_SERVER:
            open_paths = {
                Fault.STATUS_429: ("/health",),
                Fault.DEAD_BEHIND_HEALTH: ("/health", "/v1/models", "/tokenize"),
            }.get(fault, ())
            if script.has(fault) and path not in open_paths:
                status, kind, message = _STATUSES[fault]
                return _json(refuse(status, message, kind))
        if health or path.startswith("/testkit/"):
            return None
        if script.api_key is not None and not _has_key(seen, script.api_key.reveal()):
            return web.json_response({"error": "Unauthorized"}, status=401)
        if script.has(Fault.REDIRECT):
            return web.Response(status=307, headers={"Location": script.details.redirect_to + request.path_qs})
        return None

    async def _health(self, _request: web.Request, _seen: Seen) -> web.StreamResponse:
        return web.Response()

    async def _models(self, _request: web.Request, _seen: Seen) -> web.StreamResponse:
        if self.script.has(Fault.NO_MODEL_LIST):
            return web.json_response({"detail": "Not Found"}, status=404)
        model = {
            "id": self.script.model,
            "object": "model",
            "created": self.script.created,
            "owned_by": "seatrial",
            "root": self.script.model,
            "parent": None,
            "max_model_len": self.script.context_length,
        }
        return web.json_response({"object": "list", "data": [model]})

    async def _list_requests(self, _request: web.Request, _seen: Seen) -> web.StreamResponse:
        rows = [
            {
                "number": seen.number,
                "path": seen.path,
                "received_at": seen.received_at,
                "written_at": seen.written_at,
                "late": seen.late,
            }
            for seen in self.requests
        ]
        return web.json_response({"clock": "monotonic", "requests": rows})

    async def _tokenize(self, _request: web.Request, seen: Seen) -> web.StreamResponse:
        if self.script.has(Fault.NO_TOKENIZER):
            return web.json_response({"detail": "Not Found"}, status=404)
        body, longest = seen.body, self.script.context_length
        if isinstance(body, dict) and isinstance(body.get("prompt"), str):
            tokens = token_ids(body["prompt"])
            return web.json_response({"tokens": tokens, "count": len(tokens), "max_model_len": longest})
        if isinstance(body, dict) and isinstance(body.get("messages"), list):
            count = count_prompt(body)
            texts = "\n".join(json.dumps(message) for message in body["messages"])
            tokens = (token_ids(texts) + [0] * count)[:count]
            return web.json_response({"tokens": tokens, "count": count, "max_model_len": longest})
        return _json(refuse(400, "Either prompt or messages is required"))

    # --- a chat

    async def _chat(self, request: web.Request, seen: Seen) -> web.StreamResponse:
        faults = self.script.faults if self.script.when(seen) else frozenset()
        self._answering.append(seen)
        try:
            return await self._answer(request, seen, faults)
        finally:
            self._answering.remove(seen)

    async def _answer(self, request: web.Request, seen: Seen, faults: frozenset[Fault]) -> web.StreamResponse:
        details = self.script.details
        if Fault.DIES_AT_REQUEST in faults:
            assert self._site is not None
            await self._site.stop()
            return self._hang_up(request)
        if Fault.NEVER_ANSWERS in faults:
            await self._pause(float("inf"))
        if Fault.LAG in faults:
            await self._pause(details.lag_seconds)
        other = await self._companion(seen) if Fault.CROSS_TALK in faults else None
        served = serve(seen.body, self.script, faults, again=self._came_before(seen.body), other=other)
        if isinstance(served, Refusal):
            return _json(served)
        wire = Wire(served, self.script, faults, seen.number)
        if seen.body.get("stream") and Fault.STREAM_IGNORED not in faults:
            options = seen.body.get("stream_options") or {}
            chunks = wire.chunks(include_usage=bool(options.get("include_usage")))
            return await self._stream(request, seen, faults, frame(chunks, faults, details))
        return await self._whole(request, seen, faults, json.dumps(wire.whole(), ensure_ascii=False).encode())

    def _came_before(self, body: Any) -> bool:
        messages = json.dumps(body.get("messages") if isinstance(body, dict) else body, sort_keys=True)
        before = messages in self._asked_before
        self._asked_before.add(messages)
        return before

    async def _companion(self, seen: Seen) -> Any:
        """Wait a little for another chat at the same time; return its body, or None."""
        end = time.monotonic() + self.script.details.companion_seconds
        while time.monotonic() < end:
            for other in self._answering:
                if other is not seen and other.body != seen.body:
                    await self._pause(0.02)  # let the other one find this one too
                    return other.body
            await self._pause(0.005)
        return None

    async def _whole(
        self, request: web.Request, seen: Seen, faults: frozenset[Fault], body: bytes
    ) -> web.StreamResponse:
        if self.script.pace is not None:
            completion = json.loads(body).get("usage", {}).get("completion_tokens", 1)
            await self._until(seen, self.script.pace.due(max(completion - 1, 0)))
        if Fault.INVALID_JSON_BODY in faults:
            body = body[: len(body) // 2]
        endless = Fault.NEVER_ENDS in faults or Fault.HUGE_BODY in faults
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        if not endless:
            response.content_length = len(body)
        await response.prepare(request)
        if Fault.DIES_MID_STREAM in faults:
            await response.write(body[: len(body) // 2])
            return self._hang_up(request)
        async for piece in self._endless(faults, b" "):
            await response.write(piece)
        seen.written_at.append(time.monotonic())
        await response.write(body)
        await response.write_eof()
        return response

    async def _stream(
        self, request: web.Request, seen: Seen, faults: frozenset[Fault], pieces: Iterator[Piece]
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
        response.headers["Cache-Control"] = "no-cache"
        random_ = random.Random(seen.number)  # noqa: S311 - variety, not secrecy
        for sent, piece in enumerate(pieces):
            if piece.token is not None:
                await self._token_due(seen, faults, piece.token)
            if not response.prepared:
                await response.prepare(request)
            if Fault.DIES_MID_STREAM in faults and sent == self.script.details.good_chunks:
                return self._hang_up(request)
            if piece.data.startswith(b"data: [DONE]"):
                async for extra in self._endless(faults, _drop_of_text(seen, self.script)):
                    await response.write(extra)
            if Fault.SPLIT_BYTES in faults:
                for part in split(piece.data, self.script.details.largest_piece, random_):
                    await response.write(part)
                    await asyncio.sleep(0)
            else:
                await response.write(piece.data)
            if piece.token is not None:
                # The first token comes in two events (the role, then its text): the later one counts.
                seen.written_at[piece.token :] = [time.monotonic()]
        await response.write_eof()
        return response

    async def _token_due(self, seen: Seen, faults: frozenset[Fault], token: int) -> None:
        if Fault.SLOW_TOKENS in faults:
            await self._pause(self.script.details.token_lag_seconds)
        if self.script.pace is not None:
            await self._until(seen, self.script.pace.due(token))

    async def _until(self, seen: Seen, seconds: float) -> None:
        """Wait until so many seconds after the request came; note how late it became."""
        due = seen.received_at + seconds
        if (wait := due - time.monotonic()) > 0:
            await asyncio.sleep(wait)
        seen.late = time.monotonic() - due

    async def _endless(self, faults: frozenset[Fault], drop: bytes) -> AsyncIterator[bytes]:
        """Yield what makes an answer huge, or what keeps it from ending."""
        if Fault.HUGE_BODY in faults:
            block = drop * max(65_536 // len(drop), 1)
            for _ in range(self.script.details.huge_bytes // len(block) + 1):
                yield block
        while Fault.NEVER_ENDS in faults and not self._closing.is_set():
            await self._pause(self.script.details.drip_seconds)
            yield drop

    async def _pause(self, seconds: float) -> None:
        """Wait, but not longer than the server lives."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._closing.wait(), None if seconds == float("inf") else seconds)

    @staticmethod
    def _hang_up(request: web.Request) -> web.StreamResponse:
        if request.transport is not None:
            request.transport.close()
        return web.Response(status=499)


def _json(refusal: Refusal) -> web.Response:
    return web.json_response(refusal.body, status=refusal.status)


def _has_key(seen: Seen, key: str) -> bool:
    scheme, _, value = seen.headers.get("authorization", "").partition(" ")
    return scheme.lower() == "bearer" and value.strip() == key


def _drop_of_text(seen: Seen, script: Script) -> bytes:
    choice = {"index": 0, "delta": {"content": " and"}, "finish_reason": None}
    document = {
        "id": f"chatcmpl-{seen.number:024x}",
        "object": "chat.completion.chunk",
        "created": script.created,
        "model": script.model,
        "choices": [choice],
    }
    return f"data: {json.dumps(document)}\n\n".encode()
