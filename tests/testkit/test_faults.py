"""Every fault does its one wrong thing, and nothing else."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import replace
from typing import Any

import aiohttp
import pytest

from seatrial.endpoint.address import Endpoint
from seatrial.endpoint.answer import Answer
from seatrial.endpoint.client import Client, Limits
from seatrial.endpoint.exchange import Exchange, FailureKind
from seatrial.testkit import LEGAL, Details, FakeServer, Fault, GoodModel, Script, Seen
from seatrial.testkit.prose import prose

from .conftest import WEATHER, Ask

CALL = {"prompt": "Weather in Turku for 3 days?", "tools": [WEATHER]}
TWO_CALLS = {"prompt": "Weather in Turku and Oulu?", "tools": [WEATHER]}
STREAM = {"stream": True, "stream_options": {"include_usage": True}}


def broken(*faults: Fault, **details: Any) -> Script:
    return Script(faults=frozenset(faults), details=replace(Details(), **details))


def answer_of(exchange: Exchange) -> Answer:
    assert exchange.failure is None, exchange.failure
    assert exchange.answer is not None
    return exchange.answer


def sound(answer: Answer) -> None:
    """Assert what every honest answer keeps: a model, adding counts, an end."""
    assert answer.defects == ()
    assert answer.model == "fake-model"
    assert answer.finish_reason in {"stop", "length", "tool_calls"}
    usage = answer.usage
    assert usage
    assert usage.prompt_tokens is not None
    assert usage.completion_tokens is not None
    assert usage.prompt_tokens + usage.completion_tokens == usage.total_tokens


# --- text


@pytest.mark.parametrize("body", [{}, STREAM])
async def test_loop_content(ask: Ask, body: Any) -> None:
    answer = answer_of(await ask(broken(Fault.LOOP_CONTENT), max_tokens=2_000, **body))
    assert answer.content
    assert answer.content[200:].startswith("I should check this again. " * 10)
    assert answer.content.startswith("2+2 = 4.")
    assert answer.finish_reason == "length"
    assert answer.usage
    assert answer.usage.completion_tokens == 2_000
    sound(answer)


async def test_a_loop_begins_where_it_should_and_repeats_what_it_should(ask: Ask) -> None:
    answer = answer_of(await ask(broken(Fault.LOOP_CONTENT, loop_from=1_000, loop_text="!"), max_tokens=2_000))
    assert answer.content
    assert answer.content[1_000:].strip("!") == ""
    assert not answer.content[:1_000].endswith("!!")


async def test_loop_reasoning(ask: Ask) -> None:
    answer = answer_of(await ask(broken(Fault.LOOP_REASONING), max_tokens=1_000))
    assert answer.content == ""
    assert answer.reasoning
    assert answer.reasoning[200:].startswith("I should check this again. " * 10)
    assert answer.finish_reason == "length"
    sound(answer)


@pytest.mark.parametrize("body", [{}, STREAM])
async def test_loop_arguments(ask: Ask, body: Any) -> None:
    answer = answer_of(await ask(broken(Fault.LOOP_ARGUMENTS), max_tokens=1_000, **CALL, **body))
    (call,) = answer.tool_calls
    assert call.arguments.startswith('{"city": "')
    assert "I should check this again. " * 10 in call.arguments
    assert answer.finish_reason == "length"
    sound(answer)


async def test_an_endless_loop_without_a_budget_ends_at_the_context(ask: Ask) -> None:
    script = replace(broken(Fault.LOOP_CONTENT), context_length=2_048)
    answer = answer_of(await ask(script))
    assert answer.usage
    assert answer.usage.total_tokens == 2_048


async def test_token_salad(ask: Ask) -> None:
    answer = answer_of(await ask(broken(Fault.TOKEN_SALAD), "Tell a story."))
    assert answer.content
    assert not answer.content.isascii()
    assert answer.finish_reason == "stop"
    sound(answer)


@pytest.mark.parametrize("body", [{}, STREAM])
async def test_empty_answer(ask: Ask, body: Any) -> None:
    answer = answer_of(await ask(broken(Fault.EMPTY_ANSWER), **body))
    assert answer.is_empty
    assert answer.finish_reason == "stop"
    sound(answer)


async def test_wrong_answer(ask: Ask) -> None:
    answer = answer_of(await ask(broken(Fault.WRONG_ANSWER)))
    assert answer.content
    assert "4" not in answer.content
    sound(answer)


async def test_think_tags(ask: Ask) -> None:
    leaked = answer_of(await ask(broken(Fault.THINK_TAGS_IN_CONTENT)))
    unclosed = answer_of(await ask(broken(Fault.UNCLOSED_THINK_TAG)))
    assert leaked.content
    assert unclosed.content
    assert leaked.content.startswith("<think>\n")
    assert "<think>" not in unclosed.content
    for answer in (leaked, unclosed):
        assert answer.reasoning is None
        assert answer.content
        assert answer.content.endswith("</think>\n\n2+2 = 4.")
        sound(answer)


async def two_at_once(script: Script) -> list[str | None]:
    async with FakeServer(script) as server, Client(Endpoint(server.base_url, "fake-model")) as client:
        requests = [{"messages": [{"role": "user", "content": f"What is {number} + 1?"}]} for number in (10, 20)]
        exchanges = await asyncio.gather(*(client.chat(request, label="x") for request in requests))
    return [answer_of(exchange).content for exchange in exchanges]


async def test_cross_talk(ask: Ask) -> None:
    assert await two_at_once(broken(Fault.CROSS_TALK)) == ["20 + 1 = 21.", "10 + 1 = 11."]
    assert await two_at_once(Script()) == ["10 + 1 = 11.", "20 + 1 = 21."]
    assert answer_of(await ask(broken(Fault.CROSS_TALK))).content == "2+2 = 4."


async def test_wrong_after_cache_hit() -> None:
    async with (
        FakeServer(broken(Fault.WRONG_AFTER_CACHE_HIT)) as server,
        Client(Endpoint(server.base_url, "fake-model")) as client,
    ):
        request = {"messages": [{"role": "user", "content": "What is 2+2?"}]}
        first, second = [answer_of(await client.chat(request, label="x")) for _ in range(2)]
    assert first.content == "2+2 = 4."
    assert second.content
    assert "4" not in second.content


# --- over-long input

LONG = f"HEAD-SENTINEL {prose(1_500, 1)} MIDDLE-SENTINEL {prose(1_500, 2)} TAIL-SENTINEL"


async def test_truncate_to_nothing(ask: Ask) -> None:
    script = replace(broken(Fault.TRUNCATE_TO_NOTHING), context_length=1_000)
    answer = answer_of(await ask(script, LONG))
    assert answer.is_empty
    assert (answer.finish_reason, answer.usage and answer.usage.prompt_tokens) == ("length", 994)
    assert answer.usage
    assert answer.usage.completion_tokens == 0
    assert answer_of(await ask(script)).content == "2+2 = 4."  # what fits is answered as ever


@pytest.mark.parametrize(
    ("fault", "lost"),
    [(Fault.TRUNCATE_HEAD, "HEAD"), (Fault.TRUNCATE_TAIL, "TAIL"), (Fault.TRUNCATE_MIDDLE, "MIDDLE")],
)
@pytest.mark.parametrize("body", [{}, {"max_tokens": 100}, {**STREAM, "max_tokens": 100}])
async def test_truncate(ask: Ask, fault: Fault, lost: str, body: Any) -> None:
    seen = []

    def model(request: Any) -> Any:
        seen.append(request["messages"][0]["content"])
        return GoodModel()(request)

    answer = answer_of(await ask(replace(broken(fault), context_length=1_000, answer=model), LONG, **body))
    kept = [word for word in ("HEAD", "TAIL", "MIDDLE") if f"{word}-SENTINEL" in seen[0]]
    expected = {"HEAD": ["TAIL"], "TAIL": ["HEAD"], "MIDDLE": ["HEAD", "TAIL"]}[lost]
    assert kept == expected
    assert answer.usage
    assert answer.usage.prompt_tokens is not None
    assert answer.usage.total_tokens is not None
    assert 400 < answer.usage.prompt_tokens < answer.usage.total_tokens <= 1_000
    assert not answer.is_empty
    sound(answer)


# --- tool calls


async def test_ignore_tools(ask: Ask) -> None:
    for choice in ("auto", "required"):
        answer = answer_of(await ask(broken(Fault.IGNORE_TOOLS), **CALL, tool_choice=choice))
        assert answer.tool_calls == ()
        assert answer.content
        assert answer.finish_reason == "stop"


async def test_calls_leak_as_text(ask: Ask) -> None:
    in_content = answer_of(await ask(broken(Fault.CALL_IN_CONTENT), **CALL))
    in_reasoning = answer_of(await ask(broken(Fault.CALL_IN_REASONING), **CALL))
    markup = "<tool_call>\n<function=get_weather>\n<parameter=city>\nTurku\n</parameter>"
    assert in_content.content
    assert in_reasoning.reasoning
    assert in_content.content.startswith(markup)
    assert markup in in_reasoning.reasoning
    for answer in (in_content, in_reasoning):
        assert answer.tool_calls == ()
        assert answer.finish_reason == "stop"
        sound(answer)


@pytest.mark.parametrize(
    ("fault", "name", "arguments"),
    [
        (Fault.WRONG_ARGUMENT_TYPES, "get_weather", {"city": 7, "days": "3"}),
        (Fault.WRONG_ARGUMENT_VALUES, "get_weather", {"city": "Atlantis", "days": 4}),
        (Fault.MISSING_ARGUMENTS, "get_weather", {}),
        (Fault.UNKNOWN_TOOL, "get_weather_v2", {"city": "Turku", "days": 3}),
    ],
)
@pytest.mark.parametrize("body", [{}, STREAM])
async def test_wrong_calls(ask: Ask, fault: Fault, name: str, arguments: Any, body: Any) -> None:
    answer = answer_of(await ask(broken(fault), **CALL, **body))
    (call,) = answer.tool_calls
    assert (call.name, json.loads(call.arguments)) == (name, arguments)
    assert answer.finish_reason == "tool_calls"
    sound(answer)


async def test_broken_arguments(ask: Ask) -> None:
    (call,) = answer_of(await ask(broken(Fault.BROKEN_ARGUMENTS), **CALL)).tool_calls
    assert call.arguments.startswith('{"city": ')
    with pytest.raises(ValueError, match=r"Unterminated|Expecting"):
        json.loads(call.arguments)


async def test_arguments_as_object(ask: Ask) -> None:
    for body in ({}, STREAM):
        answer = answer_of(await ask(broken(Fault.ARGUMENTS_AS_OBJECT), **CALL, **body))
        assert answer.defects == ("arguments are an object, not a string of JSON",)


async def test_drop_second_call(ask: Ask) -> None:
    assert len(answer_of(await ask(Script(), **TWO_CALLS)).tool_calls) == 2
    assert len(answer_of(await ask(broken(Fault.DROP_SECOND_CALL), **TWO_CALLS)).tool_calls) == 1


@pytest.mark.parametrize("body", [{}, STREAM])
async def test_ids_of_calls(ask: Ask, body: Any) -> None:
    same = answer_of(await ask(broken(Fault.DUPLICATE_CALL_IDS), **TWO_CALLS, **body)).tool_calls
    none = answer_of(await ask(broken(Fault.MISSING_CALL_IDS), **TWO_CALLS, **body)).tool_calls
    assert same[0].id == same[1].id
    assert same[0].id
    assert [call.id for call in none] == [None, None]
    assert [call.arguments for call in same] == [call.arguments for call in none]


async def test_calls_against_tool_choice(ask: Ask) -> None:
    named = {"type": "function", "function": {"name": "get_weather"}}
    other = {**WEATHER, "function": {**WEATHER["function"], "name": "get_tides"}}  # type: ignore[dict-item]

    async def names(fault: Fault, prompt: str, choice: Any, tools: Any = (WEATHER,)) -> list[str | None]:
        answer = answer_of(await ask(broken(fault), prompt, tools=list(tools), tool_choice=choice))
        sound(answer)
        return [call.name for call in answer.tool_calls]

    assert await names(Fault.CALL_NOT_DUE, "Hello!", "auto") == ["get_weather"]
    assert await names(Fault.CALL_NOT_DUE, "Hello!", "none") == []
    assert await names(Fault.CALL_DESPITE_NONE, "Hello!", "none") == ["get_weather"]
    assert await names(Fault.CALL_DESPITE_NONE, "Hello!", "auto") == []
    assert await names(Fault.IGNORE_REQUIRED, "Weather in Turku?", "required") == []
    assert await names(Fault.IGNORE_REQUIRED, "Weather in Turku?", named) == []
    assert await names(Fault.IGNORE_REQUIRED, "Weather in Turku?", "auto") == ["get_weather"]
    assert await names(Fault.IGNORE_NAMED, "Weather in Turku?", named, (WEATHER, other)) == ["get_tides"]


async def test_reject_tool_choice(ask: Ask) -> None:
    refused = await ask(broken(Fault.REJECT_TOOL_CHOICE), **CALL, tool_choice="auto")
    assert refused.failure
    assert (refused.failure.kind, refused.status) == (FailureKind.HTTP_STATUS, 400)
    assert answer_of(await ask(broken(Fault.REJECT_TOOL_CHOICE), **CALL)).tool_calls


async def test_what_is_lost_only_in_a_stream(ask: Ask) -> None:
    script = broken(Fault.ARGUMENTS_LOST_IN_STREAM)
    (whole,) = answer_of(await ask(script, **CALL)).tool_calls
    (streamed,) = answer_of(await ask(script, **CALL, **STREAM)).tool_calls
    assert (whole.name, streamed.name) == ("get_weather", "get_weather")
    assert (whole.arguments, streamed.arguments) == ('{"city": "Turku", "days": 3}', "")


async def test_wrong_indexes_in_a_stream(ask: Ask) -> None:
    first, second = answer_of(await ask(broken(Fault.ARGUMENTS_AT_WRONG_INDEX), **CALL, **STREAM)).tool_calls
    assert (first.name, first.arguments) == ("get_weather", "")
    assert (second.name, second.arguments) == (None, '{"city": "Turku", "days": 3}')
    missing = answer_of(await ask(broken(Fault.INDEX_MISSING_IN_STREAM), **CALL, **STREAM))
    assert "a streamed tool call has no index" in missing.defects
    sound(answer_of(await ask(broken(Fault.INDEX_MISSING_IN_STREAM), **CALL)))


# --- what stands around the answer


@pytest.mark.parametrize("body", [{}, STREAM])
async def test_finish_reasons(ask: Ask, body: Any) -> None:
    wrong = broken(Fault.WRONG_FINISH_REASON)
    assert answer_of(await ask(wrong, **CALL, **body)).finish_reason == "stop"
    assert answer_of(await ask(wrong, **body)).finish_reason == "tool_calls"
    assert answer_of(await ask(broken(Fault.MISSING_FINISH_REASON), **body)).finish_reason is None


@pytest.mark.parametrize("body", [{}, STREAM])
async def test_usage(ask: Ask, body: Any) -> None:
    assert answer_of(await ask(broken(Fault.MISSING_USAGE), **body)).usage is None
    usage = answer_of(await ask(broken(Fault.WRONG_USAGE), **body)).usage
    assert usage
    assert usage.prompt_tokens is not None
    assert usage.completion_tokens is not None
    assert usage.prompt_tokens + usage.completion_tokens != usage.total_tokens


@pytest.mark.parametrize("body", [{}, STREAM])
async def test_other_model(ask: Ask, body: Any) -> None:
    assert answer_of(await ask(broken(Fault.OTHER_MODEL), **body)).model == "another-model"


async def test_stream_ignored(ask: Ask) -> None:
    answer = answer_of(await ask(broken(Fault.STREAM_IGNORED), stream=True))
    assert answer.content == "2+2 = 4."
    assert answer.defects == ("a stream was asked for, a whole answer came",)


# --- time


async def test_lag(ask: Ask) -> None:
    exchange = await ask(broken(Fault.LAG, lag_seconds=0.3))
    assert answer_of(exchange).content == "2+2 = 4."
    assert exchange.timing.headers
    assert 0.3 <= exchange.timing.headers < 0.6


async def test_slow_tokens(ask: Ask) -> None:
    exchange = await ask(broken(Fault.SLOW_TOKENS, token_lag_seconds=0.02), stream=True, max_tokens=10)
    assert exchange.timing.total >= 0.2


@pytest.mark.parametrize("body", [{}, STREAM])
async def test_never_answers(ask: Ask, body: Any) -> None:
    exchange = await ask(broken(Fault.NEVER_ANSWERS), seconds=0.3, **body)
    assert exchange.failure
    assert (exchange.failure.kind, exchange.status) == (FailureKind.TIMED_OUT, None)


@pytest.mark.parametrize("body", [{}, STREAM])
async def test_never_ends(ask: Ask, body: Any) -> None:
    exchange = await ask(broken(Fault.NEVER_ENDS, drip_seconds=0.01), seconds=0.5, max_tokens=20, **body)
    assert exchange.failure
    assert (exchange.failure.kind, exchange.status) == (FailureKind.TIMED_OUT, 200)


async def test_a_server_that_hangs_closes_at_once() -> None:
    request = {"messages": [{"role": "user", "content": "x"}]}
    for fault in (Fault.NEVER_ANSWERS, Fault.NEVER_ENDS, Fault.LAG):
        server = FakeServer(broken(fault))
        await server.__aenter__()
        async with Client(Endpoint(server.base_url, "fake-model"), Limits(request=30)) as client:
            task = asyncio.create_task(client.chat({**request, "stream": True}, label="x"))
            await asyncio.sleep(0.2)
            began = time.monotonic()
            await server.__aexit__(None, None, None)
            await asyncio.wait_for(task, 3)
            assert time.monotonic() - began < 1.5


# --- transport


@pytest.mark.parametrize("body", [{}, STREAM])
async def test_dies_mid_stream(ask: Ask, body: Any) -> None:
    exchange = await ask(broken(Fault.DIES_MID_STREAM), **body)
    assert exchange.failure
    assert (exchange.failure.kind, exchange.status) == (FailureKind.BROKEN_STREAM, 200)


async def test_dies_at_request() -> None:
    async with (
        FakeServer(broken(Fault.DIES_AT_REQUEST)) as server,
        Client(Endpoint(server.base_url, "fake-model")) as client,
    ):
        request = {"messages": [{"role": "user", "content": "What is 2+2?"}]}
        assert (await client.get_json("/models"))[0] == 200
        first = await client.chat(request, label="x")
        second = await client.chat(request, label="x")
    assert first.failure
    assert second.failure
    assert second.failure.kind is FailureKind.REFUSED


async def test_invalid_json(ask: Ask) -> None:
    body = await ask(broken(Fault.INVALID_JSON_BODY))
    chunk = await ask(broken(Fault.INVALID_JSON_CHUNK), stream=True)
    assert body.failure
    assert chunk.failure
    assert (body.failure.kind, chunk.failure.kind) == (FailureKind.NOT_JSON, FailureKind.NOT_JSON)


async def test_error_event(ask: Ask) -> None:
    exchange = await ask(broken(Fault.ERROR_EVENT), stream=True)
    assert exchange.failure
    assert (exchange.failure.kind, exchange.status) == (FailureKind.ERROR_EVENT, 200)
    assert exchange.answer
    assert exchange.answer.reasoning  # what had come


async def status_of(server: FakeServer, path: str, method: str = "GET") -> tuple[int, str]:
    body = {"model": "fake-model", "messages": [{"role": "user", "content": "x"}]} if method == "POST" else None
    async with aiohttp.ClientSession() as session:
        url = server.origin + path
        async with session.request(method, url, json=body, allow_redirects=False) as response:
            return response.status, response.headers.get("Content-Type", "")


@pytest.mark.parametrize(
    ("fault", "health", "models", "chat"),
    [
        (Fault.STATUS_500, 500, 500, 500),
        (Fault.STATUS_503, 503, 503, 503),
        (Fault.STATUS_429, 200, 429, 429),
        (Fault.DEAD_BEHIND_HEALTH, 200, 200, 503),
        (Fault.REDIRECT, 200, 307, 307),
        (Fault.HTML_EVERYWHERE, 200, 200, 200),
        (Fault.NO_MODEL_LIST, 200, 404, 200),
    ],
)
async def test_statuses(fault: Fault, health: int, models: int, chat: int) -> None:
    async with FakeServer(broken(fault)) as server:
        got = [
            await status_of(server, path, method)
            for path, method in (("/health", "GET"), ("/v1/models", "GET"), ("/v1/chat/completions", "POST"))
        ]
    assert [status for status, _ in got] == [health, models, chat]
    if fault is Fault.HTML_EVERYWHERE:
        assert all("text/html" in kind for _, kind in got)


async def test_no_tokenizer() -> None:
    async with FakeServer(broken(Fault.NO_TOKENIZER)) as server:
        assert (await status_of(server, "/tokenize", "POST"))[0] == 404


async def test_missing_done(ask: Ask) -> None:
    exchange = await ask(broken(Fault.MISSING_DONE), stream=True)
    assert answer_of(exchange).content == "2+2 = 4."
    assert "[DONE]" not in exchange.raw


@pytest.mark.parametrize("body", [{}, STREAM])
async def test_huge_body(ask: Ask, body: Any) -> None:
    exchange = await ask(broken(Fault.HUGE_BODY, huge_bytes=8 * 2**20), **body)
    assert exchange.failure
    assert exchange.failure.kind is FailureKind.TOO_LONG


# --- odd, and legal


@pytest.mark.parametrize("fault", sorted(LEGAL))
async def test_what_is_legal_changes_no_answer(ask: Ask, fault: Fault) -> None:
    for body in ({}, STREAM):
        plain = answer_of(await ask(Script(), "Say “Hyvinkää, 東京, 🚢”.", **body))
        odd = answer_of(await ask(broken(fault), "Say “Hyvinkää, 東京, 🚢”.", **body))
        assert odd == plain
        assert odd.content == "Hyvinkää, 東京, 🚢"


async def test_all_that_is_legal_at_once(ask: Ask) -> None:
    plain = answer_of(await ask(Script(), **CALL, **STREAM))
    odd = answer_of(await ask(broken(*LEGAL), **CALL, **STREAM))
    assert odd == plain


async def test_stale_keep_alive_closes_on_the_second_request() -> None:
    body = {"model": "fake-model", "messages": [{"role": "user", "content": "x"}]}
    async with FakeServer(broken(Fault.STALE_KEEP_ALIVE)) as server, aiohttp.ClientSession() as session:
        async with session.post(f"{server.base_url}/chat/completions", json=body) as response:
            assert response.status == 200
            assert response.headers.get("Connection", "keep-alive") == "keep-alive"
            await response.read()
        with pytest.raises(aiohttp.ServerDisconnectedError):
            await session.post(f"{server.base_url}/chat/completions", json=body)


async def test_the_bytes_of_a_stream_are_odd_as_announced() -> None:
    body = {"model": "fake-model", "stream": True, "messages": [{"role": "user", "content": "What is 2+2?"}]}

    async def raw(*faults: Fault) -> bytes:
        async with (
            FakeServer(broken(*faults)) as server,
            aiohttp.ClientSession() as session,
            session.post(f"{server.base_url}/chat/completions", json=body) as response,
        ):
            return await response.read()

    assert b"\r" not in await raw()
    assert (await raw(Fault.CRLF)).count(b"\r\n\r\n") == (await raw()).count(b"\n\n")
    assert b"\n\n: keep-alive\n\ndata" in await raw(Fault.COMMENTS)
    assert b"data: {\ndata: " in await raw(Fault.MULTI_LINE_DATA)


# --- together, and sometimes


async def test_faults_combine(ask: Ask) -> None:
    faults = (Fault.OTHER_MODEL, Fault.MISSING_CALL_IDS, Fault.WRONG_FINISH_REASON, Fault.CRLF, Fault.SPLIT_BYTES)
    answer = answer_of(await ask(broken(*faults), **CALL, **STREAM))
    assert answer.model == "another-model"
    assert answer.finish_reason == "stop"
    assert [call.id for call in answer.tool_calls] == [None]


async def test_a_fault_can_come_sometimes() -> None:
    def third(seen: Seen) -> bool:
        return seen.number % 3 == 0

    script = replace(broken(Fault.EMPTY_ANSWER), when=third)
    async with FakeServer(script) as server, Client(Endpoint(server.base_url, "fake-model")) as client:
        request = {"messages": [{"role": "user", "content": "What is 2+2?"}]}
        contents = [answer_of(await client.chat(request, label="x")).content for _ in range(6)]
    assert contents == ["2+2 = 4.", "2+2 = 4.", "", "2+2 = 4.", "2+2 = 4.", ""]


def test_every_fault_stands_in_a_test() -> None:
    from pathlib import Path

    tested = Path(__file__).read_text(encoding="utf-8")
    assert [fault.name for fault in Fault if f"Fault.{fault.name}" not in tested and fault not in LEGAL] == []
