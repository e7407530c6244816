"""A fake server that keeps time: it streams prepared tokens at exact moments, and records when it wrote each one.

What a benchmark's client is measured against. The other fake server (`server.py`) answers like a model; this one
answers like a clock: one thread, one epoll, prepared bytes, and the last moment before a token is due is waited in a
busy loop, so that it leaves within some microseconds of its time. Run it in a process of its own (`metronome_process`).

    GET  /v1/models, /health
    POST /v1/chat/completions      streams `max_tokens` tokens, whatever was asked
    GET  /metronome                what it did: one row a request, clock readings (`time.monotonic`), seconds
    DELETE /metronome              forgets that
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import heapq
import json
import os
import selectors
import socket
import subprocess
import sys
import time
from array import array
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from seatrial.processes import end_with_input
from seatrial.testkit.prose import prose
from seatrial.testkit.tokens import tokenize

MODEL = "metronome"
PREPARED = 4096
"""Different tokens that are prepared; longer answers begin anew."""
SPIN_SECONDS = 0.0015
"""Before a token is due the clock is watched for so long: epoll's own waits end up to a millisecond late."""
DEFAULT_TOKENS = 128
SLOW_READER_SECONDS = 10.0
"""How long a reader of the record may take."""
LARGEST_REQUEST = 64 * 1024 * 1024
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Tempo:
    """When tokens are written: number i at `time_to_first_token + i / tokens_per_second` after the request was read.

    Attributes:
        slots: streams at once; further requests wait for a place, as in a full engine. 0 for no limit.
    """

    time_to_first_token: float = 0.2
    tokens_per_second: float = 50.0
    slots: int = 0

    def due_of(self, count: int) -> float:
        """Return when so many tokens are written, in seconds after a request began to be answered."""
        return self.time_to_first_token + (count - 1) / self.tokens_per_second


@dataclass(slots=True)
class Stream:
    """One request that is being answered."""

    connection: Connection
    prompt: str
    tokens: int
    received: float
    with_usage: bool
    began: float = 0.0
    sent: int = 0
    written: array[float] = field(default_factory=lambda: array("d"))


@dataclass(slots=True)
class Connection:
    """One client's connection: what came, and what could not be written yet."""

    socket: socket.socket
    came: bytearray = field(default_factory=bytearray)
    left: bytearray = field(default_factory=bytearray)


class Metronome:
    """Serves until told to stop; all in the calling thread."""

    def __init__(self, tempo: Tempo, *, port: int = 0) -> None:
        self.tempo = tempo
        self._listener = socket.create_server(("127.0.0.1", port), backlog=4096)
        self._listener.settimeout(0)
        self.port = int(self._listener.getsockname()[1])
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ, None)
        self._due: list[tuple[float, int, Stream]] = []
        self._waiting: deque[Stream] = deque()
        self._streaming = 0
        self._number = 0
        self._record: list[Stream] = []
        self._first, self._events = _prepare()

    def serve(self) -> None:
        """Serve for ever."""
        gc.freeze()
        gc.disable()  # a collection would be a pause; what is kept is let go by DELETE /metronome
        while True:
            now = time.monotonic()
            wait = None if not self._due else self._due[0][0] - now - SPIN_SECONDS
            ready = self._selector.select(None if wait is None else max(wait, 0))
            came = time.monotonic()  # what is ready was there by now, however long reading all of it takes
            for key, _ in ready:
                if key.data is None:
                    self._accept()
                else:
                    self._read(key.data, came)
            self._write_due()

    def _accept(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while True:
                accepted, _ = self._listener.accept()
                accepted.settimeout(0)
                accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._selector.register(accepted, selectors.EVENT_READ, Connection(accepted))

    def _read(self, connection: Connection, received: float) -> None:
        try:
            data = connection.socket.recv(262_144)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._close(connection)
            return
        connection.came += data
        head, found, rest = connection.came.partition(b"\r\n\r\n")
        if not found:
            return
        length = _content_length(head)
        if length > LARGEST_REQUEST:
            self._close(connection)
            return
        if len(rest) < length:
            if b"100-continue" in head.lower() and not rest:
                self._send(connection, b"HTTP/1.1 100 Continue\r\n\r\n")
            return
        body = bytes(rest[:length])
        connection.came = rest[length:]
        method, path, *_ = bytes(head).split(b"\r\n", 1)[0].split(b" ")
        self._answer(connection, method, path.partition(b"?")[0], body, received)

    def _answer(self, connection: Connection, method: bytes, path: bytes, body: bytes, received: float) -> None:
        if method == b"POST" and path == b"/v1/chat/completions":
            request = json.loads(body)
            options = request.get("stream_options") or {}
            prompt = str(request["messages"][-1].get("content"))
            stream = Stream(
                connection,
                prompt[:80],
                int(request.get("max_completion_tokens") or request.get("max_tokens") or DEFAULT_TOKENS),
                received,
                bool(options.get("include_usage")),
            )
            if self.tempo.slots and self._streaming >= self.tempo.slots:
                self._waiting.append(stream)
            else:
                self._begin(stream, received)
        elif path == b"/v1/models":
            self._send_json(connection, {"object": "list", "data": [{"id": MODEL, "object": "model"}]})
        elif path == b"/metronome":
            self._send_json(connection, [_row(stream) for stream in self._record])
            if method == b"DELETE":
                self._record.clear()
                gc.collect()
        else:
            status = b"200 OK" if path == b"/health" else b"404 Not Found"
            self._send(connection, b"HTTP/1.1 " + status + b"\r\nContent-Length: 0\r\n\r\n")

    def _begin(self, stream: Stream, now: float) -> None:
        stream.began = now
        self._streaming += 1
        self._number += 1
        heapq.heappush(self._due, (now + self.tempo.time_to_first_token, self._number, stream))

    def _write_due(self) -> None:
        due, gap = self._due, 1 / self.tempo.tokens_per_second
        while due and due[0][0] - time.monotonic() <= SPIN_SECONDS:
            moment, number, stream = due[0]
            while time.monotonic() < moment:
                pass
            number = stream.sent
            data = self._events[number % PREPARED] if number else self._first
            last = number + 1 >= stream.tokens
            if last:
                data += self._end(stream)
            stream.written.append(time.monotonic())
            self._send(stream.connection, data)
            stream.sent += 1
            if last:
                heapq.heappop(due)
                self._record.append(stream)
                self._streaming -= 1
                if self._waiting:
                    self._begin(self._waiting.popleft(), time.monotonic())
            else:
                next_due = stream.began + self.tempo.time_to_first_token + stream.sent * gap
                heapq.heapreplace(due, (next_due, due[0][1], stream))
            if len(due) > 1 and due[0][0] > time.monotonic():
                return  # nothing is due: look for requests

    def _end(self, stream: Stream) -> bytes:
        """Return what closes a stream; it leaves together with the last token."""
        parts = [_chunk(_event({}, "length"))]
        if stream.with_usage:
            usage = {"prompt_tokens": 16, "completion_tokens": stream.tokens, "total_tokens": 16 + stream.tokens}
            parts.append(_chunk(_framed({**_ENVELOPE, "choices": [], "usage": usage})))
        parts.append(_chunk(b"data: [DONE]\n\n"))
        return b"".join(parts) + b"0\r\n\r\n"

    def _send_json(self, connection: Connection, document: object) -> None:
        body = json.dumps(document).encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        connection.socket.settimeout(SLOW_READER_SECONDS)
        with contextlib.suppress(OSError):
            connection.socket.sendall(head.encode() + body)
        connection.socket.settimeout(0)

    def _send(self, connection: Connection, data: bytes) -> None:
        """Write what the socket takes; a client that does not read gets the rest with its next token."""
        if connection.left:
            connection.left += data
            data = bytes(connection.left)
            connection.left.clear()
        try:
            sent = connection.socket.send(data)
        except BlockingIOError:
            sent = 0
        except OSError:
            return
        if sent < len(data):
            connection.left += data[sent:]

    def _close(self, connection: Connection) -> None:
        with contextlib.suppress(KeyError, ValueError):
            self._selector.unregister(connection.socket)
        connection.socket.close()


_ENVELOPE = {"id": "chatcmpl-metronome", "object": "chat.completion.chunk", "created": 1_800_000_000, "model": MODEL}


def _prepare() -> tuple[bytes, list[bytes]]:
    tokens = tokenize(prose(PREPARED, seed="metronome"))[:PREPARED]
    events = [_chunk(_event({"content": token})) for token in tokens]
    return HEAD + _chunk(_event({"role": "assistant", "content": tokens[0]})), events


def _event(delta: dict[str, str], finish_reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason, "matched_stop": None}
    return _framed({**_ENVELOPE, "choices": [choice], "usage": None})


def _framed(document: object) -> bytes:
    return b"data: " + json.dumps(document).encode() + b"\n\n"


def _chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def _content_length(head: bytes | bytearray) -> int:
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line.partition(b":")[2])
    return 0


