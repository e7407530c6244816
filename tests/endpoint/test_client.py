"""The client against the fake server and against raw bytes: every outcome is an exchange, and every wait ends."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from seatrial.endpoint.address import Endpoint, Secret
from seatrial.endpoint.client import Client, Limits, error_message, shorten
from seatrial.endpoint.exchange import Exchange, FailureKind
from seatrial.testkit import Details, FakeServer, Fault, Script

from .conftest import RawServer, events, http

KEY = "sk-hunter22-hunter22"
SHORT = Limits(connect=0.5, request=1.0, silence=0.5, answer_bytes=2**20)
CHAT: dict[str, Any] = {"messages": [{"role": "user", "content": "What is 2+2?"}]}
STREAM = {**CHAT, "stream": True}
BOTH = pytest.mark.parametrize("body", [CHAT, STREAM], ids=["whole", "stream"])


async def ask(base_url: str, body: Any = CHAT, limits: Limits = SHORT, key: str | None = None) -> Exchange:
    endpoint = Endpoint(base_url, "fake-model", None if key is None else Secret(key))
    async with Client(endpoint, limits) as client:
        return await client.chat(body, label="test")


async def ask_script(script: Script, body: Any = CHAT, limits: Limits = SHORT, key: str | None = None) -> Exchange:
    async with FakeServer(script) as server:
        return await ask(server.base_url, body, limits, key)


def broken(*faults: Fault, **details: Any) -> Script:
    return Script(faults=frozenset(faults), details=replace(Details(), **details))


def failed(exchange: Exchange, kind: FailureKind, *words: str, status: int | None = None) -> None:
    assert exchange.failure is not None
    assert exchange.failure.kind is kind
    assert "\n" not in exchange.failure.message
    for word in words:
        assert word in exchange.failure.message
    assert exchange.status == status


# --- answers


@BOTH
async def test_an_answer_is_an_exchange_with_its_times(body: Any) -> None:
    began = time.time()
    exchange = await ask_script(Script(), body)
    assert exchange.failure is None
    assert exchange.answer
    assert exchange.answer.content == "2+2 = 4."
    assert (exchange.id, exchange.label, exchange.status, exchange.prompt) == ("r0001", "test", 200, "What is 2+2?")
    assert exchange.request["model"] == "fake-model"
    assert began <= exchange.timing.sent_at <= time.time()
    assert exchange.timing.headers
    assert 0 < exchange.timing.headers <= exchange.timing.total < 1
    assert exchange.streamed == bool(exchange.timing.arrivals)


async def test_every_piece_of_a_stream_has_its_time() -> None:
    exchange = await ask_script(Script(), STREAM)
    times = [arrival.seconds for arrival in exchange.timing.arrivals]
    assert times == sorted(times)
    assert exchange.answer
    assert sum(arrival.characters for arrival in exchange.timing.arrivals) == len(
        (exchange.answer.content or "") + (exchange.answer.reasoning or "")
    )
    assert exchange.raw[-1] == "[DONE]"
    assert json.loads(exchange.raw[0])["object"] == "chat.completion.chunk"


async def test_a_watch_stops_a_stream_that_never_ends() -> None:
    read = ""

    def watch(delta: Any) -> str | None:
        nonlocal read
        read += delta.text
        return "seen enough" if len(read) > 400 else None

    async with (
        FakeServer(broken(Fault.NEVER_ENDS, drip_seconds=0.001)) as server,
        Client(Endpoint(server.base_url, "fake-model"), SHORT) as client,
    ):
        exchange = await client.chat(STREAM, label="test", watch=watch)
    assert exchange.stopped == "seen enough"
    assert exchange.failure is None
    assert exchange.answer
    assert exchange.answer.content


async def test_exchanges_are_numbered_and_recorded() -> None:
    kept: list[Exchange] = []
    async with FakeServer() as server, Client(Endpoint(server.base_url, "fake-model"), record=kept.append) as client:
        answers = await asyncio.gather(*(client.chat(CHAT, label="x") for _ in range(5)))
    assert sorted(exchange.id for exchange in kept) == [f"r{number:04d}" for number in range(1, 6)]
    assert {exchange.id: exchange for exchange in kept} == {exchange.id: exchange for exchange in answers}


async def test_the_key_goes_in_a_header() -> None:
    async with FakeServer(Script(api_key=Secret(KEY))) as server:
        exchange = await ask(server.base_url, key=KEY)
        assert exchange.failure is None
        assert server.chats[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in repr(exchange)


async def test_64_streams_at_once_have_64_connections() -> None:
    async with FakeServer(broken(Fault.LAG, lag_seconds=0.3)) as server:
        async with Client(Endpoint(server.base_url, "fake-model")) as client:
            exchanges = await asyncio.gather(*(client.chat(STREAM, label="x") for _ in range(64)))
        assert max(seen.in_flight for seen in server.chats) == 64
    assert all(exchange.failure is None for exchange in exchanges)


async def test_a_connection_is_used_again() -> None:
    async with FakeServer() as server:
        async with Client(Endpoint(server.base_url, "fake-model")) as client:
            for body in (CHAT, STREAM, STREAM, CHAT):
                assert (await client.chat(body, label="x")).failure is None
        assert len({seen.connection for seen in server.chats}) == 1


@BOTH
async def test_a_request_on_a_stale_connection_is_sent_again(body: Any) -> None:
    async with (
        FakeServer(broken(Fault.STALE_KEEP_ALIVE)) as server,
        Client(Endpoint(server.base_url, "fake-model"), SHORT) as client,
    ):
        first = await asyncio.gather(*(client.chat(body, label="x") for _ in range(8)))
        second = await asyncio.gather(*(client.chat(body, label="x") for _ in range(8)))
    assert [exchange.failure for exchange in (*first, *second)] == [None] * 16


async def test_a_fresh_connection_that_breaks_is_not_tried_again(raw_server: RawServer) -> None:
    exchange = await ask(await raw_server())
    failed(exchange, FailureKind.UNREACHABLE, "broke off before an answer")


# --- no connection


@pytest.fixture
def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as held:
        return int(held.getsockname()[1])


@pytest.fixture
def deaf_port() -> Iterator[int]:
    """A port whose queue of connections is full: to connect takes for ever."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        port = int(listener.getsockname()[1])
        held = []
        for _ in range(4):
            one = socket.socket()
            one.settimeout(0)
            one.connect_ex(("127.0.0.1", port))
            held.append(one)
        yield port
        for one in held:
            one.close()


