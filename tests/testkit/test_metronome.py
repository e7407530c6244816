from __future__ import annotations

import asyncio
import itertools
import json
from urllib.request import Request, urlopen

from seatrial.endpoint.address import Endpoint
from seatrial.endpoint.client import Client
from seatrial.testkit.metronome import MODEL, Tempo, metronome_process


def record(base_url: str, method: str = "GET") -> list[dict[str, object]]:
    request = Request(base_url.removesuffix("/v1") + "/metronome", method=method)
    with urlopen(request, timeout=10) as response:
        rows: list[dict[str, object]] = json.load(response)
    return rows


async def ask(base_url: str, count: int, tokens: int) -> list[float]:
    """Ask so many at once; return when each answer began."""
    body = {
        "messages": [{"role": "user", "content": "Anything"}],
        "max_tokens": tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    async with Client(Endpoint(base_url, MODEL)) as client:
        answers = await asyncio.gather(*(client.chat(body, label="x") for _ in range(count)))
    for answer in answers:
        assert answer.failure is None
        assert answer.answer is not None
        assert answer.answer.finish_reason == "length"
        assert answer.output_tokens == len(answer.timing.arrivals) == tokens
    return sorted(answer.timing.arrivals[0].seconds for answer in answers)


async def test_it_never_writes_early_and_says_when_it_wrote() -> None:
    tempo = Tempo(0.1, 100)
    with metronome_process(tempo) as url:
        await ask(url, 3, 10)
        rows = record(url)
        assert len(record(url, "DELETE")) == 3
        assert record(url) == []
    for row in rows:
        written, due = row["written"], row["due"]
        assert isinstance(written, list)
        assert isinstance(due, float)
        assert len(written) == 10
        for number, moment in enumerate(written):
            assert moment >= due + tempo.due_of(number + 1) - 1e-6


async def test_with_places_for_two_the_third_waits() -> None:
    with metronome_process(Tempo(0.05, 100, slots=2)) as url:
        began = await ask(url, 3, 20)
    assert began[2] >= 0.05 + 0.19 + 0.05
    assert all(later >= earlier for earlier, later in itertools.pairwise(began))


async def test_its_answers_are_no_broken_text() -> None:
    from seatrial.bench.reading import is_degenerate

    body = {"messages": [{"role": "user", "content": "Anything"}], "max_tokens": 2000, "stream": True}
    with metronome_process(Tempo(0.0, 20_000)) as url:
        async with Client(Endpoint(url, MODEL)) as client:
            answer = await client.chat(body, label="x")
    assert not is_degenerate(answer)
