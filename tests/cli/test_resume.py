from __future__ import annotations

import json
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from kit import CommandLine
from seatrial.testkit import FakeServer, Fault, Pace, Script, fake_server
from seatrial.testkit.answer_sheet import AnswerSheet

SLOW = Script(answer=AnswerSheet(), pace=Pace(0.05, 2_000))


def interrupt(seatrial: CommandLine, server: FakeServer, number: signal.Signals) -> Path:
    """Start a standard suite and end it in mid-way; return its folder."""
    process = seatrial.start("prove", "--url", server.base_url, "--suite", "standard")
    end = time.monotonic() + 60
    while not list(seatrial.folder.glob("runs/*/verdict.json")) or len(made(seatrial.run_folder)) < 4:
        assert time.monotonic() < end
        time.sleep(0.05)
    process.send_signal(number)
    process.communicate(timeout=20)
    return seatrial.run_folder


def made(folder: Path) -> dict[str, dict[str, object]]:
    try:
        document = json.loads((folder / "verdict.json").read_text())
    except FileNotFoundError:
        return {}
    return {trial["trial"]: trial for trial in document["trials"] if trial["requests"]}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_suite_goes_on_where_it_was(seatrial: CommandLine, number: signal.Signals) -> None:
    with fake_server(SLOW) as server:
        folder = interrupt(seatrial, server, number)
        before = made(folder)
        with (folder / "requests.jsonl").open("a") as file:
            file.write('{"id": "half a line')  # what a power loss may leave
        done = seatrial("prove", "--resume", folder, "--json", expect=0)
    after = made(folder)
    assert all(after[name] == trial for name, trial in before.items())
    assert json.loads(done.stdout)["verdict"] == "proven"
    assert json.loads((folder / "run.json").read_text())["status"] == "finished"
    rows = [json.loads(line) for line in (folder / "requests.jsonl").read_text().splitlines()]
    assert len({row["id"] for row in rows}) == len(rows)
    asked_again = [row["label"] for row in rows if row["label"].startswith(("plain_answer/", "tool_call/"))]
    assert len(asked_again) == len(set(asked_again))


def test_a_finished_run_has_nothing_to_go_on_with(seatrial: CommandLine) -> None:
    with fake_server() as server:
        seatrial("prove", "--url", server.base_url, expect=0)
    done = seatrial("prove", "--resume", seatrial.run_folder, expect=2)
    assert "finished" in done.stderr


def test_a_run_under_way_is_left_alone(seatrial: CommandLine) -> None:
    with fake_server(Script(faults=frozenset({Fault.LAG}))) as server:
        process = seatrial.start("prove", "--url", server.base_url)
        while not list(seatrial.folder.glob("runs/*/run.json")):
            time.sleep(0.05)
        done = seatrial("prove", "--resume", seatrial.run_folder, expect=2)
        process.kill()
        process.communicate()
    assert "under way" in done.stderr


@pytest.mark.parametrize("damage", ["absent", "empty", "not a run", "broken verdict"])
def test_what_is_no_run_is_told(seatrial: CommandLine, damage: str) -> None:
    folder = seatrial.folder / "runs" / "x"
    folder.mkdir(parents=True)
    if damage == "absent":
        shutil.rmtree(folder)
    elif damage == "not a run":
        (folder / "run.json").write_text("[1]")
    elif damage == "broken verdict":
        arguments = {"url": "http://127.0.0.1:1/v1", "model": "m", "suite": "quick", "settings": {}}
        run = {"verb": "prove", "status": "interrupted", "process": 1, "arguments": arguments}
        (folder / "run.json").write_text(json.dumps(run))
        (folder / "verdict.json").write_text("{")
    done = seatrial("prove", "--resume", folder, expect=2)
    assert str(folder) in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_the_settings_for_other_programs_work_and_hold_no_key(seatrial: CommandLine) -> None:
    key = "sk-31f0-not-to-be-seen"
    with fake_server() as server:
        for form in ("env", "openai", "langchain", "litellm", "opencode"):
            done = seatrial("endpoint", "--url", server.base_url, "--format", form, SEATRIAL_API_KEY=key, expect=0)
            assert server.base_url in done.stdout
            assert "fake-model" in done.stdout
            assert key not in done.stdout
        env = seatrial("endpoint", "--url", server.base_url, expect=0).stdout
    shown = subprocess.run(
        ["sh", "-c", f'{env}\necho "$OPENAI_BASE_URL $OPENAI_MODEL"'], capture_output=True, text=True, check=True
    )
    assert shown.stdout.split() == [server.base_url, "fake-model"]
