"""A stack's life on a real Docker Engine: up, status, logs, switch, roll-back, and what goes wrong."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from docker_kit import build_image, remove, require_docker, stack_text
from kit import CommandLine


@pytest.fixture(scope="module", autouse=True)
def image() -> None:
    require_docker()
    build_image()


def free_port() -> int:
    """Find a free port below the ephemeral ones: Docker's resolver listens on one of those in each container."""
    for port in random.sample(range(20_000, 29_000), 200):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no free port")


class Life:
    """One stack in a folder of its own."""

    def __init__(self, seatrial: CommandLine) -> None:
        self.seatrial = seatrial
        self.folder = seatrial.folder
        self.name = f"seatrial-test-{uuid4().hex[:8]}"
        self.port = free_port()

    def write(self, model: str = "good", *, weights: Path | None = None, non_root: bool = False, **serve: str) -> None:
        text = stack_text(self.name, self.port, model, weights=weights, non_root=non_root, **serve)
        (self.folder / "stack.yaml").write_text(text, encoding="utf-8")

    def container(self) -> str:
        command = ["docker", "ps", "-q", "--no-trunc", "--filter", f"label=seatrial.stack={self.name}"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    def answers(self, key: str = "") -> str:
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/v1/models")
        if key:
            request.add_header("Authorization", f"Bearer {key}")
        with urllib.request.urlopen(request, timeout=5) as answer:
            return str(json.load(answer)["data"][0]["id"])

    def status(self) -> dict[str, object]:
        return dict(json.loads(self.seatrial("status", "--json").stdout))


@pytest.fixture
def life(seatrial: CommandLine) -> Iterator[Life]:
    made = Life(seatrial)
    yield made
    remove(made.name)


def test_up_answers_and_a_second_up_touches_nothing(life: Life) -> None:
    life.write()
    done = life.seatrial("up", "--json", expect=0)
    document = json.loads(done.stdout)
    assert document["phases"].keys() >= {"weight load"}
    assert life.answers() == "reviewer"
    before, written = life.container(), (life.folder / "compose.yaml").stat().st_mtime_ns
    again = json.loads(life.seatrial("up", "--json", expect=0).stdout)
    assert again["already"] is True
    assert again["usual_seconds"] > 0
    assert life.container() == before
    assert (life.folder / "compose.yaml").stat().st_mtime_ns == written
    assert life.status()["state"] == "running"
    life.seatrial("stop", expect=0)
    assert life.container() == ""
    assert (life.folder / "hf-cache").is_dir()


def test_docker_accepts_the_written_file(life: Life) -> None:
    life.write()
    life.seatrial("up", expect=0)
    subprocess.run(["docker", "compose", "config", "--quiet"], cwd=life.folder, check=True, capture_output=True)


def test_a_file_edited_by_hand_is_shown_and_never_overwritten_unasked(life: Life) -> None:
    life.write()
    life.seatrial("up", expect=0)
    file = life.folder / "compose.yaml"
    edited = file.read_text(encoding="utf-8").replace("--context-length=8192", "--context-length=4096")
    file.write_text(edited, encoding="utf-8")
    refused = life.seatrial("up", expect=2)
    assert "+      - --context-length=4096" in refused.stderr
    assert file.read_text(encoding="utf-8") == edited
    assert "compose.yaml was edited by hand" in str(life.status()["drift"])
    life.seatrial("up", "--force", expect=0)
    assert "8192" in file.read_text(encoding="utf-8")


def test_a_port_that_another_server_holds_is_refused(life: Life) -> None:
    life.write()
    with socket.socket() as other:
        other.bind(("127.0.0.1", life.port))
        other.listen()
        foreseen = life.seatrial("up", expect=1)
        refused = life.seatrial("up", "--no-preflight", expect=3)
    assert "port-taken" in foreseen.stderr
    assert "another server already listens" in refused.stderr
    assert life.container() == ""


def test_a_start_that_fails_names_the_cause_and_leaves_nothing_running(life: Life) -> None:
    life.write("no-memory")
    failed = life.seatrial("up", expect=3)
    assert "leave no memory" in failed.stderr
    assert life.container() == ""


def test_an_image_that_is_not_there_is_dockers_own_error(life: Life) -> None:
    life.write()
    file = life.folder / "stack.yaml"
    file.write_text(file.read_text(encoding="utf-8").replace("seatrial-test", "not-there"), encoding="utf-8")
    assert "Docker says" in life.seatrial("up", expect=3).stderr


def test_without_an_nvidia_runtime_dockers_error_comes_with_the_fix(life: Life) -> None:
    info = subprocess.run(
        ["docker", "info", "--format", "{{json .Runtimes}}"], capture_output=True, text=True, check=True
    )
    if "nvidia" in info.stdout:
        pytest.skip("this Docker has the NVIDIA runtime")
    life.write()
    file = life.folder / "stack.yaml"
    file.write_text(file.read_text(encoding="utf-8").replace("    deploy: {}\n", ""), encoding="utf-8")
    foreseen = life.seatrial("up", expect=1).stderr
    assert "no-gpu" in foreseen
    assert life.container() == ""
    failed = life.seatrial("up", "--no-preflight", expect=3).stderr
    assert 'could not select device driver "nvidia"' in failed
    assert "nvidia-ctk" in failed


def test_a_docker_that_can_not_be_reached_is_one_clear_line(life: Life) -> None:
    life.write()
    nowhere = {"DOCKER_HOST": "unix:///nowhere.sock"}
    assert "docker-unreachable" in life.seatrial("up", expect=1, **nowhere).stderr
    assert "Cannot connect" in life.seatrial("up", "--no-preflight", expect=3, **nowhere).stderr


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
    inspected = subprocess.run(
        ["docker", "inspect", life.container()], capture_output=True, text=True, check=True
    ).stdout
    files = "".join(path.read_text(encoding="utf-8") for path in life.folder.iterdir() if path.is_file())
    assert key not in up.stdout + up.stderr + shown + inspected + files
    assert (life.folder / "secrets" / "engine.yaml").stat().st_mode & 0o777 == 0o600


def test_logs_can_be_searched(life: Life) -> None:
    life.write()
    life.seatrial("up", expect=0)
    lines = life.seatrial("logs", "--grep", "max_total_num_tokens", expect=0).stdout.splitlines()
    assert len(lines) == 1
    assert "no regular expression" in life.seatrial("logs", "--grep", "(", expect=2).stderr


SWITCH = ("switch", "--max-tokens", "512", "--no-bench", "--json")


def test_a_stack_is_proven_and_promoted_a_looping_model_is_rolled_back_a_good_one_promoted(life: Life) -> None:
    life.write()
    first = json.loads(life.seatrial(*SWITCH, expect=0).stdout)
    assert (first["promoted"], first["verdict"]) == (True, "proven")
    assert str(life.status()["proven"]).startswith("proven on")
    before = (life.folder / "stack.yaml").read_bytes(), (life.folder / "compose.yaml").read_bytes()

    looping = json.loads(life.seatrial(*SWITCH, "owner/loops", expect=1).stdout)
    assert (looping["promoted"], looping["verdict"], looping["restored"]) == (False, "refuted", True)
    assert life.answers() == "reviewer"
    assert ((life.folder / "stack.yaml").read_bytes(), (life.folder / "compose.yaml").read_bytes()) == before
    assert (Path(looping["run"]) / "report.html").is_file()

    dead = json.loads(life.seatrial(*SWITCH, "owner/no-memory", expect=3).stdout)
    assert (dead["promoted"], dead["restored"]) == (False, True)

    good = json.loads(life.seatrial(*SWITCH, "other/good", expect=0).stdout)
    assert good["promoted"] is True
    assert "repo: other/good" in (life.folder / "stack.yaml").read_text(encoding="utf-8")
    assert life.status()["model"] == "other/good"

    kinds = [
        (entry["kind"], entry["verdict"], entry["combination"]["model"])
        for entry in json.loads(life.seatrial("ledger", "list", "--json", expect=0).stdout)
        if entry["kind"] != "boot"
    ]
    assert kinds[::-1] == [
        ("verdict", "proven", "owner/good"),
        ("promotion", "proven", "owner/good"),
        ("verdict", "refuted", "owner/loops"),
        ("roll-back", "refuted", "owner/loops"),
        ("roll-back", None, "owner/no-memory"),
        ("verdict", "proven", "other/good"),
        ("promotion", "proven", "other/good"),
    ]


def test_a_reported_broken_checkpoint_needs_a_reason_that_is_recorded(life: Life) -> None:
    life.write()
    refused = life.seatrial("switch", "QuantTrio/Qwen3.6-27B-AWQ", expect=2)
    assert "reported broken" in refused.stderr
    assert "--anyway" in refused.stderr
    assert life.container() == ""


def test_a_switch_that_is_killed_is_taken_up_by_the_next_command(life: Life) -> None:
    life.write()
    life.seatrial(*SWITCH, expect=0)
    process = life.seatrial.start("switch", "owner/slow", "--max-tokens", "512", "--no-bench")
    until = time.monotonic() + 60
    while '"starting"' not in _journal(life) and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(0.5)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert "a switch to owner/slow" in str(life.status()["drift"])
    done = life.seatrial("up", expect=0)
    assert "it is undone" in done.stderr
    assert life.answers() == "reviewer"
    assert "repo: owner/good" in (life.folder / "stack.yaml").read_text(encoding="utf-8")
    assert life.status()["drift"] == []


def _journal(life: Life) -> str:
    try:
        return (life.folder / ".seatrial" / "journal.json").read_text(encoding="utf-8")
    except OSError:
        return ""


def test_ctrl_c_in_a_switch_puts_the_old_stack_back_at_once(life: Life) -> None:
    life.write()
    life.seatrial(*SWITCH, expect=0)
    process = life.seatrial.start("switch", "owner/silent", "--max-tokens", "512", "--no-bench")
    until = time.monotonic() + 60
    while '"starting"' not in _journal(life) and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert "Traceback" not in errors
    assert life.answers() == "reviewer"
    assert life.status()["drift"] == []


def test_a_killed_container_is_seen(life: Life) -> None:
    life.write()
    life.seatrial("up", expect=0)
    subprocess.run(["docker", "kill", life.container()], check=True, capture_output=True)
    status = life.seatrial("status", expect=1).stdout
    assert "exited" in status


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small file system")
def test_a_full_disk_before_a_switch_leaves_the_old_stack_serving(life: Life, tmp_path: Path) -> None:
    life.write()
    life.seatrial(*SWITCH, expect=0)
    state = life.folder / ".seatrial"
    kept = {path.relative_to(state): path.read_bytes() for path in state.rglob("*") if path.is_file()}
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(state)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"no small file system can be mounted: {done.stderr.strip()}")
    try:
        for path, data in kept.items():
            (state / path).parent.mkdir(parents=True, exist_ok=True)
            (state / path).write_bytes(data)
        with contextlib.suppress(OSError), (state / "filler").open("wb", buffering=0) as file:
            while True:
                file.write(b"x" * 512)
        failed = life.seatrial("switch", "other/good", "--max-tokens", "512", "--no-bench", expect=3)
        assert "no space left" in failed.stderr
        assert life.answers() == "reviewer"
    finally:
        subprocess.run(["umount", str(state)], check=False)


