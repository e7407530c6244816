from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from openai import AsyncOpenAI, BadRequestError, OpenAI

from seatrial.runtimes.embedded import EmbeddedServer
from seatrial.testkit import FakeServer
from seatrial.trials.review_cases import TOOLS, TURNS, Review, Workspace, all_reviews
from seatrial.trials.review_claims import CLAIMS, Ending, FinishedReview
from seatrial.verdicts import Verdict

Asked = Sequence[Any]
"""Messages and tools; the SDK checks their shape at run time, not by our types."""


def client_of(server: FakeServer) -> OpenAI:
    return OpenAI(base_url=server.base_url, api_key="unused", max_retries=0, timeout=10)


def whole_message(client: OpenAI, messages: Asked) -> dict[str, Any]:
    completion = client.chat.completions.create(model="fake-model", messages=list(messages), tools=tools())
    return completion.choices[0].message.model_dump(exclude_none=True)


def streamed_message(client: OpenAI, messages: Asked) -> dict[str, Any]:
    """Rebuild a message with the SDK's own accumulator."""
    with client.chat.completions.stream(model="fake-model", messages=list(messages), tools=tools()) as stream:
        for _event in stream:
            pass
        message = stream.get_final_completion().choices[0].message
    said: dict[str, Any] = {"role": "assistant", "content": message.content or ""}
    if message.tool_calls:
        said["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.function.name, "arguments": call.function.arguments},
            }
            for call in message.tool_calls
        ]
    return said


def tools() -> list[Any]:
    return [dict(tool) for tool in TOOLS]


def make_review(client: OpenAI, review: Review, ask: Any) -> FinishedReview:
    workspace, messages = Workspace(review), review.messages()
    for turn in range(1, TURNS + 1):
        message = ask(client, messages)
        messages.append(message)
        for call in message.get("tool_calls", ()):
            result = workspace.execute(call["function"]["name"], json.loads(call["function"]["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
        if workspace.decisions or not message.get("tool_calls"):
            return FinishedReview.of(workspace, Ending.DECISION if workspace.decisions else Ending.WORDS, turns=turn)
    return FinishedReview.of(workspace, Ending.TURNS, turns=TURNS)


def test_a_whole_answer(server: FakeServer) -> None:
    completion = client_of(server).chat.completions.create(
        model="fake-model", messages=[{"role": "user", "content": "What is 17 + 25?"}]
    )
    assert "42" in (completion.choices[0].message.content or "")
    assert completion.choices[0].finish_reason == "stop"
    assert completion.usage is not None
    assert completion.usage.total_tokens == completion.usage.prompt_tokens + completion.usage.completion_tokens


def test_a_streamed_answer_says_the_same(server: FakeServer) -> None:
    chunks = client_of(server).chat.completions.create(
        model="fake-model",
        messages=[{"role": "user", "content": "What is 17 + 25?"}],
        stream=True,
        stream_options={"include_usage": True},
    )
    text, usages = "", []
    for chunk in chunks:
        text += "".join(choice.delta.content or "" for choice in chunk.choices)
        usages += [chunk.usage] if chunk.usage else []
    assert "42" in text
    assert len(usages) == 1


@pytest.mark.parametrize("ask", [whole_message, streamed_message])
@pytest.mark.parametrize("review", [all_reviews()[1], all_reviews()[2]], ids=lambda review: review.id)
def test_it_reviews_a_merge_request_end_to_end(server: FakeServer, review: Review, ask: Any) -> None:
    done = make_review(client_of(server), review, ask)
    results = [result for claim in CLAIMS if (result := claim.judge(done)) is not None]
    assert {result.verdict for result in results} == {Verdict.PROVEN}
    assert done.turns == (3 if review.defect else 2)


def test_what_the_server_turns_down_is_the_error_that_the_sdk_has_for_it(server: FakeServer) -> None:
    with pytest.raises(BadRequestError, match="longer than the model's context"):
        client_of(server).chat.completions.create(
            model="fake-model", messages=[{"role": "user", "content": "word " * 40_000}]
        )


@pytest.mark.engine
async def test_it_calls_a_tool_of_the_real_engine_whole_and_streamed(
    engine: EmbeddedServer, weather: dict[str, Any]
) -> None:
    endpoint = engine.endpoint
    assert endpoint.api_key is not None
    messages: list[Any] = [{"role": "user", "content": "What is the weather in Turku?"}]
    offered: list[Any] = [weather]
    async with AsyncOpenAI(base_url=endpoint.base_url, api_key=endpoint.api_key.reveal(), max_retries=0) as client:
        completion = await client.chat.completions.create(
            model=endpoint.model, messages=messages, tools=offered, temperature=0, max_tokens=100
        )
        async with client.chat.completions.stream(
            model=endpoint.model, messages=messages, tools=offered, temperature=0, max_tokens=100
        ) as stream:
            streamed = await stream.get_final_completion()
    for message in (completion.choices[0].message, streamed.choices[0].message):
        assert message.tool_calls is not None
        (call,) = message.tool_calls
        assert call.type == "function"
        assert call.id
        assert (call.function.name, json.loads(call.function.arguments)) == ("get_weather", {"city": "Turku"})
