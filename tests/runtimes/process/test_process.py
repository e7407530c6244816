"""An engine as a process of this machine: it starts, lives on without us, is found again, and ends whole."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from kit import CommandLine
from runtimes.process.engine_kit import make_environment, stack_text
from seatrial.runtimes.process.local import session_of

STUBBORN = '''"""An engine that is ready, has a child, and hears no SIGTERM; neither does the child."""
import os, signal, sys, time, http.server, json, threading
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    time.sleep(600)
port = int(sys.argv[sys.argv.index("--port") + 1])
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps({"object": "list", "data": [{"id": "reviewer", "object": "model"}]}).encode()
        self.send_response(200); self.send_header("Content-Length", str(len(body))); self.end_headers()
        self.wfile.write(body)
server = http.server.HTTPServer(("127.0.0.1", port), Answer)
threading.Thread(target=server.serve_forever, daemon=True).start()
print("The server is fired up and ready to roll!", flush=True)
time.sleep(600)
'''


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Life:
    """One stack in a folder of its own."""

    def __init__(self, seatrial: CommandLine, folder: Path) -> None:
        self.seatrial, self.folder, self.port = seatrial, seatrial.folder, free_port()
        self.environment = make_environment(folder)

    def write(self, model: str = "good", **serve: str) -> None:
        text = stack_text("evaluation", self.environment, self.port, model, **serve)
        (self.folder / "stack.yaml").write_text(text, encoding="utf-8")

    @property
    def process(self) -> int | None:
        path = self.folder / ".seatrial" / "process" / "process.json"
        return int(json.loads(path.read_text(encoding="utf-8"))["process_id"]) if path.is_file() else None

    def answers(self, key: str = "") -> str:
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/v1/models")
        if key:
            request.add_header("Authorization", f"Bearer {key}")
        with urllib.request.urlopen(request, timeout=5) as answer:
            return str(json.load(answer)["data"][0]["id"])


@pytest.fixture
def life(tmp_path_factory: pytest.TempPathFactory, seatrial: CommandLine) -> Iterator[Life]:
    made = Life(seatrial, tmp_path_factory.mktemp("environment"))
    yield made
    process = made.process
    for one in session_of(process) if process else ():
        os.kill(one, signal.SIGKILL)


def wait_for_process(life: Life) -> int:
    until = time.monotonic() + 30
    while (process := life.process) is None:
        assert time.monotonic() < until
        time.sleep(0.02)
    return process


def test_it_starts_lives_on_and_ends_whole(life: Life) -> None:
    life.write()
    done = json.loads(life.seatrial("up", "--json", expect=0).stdout)
    assert done["already"] is False
    assert "weight load" in done["phases"]
    assert life.answers() == "reviewer"
    process = life.process
    assert process is not None
    status = json.loads(life.seatrial("status", "--json", expect=0).stdout)
    assert (status["state"], status["drift"]) == ("running", [])
    assert json.loads(life.seatrial("up", "--json", expect=0).stdout)["already"] is True
    assert life.process == process
    assert "max_total_num_tokens" in life.seatrial("logs", "--grep", "max_total_num_tokens", expect=0).stdout
    life.seatrial("stop", expect=0)
    assert session_of(process) == []
    with pytest.raises(urllib.error.URLError):
        life.answers()
    assert json.loads(life.seatrial("status", "--json", expect=1).stdout)["state"] == "not there"


def test_what_hears_no_sigterm_is_killed_with_its_children(life: Life, monkeypatch: pytest.MonkeyPatch) -> None:
    from seatrial.runtimes.process import local

    package = life.folder / "packages" / "sglang"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "launch_server.py").write_text(STUBBORN, encoding="utf-8")
    life.environment = make_environment(life.folder / "stubborn", engine=package.parent)
    life.write()
    life.seatrial("up", expect=0)
    process = life.process
    assert process is not None
    assert len(session_of(process)) == 2
    monkeypatch.setattr(local, "STOP_SECONDS", 0.5)
    local.LocalProcess(life.folder / ".seatrial" / "process").stop()
    assert session_of(process) == []


def test_a_start_that_fails_names_the_cause_and_leaves_nothing_running(life: Life) -> None:
    life.write("no-memory")
    failed = life.seatrial("up", expect=3)
    assert "leave no memory" in failed.stderr
    assert life.process is None


def test_a_killed_up_leaves_a_server_that_the_next_command_finds(life: Life) -> None:
    life.write("silent")
    up = life.seatrial.start("up")
    process = wait_for_process(life)
    up.kill()
    up.wait()
    assert session_of(process)
    assert json.loads(life.seatrial("status", "--json").stdout)["state"] == "running"
    life.seatrial("stop", expect=0)
    assert session_of(process) == []


def test_the_status_of_a_dead_engine_names_the_cause(life: Life) -> None:
    life.write("dies")
    life.seatrial("up", expect=0)
    assert json.loads(life.seatrial("status", "--json", expect=0).stdout)["doctor"] == []
    request = urllib.request.Request(
        f"http://127.0.0.1:{life.port}/v1/chat/completions",
        data=json.dumps({"model": "reviewer", "messages": [{"role": "user", "content": "Hello"}]}).encode(),
        headers={"Content-Type": "application/json"},
    )
    with pytest.raises((urllib.error.URLError, ConnectionError, OSError)):
        urllib.request.urlopen(request, timeout=20)
    until = time.monotonic() + 20
    while (status := json.loads(life.seatrial("status", "--json").stdout))["state"] == "running":
        assert time.monotonic() < until
    assert status["doctor"][0]["id"] == "conv-state-dtype-mismatch"
    assert "SGLANG_MAMBA_CONV_DTYPE" in life.seatrial("status", expect=1).stdout


def test_ctrl_c_in_a_start_ends_the_engine(life: Life) -> None:
    life.write("silent")
    up = life.seatrial.start("up")
    process = wait_for_process(life)
    time.sleep(1)
    up.send_signal(signal.SIGINT)
    _, errors = up.communicate(timeout=60)
    assert "Traceback" not in errors
    assert session_of(process) == []


def test_another_process_with_the_same_number_is_not_taken_for_the_engine(life: Life) -> None:
    life.write()
    life.seatrial("up", expect=0)
    process = life.process
    assert process is not None
    record = life.folder / ".seatrial" / "process" / "process.json"
    facts = json.loads(record.read_text(encoding="utf-8"))
    for one in session_of(process):
        os.kill(one, signal.SIGKILL)
    record.write_text(json.dumps({**facts, "process_id": os.getpid()}), encoding="utf-8")
    assert json.loads(life.seatrial("status", "--json", expect=1).stdout)["state"] == "exited"
    record.unlink()


def test_the_key_reaches_the_engine_through_a_file_and_shows_nowhere(life: Life) -> None:
    key = "sk-test-0123456789abcdef"
    life.write(api_key_file="secrets/api_key")
    (life.folder / "secrets").mkdir(mode=0o700)
    (life.folder / "secrets" / "api_key").write_text(key + "\n", encoding="utf-8")
    (life.folder / "secrets" / "api_key").chmod(0o600)
    up = life.seatrial("up", expect=0)
    assert life.answers(key) == "reviewer"
    with pytest.raises(urllib.error.HTTPError, match="401"):
        life.answers()
    shown = life.seatrial("logs", expect=0).stdout
    assert "api_key='***'" in shown
    process = life.process
    assert process is not None
    seen = "".join(
        Path(f"/proc/{one}/{name}").read_text(encoding="utf-8", errors="replace")
        for one in session_of(process)
        for name in ("cmdline", "environ")
    )
    record = (life.folder / ".seatrial" / "process" / "process.json").read_text(encoding="utf-8")
    assert key not in up.stdout + up.stderr + shown + seen + record
    assert (life.folder / ".seatrial" / "process" / "engine.log").stat().st_mode & 0o777 == 0o600


def test_a_switch_to_a_looping_model_is_rolled_back(life: Life) -> None:
    switch = ("switch", "--max-tokens", "512", "--no-bench", "--json")
    life.write()
    assert json.loads(life.seatrial(*switch, expect=0).stdout)["promoted"] is True
    looping = json.loads(life.seatrial(*switch, "owner/loops", expect=1).stdout)
    assert (looping["promoted"], looping["verdict"], looping["restored"]) == (False, "refuted", True)
    assert life.answers() == "reviewer"
    assert "repo: owner/good" in (life.folder / "stack.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize("marker", ["stack", "environment"])
def test_nothing_runs_bare_in_a_production_tree(life: Life, marker: str) -> None:
    tree = life.folder if marker == "stack" else life.environment
    (tree / "docker").mkdir()
    (tree / "docker" / "compose.yaml").write_text("services: {}\n", encoding="utf-8")
    life.write()
    assert "production tree" in life.seatrial("up", expect=2).stderr
    assert life.process is None


def test_an_environment_that_can_not_be_used_is_one_clear_line(life: Life, tmp_path: Path) -> None:
    import sys

    wrong = make_environment(tmp_path / "wrong", version="0.5.23")
    empty = tmp_path / "empty"
    (empty / "bin").mkdir(parents=True)
    (empty / "bin" / "python").touch()
    cases = {
        tmp_path / "nowhere": "no Python environment",
        empty: "not installed there",
        Path(sys.prefix): "seatrial's own environment",
    }
    for environment, words in cases.items():
        life.environment = environment
        life.write()
        assert words in life.seatrial("up", expect=2).stderr
    life.environment = wrong
    life.write()
    file = life.folder / "stack.yaml"
    text = file.read_text(encoding="utf-8").replace("engine:\n", "engine:\n  version: 0.5.16\n")
    file.write_text(text, encoding="utf-8")
    assert "holds sglang 0.5.23" in life.seatrial("up", expect=1).stderr
    assert "holds 0.5.23" in life.seatrial("up", "--no-preflight", expect=2).stderr
