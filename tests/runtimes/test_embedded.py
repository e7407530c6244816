from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest

from seatrial.degeneration import Severity
from seatrial.endpoint.address import Secret
from seatrial.endpoint.client import Client
from seatrial.endpoint.exchange import Exchange
from seatrial.errors import StartError
from seatrial.runtimes.embedded import EmbeddedPlan, EmbeddedRuntime, EmbeddedServer, listens_on, running
from seatrial.store import demonstration
from seatrial.trials.broken_text import degenerations
from seatrial.trials.tool_cases import tool_groups

pytestmark = pytest.mark.engine

KEY = "sk-embedded-4e1d-not-to-be-seen"


@pytest.fixture
async def server(small_model: Path, tmp_path: Path) -> AsyncIterator[EmbeddedServer]:
    plan = EmbeddedPlan(small_model, demonstration.SERVED_NAME, demonstration.chat_template(), reasoning_budget=40)
    async with running(EmbeddedRuntime(plan, Secret(KEY)), tmp_path / "engine.log", lambda _phase: None) as started:
        yield started


async def ask(server: EmbeddedServer, prompt: str, **parts: object) -> Exchange:
    request = {
        "messages": [{"role": "user", "content": prompt}],
        "temperature": 0,
        "max_tokens": 160,
        "stream": True,
        **parts,
    }
    async with Client(server.endpoint) as client:
        return await client.chat(request, label="test/one")


async def test_the_real_model_loops_at_temperature_0_and_a_presence_penalty_stops_it(server: EmbeddedServer) -> None:
    loops = await ask(server, "Who wrote Romeo and Juliet?")
    assert [found.severity for found in degenerations(loops)] == [Severity.FAIL]
    clean = await ask(server, "Who wrote Romeo and Juliet?", presence_penalty=1.0)
    assert degenerations(clean) == ()
    assert clean.answer is not None
    assert "Shakespeare" in (clean.answer.content or "")


async def test_it_calls_a_tool_natively(server: EmbeddedServer) -> None:
    (case,) = tool_groups()["tool_call"].cases
    exchange = await ask(server, "What is the weather in Turku?", tools=[*case.tools])
    assert exchange.answer is not None
    assert [(call.name, call.arguments) for call in exchange.answer.tool_calls] == [
        ("get_weather", '{"city": "Turku"}')
    ]


async def test_it_reasons_when_asked_to(server: EmbeddedServer) -> None:
    exchange = await ask(server, "What is 17 + 25?", chat_template_kwargs={"enable_thinking": True})
    assert exchange.answer is not None
    assert (exchange.answer.reasoning or "").strip()
    assert "<think>" not in (exchange.answer.content or "")


async def test_over_long_input_is_a_clear_400(server: EmbeddedServer) -> None:
    exchange = await ask(server, "word " * 9000)
    assert exchange.failure is not None
    assert exchange.failure.status == 400
    assert "exceeds the available context size" in exchange.failure.message


async def test_only_who_has_the_key_is_answered_and_nobody_can_read_it(server: EmbeddedServer) -> None:
    async with Client(server.endpoint) as client:
        refused, _ = await client.get_json("/models", api_key="sk-wrong")
        allowed, _ = await client.get_json("/models")
    assert (refused, allowed) == (401, 200)
    children = psutil.Process().children(recursive=True)
    shown = " ".join(word for child in children for word in (*child.cmdline(), *child.environ().values()))
    assert KEY not in shown
    assert KEY not in server.log.read_text(errors="replace")
    assert KEY not in repr(server.endpoint)


async def test_what_listens_is_what_was_started(server: EmbeddedServer) -> None:
    assert server.endpoint.answered_by_ours is not None
    assert server.endpoint.answered_by_ours()
    assert not listens_on(os.getpid(), int(server.endpoint.origin.rpartition(":")[2]))


async def test_stopping_leaves_no_process_and_can_be_done_twice(server: EmbeddedServer) -> None:
    await server.stop()
    await server.stop()
    assert server.failure() is not None
    assert not [child for child in psutil.Process().children() if "embedded_child" in " ".join(child.cmdline())]


async def test_a_file_that_is_no_model_is_told_with_the_log(tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + bytes(100))
    runtime = EmbeddedRuntime(EmbeddedPlan(broken, "broken"))
    with pytest.raises(StartError) as told:
        await runtime.start(tmp_path / "engine.log", lambda _phase: None)
    assert "engine.log" in str(told.value)


def test_a_killed_parent_leaves_no_engine(small_model: Path, tmp_path: Path) -> None:
    program = f"""
import asyncio
from pathlib import Path
from seatrial.runtimes.embedded import EmbeddedPlan, EmbeddedRuntime, running
async def main():
    plan = EmbeddedPlan(Path({str(small_model)!r}), "m")
    async with running(EmbeddedRuntime(plan), Path({str(tmp_path / "engine.log")!r}), lambda phase: None):
        print("up", flush=True)
        await asyncio.sleep(60)
asyncio.run(main())
"""
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    assert parent.stdout.readline() == "up\n"
    (engine,) = psutil.Process(parent.pid).children()
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    end = time.monotonic() + 10
    while engine.is_running() and engine.status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < end, "the engine outlived its parent"
        time.sleep(0.05)