@BOTH
async def test_connection_refused(body: Any, free_port: int) -> None:
    exchange = await ask(f"http://127.0.0.1:{free_port}/v1", body)
    failed(exchange, FailureKind.REFUSED, "nothing listens on that port")
    assert exchange.answer is None


async def test_unknown_host() -> None:
    failed(await ask("http://no-such-host.invalid/v1"), FailureKind.UNREACHABLE, "host name is not known")


async def test_connect_time_out(deaf_port: int) -> None:
    exchange = await ask(f"http://127.0.0.1:{deaf_port}/v1", limits=replace(SHORT, connect=0.2, request=5))
    failed(exchange, FailureKind.TIMED_OUT, "no connection within 0.2 s")
    assert exchange.timing.total < 1


async def test_https_to_a_server_without_it() -> None:
    async with FakeServer() as server:
        exchange = await ask(server.base_url.replace("http:", "https:"))
    failed(exchange, FailureKind.UNREACHABLE, "no TLS connection")


async def test_what_is_no_http_server(raw_server: RawServer) -> None:
    exchange = await ask(await raw_server(b"SSH-2.0-OpenSSH_9.6\r\n"))
    failed(exchange, FailureKind.UNREACHABLE, "not HTTP")


# --- no answer, or no end


async def test_a_whole_answer_may_take_as_long_as_the_request_limit() -> None:
    exchange = await ask_script(broken(Fault.NEVER_ANSWERS), CHAT)
    failed(exchange, FailureKind.TIMED_OUT, "no answer within 1 s")
    assert 0.9 < exchange.timing.total < 1.5