def test_the_installed_scripts_prove_and_measure(life: Life) -> None:
    life.write()
    life.seatrial("up", expect=0)
    life.seatrial("install-scripts", "--folder", life.folder, expect=0)
    bin_folder = life.folder / "bin"
    bin_folder.mkdir()
    (bin_folder / "seatrial").write_text(f'#!/bin/sh\nexec {sys.executable} -m seatrial "$@"\n', encoding="utf-8")
    (bin_folder / "seatrial").chmod(0o755)
    environment = {**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}"}
    for script, more in (("test_tool_calling.sh", ["--max-tokens", "512"]), ("benchmark.sh", ["--requests", "1"])):
        done = subprocess.run(
            [life.folder / script, *more], env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_a_candidate_can_be_proven_beside_what_serves(life: Life) -> None:
    life.write()
    life.seatrial(*SWITCH, expect=0)
    serving = life.container()
    port = str(free_port())
    refuted = json.loads(life.seatrial(*SWITCH, "owner/loops", "--side-by-side", port, expect=1).stdout)
    assert (refuted["promoted"], refuted["verdict"]) == (False, "refuted")
    assert life.container() == serving
    promoted = json.loads(life.seatrial(*SWITCH, "other/good", "--side-by-side", port, expect=0).stdout)
    assert promoted["promoted"] is True
    assert life.status()["model"] == "other/good"
    left = subprocess.run(
        ["docker", "ps", "-aq", "--filter", f"label=seatrial.stack={life.name}-candidate"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert left.stdout == ""


def test_what_the_memory_plan_said_is_compared_with_the_log_and_kept(life: Life) -> None:
    life.write()
    file = life.folder / "stack.yaml"
    text = file.read_text(encoding="utf-8").replace("owner/good", "QuantTrio/Qwen3.6-35B-A3B-AWQ")
    file.write_text(text.replace("tensor_parallel: 1", "tensor_parallel: 2"), encoding="utf-8")
    document = json.loads(life.seatrial("up", "--gpus", "2x RTX 4090", "--json", expect=0).stdout)
    assert document["memory"]["kv_cache_tokens"]["actual"] == 450_000
    assert document["memory"]["kv_cache_tokens"]["planned"] > 100_000
    (entry,) = json.loads(life.seatrial("ledger", "list", "--json", expect=0).stdout)
    assert entry["kind"] == "boot"
    assert entry["figures"]["boot"]["kv_cache_tokens"]["actual"] == 450_000


def test_a_real_model_is_promoted_and_one_that_really_loops_is_rolled_back(life: Life, small_model: Path) -> None:
    """SmolLM2 on llama.cpp behind SGLang's command line: proven as it samples, and in loops without sampling."""
    switch = ("switch", "--max-tokens", "160", "--json")
    life.write("smollm2", weights=small_model)
    first = json.loads(life.seatrial(*switch, expect=0).stdout)
    assert (first["promoted"], first["verdict"]) == (True, "proven")
    looping = json.loads(life.seatrial(*switch, "owner/smollm2-greedy", expect=1).stdout)
    assert (looping["promoted"], looping["verdict"], looping["restored"]) == (False, "refuted", True)
    assert "no_loops" in looping["why"] or "degenerate" in looping["why"], looping["why"]
    assert life.answers() == "reviewer"
    assert "repo: owner/smollm2\n" in (life.folder / "stack.yaml").read_text(encoding="utf-8")
    entries = json.loads(life.seatrial("ledger", "list", "--json", expect=0).stdout)
    (promoted,) = [entry for entry in entries if entry["kind"] == "promotion"]
    assert set(promoted["figures"]["output_token_throughput"]) == {"1", "8"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give folders away")
def test_a_container_without_root_runs_as_the_account_of_env_and_writes_its_caches(life: Life) -> None:
    life.write("writes", non_root=True)
    (life.folder / ".env").write_text("SGLANG_UID=23456\nSGLANG_GID=23457\n", encoding="utf-8")
    refused = life.seatrial("up", expect=2)
    assert "chown -R 23456:23457" in refused.stderr
    for name in ("hf-cache", "jit-cache"):
        os.chown(life.folder / name, 23456, 23457)
    life.seatrial("up", expect=0)
    told = life.seatrial("logs", "--grep", "wrote", expect=0).stdout
    assert "user 23456, group 23457" in told
    for name in ("hf-cache", "jit-cache"):
        written = life.folder / name / "written-by-the-engine"
        assert (written.stat().st_uid, written.stat().st_gid) == (23456, 23457)
