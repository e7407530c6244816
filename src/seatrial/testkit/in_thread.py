"""A fake server for code that is not asynchronous: it runs in a thread, or in a process of its own."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from seatrial.testkit.script import Script
from seatrial.testkit.server import FakeServer


@contextmanager
def fake_server(script: Script | None = None, *, port: int = 0) -> Iterator[FakeServer]:
    """Serve a script from a thread while the block runs; for tests that start commands in child processes."""
    started = threading.Event()
    state: list[FakeServer | OSError] = []
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()

    async def live() -> None:
        try:
            async with FakeServer(script, port=port) as server:
                state.append(server)
                started.set()
                await stop.wait()
        except OSError as error:
            if started.is_set():
                raise
            state.append(error)  # it could not start: the caller's thread raises it
            started.set()

    def run() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(live())

    thread = threading.Thread(target=run, name="fake-server", daemon=True)
    thread.start()
    started.wait()
    server = state[0]
    if isinstance(server, OSError):
        thread.join()
        raise server
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()


@contextmanager
def fake_server_process(*arguments: str) -> Iterator[str]:
    """Serve from a process of its own, and yield its base URL; `arguments` are those of `python -m seatrial.testkit`.

    For measuring a client: server and client then share no interpreter.
    """
    command = [sys.executable, "-m", "seatrial.testkit", "--port", "0", "--end-with-input", *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            base_url = process.stdout.readline().strip()
            if not base_url:
                raise RuntimeError(f"the fake server ended at once with status {process.wait()}")
            yield base_url
        finally:
            process.stdin.close()
            process.wait()
