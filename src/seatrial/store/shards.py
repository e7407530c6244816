"""Whether weight files hold what the index says: missing shards, missing and extra tensors, files that are cut."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from seatrial.errors import InputError
from seatrial.facts.model import TensorFacts
from seatrial.facts.model_folder import INDEX, read_json
from seatrial.facts.safetensors_headers import read_header
from seatrial.findings import Finding, Level

SHOWN_NAMES = 3
LFS_POINTER = b"version https://git-lfs.github.com/spec/"


def check_shards(folder: Path, names: frozenset[str]) -> Iterator[Finding]:
    """Compare the index with the headers of the weight files, and each header with its file's size.

    Args:
        folder: the snapshot.
        names: the files that lead somewhere; those that don't are told elsewhere.
    """
    try:
        index = read_json(folder / INDEX) if INDEX in names else None
    except InputError as error:
        yield Finding(Level.ERROR, "index-unreadable", f"the index can't be read: {error.problem}", REPULL, where=INDEX)
        return
    listed = index.get("weight_map") if index else None
    wanted = {str(name): str(file) for name, file in listed.items()} if isinstance(listed, dict) else {}
    shards = set(wanted.values()) or {name for name in names if name.endswith(".safetensors") and "/" not in name}
    if not shards:
        yield Finding(
            Level.ERROR,
            "no-weights",
            "there are no safetensors files at the top of it",
            "It can't be served from here.",
        )
    held: dict[str, dict[str, TensorFacts]] = {}
    for shard in sorted(shards):
        if shard not in names:
            of = f" of {len(shards)}"
            yield Finding(
                Level.ERROR, "shard-missing", f"{shard}{of} is named by the index and is not there", REPULL, where=shard
            )
            continue
        try:
            held[shard] = dict(read_header(folder / shard))
        except InputError as error:
            yield _unreadable(folder / shard, shard, error)
            continue
        yield from _cut(folder / shard, shard, held[shard])
    if wanted:
        yield from _compare(wanted, held)
        beside = sorted(
            name
            for name in names - shards
            if name.endswith(".safetensors") and "/" not in name and "consolidated" not in name
        )
        if beside:
            message = f"{_some(beside)} stand beside the index, which does not name them: the engine passes over them"
            yield Finding(Level.WARNING, "shard-extra", message, "Are they of an older commit?")


REPULL = "`seatrial models verify --repair` loads it anew."


def _unreadable(path: Path, name: str, error: InputError) -> Finding:
    with path.open("rb") as file:
        start = file.read(len(LFS_POINTER))
    if start == LFS_POINTER:
        message = f"{name} is a Git LFS pointer, not the weights: it came from a clone without LFS"
    else:
        message = f"{name}: {error.problem}"
    return Finding(Level.ERROR, "shard-unreadable", message, REPULL, where=name)


def _cut(path: Path, name: str, tensors: Mapping[str, TensorFacts]) -> Iterator[Finding]:
    """Say whether a file ends before its last tensor does; offsets are from the end of the header."""
    with path.open("rb") as file:
        header = int.from_bytes(file.read(8), "little")
    size = path.stat().st_size
    due = 8 + header + sum(tensor.bytes for tensor in tensors.values())
    if size < due:
        message = f"{name} is cut: it has {size:,} bytes and its header promises {due:,}"
        yield Finding(Level.ERROR, "shard-truncated", message, REPULL, where=name)
    elif size > due:
        message = f"{name} has {size - due:,} bytes after its last tensor"
        yield Finding(Level.WARNING, "shard-too-long", message, "Its hash tells whether it is the Hub's.", where=name)


def _compare(wanted: Mapping[str, str], held: Mapping[str, Mapping[str, TensorFacts]]) -> Iterator[Finding]:
    missing = sorted(name for name, shard in wanted.items() if shard in held and name not in held[shard])
    extra = sorted(name for shard, tensors in held.items() for name in tensors if wanted.get(name) is None)
    if missing:
        message = f"{len(missing)} tensors that the index names are not in their file: {_some(missing)}"
        advice = "The engine leaves such weights as they happen to be in memory: every answer is then garbage."
        yield Finding(Level.ERROR, "tensors-missing", message, advice, where=INDEX)
    if extra:
        message = f"{len(extra)} tensors are in the files and not in the index: {_some(extra)}"
        yield Finding(Level.WARNING, "tensors-extra", message, "The index is of another commit, or was not kept up.")
    seen: set[str] = set()
    twice: set[str] = set()
    for tensors in held.values():
        twice |= seen & tensors.keys()
        seen |= tensors.keys()
    if twice:
        message = f"{len(twice)} tensors are in more than one file: {_some(sorted(twice))}"
        yield Finding(Level.WARNING, "tensors-twice", message, "The engine takes whichever it reads last.")


def _some(names: list[str]) -> str:
    rest = len(names) - SHOWN_NAMES
    return ", ".join(names[:SHOWN_NAMES]) + (f" and {rest} more" if rest > 0 else "")
