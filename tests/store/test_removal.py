"""Nothing that anything refers to is ever deleted, on real folders; what is removed frees what was said."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checkpoint_kit import stored_as_hub_does
from hub_kit import commit_of, noise
from seatrial.errors import StorageError
from seatrial.store.layout import find_model, hub_folder, read_store
from seatrial.store.locks import model_lock
from seatrial.store.references import Use, UseKind
from seatrial.store.removal import plan_removal, remove
from seatrial.store.repair import sweep
from seatrial.store.sharing import Sharing
from seatrial.store.verify import verify

REPOS = ("owner/one", "owner/two", "other/one")
COMMITS = tuple(commit_of(text) for text in "abc")
CONTENTS = tuple(noise(1_200 + 100 * number, seed=number) for number in range(6))
NAMES = ("config.json", "model.safetensors", "deep/tokenizer.json")

Store = dict[str, dict[str, dict[str, int]]]
"""Repository -> commit -> file -> number of its content."""

stores = st.dictionaries(
    st.sampled_from(REPOS),
    st.dictionaries(
        st.sampled_from(COMMITS),
        st.dictionaries(st.sampled_from(NAMES), st.integers(0, len(CONTENTS) - 1), min_size=1),
        min_size=1,
    ),
    min_size=1,
)
uses = st.lists(
    st.builds(
        Use,
        st.sampled_from(list(UseKind)),
        st.just("somebody"),
        st.sampled_from([*REPOS, "nobody/has-it", None]),
        st.sampled_from([*COMMITS, "main", "v1", "unknown-tag", COMMITS[0][:9], None]),
    ),
    max_size=3,
)


def make(hub: Path, store: Store, dice: Any) -> None:
    """Put a store on disk; some contents lie where several models share them, as huggingface_hub 2 does."""
    for repo, commits in store.items():
        refs = {"main": min(commits)} | ({"v1": max(commits)} if dice.draw(st.booleans()) else {})
        stored_as_hub_does(
            hub,
            repo,
            {commit: {name: CONTENTS[number] for name, number in files.items()} for commit, files in commits.items()},
            refs,
        )
    for blob in sorted(hub.glob("models--*/blobs/*")):
        if dice.draw(st.booleans()):
            shared = hub / "blobs" / blob.name[:2] / blob.name
            shared.parent.mkdir(parents=True, exist_ok=True)
            if not shared.exists():
                blob.rename(shared)
            else:
                blob.unlink()
            blob.symlink_to(os.path.relpath(shared, blob.parent))


def contents(hub: Path) -> dict[tuple[str, str, str], bytes]:
    """Read every file of every commit as an engine would."""
    return {
        (model.repo, one.commit, file.name): file.path.read_bytes()
        for model in read_store(hub)
        for one in model.revisions
        for file in one.files
    }


def used_bytes(hub: Path) -> int:
    """Measure what the contents take, each once."""
    found = {}
    for path in [*hub.glob("models--*/blobs/*"), *hub.glob("blobs/*/*")]:
        if path.is_file() and not path.is_symlink():
            facts = path.stat()
            found[facts.st_dev, facts.st_ino] = facts.st_size
    return sum(found.values())


def is_used(store: Store, refs: Mapping[str, str], repo: str, commit: str, use: Use) -> bool:
    """Say independently of the program whether a use may mean a commit."""
    if use.repo not in (None, repo):
        return False
    if use.repo is None or use.revision is None:
        return True
    if use.revision in refs:
        return refs[use.revision] == commit
    if len(use.revision) == 40:
        return use.revision == commit
    begins = [known for known in store[repo] if known.startswith(use.revision)]
    return commit in begins if begins and len(use.revision) >= 7 else True


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(st.data(), stores, uses)
def test_whatever_refers_to_a_commit_keeps_it_whole(dice: Any, store: Store, found: list[Use]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        hub = Path(folder) / "hub"
        make(hub, store, dice)
        repo = dice.draw(st.sampled_from(sorted(store)))
        target = dice.draw(st.sampled_from([None, *sorted(store[repo])]))
        before, bytes_before = contents(hub), used_bytes(hub)
        model = find_model(hub, repo)
        assert model is not None
        refs = dict(model.refs)
        leaving = set(store[repo]) if target is None else {target}
        plan = plan_removal(model, None if target is None else [target], found, read_store(hub))
        done = remove(plan, lambda: found)
        after = contents(hub)
        held = {
            (name, commit)
            for name, commits in store.items()
            for commit in commits
            if any(is_used(store, refs if name == repo else _refs(hub, name), name, commit, use) for use in found)
        }
        if any((repo, commit) in held for commit in leaving):
            assert not done.may_go
        if not done.may_go:
            assert after == before
            assert used_bytes(hub) == bytes_before
            return
        kept = {key: data for key, data in before.items() if not (key[0] == repo and key[1] in leaving)}
        assert after == kept
        assert {(name, commit) for name, commit, _ in kept} >= held
        assert bytes_before - used_bytes(hub) == plan.frees_bytes == done.frees_bytes
        for other in read_store(hub):
            assert not [one for one in verify(other).findings if one.id in ("content-unused", "link-broken")]


def _refs(hub: Path, repo: str) -> Mapping[str, str]:
    model = find_model(hub, repo)
    return {} if model is None else model.refs


@pytest.fixture
def hub(tmp_path: Path) -> Path:
    hub = tmp_path / "cache" / "hub"
    stored_as_hub_does(
        hub,
        "owner/one",
        {
            COMMITS[0]: {"config.json": CONTENTS[0], "model.safetensors": CONTENTS[1]},
            COMMITS[1]: {"config.json": CONTENTS[0], "model.safetensors": CONTENTS[2]},
        },
        {"main": COMMITS[0], "v1": COMMITS[1]},
    )
    return hub


class Killed(BaseException):
    """The program ends here."""


STEPS = ("rename", "unlink", "rmtree")


def steps(monkeypatch: pytest.MonkeyPatch, die_at: int) -> list[int]:
    """Count every change of the disk, and die before one of them."""
    count = [0]

    def counted(original: Any) -> Any:
        def step(*arguments: Any, **options: Any) -> Any:
            count[0] += 1
            if count[0] == die_at:
                raise Killed
            return original(*arguments, **options)

        return step

    monkeypatch.setattr(Path, "rename", counted(Path.rename))
    monkeypatch.setattr(Path, "unlink", counted(Path.unlink))
    monkeypatch.setattr(shutil, "rmtree", counted(shutil.rmtree))
    return count


@pytest.mark.parametrize("target", [COMMITS[0], None])
@pytest.mark.parametrize("die_at", range(1, 14))
def test_a_removal_that_is_killed_anywhere_harms_nothing_else_and_is_finished_later(
    hub: Path, target: str | None, die_at: int
) -> None:
    model = find_model(hub, "owner/one")
    assert model is not None
    other = {key: data for key, data in contents(hub).items() if target is not None and key[1] != target}
    with pytest.MonkeyPatch.context() as patch:
        steps(patch, die_at)
        plan = plan_removal(model, None if target is None else [target], [])
        with contextlib.suppress(Killed):
            remove(plan, list)
    left = contents(hub)
    assert {key: data for key, data in left.items() if key in other} == other
    again = find_model(hub, "owner/one")
    if again is None:
        return
    remove(plan_removal(again, None if target is None else [target], []), list)
    found = find_model(hub, "owner/one")
    if found is not None:
        sweep(verify(found))
        assert contents(hub) == other
        used = find_model(hub, "owner/one")
        assert used is None or not [
            one for one in verify(used).findings if one.id in ("content-unused", "removal-unfinished")
        ]


def test_content_that_another_models_names_lead_to_stays(hub: Path) -> None:
    model = find_model(hub, "owner/one")
    assert model is not None
    lent = model.revisions[0].files[1].blob
    assert lent is not None
    link = hub / "models--owner--two" / "snapshots" / COMMITS[2] / "model.safetensors"
    link.parent.mkdir(parents=True)
    link.symlink_to(lent)
    whole = plan_removal(model, None, [], read_store(hub))
    assert [use.who for use in whole.refused] == ["owner/two"]
    for commit in (COMMITS[0], COMMITS[1]):
        remove(plan_removal(model, [commit], [], read_store(hub)), list)
    assert link.read_bytes() == lent.read_bytes()


@pytest.fixture
def reader(hub: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that has a weight file mapped, as an engine that loads it."""
    code = (
        "import mmap, sys, time; f = open(sys.argv[1], 'rb'); m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ);"
        "f.close(); print('mapped', flush=True); time.sleep(60)"
    )
    weights = hub / "models--owner--one" / "snapshots" / COMMITS[0] / "model.safetensors"
    elsewhere = hub.parent / "other-name"  # its command does not name the model
    elsewhere.symlink_to(weights.resolve())
    process = subprocess.Popen([sys.executable, "-c", code, str(elsewhere)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    yield process
    process.kill()
    process.wait()


def test_a_process_that_has_it_mapped_keeps_it_also_if_it_came_at_the_last_moment(
    hub: Path, reader: subprocess.Popen[bytes]
) -> None:
    model = find_model(hub, "owner/one")
    assert model is not None
    before = contents(hub)
    with pytest.raises(StorageError, match=f"process {reader.pid}"):
        remove(plan_removal(model, [COMMITS[0]], []), list)
    assert contents(hub) == before
    remove(plan_removal(model, [COMMITS[1]], []), list)
    assert {commit for _, commit, _ in contents(hub)} == {COMMITS[0]}


def test_what_is_being_pulled_is_not_removed(hub: Path) -> None:
    model = find_model(hub, "owner/one")
    assert model is not None
    code = (
        "import sys, time; from pathlib import Path; from seatrial.store.locks import model_lock;"
        "from seatrial.store.sharing import Sharing; folder = Path(sys.argv[1]);\n"
        "with model_lock(folder, Sharing.of(folder.parent), alone=False): print('held', flush=True); time.sleep(60)"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(model.folder)], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        with pytest.raises(StorageError, match="being pulled"):
            remove(plan_removal(model, None, []), list)
    finally:
        process.kill()
        process.wait()
    time.sleep(0)
    with model_lock(model.folder, Sharing.of(hub), alone=True):  # the kernel let go of it
        pass


def test_hub_folder_is_found_by_both_names(hub: Path) -> None:
    assert hub_folder(hub.parent) == hub_folder(hub) == hub