async def test_a_stream_must_begin_within_the_silence_limit() -> None:
    exchange = await ask_script(broken(Fault.NEVER_ANSWERS), STREAM)
    failed(exchange, FailureKind.TIMED_OUT, "no answer within 0.5 s")
    assert 0.4 < exchange.timing.total < 0.9


async def test_silence_in_mid_stream(raw_server: RawServer) -> None:
    base_url = await raw_server(events('data: {"choices":[{"delta":{"content":"Hi"}}]}\n\n'), stays_open=True)
    exchange = await ask(base_url, STREAM)
    failed(exchange, FailureKind.TIMED_OUT, "did not end", "0.5 s of silence", status=200)
    assert exchange.answer
    assert exchange.answer.content == "Hi"
    assert 0.4 < exchange.timing.total < 0.9


@BOTH
async def test_an_answer_that_never_ends(body: Any) -> None:
    exchange = await ask_script(broken(Fault.NEVER_ENDS, drip_seconds=0.02), body)
    failed(exchange, FailureKind.TIMED_OUT, "did not end", "1 s in all", status=200)
    assert 0.9 < exchange.timing.total < 1.5


async def test_comments_alone_do_not_keep_a_stream_alive_for_ever(raw_server: RawServer) -> None:
    exchange = await ask(await raw_server(events(""), *[b": ping\n\n"] * 100), STREAM)
    failed(exchange, FailureKind.TIMED_OUT, status=200)


@BOTH
async def test_an_answer_that_is_too_large(body: Any) -> None:
    exchange = await ask_script(broken(Fault.HUGE_BODY, huge_bytes=16 * 2**20), body, replace(SHORT, request=5))
    failed(exchange, FailureKind.TOO_LONG, "longer than 1 MiB", status=200)


async def test_a_cancelled_request_ends_at_once() -> None:
    async with (
        FakeServer(broken(Fault.NEVER_ANSWERS)) as server,
        Client(Endpoint(server.base_url, "fake-model")) as client,
    ):
        task = asyncio.create_task(client.chat(CHAT, label="x"))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, 1)


# --- statuses


@BOTH
@pytest.mark.parametrize(
    ("fault", "status", "words", "infrastructure"),
    [
        (Fault.STATUS_500, 500, "Internal server error", True),
        (Fault.STATUS_503, 503, "queue is full", True),
        (Fault.STATUS_429, 429, "Too many requests", True),
        (Fault.DEAD_BEHIND_HEALTH, 503, "engine does not answer", True),
        (Fault.REJECT_TOOL_CHOICE, 400, "tool_choice", False),
    ],
)
async def test_statuses_with_the_servers_own_words(
    body: Any, fault: Fault, status: int, words: str, *, infrastructure: bool
) -> None:
    exchange = await ask_script(broken(fault), {**body, "tool_choice": "none"})
    failed(exchange, FailureKind.HTTP_STATUS, words, status=status)
    assert exchange.failure
    assert exchange.failure.status == status
    assert exchange.failure.is_infrastructure is infrastructure


async def test_an_unknown_model_and_a_wrong_key() -> None:
    unknown = await ask_script(Script(model="other"))
    refused = await ask_script(Script(api_key=Secret(KEY)), key="sk-wrong")
    failed(unknown, FailureKind.HTTP_STATUS, "`fake-model` does not exist", status=404)
    failed(refused, FailureKind.HTTP_STATUS, "Unauthorized", status=401)


async def test_input_that_is_too_long_is_an_answer_of_the_server() -> None:
    body = {"messages": [{"role": "user", "content": "word " * 500}]}
    exchange = await ask_script(Script(context_length=100), body)
    failed(exchange, FailureKind.HTTP_STATUS, "longer than the model's context length", status=400)
    assert exchange.failure
    assert not exchange.failure.is_infrastructure


