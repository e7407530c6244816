"""`seatrial try`: the whole main job on the embedded engine, with a small real model that is honestly refuted."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

from seatrial import __version__
from seatrial.bench.plan import LoadPlan
from seatrial.bench.workload import builtin
from seatrial.endpoint.address import Secret
from seatrial.endpoint.client import Limits
from seatrial.progress import Display
from seatrial.proof import Proof
from seatrial.runs.folder import RunFolder
from seatrial.runtimes.embedded import EmbeddedPlan, EmbeddedRuntime, EmbeddedServer, running
from seatrial.store import demonstration as model
from seatrial.trials.interface import Settings
from seatrial.trials.suites import SuiteName, suite

THE_POINT = (
    "That is the point of this demonstration: the server started, it streamed, it was fast, "
    "and it must not be promoted."
)

SAMPLING = {"temperature": 0}
"""Greedy, as many review pipelines ask: this model then falls into real loops."""

ANSWER_TOKENS = 160
"""Enough for a loop to show; this model does not reason."""


@dataclass(frozen=True, slots=True)
class Demonstration:
    """The parts of the demonstration that a test may make smaller."""

    suite: SuiteName = SuiteName.QUICK
    concurrency: tuple[int, ...] = (1, 2)
    requests_per_level: int = 4
    bench_tokens: int = 48

    async def run(self, api_key: Secret, folder: RunFolder, display: Display) -> Proof:
        """Fetch, start, prove, measure, stop, report."""
        async with embedded_model(api_key, folder, display) as server:
            proof = Proof(
                server.endpoint,
                {
                    "engine": "llama.cpp (embedded), one thread",
                    "started in": f"{server.start_seconds:.1f} s",
                    "sampling": "greedy (temperature 0)",
                    "seatrial": __version__,
                },
                remark=THE_POINT,
            )
            limits = Limits(request=120, silence=60)
            settings = Settings(SAMPLING, ANSWER_TOKENS)
            try:
                await proof.prove(suite(self.suite), settings, limits, folder, display)
                await proof.measure(
                    builtin("chat", self.bench_tokens, SAMPLING),
                    LoadPlan.closed(self.concurrency, lambda _level: self.requests_per_level),
                    limits,
                    folder,
                    display,
                )
                display.phase("Stopping the engine")
                await server.stop()
            finally:
                proof.write_report(folder)
        return proof


@contextlib.asynccontextmanager
async def embedded_model(api_key: Secret, folder: RunFolder, display: Display) -> AsyncIterator[EmbeddedServer]:
    """Run the small model for the length of a block, fetched first if it is not there."""
    display.phase("Getting SmolLM2-135M-Instruct (89 MiB, fetched once)")
    path = await model.fetch(display.step)
    plan = EmbeddedPlan(path, model.SERVED_NAME, model.chat_template(), parallel=2)
    display.phase("Starting llama.cpp")
    async with running(EmbeddedRuntime(plan, api_key), folder.path / "engine.log", display.phase) as server:
        yield server
