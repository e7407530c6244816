from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from seatrial.checks import Asked
from seatrial.endpoint.address import Endpoint
from seatrial.endpoint.answer import Answer
from seatrial.endpoint.exchange import Exchange, Failure, FailureKind, Timing
from seatrial.trials.fault import LOST, MALFORMED, NO_CALL, diagnose, whose_fault
from seatrial.trials.interface import Case, Settings
from seatrial.trials.tool_cases import tool_groups

(WEATHER,) = tool_groups()["tool_call"].cases
ASKED = Asked.from_request(WEATHER.request(streamed=False))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('<tool_call>\n{"name": "get_weather", "arguments": {"city": "Turku"}}\n</tool_call>', LOST),
        ("<function=get_weather>\n<parameter=city>\nTurku\n</parameter>\n</function>", LOST),
        ('Sure. ```json\n{"name": "get_weather", "parameters": {"city": "Turku"}}\n```', LOST),
        ('<tool_call>\n{"name": "get_weather", "arguments": {"city": ', MALFORMED),
        ("<function=get_weather>\n<parameter=city>\nTurku", MALFORMED),
        ("It is sunny in Turku.", None),
        ('An object: {"name": "Turku"} {broken', None),
        ("", None),
    ],
)
def test_a_text_tells_whether_there_was_a_call(text: str, said: str | None) -> None:
    assert diagnose(ASKED, [text]) == said


class Server:
    """An asker whose server gives a raw text, and whose parsers can read it or not."""

    def __init__(self, raw: str | None, readers: Mapping[str, list[Any]] | None = None) -> None:
        self.raw = raw
        self.readers = readers
        self.endpoint = Endpoint("http://127.0.0.1:1/v1", "m")
        self.settings = Settings()

    async def ask(self, case: Case) -> Exchange:
        if self.raw is None:
            failure = Failure(FailureKind.HTTP_STATUS, "unknown field", 400)
            return Exchange("r2", "x", case.request, Timing(0.0), 400, failure=failure)
        assert case.request["skip_special_tokens"] is False
        return Exchange("r2", "x", case.request, Timing(0.0), 200, Answer(content=self.raw))

    async def get_json(self, path: str, *, at_origin: bool = False) -> Any:
        return None

    async def post_json(self, path: str, body: Any, *, at_origin: bool = False) -> Any:
        if self.readers is None:
            return None
        assert (path, at_origin) == ("/parse_function_call", True)
        return {"normal_text": "", "calls": self.readers.get(body["tool_call_parser"], [])}


def lost(content: str) -> Exchange:
    return Exchange("r1", "x", WEATHER.request(streamed=False), Timing(0.0), 200, Answer(content=content))


CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Turku"}}\n</tool_call>'


async def test_the_parser_that_reads_the_call_is_named() -> None:
    server = Server("", {"qwen": [{"name": "get_weather", "parameters": "{}"}]})
    said = await whose_fault(server, WEATHER, lost(CALL))
    assert said.startswith(LOST)
    assert "--tool-call-parser qwen" in said


async def test_a_parser_that_finds_another_tool_is_not_named() -> None:
    server = Server("", {"qwen3_coder": [], "qwen": [{"name": "other"}]})
    assert await whose_fault(server, WEATHER, lost(CALL)) == LOST


async def test_a_call_that_only_the_raw_text_shows_was_lost_by_the_server() -> None:
    assert await whose_fault(Server(CALL), WEATHER, lost("")) == LOST


async def test_no_trace_in_the_raw_text_means_that_the_model_made_none() -> None:
    assert await whose_fault(Server("It is sunny."), WEATHER, lost("It is sunny.")) == NO_CALL


async def test_a_server_without_raw_text_is_told() -> None:
    said = await whose_fault(Server(None), WEATHER, lost("It is sunny."))
    assert said.startswith(NO_CALL)
    assert "no raw text" in said
