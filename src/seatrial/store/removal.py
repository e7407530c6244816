"""Takes a model, or one commit of it, out of the store: planned first, refused while anything refers to it.

The snapshot is set aside before anything is deleted, and put back if a process turns out to have it open. A kill at
any step leaves either the whole commit, or what `finish` takes away.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from seatrial.errors import StorageError
from seatrial.store.fetching import storage_error
from seatrial.store.layout import (
    INCOMPLETE,
    STATE_FOLDER,
    Revision,
    StoredModel,
    listing_path,
    read_model_entry,
    read_store,
)
from seatrial.store.locks import Busy, is_being_loaded, model_lock
from seatrial.store.open_files import holders
from seatrial.store.references import Use, UseKind, refers_to_model, uses_of
from seatrial.store.sharing import Sharing

ASIDE = "removing-"


@dataclass(frozen=True, slots=True)
class Removal:
    """What would be removed.

    Attributes:
        model: the model, as it is in the store.
        commits: which of its commits; empty where there is nothing but halves of downloads.
        whole: the model's whole folder goes.
        blobs: entries of `blobs/` that no other commit needs.
        frees_bytes: what the disk gets back: content that others share stays.
        refused: what refers to it; with any, nothing may be removed.
        loading: somebody pulls it right now.
    """

    model: StoredModel
    commits: tuple[str, ...]
    whole: bool
    blobs: tuple[Path, ...]
    frees_bytes: int
    refused: tuple[Use, ...] = ()
    loading: bool = False

    @property
    def may_go(self) -> bool:
        """Whether nothing stands against it."""
        return not self.refused and not self.loading


def plan_removal(
    model: StoredModel, commits: Iterable[str] | None, uses: Sequence[Use], others: Iterable[StoredModel] = ()
) -> Removal:
    """Say what goes, what that frees, and what stands against it. Changes nothing.

    Args:
        model: as it is in the store.
        commits: which of its commits; None for the whole model.
        uses: everything that refers to anything.
        others: the other models of the store.
    """
    lent = borrowed(model, others)
    stored = {one.commit for one in model.revisions}
    chosen = stored if commits is None else set(commits) & stored
    whole = commits is None or chosen == stored
    by_commit = uses_of(model, uses)
    refused = [use for commit in sorted(chosen) for use in by_commit[commit]]
    if whole:  # also what refers to a commit that is not, or not wholly, there
        refused += [use for use in uses if refers_to_model(model, use)]
        lends = sorted(set(lent.values()))
        refused += [Use(UseKind.MODEL, repo, model.repo, None, "its names lead to this content") for repo in lends]
    blobs = model.blobs if whole else unneeded_blobs(model, chosen, lent)
    return Removal(
        model,
        tuple(sorted(chosen)),
        whole,
        tuple(blobs),
        freed_bytes(model, blobs, [one for one in model.revisions if one.commit in chosen]),
        tuple(dict.fromkeys(refused)),
        any(is_being_loaded(model.folder, blob.name.partition(".")[0]) for blob in blobs),
    )


def unneeded_blobs(model: StoredModel, leaving: Iterable[str], held: Iterable[Path] = ()) -> tuple[Path, ...]:
    """List the blobs that these commits use and nothing else does: no other commit, and not `held` (real paths)."""
    leaving = set(leaving)
    used: set[Path] = set()
    kept: set[Path] = set()
    contents = set(held)
    for one in model.revisions:
        entries = {file.entry for file in one.files if file.entry is not None}
        (used if one.commit in leaving else kept).update(entries)
        if one.commit not in leaving:  # also where a link leads there on another way
            contents |= {file.blob for file in one.files if file.blob is not None}
    return tuple(sorted(blob for blob in (used - kept) & set(model.blobs) if real_path(blob) not in contents))


def real_path(path: Path) -> Path:
    """Follow every link; a path that leads nowhere stays as it is."""
    try:
        return path.resolve(strict=True)
    except (OSError, RuntimeError):
        return path


def borrowed(model: StoredModel, others: Iterable[StoredModel]) -> Mapping[Path, str]:
    """Find content of a model that names of other models lead to: real path of the content -> the other model."""
    home = real_path(model.folder)
    found = {}
    for other in others:
        if other.folder == model.folder:
            continue
        contents = [file.blob for one in other.revisions for file in one.files if file.blob is not None]
        contents += [real_path(blob) for blob in other.blobs if blob.is_symlink()]
        found.update({path: other.repo for path in contents if home in path.parents})
    return found


def freed_bytes(model: StoredModel, blobs: Iterable[Path], revisions: Iterable[Revision]) -> int:
    """Count what the disk gets back: each content once, and only where its last name goes."""
    links: dict[tuple[int, int], int] = {}
    sizes: dict[tuple[int, int], tuple[int, int]] = {}
    plain = [file.path for one in revisions for file in one.files if not file.path.is_symlink()]
    for path in (*blobs, *plain):
        if path.is_symlink():
            target = shared_target(path)
            if target is None or other_links(target, leaving=set(blobs)):
                continue
            path = target  # noqa: PLW2901 - what the entry leads to goes with its last entry
        with contextlib.suppress(OSError):
            facts = path.stat()
            key = (facts.st_dev, facts.st_ino)
            links[key] = links.get(key, 0) + 1
            sizes[key] = (facts.st_size, 1 if path.parent.parent == _shared(model.folder.parent) else facts.st_nlink)
    return sum(size for key, (size, names) in sizes.items() if links[key] >= names)


def _shared(hub: Path) -> Path:
    """Where huggingface_hub keeps blobs that several models share: `hub/blobs/FIRST_TWO_DIGITS/HASH`."""
    return hub / "blobs"


def shared_target(entry: Path) -> Path | None:
    """Find the shared content that a model's blob leads to; None where it leads elsewhere."""
    hub = entry.parent.parent.parent
    target = Path(os.path.normpath(entry.parent / entry.readlink()))
    return target if target.parent.parent == _shared(hub) else None


