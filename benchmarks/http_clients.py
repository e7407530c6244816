"""Which HTTP client reads streams fastest? The evidence behind the choice of aiohttp for `seatrial.endpoint.client`.

Every client does the same work on the same bytes: it reads 64 streams at once, cuts them into server-sent events and
parses each event's JSON. Two loads, each in several rounds that take turns, each measurement in a process of its own:

    flood    the server writes as fast as the client reads: how many chunks a second, and CPU time a chunk
    paced    the fake server of the test kit writes each stream at 100 tokens a second by the clock: CPU time a
             chunk when every chunk wakes the client, and how long after they were written the chunks are seen
             (both processes read the same monotonic clock, and the fake server says when it wrote what)

httpx and niquests are no dependencies of seatrial. To run with them, use a throwaway environment:

    python3 -m venv /tmp/clients
    /tmp/clients/bin/pip install . httpx niquests
    /tmp/clients/bin/python benchmarks/http_clients.py
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.metadata
import importlib.util
import json
import platform
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from statistics import median, quantiles
from typing import Any
from urllib.request import urlopen

from seatrial.endpoint.address import Endpoint
from seatrial.endpoint.client import Client
from seatrial.endpoint.sse import EventStream
from seatrial.testkit import fake_server_process
from seatrial.testkit.script import Pace

STREAMS = 64
FLOOD_CHUNKS = 2_000
PACED_TOKENS = 400
PACE = Pace(time_to_first_token=0.5, tokens_per_second=100.0)
ROUNDS = 3

PRODUCT = "seatrial"
CLIENTS = {PRODUCT: "aiohttp", "aiohttp": "aiohttp", "httpx": "httpx", "niquests": "niquests"}
"""What is measured, and the package that it needs. `seatrial` is the product's whole client, records and all."""

Stream = tuple[str, list[float]]
"""A stream's id, and when its pieces of text were seen (monotonic clock, seconds)."""

Read = Callable[[str, dict[str, Any]], AsyncIterator[bytes]]


@dataclass(frozen=True, slots=True)
class Measured:
    """What one client needed for one load; times in seconds."""

    chunks: int
    wall: float
    cpu: float
    late_median: float = 0.0
    late_p99: float = 0.0

    @property
    def rate(self) -> float:
        """Chunks a second."""
        return self.chunks / self.wall

    @property
    def cpu_of_chunk(self) -> float:
        """CPU seconds a chunk."""
        return self.cpu / self.chunks


# --- the clients


def read_with_aiohttp() -> tuple[Any, Read]:
    """Read as seatrial's client does: no limit on connections, a large buffer."""
    import aiohttp

    session = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0), read_bufsize=2**20, timeout=aiohttp.ClientTimeout(total=None)
    )

    async def read(url: str, body: dict[str, Any]) -> AsyncIterator[bytes]:
        async with session.post(url, json=body) as response:
            while chunk := await response.content.readany():
                yield chunk

    return session, read


def read_with_httpx() -> tuple[Any, Read]:
    """Read raw bytes, without a limit on connections or time."""
    httpx = importlib.import_module("httpx")
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    client = httpx.AsyncClient(limits=limits, timeout=None)

    async def read(url: str, body: dict[str, Any]) -> AsyncIterator[bytes]:
        async with client.stream("POST", url, json=body) as response:
            async for chunk in response.aiter_raw():
                yield chunk

    return client, read


def read_with_niquests() -> tuple[Any, Read]:
    """Read bytes as they come, with a pool as large as the number of streams."""
    niquests = importlib.import_module("niquests")
    session = niquests.AsyncSession(pool_connections=STREAMS, pool_maxsize=STREAMS)

    async def read(url: str, body: dict[str, Any]) -> AsyncIterator[bytes]:
        response = await session.post(url, json=body, stream=True)
        async for chunk in await response.iter_raw(-1):
            yield chunk
        await response.close()

    return session, read


READERS = {"aiohttp": read_with_aiohttp, "httpx": read_with_httpx, "niquests": read_with_niquests}


async def measure(name: str, base_url: str, request: dict[str, Any], pace: Pace | None) -> Measured:
    """Read all streams with one client."""
    if name == PRODUCT:
        async with Client(Endpoint(base_url, "fake-model")) as client:
            result, streams = await _measured(lambda: _times_of_product(client, request))
    else:
        session, read = READERS[name]()
        async with session:
            url, body = f"{base_url}/chat/completions", {"model": "fake-model", **request}
            result, streams = await _measured(lambda: _times_of_reader(read, url, body))
    if pace is None:
        return result
    wrote = {f"chatcmpl-{request['number']:024x}": request["written_at"] for request in written(base_url)}
    pairs = (zip(times, wrote[identity], strict=True) for identity, times in streams)
    late = [seen - written_at for stream in pairs for seen, written_at in stream]
    return replace(result, late_median=median(late), late_p99=quantiles(late, n=100)[98])


def written(base_url: str) -> list[dict[str, Any]]:
    """Ask the fake server when it wrote what."""
    url = f"{base_url.removesuffix('/v1')}/testkit/requests"
    with urlopen(url, timeout=10) as response:  # noqa: S310 - a server of our own
        requests: list[dict[str, Any]] = json.load(response)["requests"]
    return requests


async def _times_of_product(client: Client, request: dict[str, Any]) -> Stream:
    began = time.monotonic()
    exchange = await client.chat(request, label="benchmark")
    assert exchange.failure is None, exchange.failure
    identity = json.loads(exchange.raw[0])["id"]
    return identity, [began + arrival.seconds for arrival in exchange.timing.arrivals]


