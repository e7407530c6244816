"""The fake server without faults: right in everything that a client or a trial looks at."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import aiohttp
import pytest

from seatrial.endpoint.address import Endpoint, Secret
from seatrial.endpoint.client import Client
from seatrial.testkit import Call, FakeServer, Reply, Script
from seatrial.testkit.tokens import count_prompt

KEY = "key-of-the-fake-server"


async def post(server: FakeServer, path: str, body: Any, **headers: str) -> tuple[int, Any]:
    async with (
        aiohttp.ClientSession() as session,
        session.post(server.origin + path, json=body, headers=headers) as got,
    ):
        return got.status, await got.json()


async def get(server: FakeServer, path: str, **headers: str) -> tuple[int, str]:
    async with aiohttp.ClientSession() as session, session.get(server.origin + path, headers=headers) as response:
        return response.status, await response.text()


async def lines(server: FakeServer, body: Any) -> list[Any]:
    url = f"{server.base_url}/chat/completions"
    async with aiohttp.ClientSession() as session, session.post(url, json={**body, "stream": True}) as response:
        text = (await response.read()).decode()
    events = [line.removeprefix("data: ") for line in text.split("\n\n") if line]
    assert events.pop() == "[DONE]"
    return [json.loads(event) for event in events]


def chat(prompt: str = "What is 2+2?", **body: Any) -> dict[str, Any]:
    return {"model": "fake-model", "messages": [{"role": "user", "content": prompt}], **body}


async def test_it_is_healthy_and_lists_its_model() -> None:
    async with FakeServer(Script(model="tuna", context_length=4096)) as server:
        assert await get(server, "/health") == (200, "")
        status, body = await get(server, "/v1/models")
    entry = json.loads(body)["data"][0]
    assert (status, entry["id"], entry["max_model_len"]) == (200, "tuna", 4096)


async def test_a_whole_answer_has_the_shape_of_sglang() -> None:
    async with FakeServer() as server:
        status, body = await post(server, "/v1/chat/completions", chat())
    assert status == 200
    message = body["choices"][0]["message"]
    assert message["content"] == "2+2 = 4."
    assert message["reasoning_content"]
    assert message["tool_calls"] is None
    assert body["choices"][0]["finish_reason"] == "stop"
    usage = body["usage"]
    assert usage["prompt_tokens"] == count_prompt(chat())
    assert usage["prompt_tokens"] + usage["completion_tokens"] == usage["total_tokens"]
    assert 0 < usage["reasoning_tokens"] < usage["completion_tokens"]


async def test_a_stream_has_the_chunks_of_sglang() -> None:
    async with FakeServer() as server:
        chunks = await lines(server, chat(stream_options={"include_usage": True}))
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks[:-1]]
    assert deltas[0] == {"role": "assistant", "content": "", "reasoning_content": None}
    assert all("reasoning_content" in delta for delta in deltas[:-1])
    assert "".join(delta.get("content") or "" for delta in deltas) == "2+2 = 4."
    assert deltas[-1] == {}
    assert chunks[-2]["choices"][0]["finish_reason"] == "stop"
    assert chunks[-1]["choices"] == []
    assert chunks[-1]["usage"]["completion_tokens"] == len(deltas) - 1  # the end of the turn is a token


async def test_usage_comes_in_a_stream_only_when_asked_for() -> None:
    async with FakeServer() as server:
        chunks = await lines(server, chat())
    assert all(not chunk.get("usage") for chunk in chunks)


async def test_a_stream_and_a_whole_answer_say_the_same(weather: Any) -> None:
    request = chat("Weather in Turku for 3 days and in Oulu?", tools=[weather])
    async with FakeServer() as server, Client(Endpoint(server.base_url, "fake-model")) as client:
        whole = await client.chat(request, label="whole")
        stream = await client.chat(
            {**request, "stream": True, "stream_options": {"include_usage": True}}, label="streamed"
        )
    assert whole.answer
    assert stream.answer
    assert [(call.name, call.arguments) for call in whole.answer.tool_calls] == [
        (call.name, call.arguments) for call in stream.answer.tool_calls
    ]
    assert len(whole.answer.tool_calls) == 2
    for name in ("content", "reasoning", "finish_reason", "usage", "model", "defects"):
        assert getattr(whole.answer, name) == getattr(stream.answer, name), name
    ids = [call.id for answer in (whole.answer, stream.answer) for call in answer.tool_calls]
    assert len(set(ids)) == 4
    assert whole.answer.defects == ()


async def test_max_tokens_cuts_reasoning_then_content() -> None:
    async with FakeServer() as server:
        _, in_reasoning = await post(server, "/v1/chat/completions", chat(max_tokens=5))
        _, in_content = await post(
            server,
            "/v1/chat/completions",
            chat("Tell a story.", max_tokens=7, chat_template_kwargs={"enable_thinking": False}),
        )
    first, second = in_reasoning["choices"][0], in_content["choices"][0]
    assert (first["message"]["content"], first["finish_reason"]) == ("", "length")
    assert len(first["message"]["reasoning_content"].split()) >= 4
    assert (second["message"]["reasoning_content"], second["finish_reason"]) == (None, "length")
    assert in_reasoning["usage"]["completion_tokens"] == 5
    assert in_content["usage"]["completion_tokens"] == 7


async def test_a_stop_word_ends_the_answer() -> None:
    async with FakeServer() as server:
        _, body = await post(server, "/v1/chat/completions", chat("Count from 1 to 9", stop=["5"]))
    choice = body["choices"][0]
    assert (choice["message"]["content"], choice["finish_reason"], choice["matched_stop"]) == (
        "1, 2, 3, 4, ",
        "stop",
        "5",
    )


async def test_tokenize_counts_as_usage_does(weather: Any) -> None:
    request = chat("Weather in Turku?", tools=[weather])
    async with FakeServer() as server:
        _, tokenized = await post(server, "/tokenize", request)
        _, plain = await post(server, "/tokenize", {"prompt": "one two three"})
        _, answered = await post(server, "/v1/chat/completions", request)
        status, _ = await post(server, "/tokenize", {})
    assert tokenized["count"] == len(tokenized["tokens"]) == answered["usage"]["prompt_tokens"]
    assert (plain["count"], plain["max_model_len"]) == (3, 32_768)
    assert status == 400


@pytest.mark.parametrize(
    ("words", "body", "message"),
    [
        (2_000, {}, "is longer than the model's context length (1000 tokens)"),
        (900, {"max_tokens": 500}, "Requested token count exceeds the model's maximum context length of 1000 tokens"),
        (988, {}, "exceeds the maximum allowed length (994 tokens)"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
async def test_input_that_is_too_long_is_refused(words: int, body: Any, message: str, *, stream: bool) -> None:
    async with FakeServer(Script(context_length=1000)) as server:
        status, answer = await post(server, "/v1/chat/completions", chat("word " * words, stream=stream, **body))
    assert (status, answer["code"], answer["type"]) == (400, 400, "BadRequestError")
    assert message in answer["message"]


async def test_the_longest_input_that_fits_is_answered() -> None:
    async with FakeServer(Script(context_length=1000)) as server:
        _, body = await post(server, "/v1/chat/completions", chat("word " * 985))
    assert body["usage"]["prompt_tokens"] == 993
    assert body["usage"]["total_tokens"] <= 1000


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (chat() | {"model": "another"}, 404),
        (chat() | {"messages": []}, 400),
        ({"model": "fake-model"}, 400),
        ([], 400),
        (chat(tool_choice="required"), 400),
        (chat(tools=[{"type": "function"}]), 400),
        (chat(max_tokens=0), 400),
        (chat(tool_choice={"type": "function", "function": {"name": "absent"}}), 400),
    ],
)
async def test_a_wrong_request_is_refused(body: Any, status: int) -> None:
    async with FakeServer() as server:
        got, answer = await post(server, "/v1/chat/completions", body)
    assert got == status
    assert answer["message"]


async def test_a_body_that_is_no_json_is_refused() -> None:
    async with (
        FakeServer() as server,
        aiohttp.ClientSession() as session,
        session.post(f"{server.base_url}/chat/completions", data=b"{nonsense") as response,
    ):
        assert response.status == 400


async def test_a_key_is_checked_except_for_health() -> None:
    async with FakeServer(Script(api_key=Secret(KEY))) as server:
        assert (await get(server, "/health"))[0] == 200
        assert (await get(server, "/v1/models"))[0] == 401
        assert (await get(server, "/v1/models", Authorization="Bearer wrong"))[0] == 401
        assert (await get(server, "/v1/models", Authorization=f"Bearer {KEY}"))[0] == 200
        assert await post(server, "/v1/chat/completions", chat()) == (401, {"error": "Unauthorized"})
    assert KEY not in repr(server.script)


async def test_it_remembers_what_it_was_asked() -> None:
    async with FakeServer() as server:
        await post(server, "/v1/chat/completions", chat("Hello"), **{"X-Mark": "7"})
        await get(server, "/nothing?here=1")
        _, listed = await get(server, "/testkit/requests")
    first, second = server.requests[:2]
    assert first.body["messages"][0]["content"] == "Hello"
    assert first.headers["x-mark"] == "7"
    assert (second.method, second.path) == ("GET", "/nothing?here=1")
    assert [seen.path for seen in server.chats] == ["/v1/chat/completions"]
    assert json.loads(listed)["requests"][0]["received_at"] == first.received_at


async def test_a_model_of_ones_own_answers() -> None:
    def parrot(request: Any) -> Reply:
        return Reply(request["messages"][-1]["content"], tool_calls=(Call("fly", "{}"),))

    async with FakeServer(Script(answer=parrot)) as server:
        _, body = await post(server, "/v1/chat/completions", chat("Polly"))
    assert body["choices"][0]["message"]["content"] == "Polly"
    assert body["choices"][0]["message"]["tool_calls"][0]["function"] == {"name": "fly", "arguments": "{}"}
    assert body["choices"][0]["finish_reason"] == "tool_calls"


async def test_many_at_once_get_their_own_answers() -> None:
    async with FakeServer() as server, Client(Endpoint(server.base_url, "fake-model")) as client:
        asked = [
            client.chat(chat(f"What is {number} + 1?") | {"stream": number % 2 == 0}, label="n") for number in range(32)
        ]
        answers = await asyncio.gather(*asked)
    contents = [exchange.answer.content for exchange in answers if exchange.answer]
    assert contents == [f"{number} + 1 = {number + 1}." for number in range(32)]
