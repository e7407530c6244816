"""The product on the engine that it is for: real SGLang on the CPU, started, proven, measured and stopped."""

from __future__ import annotations

import json
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest

from seatrial.doctor import Level, diagnose
from seatrial.engines.sglang.boot_log import read_boot_log
from seatrial.engines.sglang.memory.compare import compare
from seatrial.engines.sglang.memory.options import MemoryOptions
from seatrial.engines.sglang.memory.plan import plan_memory
from seatrial.facts.example_hosts import host_from_spec
from seatrial.facts.model_folder import read_model_folder
from seatrial.runtimes.process.local import session_of
from sglang.server_kit import Server

pytestmark = [pytest.mark.sglang, pytest.mark.timeout(900)]

TOOLS: Any = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "The weather in a city.",
            "strict": True,  # else SGLang holds a named call to any JSON at all
            "parameters": {
                "type": "object",
                "properties": {"city": {"enum": ["Lima", "Oslo"]}},
                "required": ["city"],
                "additionalProperties": False,
            },
        },
    }
]


@pytest.fixture(scope="module")
def garbage(tmp_path_factory: pytest.TempPathFactory, sglang_environment: Path) -> Iterator[Server]:
    """A real server with random weights and an API key, brought up by `seatrial up`."""
    server = Server(tmp_path_factory.mktemp("garbage"), sglang_environment, "random-qwen3")
    server.write()
    done = server.seatrial("up", "--json", expect=0)
    server.up = json.loads(done.stdout)
    yield server
    server.kill()


@pytest.fixture(scope="module")
def refuted(garbage: Server) -> dict[str, Any]:
    """What `prove` said about it."""
    done = garbage.seatrial(
        "prove", "--url", garbage.url, "--api-key-file", "secrets/api_key", "--max-tokens", "400", "--json", expect=1
    )
    return dict(json.loads(done.stdout)["suite"])


def log_of(server: Server) -> str:
    return (server.folder / ".seatrial" / "process" / "engine.log").read_text(encoding="utf-8", errors="replace")


def checks(document: dict[str, Any], verdict: str) -> dict[str, str]:
    return {
        f"{trial['trial']}/{check['check']}": check["detail"]
        for trial in document["trials"]
        for check in trial["checks"]
        if check["verdict"] == verdict
    }


def client(server: Server, key: str = "") -> openai.OpenAI:
    return openai.OpenAI(base_url=server.url, api_key=key or server.key, max_retries=0, timeout=120)


def test_the_start_is_followed_by_its_real_phases(garbage: Server) -> None:
    phases = list(garbage.up["phases"])
    wanted = ["launch", "distributed init", "weight load", "memory pool", "warm-up"]
    assert [phase for phase in phases if phase in wanted] == wanted
    again = json.loads(garbage.seatrial("up", "--json", expect=0).stdout)
    assert again["already"] is True


def test_the_status_has_the_engines_own_figures(garbage: Server) -> None:
    status = json.loads(garbage.seatrial("status", "--json", expect=0).stdout)
    assert status["state"] == "running"
    assert status["live"].keys() >= {"requests running", "KV cache in use"}


def test_the_key_is_asked_for_and_shows_nowhere(garbage: Server) -> None:
    with pytest.raises(openai.AuthenticationError):
        client(garbage, "wrong").models.list()
    assert client(garbage).models.list().data[0].id == "random-qwen3"
    shown = garbage.seatrial("logs", expect=0).stdout
    assert "api_key" in shown
    command_lines = "".join(
        Path(f"/proc/{one}/cmdline").read_text(encoding="utf-8", errors="replace") for one in garbage.processes()
    )
    assert "sglang" in command_lines
    assert garbage.key not in shown + command_lines


def test_log_and_server_info_say_the_same_about_the_memory(garbage: Server) -> None:
    request = urllib.request.Request(f"http://127.0.0.1:{garbage.port}/get_server_info")
    request.add_header("Authorization", f"Bearer {garbage.key}")
    with urllib.request.urlopen(request, timeout=30) as answer:
        told = read_boot_log(answer.read().decode("utf-8"))
    logged = read_boot_log(log_of(garbage))
    assert logged.kv_cache_tokens == told.kv_cache_tokens == 4096


@pytest.mark.parametrize("model", ["random-qwen3"])
def test_the_pools_of_the_memory_plan_are_those_of_the_boot(garbage: Server, model: str) -> None:
    facts = read_model_folder(garbage.environment / "models" / model)
    options = MemoryOptions.from_settings({"--max-total-tokens": 4096, "--max-running-requests": 8, "--tp-size": 1})
    planned = plan_memory(facts, host_from_spec("1x RTX 4090"), options, version="0.5.16")
    found = {item.figure: item for item in compare(planned, read_boot_log(log_of(garbage)))}
    assert found["kv_cache_tokens"].planned == found["kv_cache_tokens"].actual == 4096


def test_random_weights_are_refuted_as_garbage_and_the_reasoning_is_named(refuted: dict[str, Any]) -> None:
    assert refuted["verdict"] == "refuted"
    spans = [
        evidence["span"]
        for trial in refuted["trials"]
        for check in trial["checks"]
        if check["verdict"] == "refuted"
        for evidence in check["evidence"]
    ]
    assert "reasoning_content" in {span["field"] for span in spans if span}