async def _times_of_reader(read: Read, url: str, body: dict[str, Any]) -> Stream:
    events, identity, times = EventStream(), "", []
    async for chunk in read(url, body):
        for event in events.feed(chunk):
            if event.data == "[DONE]":
                continue
            document = json.loads(event.data)
            identity, choices = document["id"], document["choices"]
            delta = choices[0]["delta"] if choices else {}
            if delta.get("content") or delta.get("reasoning_content"):
                times.append(time.monotonic())
    return identity, times


async def _measured(one_stream: Callable[[], Coroutine[Any, Any, Stream]]) -> tuple[Measured, list[Stream]]:
    began, cpu = time.perf_counter(), time.process_time()
    streams = await asyncio.gather(*(one_stream() for _ in range(STREAMS)))
    wall, cpu = time.perf_counter() - began, time.process_time() - cpu
    return Measured(sum(len(times) for _, times in streams), wall, cpu), streams


# --- the server that floods


def flood() -> None:
    """Serve one prepared stream, event by event, as fast as it is read; print the base URL; end with standard input."""
    delta = {"content": " harbour", "reasoning_content": None}
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": None, "matched_stop": None}
    head = {"id": "chatcmpl-0", "object": "chat.completion.chunk", "created": 0, "model": "fake-model"}
    event = b"data: " + json.dumps({**head, "choices": [choice], "usage": None}).encode() + b"\n\n"
    done = b"data: [DONE]\n\n"

    def framed(data: bytes) -> bytes:
        return f"{len(data):x}\r\n".encode() + data + b"\r\n"

    head_bytes = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunk, end = framed(event), framed(done) + b"0\r\n\r\n"

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(head_bytes)
        for _ in range(FLOOD_CHUNKS):
            writer.write(chunk)
            await writer.drain()
        writer.write(end)
        await writer.drain()
        await reader.read()  # until the client has gone
        writer.close()

    async def serve() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=1024)
        print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
        await asyncio.to_thread(sys.stdin.read)
        server.close()

    asyncio.run(serve())


@contextmanager
def flooding_server() -> Iterator[str]:
    """Run `flood` in a process of its own; yield its base URL."""
    command = [sys.executable, __file__, "--flood-server"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


# --- the comparison


def run_apart(name: str, load: str, base_url: str) -> Measured:
    """Measure one client in a process of its own."""
    command = [sys.executable, __file__, "--client", name, "--load", load, "--url", base_url]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=300)
    return Measured(**json.loads(done.stdout))


def compare(names: list[str], load: str, base_url: str, rounds: int) -> dict[str, Measured]:
    """Measure all clients in turns; return each one's median round."""
    results: dict[str, list[Measured]] = {name: [] for name in names}
    for number in range(rounds):
        for name in names:
            print(f"\r{load}: round {number + 1} of {rounds}, {name:<10}", end="", file=sys.stderr, flush=True)
            results[name].append(run_apart(name, load, base_url))
    print("\r" + " " * 60 + "\r", end="", file=sys.stderr, flush=True)
    return {name: sorted(rows, key=lambda row: row.cpu)[len(rows) // 2] for name, rows in results.items()}


def show(title: str, results: dict[str, Measured], *, paced: bool) -> None:
    """Print a table; ratios are to plain aiohttp."""
    base = results["aiohttp"]
    columns = ("seen after: median", "99th") if paced else ("chunks/s", "ratio")
    print(f"\n{title}\n{'client':<12}{'version':<12}{columns[0]:>18}{columns[1]:>10}{'CPU/chunk':>14}{'ratio':>8}")
    for name, row in results.items():
        version = importlib.metadata.version(CLIENTS[name])
        first, second = f"{row.rate:,.0f}", f"{row.rate / base.rate:.2f}"
        if paced:
            first, second = f"{row.late_median * 1e3:.1f} ms", f"{row.late_p99 * 1e3:.1f} ms"
        cpu, ratio = f"{row.cpu_of_chunk * 1e6:.1f} µs", f"{row.cpu_of_chunk / base.cpu_of_chunk:.2f}"
        print(f"{name:<12}{version:<12}{first:>18}{second:>10}{cpu:>14}{ratio:>8}")


def request_of(load: str) -> dict[str, Any]:
    """Return what is asked for."""
    prompt = [{"role": "user", "content": f"Write {PACED_TOKENS * 2} words."}]
    return {"messages": prompt, "stream": True, "max_tokens": PACED_TOKENS if load == "paced" else FLOOD_CHUNKS}


def main() -> int:
    """Compare what is installed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    for hidden in ("--client", "--load", "--url"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    parser.add_argument("--flood-server", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.flood_server:
        flood()
        return 0
    if options.client:
        pace = PACE if options.load == "paced" else None
        result = asyncio.run(measure(options.client, options.url, request_of(options.load), pace))
        print(json.dumps(asdict(result)))
        return 0
    names = [name for name, package in CLIENTS.items() if importlib.util.find_spec(package)]
    for name in CLIENTS.keys() - set(names):
        print(f"{name} is not installed here: see the head of this file")
    print(f"{STREAMS} streams at once, Python {platform.python_version()}, medians of {options.rounds} rounds")
    with flooding_server() as base_url:
        flooded = compare(names, "flood", base_url, options.rounds)
    show(f"flood: {STREAMS} x {FLOOD_CHUNKS} chunks, as fast as they are read", flooded, paced=False)
    arguments = [
        "--time-to-first-token",
        str(PACE.time_to_first_token),
        "--tokens-per-second",
        str(PACE.tokens_per_second),
    ]
    with fake_server_process(*arguments) as base_url:
        paced = compare(names, "paced", base_url, options.rounds)
    show(f"paced: {STREAMS} x {PACED_TOKENS} tokens at {PACE.tokens_per_second:g}/s each", paced, paced=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
