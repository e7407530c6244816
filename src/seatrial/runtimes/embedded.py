"""The embedded engine: llama.cpp from a wheel, in a child process on loopback with a random API key.

The child gets its configuration, key included, through its standard input: the process list shows nothing. When
that input ends (we stop it, or we were killed) the child ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from seatrial.endpoint.address import Endpoint, Secret
from seatrial.endpoint.client import Client, Limits
from seatrial.errors import StartError
from seatrial.processes import end
from seatrial.runtimes.interface import OnPhase


@dataclass(frozen=True, slots=True)
class EmbeddedPlan:
    """What the embedded engine is started with.

    Attributes:
        model: a GGUF file.
        served_name: the model name that requests ask for.
        chat_template: Jinja text that replaces the model's own template, or None.
        context_length: tokens a request may use, prompt and answer together.
        parallel: requests answered at once; the context is shared out among them only if `context_length` is.
        threads: threads for compute. One by default: two spinning OpenMP threads on two busy cores have been
            measured to fall below 1 token/s, where one makes 34 to 50.
        reasoning_budget: most tokens of reasoning where a request asks for it, -1 for no limit.
        start_seconds: how long a start may take.
    """

    model: Path
    served_name: str
    chat_template: str | None = None
    context_length: int = 8192
    parallel: int = 1
    threads: int = 1
    reasoning_budget: int = -1
    start_seconds: float = 120.0


class EmbeddedServer:
    """A running embedded engine."""

    def __init__(
        self, process: asyncio.subprocess.Process, endpoint: Endpoint, log: Path, start_seconds: float
    ) -> None:
        self._process = process
        self.endpoint = endpoint
        self.log = log
        self.start_seconds = start_seconds

    def failure(self) -> str | None:
        """Say why it no longer runs; None while it does."""
        code = self._process.returncode
        return None if code is None else f"the engine ended with status {code}; its log: {self.log}"

    async def stop(self) -> None:
        """End the child; return when it is gone."""
        await end(self._process)


@dataclass(frozen=True, slots=True)
class EmbeddedRuntime:
    """Starts one `EmbeddedPlan`."""

    plan: EmbeddedPlan
    api_key: Secret = field(default_factory=lambda: Secret(secrets.token_urlsafe(24)), repr=False)

    async def start(self, log: Path, on_phase: OnPhase) -> EmbeddedServer:
        """Start the engine and wait for its first real answer.

        Raises:
            StartError: the child ended, said what is wrong, or took longer than the plan allows.
        """
        began = time.perf_counter()
        on_phase("starting the engine")
        with log.open("ab") as log_file:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "seatrial.runtimes.embedded_child",
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log_file,
            )
        try:
            async with asyncio.timeout(self.plan.start_seconds):
                on_phase("loading the weights")
                origin = await self._listening(process, log)
                endpoint = Endpoint(
                    f"{origin}/v1",
                    self.plan.served_name,
                    self.api_key,
                    answered_by_ours=lambda: listens_on(process.pid, urlsplit(origin).port or 0),
                )
                on_phase("waiting for the first answer")
                await self._first_answer(process, endpoint, log)
        except TimeoutError:
            await end(process)
            raise StartError(
                f"the engine did not answer within {self.plan.start_seconds:g} s", where=str(log)
            ) from None
        except BaseException:
            await end(process)
            raise
        return EmbeddedServer(process, endpoint, log, time.perf_counter() - began)

    async def _listening(self, process: asyncio.subprocess.Process, log: Path) -> str:
        assert process.stdin is not None
        assert process.stdout is not None
        configuration = {**asdict(self.plan), "model": str(self.plan.model), "api_key": self.api_key.reveal()}
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it died: its message says more
            process.stdin.write(json.dumps(configuration).encode() + b"\n")
            await process.stdin.drain()
        line = await process.stdout.readline()
        try:
            message = json.loads(line)
        except ValueError:
            await process.wait()
            raise StartError(
                f"the engine ended with status {process.returncode} before it listened: {last_line(log)}",
                where=str(log),
            ) from None
        if "error" in message:
            raise StartError(f"the engine could not start: {message['error']}", where=str(log))
        return str(message["listening"])

    async def _first_answer(self, process: asyncio.subprocess.Process, endpoint: Endpoint, log: Path) -> None:
        """Ask for a few tokens: a server that is up but can't answer has not started."""
        request = {"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 4, "temperature": 0}
        async with Client(endpoint, Limits(request=self.plan.start_seconds)) as client:
            exchange = await client.chat(request, label="start/first-answer")
        if exchange.failure is not None:
            ended = "" if process.returncode is None else f"; it ended with status {process.returncode}"
            raise StartError(f"the engine does not answer: {exchange.failure.message}{ended}", where=str(log))


@contextlib.asynccontextmanager
async def running(runtime: EmbeddedRuntime, log: Path, on_phase: OnPhase) -> AsyncIterator[EmbeddedServer]:
    """Start the engine for the length of a block, and end it whatever happens inside."""
    server = await runtime.start(log, on_phase)
    try:
        yield server
    finally:
        await server.stop()


def last_line(log: Path) -> str:
    """Return the last thing that a log says, shortened."""
    with contextlib.suppress(OSError):
        lines = [line.strip() for line in log.read_text("utf-8", errors="replace").splitlines() if line.strip()]
        if lines:
            return lines[-1][:200]
    return "its log is empty"


def listens_on(process_id: int, port: int) -> bool:
    """Tell whether that process is the one that listens on the port."""
    import psutil  # noqa: PLC0415 - 30 ms that only a check of identity needs

    try:
        connections = psutil.Process(process_id).net_connections("tcp")
    except psutil.Error:
        return False
    return any(one.status == psutil.CONN_LISTEN and one.laddr.port == port for one in connections)