async def test_a_refusal_before_the_whole_request_was_read(raw_server: RawServer) -> None:
    base_url = await raw_server(
        http(b'{"message": "too large"}', status="413 Too Large", headers="Connection: close\r\n")
    )
    exchange = await ask(base_url, {"messages": [{"role": "user", "content": "x" * 2**20}]})
    assert exchange.failure
    assert exchange.failure.kind in {FailureKind.HTTP_STATUS, FailureKind.UNREACHABLE}


@BOTH
async def test_a_redirect_is_not_followed_and_the_key_stays_here(body: Any) -> None:
    async with FakeServer() as elsewhere:
        script = broken(Fault.REDIRECT, redirect_to=elsewhere.origin)
        async with FakeServer(script) as server:
            exchange = await ask(server.base_url, body, key=KEY)
            assert len(server.requests) == 1
        failed(exchange, FailureKind.HTTP_STATUS, "redirects", elsewhere.origin, status=307)
        assert elsewhere.requests == []


# --- bodies


@BOTH
async def test_a_web_page(body: Any) -> None:
    exchange = await ask_script(broken(Fault.HTML_EVERYWHERE), body)
    failed(exchange, FailureKind.NOT_JSON, "text/html", "It works!", status=200)


async def test_half_a_json_body() -> None:
    exchange = await ask_script(broken(Fault.INVALID_JSON_BODY))
    failed(exchange, FailureKind.NOT_JSON, "not JSON", status=200)
    assert exchange.raw.startswith('{"id"')


@pytest.mark.parametrize("text", [b"", b"null", b"[1]", b'"text"', b'{"choices": []}', b"[" * 100_000, b"\xff\xfe"])
@BOTH
async def test_other_bodies(raw_server: RawServer, text: bytes, body: Any) -> None:
    exchange = await ask(await raw_server(http(text)), body)
    assert exchange.failure
    assert exchange.failure.kind in {FailureKind.NOT_JSON, FailureKind.NOT_A_COMPLETION}
    assert exchange.answer is None


async def test_an_error_object_with_status_200(raw_server: RawServer) -> None:
    exchange = await ask(await raw_server(http(b'{"error": {"message": "out of memory"}}')))
    failed(exchange, FailureKind.NOT_A_COMPLETION, "out of memory", status=200)


async def test_a_body_that_breaks_off(raw_server: RawServer) -> None:
    exchange = await ask(await raw_server(http(b"x" * 100)[:-50]))
    failed(exchange, FailureKind.BROKEN_STREAM, "broke off in mid-answer", status=200)


async def test_a_body_that_is_not_packed_as_it_says(raw_server: RawServer) -> None:
    exchange = await ask(await raw_server(http(b"xxxx", headers="Content-Encoding: gzip\r\n")))
    failed(exchange, FailureKind.BROKEN_STREAM, status=200)


# --- streams


@BOTH
async def test_an_answer_that_dies(body: Any) -> None:
    exchange = await ask_script(broken(Fault.DIES_MID_STREAM), body)
    failed(exchange, FailureKind.BROKEN_STREAM, "broke off in mid-answer", status=200)


async def test_what_had_come_before_a_stream_died_is_kept() -> None:
    exchange = await ask_script(broken(Fault.DIES_MID_STREAM, good_chunks=6), STREAM)
    assert exchange.answer
    assert exchange.answer.reasoning
    assert len(exchange.timing.arrivals) == 5  # the first chunk has no text


async def test_a_chunk_that_is_no_json() -> None:
    exchange = await ask_script(broken(Fault.INVALID_JSON_CHUNK), STREAM)
    failed(exchange, FailureKind.NOT_JSON, "a chunk of the stream is not JSON", status=200)


async def test_an_error_event() -> None:
    exchange = await ask_script(broken(Fault.ERROR_EVENT), STREAM)
    failed(exchange, FailureKind.ERROR_EVENT, "illegal memory access", status=200)
    assert exchange.answer
    assert exchange.answer.reasoning


