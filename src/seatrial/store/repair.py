"""Mends a stored model: loads what is missing or corrupt, removes what nobody needs. Never touches what is whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from seatrial.errors import StorageError
from seatrial.store.fetching import storage_error
from seatrial.store.hub_source import HubModel, look_up
from seatrial.store.layout import INCOMPLETE, STATE_FOLDER, ListedFile, read_listing, read_model_entry
from seatrial.store.locks import Busy, model_lock
from seatrial.store.pull import Progress, plan_pull, pull
from seatrial.store.removal import finish, halves
from seatrial.store.selection import Selection, select
from seatrial.store.sharing import PART, Sharing
from seatrial.store.verify import Verified


@dataclass(frozen=True, slots=True)
class Repaired:
    """What was done, a sentence each, and what the disk got back."""

    done: tuple[str, ...]
    freed_bytes: int = 0


def repair(found: Verified, *, show: Callable[[Progress], None] = lambda _now: None) -> Repaired:
    """Mend what `verify` found.

    Raises:
        FetchError: what is missing can't be loaded.
        StorageError: the store can't be written, or somebody is at work in it.
    """
    swept = sweep(found)
    done = list(swept.done)
    for commit in sorted(_broken_commits(found)):
        hub = look_up(found.model.repo, commit)
        selection = _selection(found, hub)
        plan = plan_pull(hub, selection, found.model.folder.parent)
        if not plan.fits:
            raise StorageError(
                f"{plan.needed_bytes:,} bytes must be free and {plan.free_bytes:,} are",
                where=str(plan.hub),
                advice="Free some space.",
            )
        pull(plan, show=show)
        done.append(f"commit {commit[:12]} is whole: every file was compared with the Hub's hash")
    return Repaired(tuple(done), swept.freed_bytes)


def sweep(found: Verified) -> Repaired:
    """Remove what nobody needs: abandoned halves, content of no commit, what a killed removal left.

    Raises:
        StorageError: somebody pulls or removes the model right now, or the store can't be written.
    """
    folder = found.model.folder
    done, freed = [], 0
    try:
        with model_lock(folder, Sharing.of(folder.parent), alone=True):
            if left := finish(folder):
                done.append(f"{left} removals that were cut off are finished")
            model = read_model_entry(folder)
            used = {file.entry for one in model.revisions for file in one.files}
            contents = {file.blob for one in model.revisions for file in one.files}
            gone = [half for half, busy in halves(model).items() if not busy and half.name.count(".") > 1]
            gone += [
                blob
                for blob in model.blobs
                if blob not in used and blob.resolve() not in contents and not blob.name.endswith(INCOMPLETE)
            ]
            gone += (folder / STATE_FOLDER).glob(f"*{PART}")
            for blob in gone:
                freed += 0 if blob.is_symlink() else blob.stat().st_size
                blob.unlink(missing_ok=True)
            if gone:
                done.append(f"{len(gone)} blobs and halves that nobody needs are removed ({freed:,} bytes)")
    except Busy:
        raise StorageError("somebody pulls or removes it right now", where=str(folder), advice="Wait for it.") from None
    except OSError as error:
        raise storage_error(error, folder) from None
    return Repaired(tuple(done), freed)


def _broken_commits(found: Verified) -> set[str]:
    """List the commits that something is wrong with that a pull mends."""
    commits = {commit for commit, _ in found.wanted}
    for finding in found.findings:
        if finding.level.value == "error" and finding.where:
            begin = finding.where.partition("/")[0]
            commits |= {one.commit for one in found.model.revisions if one.commit.startswith(begin)}
    return commits


def _selection(found: Verified, hub: HubModel) -> Selection:
    """Choose what was chosen before, where that is known; pickles and code that are there stay what they are."""
    names = {file.name for one in found.model.revisions if one.commit == hub.commit for file in one.files}
    listed: tuple[ListedFile, ...] = read_listing(found.model.folder, hub.commit) or ()
    names |= {file.name for file in listed} if listed else {file.name for file in select(hub.files).files}
    return Selection(tuple(sorted((file for file in hub.files if file.name in names), key=lambda file: file.bytes)))
