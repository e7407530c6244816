"""The Hub's cache on disk: where a model's files, commits and names lie. Reads folders; changes nothing.

`hub/models--owner--name/` holds `blobs/HASH` (the content; a file's name is its sha256, or git's sha1 for small
files), `snapshots/COMMIT/NAME` (links to blobs), `refs/NAME` (a branch's or tag's commit) and, since huggingface_hub 2,
`trees/COMMIT.json` (what the Hub lists for the commit). `hub/blobs/` may hold blobs that several models share.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

PREFIX = "models--"
INCOMPLETE = ".incomplete"
COMMIT = re.compile(r"[0-9a-f]{40}")
STATE_FOLDER = ".seatrial"
"""In a model's folder: what was chosen of each commit, and what is being removed. Other programs pass over it."""


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A file as the Hub lists it.

    Attributes:
        name: path in the repository.
        bytes: its size.
        etag: name of its blob: sha256 of a large file, git's sha1 of a small one.
    """

    name: str
    bytes: int
    etag: str


@dataclass(frozen=True, slots=True)
class StoredFile:
    """One name in a snapshot.

    Attributes:
        name: path in the repository.
        path: the link, or the file itself where links are not used.
        blob: what it leads to in the end; None where it leads nowhere.
        entry: the model's own `blobs/…` that it leads to first; None where the file is in the snapshot itself.
        bytes: of the content; 0 where it leads nowhere.
    """

    name: str
    path: Path
    blob: Path | None
    entry: Path | None
    bytes: int


@dataclass(frozen=True, slots=True)
class Revision:
    """One commit of a model, as far as it is in the store.

    Attributes:
        commit: name of its folder.
        folder: where its files are.
        files: every name in it.
        refs: branches and tags that point to it.
    """

    commit: str
    folder: Path
    files: tuple[StoredFile, ...]
    refs: tuple[str, ...] = ()

    @property
    def bytes(self) -> int:
        """Size of its content, each blob once."""
        return sum({file.blob: file.bytes for file in self.files if file.blob is not None}.values())


@dataclass(frozen=True, slots=True)
class StoredModel:
    """One repository's folder in the store.

    Attributes:
        repo: `owner/name`.
        folder: `…/models--owner--name`.
        revisions: its commits.
        refs: branch or tag -> commit.
        blobs: the entries of `blobs/` by name, halves of downloads among them.
    """

    repo: str
    folder: Path
    revisions: tuple[Revision, ...] = ()
    refs: Mapping[str, str] = field(default_factory=dict)
    blobs: tuple[Path, ...] = ()

    def find(self, revision: str | None) -> Revision | None:
        """Find a branch, tag, commit or the unique beginning of one; without any, what `main` points to."""
        wanted = self.refs.get(revision or "main", revision or "main")
        for one in self.revisions:
            if one.commit == wanted:
                return one
        begins = [one for one in self.revisions if len(wanted) >= 7 and one.commit.startswith(wanted)]
        return begins[0] if len(begins) == 1 else None


def hub_folder(store: Path) -> Path:
    """Find the `hub` folder of a store; `store` may be HF_HOME or the hub folder itself. It need not exist."""
    inner = (store / "hub").is_dir()
    has_models = any(store.glob(f"{PREFIX}*--*"))
    if (store.name == "hub" and (has_models or not inner)) or (has_models and not inner):
        return store
    return store / "hub"


def folder_name(repo: str) -> str:
    """Say how a repository's folder is called."""
    return PREFIX + repo.replace("/", "--")


def repo_name(folder: str) -> str:
    """Say whose a folder is; the owner's name can't hold two dashes, so the first pair divides."""
    return folder.removeprefix(PREFIX).replace("--", "/", 1)


def read_store(store: Path) -> tuple[StoredModel, ...]:
    """List the models of a store; none where there is no store."""
    hub = hub_folder(store)
    if not hub.is_dir():
        return ()
    return tuple(read_model_entry(folder) for folder in sorted(hub.glob(f"{PREFIX}*")) if folder.is_dir())


def find_model(store: Path, repo: str) -> StoredModel | None:
    """Find one model; None where nothing of it is there."""
    folder = hub_folder(store) / folder_name(repo)
    return read_model_entry(folder) if folder.is_dir() else None


def read_model_entry(folder: Path) -> StoredModel:
    """Read one repository's folder."""
    refs = read_refs(folder)
    revisions = []
    snapshots = folder / "snapshots"
    for found in sorted(snapshots.iterdir()) if snapshots.is_dir() else ():
        if found.is_dir() and not found.is_symlink():
            named = tuple(sorted(name for name, commit in refs.items() if commit == found.name))
            revisions.append(Revision(found.name, found, tuple(_files(found, folder / "blobs")), named))
    blobs = folder / "blobs"
    entries = tuple(sorted(blobs.iterdir())) if blobs.is_dir() else ()
    return StoredModel(repo_name(folder.name), folder, tuple(revisions), refs, entries)


def read_refs(folder: Path) -> Mapping[str, str]:
    """Read a model's branches and tags; names may hold slashes (`refs/pr/1`)."""
    refs = {}
    root = folder / "refs"
    for path in sorted(root.rglob("*")) if root.is_dir() else ():
        if path.is_file() and not path.name.startswith("."):
            try:
                refs[path.relative_to(root).as_posix()] = path.read_text(encoding="utf-8").strip()
            except (OSError, ValueError):
                continue
    return refs


def _files(snapshot: Path, blobs: Path) -> Iterator[StoredFile]:
    for folder, _, names in os.walk(snapshot):
        for name in sorted(names):
            path = Path(folder) / name
            yield _file(path, path.relative_to(snapshot).as_posix(), blobs)


def _file(path: Path, name: str, blobs: Path) -> StoredFile:
    entry = None
    if path.is_symlink():
        target = Path(os.path.normpath(path.parent / path.readlink()))
        entry = blobs / target.name if target.parent == Path(os.path.normpath(blobs)) else None
    try:
        blob = path.resolve(strict=True)
        size = blob.stat().st_size
    except (OSError, RuntimeError):  # it leads nowhere, or in a circle
        return StoredFile(name, path, None, entry, 0)
    return StoredFile(name, path, blob, entry, size)


def listing_path(folder: Path, commit: str) -> Path:
    """Where seatrial keeps which files of a commit it chose, in the form of huggingface_hub's `trees/`.

    It is no `trees/COMMIT.json` itself: huggingface_hub would believe that the commit has no other files.
    """
    return folder / STATE_FOLDER / f"{commit}.json"


def read_listing(folder: Path, commit: str) -> tuple[ListedFile, ...] | None:
    """Read which files a commit must have: those that were chosen, else those that the Hub listed.

    Returns:
        None where nobody kept it, or it can't be read.
    """
    for path in (listing_path(folder, commit), folder / "trees" / f"{commit}.json"):
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            return tuple(
                ListedFile(
                    str(name), int(row.get("lfs_size") or row["size"]), str(row.get("lfs_sha256") or row["blob_id"])
                )
                for name, row in document["files"].items()
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            continue
    return None