def test_over_long_input_is_a_clear_refusal(refuted: dict[str, Any]) -> None:
    found = {name: said for name, said in checks(refuted, "proven").items() if name.startswith("over_long_input/")}
    assert found.keys() == {"over_long_input/over_long_input", "over_long_input/over_long_input_streamed"}
    assert all("HTTP 400" in said for said in found.values()), found


def test_a_named_tool_is_called_and_a_schema_is_kept(garbage: Server) -> None:
    answer = client(garbage).chat.completions.create(
        model="random-qwen3",
        messages=[{"role": "user", "content": "What is the weather in Lima?"}],
        tools=TOOLS,
        tool_choice={"type": "function", "function": {"name": "get_weather"}},
        max_tokens=600,
        extra_body={"chat_template_kwargs": {"enable_thinking": False}},
    )
    calls: Any = answer.choices[0].message.tool_calls
    assert calls
    assert calls[0].function.name == "get_weather"
    assert set(json.loads(calls[0].function.arguments)) == {"city"}
    schema = {
        "type": "object",
        "properties": {"ok": {"type": "boolean"}},
        "required": ["ok"],
        "additionalProperties": False,
    }
    answer = client(garbage).chat.completions.create(
        model="random-qwen3",
        messages=[{"role": "user", "content": "Is this fine?"}],
        response_format={"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}},
        max_tokens=200,
        extra_body={"chat_template_kwargs": {"enable_thinking": False}},
    )
    assert isinstance(json.loads(answer.choices[0].message.content or "")["ok"], bool)


def test_the_benchmark_runs_on_it(garbage: Server) -> None:
    done = garbage.seatrial(
        "bench", "--url", garbage.url, "--api-key-file", "secrets/api_key", "--concurrency", "1,2", "--requests", "2",
        "--max-tokens", "48", "--json",
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    assert json.loads(done.stdout)["bench"]["levels"][0]["output_token_throughput"] > 0


def test_the_doctor_finds_nothing_wrong_with_a_healthy_start(garbage: Server) -> None:
    found = diagnose(log_of(garbage).encode().splitlines())
    assert found.cause is None or found.cause.level is Level.BENIGN


@pytest.fixture
def cutting(tmp_path: Path, sglang_environment: Path) -> Iterator[Server]:
    server = Server(tmp_path, sglang_environment, "random-qwen3")
    server.write(truncate=True, keyed=False)
    yield server
    server.kill()


def test_silently_cut_input_is_refuted_whole_and_streamed(cutting: Server) -> None:
    cutting.seatrial("up", expect=0)
    done = cutting.seatrial("prove", "--url", cutting.url, "--max-tokens", "200", "--json", expect=1)
    found = {
        name: said for name, said in checks(json.loads(done.stdout)["suite"], "refuted").items() if "over_long" in name
    }
    assert found.keys() == {"over_long_input/over_long_input", "over_long_input/over_long_input_streamed"}
    assert all("silently truncated" in said for said in found.values())
    process = cutting.process
    assert process is not None
    cutting.seatrial("stop", expect=0)
    assert session_of(process) == []
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(f"http://127.0.0.1:{cutting.port}/health", timeout=5)


def test_sigterm_leaves_nothing(cutting: Server) -> None:
    cutting.seatrial("up", expect=0)
    process = cutting.process
    assert process is not None
    assert len(session_of(process)) > 1
    subprocess.run(["kill", "-TERM", str(process)], check=True)
    import time

    until = time.monotonic() + 60
    while session_of(process) and time.monotonic() < until:
        time.sleep(0.2)
    assert session_of(process) == []
    assert json.loads(cutting.seatrial("status", "--json", expect=1).stdout)["state"] == "exited"


def test_a_start_that_can_not_work_ends_with_the_engines_cause(cutting: Server) -> None:
    cutting.write({"--max-total-tokens": 0}, keyed=False)
    failed = cutting.seatrial("up", "--force")
    assert failed.returncode == 3, failed.stdout
    assert cutting.processes() == []
    assert failed.stderr.strip()


def test_a_small_real_model_lives_through_it_all(tmp_path: Path, sglang_environment: Path) -> None:
    server = Server(tmp_path, sglang_environment, "smollm2")
    server.write({"--max-total-tokens": 8192}, keyed=False)
    try:
        plan = json.loads(server.seatrial("plan", "--json", expect=0).stdout)
        assert plan["engine"]["version"] == "0.5.16"
        up = json.loads(server.seatrial("up", "--json", expect=0).stdout)
        assert up["seconds"] > 0
        proven = server.seatrial("prove", "--url", server.url, "--max-tokens", "32", "--json")
        document = json.loads(proven.stdout)["suite"]
        assert document["verdict"] in ("refuted", "unproven")  # 135 million parameters, 32 tokens
        assert not any(name.startswith("liveness/") for name in checks(document, "refuted"))
        server.seatrial("bench", "--url", server.url, "--concurrency", "1", "--requests", "1", "--max-tokens", "32")
        server.seatrial("stop", expect=0)
        assert server.processes() == []
    finally:
        server.kill()