async def test_an_event_called_error(raw_server: RawServer) -> None:
    exchange = await ask(await raw_server(events('event: error\ndata: {"detail": "gone"}\n\n')), STREAM)
    failed(exchange, FailureKind.ERROR_EVENT, "gone", status=200)


async def test_a_stream_without_done_is_whole_by_its_finish_reason() -> None:
    exchange = await ask_script(broken(Fault.MISSING_DONE), STREAM)
    assert exchange.failure is None
    assert exchange.answer
    assert exchange.answer.finish_reason == "stop"


HALF = 'data: {"choices":[{"delta":{"content":"Hi"}}]}\n\n'


@pytest.mark.parametrize(
    "text",
    ["", ": comment\n\n", HALF, HALF + 'data: {"choices":[{"de', HALF + HALF.rstrip("\n"), HALF + "data: "],
    ids=["nothing", "comment", "an event", "inside JSON", "without a line end", "inside a field"],
)
async def test_a_stream_that_ends_before_its_end(raw_server: RawServer, text: str) -> None:
    exchange = await ask(await raw_server(events(text)), STREAM)
    failed(exchange, FailureKind.BROKEN_STREAM, status=200)


async def test_done_needs_no_line_end(raw_server: RawServer) -> None:
    exchange = await ask(await raw_server(events(HALF + "data: [DONE]")), STREAM)
    assert exchange.failure is None
    assert exchange.raw[-1] == "[DONE]"


async def test_a_stream_that_nobody_asked_for(raw_server: RawServer) -> None:
    exchange = await ask(await raw_server(events(HALF + "data: [DONE]\n\n")), CHAT)
    failed(exchange, FailureKind.NOT_JSON, "text/event-stream", status=200)


# --- words


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"error": {"message": "a"}}, "a"),
        ({"message": "b"}, "b"),
        ({"detail": "c"}, "c"),
        ({"error": "d"}, "d"),
        ({"error": {"message": {"x": 1}}, "message": "e"}, "e"),
        ({"error": None}, "text"),
        ({"detail": [{"msg": "x"}]}, "text"),
        ([], "text"),
        (None, "text"),
    ],
)
def test_the_words_of_an_error(body: Any, words: str) -> None:
    assert error_message(body, "text") == words


def test_words_fit_on_one_line() -> None:
    assert error_message({"message": "a\nb" + "c" * 999}, "").endswith("c…")
    assert "\n" not in error_message({"message": "a\nb"}, "")
    assert error_message(None, "") == "empty body"
    assert shorten("one  two\nthree", 9) == "one two …"


# --- JSON documents


async def test_a_document_may_come_in_pieces(raw_server: RawServer) -> None:
    text = http(json.dumps({"data": [{"id": f"model-{number}"} for number in range(2_000)]}).encode())
    pieces = [text[start : start + 10_000] for start in range(0, len(text), 10_000)]
    async with Client(Endpoint(await raw_server(*pieces), "m"), SHORT) as client:
        status, body = await client.get_json("/models")
    assert status == 200
    assert len(body["data"]) == 2_000


async def test_a_document_at_the_origin() -> None:
    async with FakeServer() as server, Client(Endpoint(server.base_url, "m"), SHORT) as client:
        assert await client.get_json("/health", at_origin=True) == (200, None)
        assert server.requests[0].path == "/health"


async def test_a_document_that_never_comes_or_never_ends(raw_server: RawServer) -> None:
    for pieces in ([], [b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n", *[b" "] * 100]):
        async with Client(Endpoint(await raw_server(*pieces, stays_open=True), "m"), SHORT) as client:
            with pytest.raises(OSError, match=r"within 0\.5 s"):
                await client.get_json("/models")


async def test_a_document_that_is_too_large(raw_server: RawServer) -> None:
    base_url = await raw_server(http(b'"' + b"x" * 2**21 + b'"'))
    async with Client(Endpoint(base_url, "m"), SHORT) as client:
        assert await client.get_json("/models") == (200, None)
