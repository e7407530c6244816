from __future__ import annotations

import asyncio
import itertools
import json
import statistics
import sys
import time
from urllib.request import urlopen

import pytest

from seatrial.bench.capture import Capture
from seatrial.bench.connection import new_event_loop
from seatrial.bench.pool import Pool
from seatrial.endpoint.address import Endpoint
from seatrial.endpoint.client import Limits
from seatrial.testkit.metronome import MODEL, Tempo, metronome_process

BLOCKED_SECONDS = 0.06


def body(tokens: int) -> bytes:
    request = {"model": MODEL, "messages": [{"role": "user", "content": "x"}], "stream": True, "max_tokens": tokens}
    return json.dumps(request).encode()


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's own stamps are Linux's")
def test_what_comes_has_the_kernels_time_also_while_the_client_is_busy() -> None:
    capture = Capture(1, body(12), 0.0, 0.0)

    async def run(pool: Pool) -> None:
        async with pool:
            asked = asyncio.create_task(pool.ask(capture))
            while not asked.done():
                time.sleep(BLOCKED_SECONDS)  # noqa: ASYNC251 - that is the point: the client is late for everything
                await asyncio.sleep(0.001)

    with metronome_process(Tempo(0.1, 10)) as url:
        loop, selector = new_event_loop()
        pool = Pool(Endpoint(url, MODEL), Limits(), selector)
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(run(pool))
        with urlopen(url.removesuffix("/v1") + "/metronome", timeout=10) as response:
            (row,) = json.load(response)
    assert capture.failure is None
    assert len(capture.stamps) == 12
    true = [later - earlier for earlier, later in itertools.pairwise(row["written"])]
    seen = [later - earlier for earlier, later in itertools.pairwise(capture.stamps)]
    errors = [abs(one - two) for one, two in zip(seen, true, strict=True)]
    assert statistics.median(errors) < BLOCKED_SECONDS / 10


def test_a_connection_is_used_again() -> None:
    captures = [Capture(number, body(2), 0.0, 0.0) for number in range(3)]

    async def run(pool: Pool) -> set[int]:
        used = set()
        async with pool:
            for capture in captures:
                await pool.ask(capture)
                used |= {id(connection) for connection in pool._free}
        return used

    with metronome_process(Tempo(0.0, 1000)) as url:
        loop, selector = new_event_loop()
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            assert len(runner.run(run(Pool(Endpoint(url, MODEL), Limits(), selector)))) == 1
    assert all(capture.status == 200 and capture.failure is None for capture in captures)
