"""The fake server's clock: what a client is calibrated against."""

from __future__ import annotations

import asyncio
from statistics import median

import pytest

from seatrial.endpoint.address import Endpoint
from seatrial.endpoint.client import Client
from seatrial.endpoint.exchange import Exchange
from seatrial.testkit import FakeServer, GoodModel, Pace, Script

PACE = Pace(time_to_first_token=0.2, tokens_per_second=50)
TOKENS = 30
SLACK = 0.05
"""Seconds that a busy machine may add: the medians are far closer."""


def paced() -> Script:
    return Script(pace=PACE, answer=GoodModel(thinks=False))


async def streams(server: FakeServer, number: int) -> list[Exchange]:
    async with Client(Endpoint(server.base_url, "fake-model")) as client:
        request = {"messages": [{"role": "user", "content": "Tell a story."}], "max_tokens": TOKENS, "stream": True}
        return await asyncio.gather(*(client.chat(request, label="paced") for _ in range(number)))


def test_due_times_follow_the_clock_not_the_token_before() -> None:
    assert [Pace(0.5, 10).due(token) for token in (0, 1, 10)] == pytest.approx([0.5, 0.6, 1.5])


@pytest.mark.parametrize("number", [1, 32])
async def test_streams_keep_their_pace_however_many_there_are(number: int) -> None:
    async with FakeServer(paced()) as server:
        exchanges = await streams(server, number)
        seen = server.chats
    for exchange in exchanges:
        times = [arrival.seconds for arrival in exchange.timing.arrivals]
        assert len(times) == TOKENS
        assert PACE.time_to_first_token <= times[0] < PACE.time_to_first_token + SLACK
        assert times[-1] - times[0] == pytest.approx((TOKENS - 1) / PACE.tokens_per_second, abs=SLACK)
    for one in seen:
        assert len(one.written_at) == TOKENS
        due = [one.received_at + PACE.due(token) for token in range(TOKENS)]
        late = [written - wanted for written, wanted in zip(one.written_at, due, strict=True)]
        assert min(late) >= 0
        assert median(late) < 0.01
        assert one.late < SLACK


async def test_a_slow_reader_does_not_shift_the_tokens_after_it() -> None:
    async with FakeServer(paced()) as server:
        task = asyncio.create_task(streams(server, 1))
        await asyncio.sleep(0.25)
        import time

        time.sleep(0.2)  # noqa: ASYNC251 - the whole loop stands still, server and all
        (exchange,) = await task
    assert exchange.timing.arrivals[-1].seconds == pytest.approx(PACE.due(TOKENS - 1), abs=SLACK)


async def test_a_whole_answer_takes_as_long_as_its_tokens() -> None:
    async with FakeServer(paced()) as server, Client(Endpoint(server.base_url, "fake-model")) as client:
        request = {"messages": [{"role": "user", "content": "Tell a story."}], "max_tokens": TOKENS}
        exchange = await client.chat(request, label="paced")
    assert exchange.timing.total == pytest.approx(PACE.due(TOKENS - 1), abs=SLACK)
