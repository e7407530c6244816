"""What the tests of the endpoint share: a raw server that sends given bytes, whatever is asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress

import pytest

RawServer = Callable[..., Awaitable[str]]


@asynccontextmanager
async def _serving(pieces: Sequence[bytes], seconds_between: float, stays_open: bool) -> AsyncIterator[str]:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await reader.readuntil(b"\r\n\r\n")
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(seconds_between)
            if stays_open:
                await reader.read()
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    finally:
        server.close()


@pytest.fixture
async def raw_server() -> AsyncIterator[RawServer]:
    """Start servers that send pieces of bytes as they are, and then close (or stay open)."""
    async with AsyncExitStack() as stack:

        async def start(*pieces: bytes, seconds_between: float = 0.02, stays_open: bool = False) -> str:
            return await stack.enter_async_context(_serving(pieces, seconds_between, stays_open))

        yield start


def http(body: bytes, kind: str = "application/json", *, status: str = "200 OK", headers: str = "") -> bytes:
    """Write an HTTP answer of known length."""
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{headers}\r\n"
    return head.encode() + body


def events(text: str) -> bytes:
    """Write a stream that ends with its connection."""
    return f"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n{text}".encode()
