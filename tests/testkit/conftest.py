"""What the tests of the test kit share: ask a script something, get the exchange."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from seatrial.endpoint.address import Endpoint
from seatrial.endpoint.client import Client, Limits
from seatrial.endpoint.exchange import Exchange
from seatrial.testkit import FakeServer, Script

Ask = Callable[..., Awaitable[Exchange]]

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the weather in a city",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "days": {"type": "integer"},
                "unit": {"type": "string", "enum": ["c", "f"]},
            },
            "required": ["city"],
        },
    },
}


@pytest.fixture
def ask() -> Ask:
    async def asking(script: Script, prompt: str = "What is 2+2?", *, seconds: float = 5.0, **body: Any) -> Exchange:
        limits = Limits(connect=2, request=seconds, silence=seconds, answer_bytes=4 * 2**20)
        async with FakeServer(script) as server, Client(Endpoint(server.base_url, script.model), limits) as client:
            messages = [{"role": "user", "content": prompt}]
            return await client.chat({"messages": messages, **body}, label="test")

    return asking


@pytest.fixture
def weather() -> dict[str, Any]:
    return WEATHER
