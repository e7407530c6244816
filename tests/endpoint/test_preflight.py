"""Before the first question: each thing that can be wrong is one line that says what to do."""

from __future__ import annotations

import json
import socket
import time
from dataclasses import replace
from typing import Any

import pytest

from seatrial.endpoint.address import Endpoint, Secret
from seatrial.endpoint.client import Limits
from seatrial.endpoint.preflight import choose_model, find_endpoint, served_models
from seatrial.errors import EndpointError, ExitCode, InputError, SeatrialError
from seatrial.testkit import Details, FakeServer, Fault, Script

from .conftest import RawServer, http

KEY = Secret("sk-hunter22-hunter22")
SHORT = Limits(connect=0.5, request=1.0, silence=0.5, answer_bytes=2**20)


async def find(script: Script, model: str | None = None, key: Secret | None = None) -> Endpoint:
    async with FakeServer(script) as server:
        return await find_endpoint(server.base_url, model, key, SHORT)


def broken(fault: Fault, **details: Any) -> Script:
    return Script(faults=frozenset({fault}), details=replace(Details(), **details))


def one_line(error: SeatrialError) -> str:
    text = str(error)
    assert "\n" not in text
    assert "hunter22" not in text
    return text


async def test_the_only_model_is_found() -> None:
    endpoint = await find(Script(model="tuna-7b"))
    assert endpoint.model == "tuna-7b"
    assert endpoint.base_url.endswith("/v1")


async def test_a_named_model_is_found_with_its_key() -> None:
    endpoint = await find(Script(model="tuna-7b", api_key=KEY), "tuna-7b", KEY)
    assert endpoint.api_key is KEY
    assert "hunter22" not in repr(endpoint)


@pytest.mark.parametrize("key", [None, Secret("sk-wrong")])
async def test_a_key_that_is_missing_or_wrong(key: Secret | None) -> None:
    with pytest.raises(EndpointError, match=r"refuses the key \(HTTP 401\).*--api-key-file") as caught:
        await find(Script(api_key=KEY), None, key)
    one_line(caught.value)
    assert caught.value.exit_code is ExitCode.UNPROVEN


async def test_an_unknown_model_names_the_nearest() -> None:
    with pytest.raises(EndpointError, match=r"does not serve 'tuna-7'.*Did you mean --model tuna-7b\?") as caught:
        await find(Script(model="tuna-7b"), "tuna-7")
    one_line(caught.value)


async def test_a_web_page() -> None:
    with pytest.raises(EndpointError, match=r"not an OpenAI-compatible API.*/v1") as caught:
        await find(broken(Fault.HTML_EVERYWHERE), "m")
    one_line(caught.value)


@pytest.mark.parametrize("fault", [Fault.STATUS_500, Fault.STATUS_503])
async def test_a_server_in_trouble(fault: Fault) -> None:
    with pytest.raises(EndpointError, match=r"answers HTTP 50[03].*log"):
        await find(broken(fault), "m")


async def test_a_server_without_a_list_of_models_needs_a_name() -> None:
    with pytest.raises(InputError, match=r"lists no models \(GET /models: HTTP 404\).*--model"):
        await find(broken(Fault.NO_MODEL_LIST))
    assert (await find(broken(Fault.NO_MODEL_LIST), "tuna")).model == "tuna"


async def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
    with pytest.raises(EndpointError, match=r"nothing listens on that port.*Is the server up\?") as caught:
        await find_endpoint(f"http://127.0.0.1:{port}/v1", None, KEY, SHORT)
    one_line(caught.value)


@pytest.mark.parametrize(
    ("url", "words"),
    [("http://no-such-host.invalid/v1", "host name is not known"), ("http://ho%20st/v1", "host")],
)
async def test_an_address_that_is_none(url: str, words: str) -> None:
    with pytest.raises(EndpointError, match=words) as caught:
        await find_endpoint(url, None, None, SHORT)
    one_line(caught.value)


async def test_a_server_that_never_answers(raw_server: RawServer) -> None:
    began = time.monotonic()
    with pytest.raises(EndpointError, match=r"no answer within 0\.5 s"):
        await find_endpoint(await raw_server(stays_open=True), None, None, SHORT)
    assert time.monotonic() - began < 1


async def test_a_server_that_hangs_up(raw_server: RawServer) -> None:
    with pytest.raises(EndpointError, match="broke off before an answer"):
        await find_endpoint(await raw_server(), None, None, SHORT)


async def test_a_long_list_in_pieces(raw_server: RawServer) -> None:
    text = http(json.dumps({"data": [{"id": f"model-{number}"} for number in range(2_000)]}).encode())
    base_url = await raw_server(text[:500], text[500:9_000], text[9_000:])
    assert (await find_endpoint(base_url, "model-1999", None, SHORT)).model == "model-1999"


async def test_a_redirect_is_not_followed_and_the_key_stays_here() -> None:
    async with FakeServer() as elsewhere:
        script = broken(Fault.REDIRECT, redirect_to=elsewhere.origin)
        with pytest.raises(SeatrialError) as caught:
            await find(script, None, KEY)
        assert "HTTP 307" in one_line(caught.value)
        assert elsewhere.requests == []


@pytest.mark.parametrize(
    "body", [None, [], "text", {}, {"data": None}, {"data": {"id": "m"}}, {"object": "list", "models": []}]
)
def test_bodies_that_are_no_list(body: Any) -> None:
    with pytest.raises(EndpointError, match="gave no list"):
        served_models(200, body, "http://h/v1")


def test_entries_that_are_no_models_are_left_out() -> None:
    assert served_models(200, {"data": [{"id": "a"}, {"id": 7}, "b", {}]}, "http://h/v1") == ["a"]


@pytest.mark.parametrize("served", [[], ["a", "b"], [f"m{number}" for number in range(20)]])
def test_without_a_name_there_must_be_one_model(served: list[str]) -> None:
    with pytest.raises(InputError, match=rf"serves {len(served)} models.*--model") as caught:
        choose_model(served, None, "http://h/v1")
    assert len(one_line(caught.value)) < 200


def test_a_name_that_resembles_nothing() -> None:
    with pytest.raises(EndpointError, match="Name one of those"):
        choose_model(["tuna"], "zebra", "http://h/v1")
