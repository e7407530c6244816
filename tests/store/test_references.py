"""Who refers to a model: names in texts, stack files, kept states, ledgers, processes. In doubt, it is used."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from checkpoint_kit import stored_as_hub_does
from hub_kit import commit_of
from seatrial.ledger.database import Ledger
from seatrial.ledger.entry import Combination, Entry, Kind
from seatrial.store.known_stacks import remember_stack
from seatrial.store.layout import find_model, read_store
from seatrial.store.reference_sources import file_uses, find_uses, search_folders
from seatrial.store.references import Mention, Use, UseKind, mentions, used_commits, uses_of

OLD, NEW = commit_of("old"), commit_of("new")
REPO = "owner/name-7B.v2"


@pytest.fixture
def hub(tmp_path: Path) -> Path:
    hub = tmp_path / "srv" / "hf-cache" / "hub"
    files = {"config.json": b"{}"}
    stored_as_hub_does(hub, REPO, {OLD: files, NEW: files | {"x.json": b"1"}}, {"main": NEW, "v1": OLD})
    stored_as_hub_does(hub, "owner/name", {OLD: files}, {"main": OLD})
    return hub


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("--model-path owner/name", ["owner/name"]),
        ("--model-path=owner/name,", ["owner/name"]),
        ('["--model", "Owner/Name"]', ["owner/name"]),
        ("owner/name@v1", ["owner/name"]),
        ("/cache/hub/models--owner--name/snapshots/x", ["owner/name"]),
        ("see owner/name.", ["owner/name"]),
        ("owner/name-7B.v2", [REPO]),
        ("owner/name-7B", []),
        ("owner/name2", []),
        ("other-owner/name", []),
        ("https://example.org/owner/name", []),
        ("models--owner--name-7B.v2/refs", [REPO]),
    ],
)
def test_a_model_is_found_by_its_whole_name(text: str, expected: list[str]) -> None:
    assert [found.repo for found in mentions(text, ["owner/name", REPO])] == expected


def test_the_commit_is_taken_from_a_path_and_the_revision_from_the_name() -> None:
    path = f"/root/.cache/huggingface/hub/models--owner--name/snapshots/{OLD}"
    assert mentions(path, ["owner/name"]) == (Mention("owner/name", OLD),)
    assert mentions("owner/name@refs/pr/1", ["owner/name"]) == (Mention("owner/name", "refs/pr/1"),)


@pytest.mark.parametrize(
    ("revision", "commits"),
    [
        ("main", {NEW}),
        ("v1", {OLD}),
        (OLD, {OLD}),
        (OLD[:10], {OLD}),
        (commit_of("another"), set()),
        ("nobody-knows", {OLD, NEW}),
        (None, {OLD, NEW}),
    ],
)
def test_a_revision_that_nothing_explains_may_be_any(hub: Path, revision: str | None, commits: set[str]) -> None:
    model = find_model(hub, REPO)
    assert model is not None
    assert used_commits(model, Use(UseKind.STACK, "x", REPO, revision)) == commits
    assert used_commits(model, Use(UseKind.STACK, "x", "owner/else", revision)) == frozenset()


def stack(
    folder: Path, text: str = "", *, name: str = "stack.yaml", repo: str = REPO, store: str = "../hf-cache"
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"name: review\nmodel:\n  repo: {repo}\n{text}store: {store}\n")
    return path


def used(hub: Path, folders: Sequence[Path], commit: str, repo: str = REPO) -> list[UseKind]:
    model = find_model(hub, repo)
    assert model is not None
    known = file_uses(folders, read_store(hub), hub)
    assert known.unknown == ()
    return [use.kind for use in uses_of(model, known.uses)[commit]]


def test_a_stack_file_uses_what_its_revision_points_to(hub: Path) -> None:
    folder = hub.parent.parent / "docker"
    stack(folder)
    assert used(hub, [folder], NEW) == [UseKind.STACK]
    assert used(hub, [folder], OLD) == []
    stack(folder, "  revision: v1\n")
    assert used(hub, [folder], OLD) == [UseKind.STACK]


def test_a_stack_file_with_another_store_uses_nothing_here(hub: Path) -> None:
    folder = hub.parent.parent / "docker"
    stack(folder, store="../other-cache")
    assert used(hub, [folder], NEW) == []


def test_a_draft_model_in_the_settings_is_used_too(hub: Path) -> None:
    folder = hub.parent.parent / "docker"
    stack(
        folder,
        f"settings:\n  - flag: --speculative-draft-model-path\n    value: {REPO}\n    why: faster\n",
        repo="owner/name",
    )
    assert used(hub, [folder], NEW) == [UseKind.STACK]


def test_a_path_in_the_container_is_the_commit_in_it(hub: Path) -> None:
    folder = hub.parent.parent / "docker"
    stack(folder, repo=f"/root/.cache/huggingface/hub/models--owner--name-7B.v2/snapshots/{OLD}")
    assert used(hub, [folder], OLD) == [UseKind.STACK]
    assert used(hub, [folder], NEW) == []


@pytest.mark.parametrize(
    ("name", "text", "commit"),
    [
        ("compose.yaml", f"services:\n  a:\n    command: python -m sglang.launch_server --model-path {REPO}\n", NEW),
        ("compose.yaml", f"services:\n  a:\n    command: [--model-path, {REPO}, --revision, {OLD}]\n", OLD),
        ("docker-compose.yml", f"services:\n  a:\n    command: [--model-path={REPO}, --revision=v1]\n", OLD),
        (".env", f"MODEL={REPO}\n", NEW),
        ("broken.yaml", f"services: [\n  {REPO}\n", NEW),
    ],
)
def test_a_compose_file_or_env_that_somebody_wrote_counts(hub: Path, name: str, text: str, commit: str) -> None:
    folder = hub.parent.parent / "docker"
    folder.mkdir()
    (folder / name).write_text(text)
    assert used(hub, [folder], commit) == [UseKind.FILE]


@pytest.mark.parametrize("text", ["surprise: 1\n", "serve:\n  port: many\n"])
def test_a_stack_file_with_mistakes_may_mean_any_commit(hub: Path, text: str) -> None:
    folder = hub.parent.parent / "docker"
    stack(folder, f"  revision: {OLD}\n{text}")
    assert used(hub, [folder], OLD) == [UseKind.FILE]
    assert used(hub, [folder], NEW) == [UseKind.FILE]


def test_a_comment_is_no_reference(hub: Path) -> None:
    folder = hub.parent.parent / "docker"
    folder.mkdir()
    (folder / "compose.yaml").write_text(f"# was {REPO}\nservices: {{}}\n")
    (folder / ".env").write_text(f"# MODEL={REPO}\n")
    assert used(hub, [folder], NEW) == []


def test_the_last_proven_stack_and_both_sides_of_an_unfinished_switch_are_kept(hub: Path) -> None:
    folder = hub.parent.parent / "docker"
    stack(folder, repo="owner/name")
    text = (folder / "stack.yaml").read_text()
    state = folder / ".seatrial"
    (state / "switches/abc").mkdir(parents=True)
    (state / "switches/old").mkdir()
    wanted = {"proven": "main", "candidate": "v1"}
    for name, revision in wanted.items():
        own = text.replace("repo: owner/name", f"repo: {REPO}\n  revision: {revision}")
        place = state / "proven.json" if name == "proven" else state / "switches/abc/candidate.json"
        place.write_text(json.dumps({"files": {"stack.yaml": own}}))
    (state / "switches/old/candidate.json").write_text(json.dumps({"files": {"stack.yaml": text}}))
    assert used(hub, [folder], NEW) == [UseKind.PROVEN]
    assert used(hub, [folder], OLD) == []
    (state / "journal.json").write_text(json.dumps({"id": "abc", "step": "proving"}))
    assert used(hub, [folder], OLD) == [UseKind.CANDIDATE]


def test_the_commit_that_the_ledger_promoted_is_kept_though_main_moved_on(hub: Path) -> None:
    folder = hub.parent.parent / "docker"
    stack(folder)
    ledger = Ledger(hub.parent.parent / "ledger")
    combination = Combination(REPO, "sglang", revision=OLD)
    ledger.append(Entry(Kind.PROMOTION, "2026-11-30T10:00:00+00:00", combination, "proven", stack="review"))
    ledger.close()
    assert used(hub, [folder], OLD) == [UseKind.PROVEN]
    assert used(hub, [folder], NEW) == [UseKind.STACK]


@pytest.mark.parametrize("name", ["journal.json", "proven.json"])
def test_what_can_not_be_read_makes_everything_unknown(hub: Path, name: str) -> None:
    folder = hub.parent.parent / "docker"
    stack(folder)
    (folder / ".seatrial").mkdir()
    (folder / ".seatrial" / name).write_text("{")
    assert "can't be read" in file_uses([folder], read_store(hub), hub).unknown[0]


def test_the_folders_beside_the_store_are_looked_into(hub: Path, tmp_path: Path) -> None:
    folder = hub.parent.parent / "docker"
    stack(folder)
    assert folder.resolve() in search_folders(hub.parent, [])
    known = find_uses(hub.parent, containers=False)
    assert [use.who for use in known.uses if use.kind is UseKind.STACK] == [str(folder / "stack.yaml")]
    elsewhere = stack(tmp_path / "elsewhere", store=str(hub.parent), name="own.yaml")
    known = find_uses(hub.parent, stacks=[elsewhere], containers=False)
    assert str(elsewhere) in [use.who for use in known.uses]


def test_a_stack_that_is_down_and_far_away_is_remembered_by_the_store(hub: Path, tmp_path: Path) -> None:
    far = stack(tmp_path / "far/away", store=str(hub.parent))
    assert [use.who for use in find_uses(hub.parent, containers=False).uses] == []
    for _ in range(2):
        remember_stack(hub.parent, far)
    assert [use.who for use in find_uses(hub.parent, containers=False).uses] == [str(far)]
    far.unlink()
    assert find_uses(hub.parent, containers=False).uses == ()


@pytest.mark.parametrize("path", ["srv/hf-cache", "srv/docker/../hf-cache", "./srv/hf-cache/hub"])
def test_a_store_is_read_the_same_by_any_path_to_it(
    hub: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    (tmp_path / "srv/docker").mkdir()
    monkeypatch.chdir(tmp_path)
    model = find_model(Path(path), REPO)
    assert model is not None
    for one in model.revisions:
        for file in one.files:
            assert file.entry in model.blobs


def test_hf_home_may_itself_be_called_hub(tmp_path: Path) -> None:
    home = tmp_path / "hub"
    stored_as_hub_does(home / "hub", REPO, {OLD: {"config.json": b"{}"}}, {})
    assert [model.repo for model in read_store(home)] == [REPO]


def test_a_process_whose_command_names_the_model_uses_it(hub: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", "--model-path", REPO])
    try:
        found = find_uses(hub, containers=False).uses
    finally:
        process.kill()
        process.wait()
    assert [use.repo for use in found if use.kind is UseKind.PROCESS and str(process.pid) in use.who] == [REPO]


def test_a_process_that_has_a_file_open_uses_its_model(hub: Path) -> None:
    model = find_model(hub, "owner/name")
    assert model is not None
    with subprocess.Popen(
        [sys.executable, "-c", "import sys, time; print(sys.stdin.read(1), flush=True); time.sleep(60)"],
        stdin=model.revisions[0].files[0].path.open(),
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        found = find_uses(hub, containers=False).uses
        process.kill()
    shared = {use.repo for use in found if use.kind is UseKind.PROCESS and str(process.pid) in use.who}
    assert shared == {"owner/name"}