def other_links(target: Path, leaving: set[Path]) -> bool:
    """Whether another repository's blob leads to a shared content, too."""
    hub = target.parent.parent.parent
    for entry in hub.glob("*--*/blobs/*"):
        if entry not in leaving and entry.is_symlink() and shared_target(entry) == target:
            return True
    return False


def remove(removal: Removal, uses: Callable[[], Sequence[Use]]) -> Removal:
    """Remove what was planned, if it still may be; return what was really removed.

    Args:
        removal: the plan.
        uses: looks again for everything that refers to anything, once nobody can begin a pull any more.

    Raises:
        StorageError: somebody pulls it now, or the store can't be written.
    """
    folder = removal.model.folder
    try:
        with model_lock(folder, Sharing.of(folder.parent), alone=True):
            finish(folder)
            model = read_model_entry(folder)
            others = read_store(folder.parent)
            now = plan_removal(model, None if removal.whole else removal.commits, uses(), others)
            if not now.may_go:
                return now
            aside = _set_aside(now)
            still_open = holders([*now.blobs, *_plain_files(aside)])
            if still_open:
                _put_back(aside, folder)
                raise StorageError(
                    f"process {still_open[0].name} has it open", where=str(folder), advice="Nothing was removed."
                )
            _delete(now, aside)
            return now
    except Busy:
        raise StorageError(
            "it is being pulled right now", where=str(folder), advice="Wait for it, or end it."
        ) from None
    except OSError as error:
        raise storage_error(error, folder) from None


def finish(folder: Path) -> int:
    """Take away what a killed removal set aside; return how many there were. The model's lock must be held alone.

    Raises:
        OSError: it can't be removed.
    """
    left = sorted((folder / STATE_FOLDER).glob(f"{ASIDE}*"))
    for aside in left:
        model = read_model_entry(folder)
        files = [file for one in model.revisions for file in one.files]
        needed = {file.entry for file in files}
        contents = {file.blob for file in files} | set(borrowed(model, read_store(folder.parent)))
        for link in (path for path in aside.rglob("*") if path.is_symlink()):
            entry = folder / "blobs" / link.readlink().name
            if entry not in needed and real_path(entry) not in contents:
                _delete_blob(entry)
        shutil.rmtree(aside)
    return len(left)


def _set_aside(removal: Removal) -> Path:
    folder = removal.model.folder
    aside = folder / STATE_FOLDER / f"{ASIDE}{uuid4().hex[:8]}"
    aside.mkdir(parents=True)
    for commit in removal.commits:
        (folder / "snapshots" / commit).rename(aside / commit)
    return aside


def _put_back(aside: Path, folder: Path) -> None:
    for moved in aside.iterdir():
        moved.rename(folder / "snapshots" / moved.name)
    aside.rmdir()


def _plain_files(aside: Path) -> list[Path]:
    return [path for path in aside.rglob("*") if path.is_file() and not path.is_symlink()]


def _delete(removal: Removal, aside: Path) -> None:
    folder = removal.model.folder
    for name, commit in removal.model.refs.items():
        if commit in removal.commits or removal.whole:
            (folder / "refs" / name).unlink(missing_ok=True)
    for blob in removal.blobs:
        _delete_blob(blob)
    for commit in removal.commits:
        for path in (listing_path(folder, commit), folder / "trees" / f"{commit}.json"):
            path.unlink(missing_ok=True)
    shutil.rmtree(aside)
    if removal.whole:
        shutil.rmtree(folder.resolve())
        if folder.is_symlink():
            folder.unlink()


def _delete_blob(entry: Path) -> None:
    """Remove an entry of `blobs/`, and the shared content behind it where that was its last entry."""
    target = shared_target(entry) if entry.is_symlink() else None
    entry.unlink(missing_ok=True)
    if target is not None and not other_links(target, leaving={entry}):
        target.unlink(missing_ok=True)
        target.with_name(f"{target.name}.refs").unlink(missing_ok=True)


def halves(model: StoredModel) -> Mapping[Path, bool]:
    """List the halves of downloads, and whether somebody is at work on each."""
    return {
        blob: is_being_loaded(model.folder, blob.name.partition(".")[0])
        for blob in model.blobs
        if blob.name.endswith(INCOMPLETE)
    }