def _row(stream: Stream) -> dict[str, object]:
    return {
        "prompt": stream.prompt,
        "received": stream.received,
        "due": stream.began,
        "written": [round(moment, 7) for moment in stream.written],
    }


@contextlib.contextmanager
def metronome_process(tempo: Tempo, *, cpus: set[int] | None = None) -> Iterator[str]:
    """Serve from a process of its own, on these processors where some are named; yield its base URL."""
    command = [sys.executable, "-m", "seatrial.testkit.metronome", "--end-with-input"]
    command += ["--time-to-first-token", str(tempo.time_to_first_token)]
    command += ["--tokens-per-second", str(tempo.tokens_per_second), "--slots", str(tempo.slots)]
    if cpus:
        command += ["--cpus", ",".join(map(str, sorted(cpus)))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            base_url = process.stdout.readline().strip()
            if not base_url:
                raise RuntimeError(f"the metronome ended at once with status {process.wait()}")
            yield base_url
        finally:
            process.stdin.close()
            process.wait()


def main(arguments: list[str] | None = None) -> int:
    """Serve until Ctrl-C, or until standard input ends; print the base URL first."""
    parser = argparse.ArgumentParser(
        prog="python -m seatrial.testkit.metronome", description="A fake server on 127.0.0.1 that keeps exact time."
    )
    tempo = Tempo()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--time-to-first-token", type=float, default=tempo.time_to_first_token, metavar="SECONDS")
    parser.add_argument("--tokens-per-second", type=float, default=tempo.tokens_per_second, metavar="NUMBER")
    parser.add_argument("--slots", type=int, default=tempo.slots, help="streams at once; others wait")
    parser.add_argument("--cpus", default="", metavar="N,N…", help="processors that it stays on")
    parser.add_argument("--end-with-input", action="store_true", help="end when standard input does")
    options = parser.parse_args(arguments)
    if options.end_with_input:
        end_with_input(sys.stdin)
    if options.cpus:
        os.sched_setaffinity(0, {int(cpu) for cpu in options.cpus.split(",")})
    metronome = Metronome(
        Tempo(options.time_to_first_token, options.tokens_per_second, options.slots), port=options.port
    )
    print(f"http://127.0.0.1:{metronome.port}/v1", flush=True)  # noqa: T201 - its output
    with contextlib.suppress(KeyboardInterrupt):
        metronome.serve()
    return 0


if __name__ == "__main__":
    sys.exit(main())
