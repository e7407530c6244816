"""Looks at the model store: owners, rights, free space, and whether the plan's checkpoint is whole."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from seatrial.errors import InputError
from seatrial.facts.example_hosts import host_from_spec
from seatrial.facts.model_folder import INDEX, read_json
from seatrial.host.situation import OwnedFolder, Snapshot, Store, Written
from seatrial.planning.plan import Plan, memory_of

GIB = 1 << 30
COUNTING_CARD = "1x B200"
COMMIT = re.compile(r"[0-9a-f]{40}\Z")
MOST_ENTRIES = 5_000
"""Entries of one model's folder that are looked at: shards are tens, and a store can hold a million small files."""


def look_at_store(plan: Plan, folder: Path) -> Store:
    """Look at a plan's store; a missing one is measured where it would lie."""
    path = (folder / plan.stack.store).resolve()
    hub = path / "hub"
    snapshot = find_snapshot(hub, plan.stack.model.repo, plan.stack.model.revision or "main")
    needed = None if snapshot.is_whole else needed_bytes(plan)
    facts = None
    with contextlib.suppress(OSError):
        facts = path.stat()
    return Store(
        path=str(path),
        exists=facts is not None,
        here=write_test(hub if hub.is_dir() else path) if facts else None,
        models=tuple(owned_folders(hub)),
        owner=facts.st_uid if facts else None,
        group=facts.st_gid if facts else None,
        free_bytes=free_bytes(path),
        needed_bytes=needed,
        snapshot=snapshot,
    )


def needed_bytes(plan: Plan) -> int | None:
    """Say how many bytes a download of the checkpoint takes: its tensors', by their headers or as they are counted."""
    if plan.model is None:
        return None
    if plan.model.tensor_bytes:
        return sum(plan.model.tensor_bytes.values())
    # What weights take does not depend on the host: any card that holds them does for counting.
    values = {setting.name: setting.value for setting in plan.settings} | {"--tp-size": 1}
    memory, _ = memory_of(values, model=plan.model, host=host_from_spec(COUNTING_CARD), version=plan.version)
    return None if memory is None or memory.weights_gib is None else int(memory.weights_gib * GIB)


def free_bytes(path: Path) -> int | None:
    """Measure what this account may still write where a folder lies, or would lie."""
    for place in (path, *path.parents):
        with contextlib.suppress(OSError):
            facts = os.statvfs(place)
            return facts.f_bavail * facts.f_frsize
    return None


def write_test(folder: Path) -> Written:
    """Touch, rename and unlink a file."""
    first = folder / f".seatrial-write-test-{os.getpid()}"
    try:
        os.close(os.open(first, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        second = first.rename(first.with_suffix(".renamed"))
        second.unlink()
    except OSError as error:
        return Written(str(folder), (error.strerror or str(error)).lower())
    return Written(str(folder))


def owned_folders(hub: Path) -> Iterator[OwnedFolder]:
    """List the models of a store with their owners, and whether their folders are the group's to write."""
    with contextlib.suppress(OSError):
        for model in sorted(hub.glob("models--*")):
            owners, groups, writable = set(), set(), True
            for path in _entries(model):
                with contextlib.suppress(OSError):
                    facts = path.lstat()
                    owners.add(facts.st_uid)
                    groups.add(facts.st_gid)
                    writable = writable and (stat.S_ISLNK(facts.st_mode) or bool(facts.st_mode & stat.S_IWGRP))
            yield OwnedFolder(model.name, frozenset(owners), frozenset(groups), writable)


def _entries(model: Path) -> Iterator[Path]:
    yield model
    count = 0
    for folder, folders, files in os.walk(model):
        for name in (*folders, *files):
            count += 1
            if count > MOST_ENTRIES:
                return
            yield Path(folder) / name


def find_snapshot(hub: Path, repo: str, revision: str) -> Snapshot:
    """Find a checkpoint in a store of the Hub's layout, and what it lacks."""
    model = hub / f"models--{repo.replace('/', '--')}"
    if not model.is_dir():
        return Snapshot(revision, folder=False, reference=False)
    commit = revision if COMMIT.match(revision) else None
    with contextlib.suppress(OSError, ValueError):
        commit = commit or (model / "refs" / revision).read_text(encoding="utf-8").strip()
    snapshot = model / "snapshots" / (commit or "none")
    unfinished = tuple(sorted(path.name for path in (model / "blobs").glob("*.incomplete")))
    if commit is None or not snapshot.is_dir():
        return Snapshot(revision, folder=True, reference=commit is not None, unfinished=unfinished)
    return Snapshot(
        revision, folder=True, reference=True, commit=commit, missing=tuple(_missing(snapshot)), unfinished=unfinished
    )


def _missing(snapshot: Path) -> Iterator[str]:
    """List files that must be there: the config, and the shards that the index names, or any weights at all."""
    if not (snapshot / "config.json").exists():
        yield "config.json"
    index = None
    with contextlib.suppress(InputError):
        index = read_json(snapshot / INDEX)
    shards = index.get("weight_map") if index else None
    if isinstance(shards, dict):
        for name in sorted({str(shard) for shard in shards.values()}):
            if not (snapshot / name).exists():
                yield name
    elif not any(path.exists() for kind in ("*.safetensors", "*.bin", "*.gguf") for path in snapshot.glob(kind)):
        yield "model.safetensors"
