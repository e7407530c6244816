"""`seatrial host` from the command line: its documents, its exit codes, its mistakes in one line."""

from __future__ import annotations

import json
import os
import signal
import socket
from pathlib import Path

import pytest

from kit import CommandLine
from runtimes.process.engine_kit import make_environment, stack_text
from seatrial.runtimes.process.local import session_of


def test_another_machine_is_checked_from_a_description(seatrial: CommandLine) -> None:
    seatrial("init", "--example", "two-4090", expect=0)
    done = seatrial("host", "check", "--gpus", "2x RTX 4090", "--json", expect=0)
    document = json.loads(done.stdout)
    found = {one["id"]: one for one in document["findings"]}
    assert found["no-peer-access"]["level"] == "note"
    assert found["no-peer-access"]["setting"] == "--disable-custom-all-reduce"
    assert len(document["host"]["gpus"]) == 2


def test_facts_of_another_machine_are_judged_by_what_they_tell(seatrial: CommandLine) -> None:
    facts = "host:\n  gpus:\n    - {index: 0, name: NVIDIA L40S, memory_mib: 46068, ecc_errors: 7}\n  "
    "driver_version: 580.1\n"
    (seatrial.folder / "facts.yaml").write_text(facts, encoding="utf-8")
    done = seatrial("host", "check", "--facts", "facts.yaml", expect=0)
    assert "7 uncorrected memory errors" in done.stdout
    assert "Docker" not in done.stdout


def test_this_machine_is_checked_without_a_stack(seatrial: CommandLine) -> None:
    done = seatrial("host", "check", "--json")
    assert done.returncode in (0, 1)
    assert "findings" in json.loads(done.stdout)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("plan", "--sudo"), "--on"),
        (("plan", "--root", "/opt"), "two folders deep"),
        (("apply", "--root", "/usr/lib", "--yes"), "belongs to the system"),
        (("audit", "--root", "relative/path"), "absolute"),
        (("plan", "--admin", "--yes"), "no account's name"),
        (("plan", "--admin", "a b"), "no account's name"),
        (("plan", "--on", "-oProxyCommand=x"), "names no machine"),
        (("check", "--stack", "none.yaml"), "can't be read"),
        (("apply", "--journal", "none.jsonl"), "no such journal"),
    ],
)
def test_a_mistake_is_one_line(seatrial: CommandLine, words: tuple[str, ...], says: str) -> None:
    done = seatrial("host", *words, expect=2, HOME=str(seatrial.folder))
    assert says in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_plan_of_a_bare_machine_is_a_document_and_changes_nothing(seatrial: CommandLine, tmp_path: Path) -> None:
    root = tmp_path / "deep" / "tree"
    words = ("host", "plan", "--root", root, "--account", "nobody-there", "--json")
    document = json.loads(seatrial(*words, expect=0).stdout)
    assert (document["root"], document["account"]) == (str(root), "nobody-there")
    kinds = {one["kind"] for one in (*document["actions"], *document["for_root"])}
    assert {"add-account", "make-folder"} <= kinds
    assert not root.exists()


def test_what_serves_is_proven_again_into_the_ledger(
    seatrial: CommandLine, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    environment = make_environment(tmp_path_factory.mktemp("environment"))
    text = stack_text("evaluation", environment, port, "good")
    (seatrial.folder / "stack.yaml").write_text(text, encoding="utf-8")
    assert "nothing of this stack runs" in seatrial("host", "reprove", expect=3).stderr
    seatrial("up", expect=0)
    record = json.loads((seatrial.folder / ".seatrial" / "process" / "process.json").read_text(encoding="utf-8"))
    try:
        done = json.loads(seatrial("host", "reprove", "--suite", "quick", "--json", expect=0).stdout)
        assert done["verdict"] == "proven"
        entries = json.loads(seatrial("ledger", "list", "--json", expect=0).stdout)
        assert "verdict" in json.dumps(entries)
        assert "proven" in json.dumps(entries)
        seatrial("stop", expect=0)
    finally:
        for one in session_of(record["process_id"]):
            os.kill(one, signal.SIGKILL)
