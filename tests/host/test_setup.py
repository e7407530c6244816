"""The eight steps of a first set-up: judged by what is there, taken in order, resumed where they were left."""

from __future__ import annotations

import io
import json
import subprocess
import tarfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from host.debian_tree import DebianTree
from runtimes.process.engine_kit import make_environment, stack_text
from seatrial.findings import Finding, Level
from seatrial.host.accounts import Declared
from seatrial.host.difference import Difference
from seatrial.host.observed import Account, Group, Me, Observed, Tree
from seatrial.host.setup import StackState, State, Step, set_up_steps

ROOT = "/opt/sglang"
TRIAL = "/opt/trial"
"""Not the production tree: there an engine never runs as a process."""
SERVICE = Account("sglang", 999, 999, "sglang", ROOT, "/usr/sbin/nologin", ("docker", "sglang"), "locked", keys=False)
OBSERVED = Observed(
    service=SERVICE,
    group=Group("sglang", 999, {"sglang": 999, "alice": 1001}),
    admins={},
    docker=Group("docker", 111, {"sglang": 999}),
    above=(),
    me=Me(0, "root", frozenset({0}), ("root",), ()),
    tools={},
    systemd=True,
    tree=Tree(exists=True, entries=7, deviations=()),
    folders={},
)
PROVEN = StackState(written=True, model="o/m", store="/s", snapshot=True, running=True, verdict="proven", measured=True)


def steps(stack: StackState, **more: Any) -> tuple[Step, ...]:
    known: dict[str, Any] = {"observed": OBSERVED, "found": Difference(()), "driver": (), "model": None, **more}
    return set_up_steps(Declared(), known["observed"], known["found"], known["driver"], stack, model=known["model"])


def test_a_proven_server_has_nothing_left() -> None:
    assert {step.state for step in steps(PROVEN)} == {State.DONE}


@pytest.mark.parametrize(
    ("change", "number", "state", "says"),
    [
        ({"written": False, "model": ""}, 4, State.NEEDS_YOU, "--model"),
        ({"problem": "stack.yaml:3: nonsense"}, 4, State.NEEDS_YOU, "nonsense"),
        ({"errors": ("it does not fit",)}, 4, State.NEEDS_YOU, "does not fit"),
        ({"snapshot": False}, 6, State.TO_DO, "pull o/m"),
        ({"running": False}, 7, State.TO_DO, "fatal line"),
        ({"verdict": None}, 8, State.TO_DO, "standard suite"),
        ({"measured": False}, 8, State.TO_DO, "benchmark"),
        ({"verdict": "refuted"}, 8, State.NEEDS_YOU, "ledger list"),
        ({"verdict": "unproven"}, 8, State.TO_DO, "standard suite"),
    ],
)
def test_a_step_is_judged_by_what_is_there(change: dict[str, Any], number: int, state: State, says: str) -> None:
    step = steps(replace(PROVEN, **change))[number - 1]
    assert (step.state, says in step.detail) == (state, True), step


def test_a_driver_that_is_too_old_needs_you_and_an_old_compiler_does_not() -> None:
    old = Finding(Level.ERROR, "driver-too-old", "the driver can't", "Update it.")
    note = Finding(Level.NOTE, "older-system-nvcc", "nvcc is 12.0", "Leave it alone.")
    assert steps(PROVEN, driver=(old,))[2].state is State.NEEDS_YOU
    assert steps(PROVEN, driver=(note,))[2].state is State.DONE


def test_a_model_that_is_named_makes_the_stack_file_something_to_do() -> None:
    step = steps(StackState(written=False), model="o/m")[3]
    assert step.command == ("init", "o/m", "--output", f"{ROOT}/docker/stack.yaml")


def test_a_bare_machine_is_set_up_step_by_step_and_resumed(tree: DebianTree, tmp_path: Path) -> None:
    def setup(*words: str, expect: int) -> dict[int, str]:
        done = tree.seatrial("host", "setup", "--root", TRIAL, "--admin", "alice", *words, "--json", expect=expect)
        return {step["number"]: step["state"] for step in json.loads(done.stdout)["steps"]}

    assert setup(expect=3)[1] == "to do"
    first = setup("--go", expect=3)
    assert [first[1], first[2], first[4], first[5]] == ["done", "done", "needs you", "done"]
    assert tree.shell("getent passwd sglang").endswith("/usr/sbin/nologin")

    tree.shell("mkdir -p /srv/evaluation; chmod 755 /srv/evaluation")
    environment = make_environment(tmp_path / "environment")
    copy_into(tree, environment, "/srv/evaluation/engine")
    text = stack_text("evaluation", Path("/srv/evaluation/engine"), 31877, "good")
    text = (
        text.replace("./hf-cache", "../hf-cache")
        .replace("./jit-cache", "../jit-cache")
        .replace("./ledger", "../ledger")
    )
    tree.run("sh", "-c", f"cat >{TRIAL}/docker/stack.yaml; chown sglang: {TRIAL}/docker/stack.yaml", stdin=text)
    assert tree.shell(f"cat {TRIAL}/docker/stack.yaml")
    snapshot = f"{TRIAL}/hf-cache/hub/models--owner--good/snapshots/c0ffee"
    tree.shell(
        f"mkdir -p {snapshot} {snapshot}/../../refs; echo '{{}}' >{snapshot}/config.json; touch "
        f"{snapshot}/model.safetensors;"
        f"printf c0ffee >{snapshot}/../../refs/main",
        user="alice",
    )
    try:
        last = setup("--go", expect=0)
        assert set(last.values()) == {"done"}
        assert set(setup(expect=0).values()) == {"done"}
        ledger = tree.seatrial("ledger", "list", "--ledger", f"{TRIAL}/ledger", "--json").stdout
        assert '"proven"' in ledger
        assert (
            tree.shell(f"stat -c %U {TRIAL}/ledger/ledger.sqlite3 {TRIAL}/docker/.seatrial").split() == ["sglang"] * 2
        )
        audit = json.loads(
            tree.seatrial("host", "audit", "--root", TRIAL, "--admin", "alice", "--json", expect=None).stdout
        )
        assert [one["id"] for one in audit["findings"] if one["level"] != "note"] == []
        reproved = tree.seatrial("host", "reprove", "--stack", f"{TRIAL}/docker/stack.yaml", "--json", expect=0)
        assert json.loads(reproved.stdout)["verdict"] == "proven"
    finally:
        tree.seatrial("stop", "--stack", f"{TRIAL}/docker/stack.yaml", expect=None)
    assert setup(expect=3)[7] == "to do"
    done = tree.seatrial("host", "reprove", "--stack", f"{TRIAL}/docker/stack.yaml", expect=3)
    assert "nothing of this stack runs" in done.stderr


def copy_into(tree: DebianTree, folder: Path, target: str) -> None:
    """Copy a folder of this machine into the tree: /tmp there is its own."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.add(folder, arcname=".")
    command = tree.command(["sh", "-c", f"mkdir -p {target}; tar -x -C {target}; chmod -R a+rX {target}"])
    subprocess.run(command, input=buffer.getvalue(), check=True)
