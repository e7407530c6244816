"""`models rm` and `models list` by the real program, with real containers where there is Docker."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from checkpoint_kit import plain_model, stored_as_hub_does, tree
from docker_kit import IMAGE, build_image, require_docker
from hub_kit import commit_of
from kit import CommandLine
from seatrial.ledger.database import Ledger
from seatrial.ledger.entry import Combination, Entry, Kind

OLD, NEW = commit_of("old"), commit_of("new")
REPO = "owner/name"


@pytest.fixture
def hub(seatrial: CommandLine) -> Path:
    hub = seatrial.folder / "srv" / "hf-cache" / "hub"
    first, second = plain_model(seed=1), plain_model(seed=2)
    second["config.json"] = first["config.json"]
    stored_as_hub_does(hub, REPO, {OLD: first, NEW: second}, {"main": NEW})
    stored_as_hub_does(hub, "owner/other", {OLD: first}, {"main": OLD})
    return hub


def rm(run: CommandLine, hub: Path, *arguments: str, expect: int) -> subprocess.CompletedProcess[str]:
    return run("models", "rm", *arguments, "--store", hub.parent, "--no-containers", expect=expect)


def used_bytes(hub: Path) -> int:
    return sum(path.stat().st_size for path in hub.glob("models--*/blobs/*"))


def test_one_commit_goes_and_what_it_shares_stays(seatrial: CommandLine, hub: Path) -> None:
    before, kept = used_bytes(hub), tree(hub / "models--owner--other")
    planned = json.loads(rm(seatrial, hub, f"{REPO}@{OLD}", "--dry-run", "--json", expect=0).stdout)
    assert not planned["removed"]
    assert used_bytes(hub) == before
    done = json.loads(rm(seatrial, hub, f"{REPO}@{OLD[:8]}", "--yes", "--json", expect=0).stdout)
    assert done["removed"]
    assert before - used_bytes(hub) == done["frees_bytes"] == planned["frees_bytes"] > 0
    assert tree(hub / "models--owner--other") == kept
    assert (hub / "models--owner--name/snapshots" / NEW / "config.json").read_bytes() == plain_model(seed=1)[
        "config.json"
    ]
    assert not (hub / "models--owner--name/snapshots" / OLD).exists()


def test_the_whole_model_goes(seatrial: CommandLine, hub: Path) -> None:
    done = rm(seatrial, hub, REPO, "--yes", expect=0)
    assert "free again" in done.stdout
    assert not (hub / "models--owner--name").exists()


def test_a_stack_file_beside_the_store_keeps_it(seatrial: CommandLine, hub: Path) -> None:
    folder = hub.parent.parent / "docker"
    folder.mkdir()
    (folder / "stack.yaml").write_text(f"name: review\nmodel:\n  repo: {REPO}\nstore: ../hf-cache\n")
    before = tree(hub)
    done = rm(seatrial, hub, REPO, "--yes", expect=1)
    assert f"used by stack file {folder / 'stack.yaml'}" in done.stdout
    assert "nothing was removed" in done.stdout
    document = json.loads(rm(seatrial, hub, f"{REPO}@main", "--yes", "--json", expect=1).stdout)
    assert document["refused"] == [{"kind": "stack file", "who": str(folder / "stack.yaml"), "detail": ""}]
    assert tree(hub) == before
    rm(seatrial, hub, f"{REPO}@{OLD}", "--yes", expect=0)


def test_nobody_is_asked_where_nobody_can_answer(seatrial: CommandLine, hub: Path) -> None:
    assert "Add --yes" in rm(seatrial, hub, REPO, expect=2).stderr
    assert (hub / "models--owner--name").exists()


@pytest.mark.parametrize("name", ["owner/missing", f"{REPO}@v9", "../../etc", "owner"])
def test_what_is_not_there_is_one_clear_line(seatrial: CommandLine, hub: Path, name: str) -> None:
    done = rm(seatrial, hub, name, "--yes", expect=2)
    assert "not in the store" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_containers_that_can_not_be_asked_make_it_unknown(seatrial: CommandLine, hub: Path) -> None:
    """A Docker that does not answer may have stopped containers that need the model."""
    bin_ = seatrial.folder / "bin"
    bin_.mkdir()
    (bin_ / "docker").write_text("#!/bin/sh\necho 'Cannot connect to the Docker daemon' >&2\nexit 1\n")
    (bin_ / "docker").chmod(0o755)
    path = f"{bin_}:{os.environ['PATH']}"
    done = seatrial("models", "rm", REPO, "--yes", "--store", hub.parent, PATH=path, expect=3)
    assert "docker does not say which containers there are" in done.stdout
    assert (hub / "models--owner--name").exists()


@pytest.fixture
def container() -> Iterator[str]:
    require_docker()
    build_image()
    name = f"seatrial-models-{uuid.uuid4().hex[:8]}"
    yield name
    subprocess.run(["docker", "rm", "-f", name], capture_output=True, check=False)


def create(name: str, hub: Path, *command: str) -> None:
    mounts = ["-v", "/usr:/usr:ro", "-v", f"{hub.parent}:/root/.cache/huggingface"]
    subprocess.run(
        ["docker", "create", "--name", name, "--network", "none", *mounts, IMAGE, *command],
        capture_output=True, check=True,
    )  # fmt: skip


def test_a_container_keeps_its_model_running_or_stopped(seatrial: CommandLine, hub: Path, container: str) -> None:
    create(container, hub, "/bin/sh", "-c", "sleep 300; true", "x", "--model-path", REPO)
    before = tree(hub)
    for state, command in (("created", None), ("running", "start"), ("exited", "kill")):
        if command:
            subprocess.run(["docker", command, container], capture_output=True, check=True)
        document = json.loads(seatrial("models", "rm", REPO, "--yes", "--json", "--store", hub.parent, expect=1).stdout)
        assert ["container", container, state] in [list(use.values()) for use in document["refused"]]
        assert tree(hub) == before
    listed = json.loads(seatrial("models", "list", "--json", "--store", hub.parent, expect=0).stdout)
    users = {row["repo"]: [use["who"] for use in row["used_by"]] for row in listed["models"]}
    assert users[REPO] == [container]
    assert users["owner/other"] == []
    subprocess.run(["docker", "rm", "-f", container], capture_output=True, check=True)
    seatrial("models", "rm", REPO, "--yes", "--store", hub.parent, expect=0)


def test_a_container_that_mounts_the_store_and_names_no_model_may_use_any(
    seatrial: CommandLine, hub: Path, container: str
) -> None:
    create(container, hub, "/usr/bin/sleep", "300")
    done = seatrial("models", "rm", "owner/other", "--yes", "--store", hub.parent, expect=1)
    assert f"container {container} (created; it mounts the store and names no model of it)" in done.stdout


def test_a_process_in_a_container_that_has_a_file_open_is_seen(
    seatrial: CommandLine, hub: Path, container: str
) -> None:
    """The container's own paths are others than the host's; the files are the same."""
    create(container, hub, "/usr/bin/tail", "-f", "/root/.cache/huggingface/hub/models--owner--other/refs/main")
    weights = next((hub / "models--owner--other" / "snapshots" / OLD).glob("*.safetensors"))
    inside = f"/root/.cache/huggingface/{weights.resolve().relative_to(hub.parent)}"
    subprocess.run(["docker", "rm", "-f", container], capture_output=True, check=True)
    create(container, hub, "/usr/bin/tail", "-f", inside)
    subprocess.run(["docker", "start", container], capture_output=True, check=True)
    done = seatrial("models", "rm", "owner/other", "--yes", "--no-containers", "--store", hub.parent, expect=1)
    assert "has its files open" in done.stdout


def test_the_list_says_size_use_and_what_is_known(seatrial: CommandLine, hub: Path) -> None:
    folder = hub.parent.parent
    (folder / "docker").mkdir()
    (folder / "docker/stack.yaml").write_text(
        f"name: review\nmodel:\n  repo: {REPO}\nstore: ../hf-cache\nledger: ../ledger\n"
    )
    stored_as_hub_does(hub, "QuantTrio/Qwen3.6-27B-AWQ", {OLD: {"config.json": b"{}"}}, {"main": OLD})
    (hub / "models--owner--half/blobs").mkdir(parents=True)
    (hub / "models--owner--half/blobs/abc.incomplete").write_bytes(b"12345")
    ledger = Ledger(folder / "ledger")
    for repo, verdict in ((REPO, "proven"), ("owner/other", "refuted")):
        combination = Combination(repo, "sglang", engine_version="0.5.16", revision=NEW if repo == REPO else OLD)
        ledger.append(Entry(Kind.VERDICT, "2026-11-30T10:00:00+00:00", combination, verdict))
    ledger.close()
    document = json.loads(
        seatrial("models", "list", "--json", "--no-containers", "--store", folder / "hf-cache", expect=0).stdout
    )
    rows = {(row["repo"], row["commit"]): row for row in document["models"]}
    assert rows[REPO, NEW]["status"] == "proven"
    assert rows[REPO, NEW]["status_engine"] == "sglang 0.5.16"
    assert rows[REPO, NEW]["status_date"] == "2026-11-30"
    assert rows[REPO, NEW]["used_by"][0]["who"] == str(folder / "docker/stack.yaml")
    assert rows[REPO, NEW]["refs"] == ["main"]
    assert rows[REPO, NEW]["bytes"] == sum(map(len, plain_model(seed=2).values()))
    assert rows[REPO, OLD]["status"] == "unproven"
    assert "another commit is proven" in rows[REPO, OLD]["status_why"]
    assert rows["owner/other", OLD]["status"] == "refuted"
    assert rows["QuantTrio/Qwen3.6-27B-AWQ", OLD]["status"] == "reported broken"
    assert rows["owner/half", None]["status"] == "incomplete"
    assert document["bytes"] == sum(path.stat().st_size for path in hub.glob("models--*/blobs/*"))
    text = seatrial("models", "list", "--no-containers", "--store", folder / "hf-cache", expect=0).stdout
    assert "reported broken sglang 0.5.16" in text
    assert "stack file" in text


def test_an_empty_store_has_no_models(seatrial: CommandLine) -> None:
    assert "no models" in seatrial("models", "list", "--no-containers", "--store", seatrial.folder / "none").stdout


def test_the_store_of_the_stack_file_is_taken_then_hf_home(seatrial: CommandLine, hub: Path) -> None:
    named = seatrial("models", "list", "--no-containers", "--json", HF_HOME=str(hub.parent), expect=0)
    assert len(json.loads(named.stdout)["models"]) == 3
    (seatrial.folder / "stack.yaml").write_text("name: a\nmodel:\n  repo: owner/name\nstore: ./empty\n")
    own = seatrial("models", "list", "--no-containers", "--json", HF_HOME=str(hub.parent), expect=0)
    assert json.loads(own.stdout)["models"] == []


def test_a_model_that_comes_into_use_while_somebody_is_asked_is_kept(seatrial: CommandLine, hub: Path) -> None:
    """The question waits; a process opens the file meanwhile; the answer is yes; nothing goes."""
    import pty

    leader, follower = pty.openpty()
    process = subprocess.Popen(
        seatrial.command(["models", "rm", REPO, "--no-containers", "--store", hub.parent]),
        cwd=seatrial.folder, env=seatrial.environment, stdin=follower, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True,
    )  # fmt: skip
    assert process.stdout is not None
    asked = ""
    while "[y/N]" not in asked:
        asked += process.stdout.read(1)
    weights = next((hub / "models--owner--name" / "snapshots" / OLD).glob("*.safetensors")).resolve()
    elsewhere = seatrial.folder / "elsewhere"
    elsewhere.symlink_to(weights)
    code = "import sys, time; f = open(sys.argv[1], 'rb'); print(1, flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code, str(elsewhere)], stdout=subprocess.PIPE) as reader:
        assert reader.stdout is not None
        reader.stdout.readline()
        os.write(leader, b"y\n")
        said, _ = process.communicate(timeout=60)
        reader.kill()
    os.close(leader)
    os.close(follower)
    assert process.returncode == 1, said
    assert "has its files open" in said
    assert weights.exists()
    time.sleep(0)
