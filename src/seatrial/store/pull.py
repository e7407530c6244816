"""Brings a checkpoint into the store: looked at first, loaded in parallel, checked, and named only when it is whole."""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from shutil import disk_usage

from seatrial.errors import FetchError, StorageError
from seatrial.store.fetching import Place, Watching, fetch, storage_error
from seatrial.store.hub_source import HubModel, asking
from seatrial.store.layout import ListedFile, find_model, folder_name, hub_folder, listing_path
from seatrial.store.locks import Busy, model_lock
from seatrial.store.selection import Selection
from seatrial.store.sharing import Sharing

PARALLEL = 8
MARGIN_BYTES = 1 << 30
"""Stays free beside what is loaded: the engine's caches and logs live on the same disk."""
POLL_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class PullPlan:
    """What a pull will do, before a byte is loaded.

    Attributes:
        model: what the Hub has.
        selection: which files.
        hub: the store's hub folder.
        missing: files whose content is not in the store.
        begun_bytes: bytes of them that an earlier attempt left.
        free_bytes: of the disk that the store lies on.
        others: commits of the same model that are in the store and stay there, each with its bytes.
    """

    model: HubModel
    selection: Selection
    hub: Path
    missing: tuple[ListedFile, ...]
    begun_bytes: int
    free_bytes: int
    others: tuple[tuple[str, int], ...] = ()

    @property
    def load_bytes(self) -> int:
        """Bytes that must still come."""
        return sum({file.etag: file.bytes for file in self.missing}.values()) - self.begun_bytes

    @property
    def needed_bytes(self) -> int:
        """Free space that it takes: what must come, and a margin. Old commits stay until they are removed."""
        return self.load_bytes + MARGIN_BYTES if self.load_bytes else 0

    @property
    def fits(self) -> bool:
        """Whether the disk has room."""
        return self.free_bytes >= self.needed_bytes

    @property
    def folder(self) -> Path:
        """The model's folder in the store."""
        return self.hub / folder_name(self.model.repo)


def plan_pull(model: HubModel, selection: Selection, store: Path) -> PullPlan:
    """Compare what the Hub has with what is in the store.

    Raises:
        StorageError: the store's disk can't be looked at.
    """
    hub = hub_folder(store)
    blobs = hub / folder_name(model.repo) / "blobs"
    missing, begun = [], 0
    for file in {file.etag: file for file in selection.files}.values():
        try:
            there = (blobs / file.etag).stat().st_size == file.bytes
        except OSError:
            there = False
        if there:
            continue
        missing.append(file)
        try:
            begun += min(file.bytes, (blobs / f"{file.etag}.incomplete").stat().st_size)
        except OSError:
            continue
    stored = find_model(store, model.repo)
    revisions = stored.revisions if stored else ()
    others = tuple((one.commit, one.bytes) for one in revisions if one.commit != model.commit)
    return PullPlan(model, selection, hub, tuple(missing), begun, free_bytes(hub), others)


def free_bytes(folder: Path) -> int:
    """Measure the free space of the disk that a folder lies on, or will lie on.

    Raises:
        StorageError: it can't be measured.
    """
    real = folder.resolve()
    while not real.exists() and real != real.parent:
        real = real.parent
    try:
        return disk_usage(real).free
    except OSError as error:
        raise StorageError(f"its disk can't be looked at ({error.strerror})", where=str(folder)) from None


@dataclass(slots=True)
class Progress:
    """How far a pull is; several threads count, one shows.

    Attributes:
        total_bytes: of all content.
        loaded_bytes: there, from before or from now.
        new_bytes: that came over the network in this pull.
        checked_bytes: compared with the Hub's hashes.
        done: names of the files that are there and checked.
        waiting: another process loads something that this one needs.
    """

    total_bytes: int
    loaded_bytes: int = 0
    new_bytes: int = 0
    checked_bytes: int = 0
    done: list[str] = field(default_factory=list)
    waiting: bool = False
    sentences: queue.SimpleQueue[str] = field(default_factory=queue.SimpleQueue)
    ended: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def watching(self) -> Watching:
        """Make what one file's loading reports to."""
        return Watching(self._on_loaded, self._on_checked, self._on_waiting, self.sentences.put)

    def _on_loaded(self, more: int) -> None:
        with self._lock:
            self.loaded_bytes += more
            self.new_bytes += max(0, more)
            self.waiting = False
        self._stop_if_ended()

    def _on_checked(self, more: int) -> None:
        with self._lock:
            self.checked_bytes += more
        self._stop_if_ended()

    def _on_waiting(self) -> None:
        self.waiting = True
        self._stop_if_ended()

    def _stop_if_ended(self) -> None:
        if self.ended.is_set():
            raise FetchError("given up", where="pull")


def pull(plan: PullPlan, *, parallel: int = PARALLEL, show: Callable[[Progress], None] = lambda _now: None) -> Path:
    """Load what is missing, check everything, and let the branch or tag point to it; return the snapshot.

    Killed at any moment, the next pull goes on where it was. Until everything is there, the branch points to the old
    commit, which stays usable.

    Args:
        plan: what `plan_pull` said.
        parallel: files at once.
        show: called several times a second.

    Raises:
        FetchError: something can't be loaded.
        StorageError: the disk is full, or the store can't be written.
    """
    model = plan.model
    place = Place(model.repo, model.commit, plan.folder, Sharing.of(plan.hub))
    progress = Progress(plan.selection.bytes)
    progress.loaded_bytes = plan.selection.bytes - plan.load_bytes
    try:
        with model_lock(plan.folder, place.sharing, alone=False):
            _mark(plan.hub, place)
            _load_all(plan, place, progress, parallel, show)
            _list(plan, place)
            _point(plan, place)
    except Busy:
        raise StorageError("it is being removed right now", where=str(plan.folder)) from None
    except OSError as error:
        raise storage_error(error, plan.hub) from None
    show(progress)
    return plan.folder / "snapshots" / model.commit


def _load_all(
    plan: PullPlan, place: Place, progress: Progress, parallel: int, show: Callable[[Progress], None]
) -> None:
    """Load in threads that end with the program, so that Ctrl-C never waits for a silent connection."""
    waiting: queue.SimpleQueue[ListedFile] = queue.SimpleQueue()
    for file in plan.selection.files:
        waiting.put(file)
    failures: queue.SimpleQueue[BaseException] = queue.SimpleQueue()

    def work() -> None:
        try:
            while not progress.ended.is_set():
                file = waiting.get_nowait()
                with asking(place.repo):
                    fetch(place, file, progress.watching())
                progress.done.append(file.name)
        except queue.Empty:
            return
        except BaseException as error:  # noqa: BLE001 - it is raised where the others are waited for
            failures.put(error)
            progress.ended.set()

    threads = [
        threading.Thread(target=work, name=f"pull-{number}", daemon=True)
        for number in range(max(1, min(parallel, len(plan.selection.files))))
    ]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            while thread.is_alive() and failures.empty():
                thread.join(POLL_SECONDS)
                show(progress)
    finally:
        progress.ended.set()
    if not failures.empty():
        raise failures.get()
    missing = {file.name for file in plan.selection.files} - set(progress.done)
    if missing:
        raise FetchError(f"{len(missing)} files did not come", where=place.repo, advice="Run it again.")


def _mark(hub: Path, place: Place) -> None:
    """Let backup programs pass over the store, as huggingface_hub does (CACHEDIR.TAG)."""
    tag = hub / "CACHEDIR.TAG"
    if not tag.exists():
        text = "Signature: 8a477f597d28d172789f06886806bc55\n# Models from the Hub; they can be loaded again.\n"
        place.sharing.write_text(tag, text, place.aside)


def _list(plan: PullPlan, place: Place) -> None:
    """Keep which files were chosen of this commit: `verify` works offline with it."""
    document = {
        "format_version": 1,
        "files": {
            file.name: {"size": file.bytes, "blob_id": file.etag}
            if len(file.etag) != 64
            else {"size": file.bytes, "blob_id": "", "lfs_sha256": file.etag, "lfs_size": file.bytes}
            for file in sorted(plan.selection.files, key=lambda file: file.name)
        },
    }
    path = listing_path(place.folder, plan.model.commit)
    place.sharing.make_folder(path.parent)
    place.sharing.write_text(path, json.dumps(document, indent=1), place.aside)


def _point(plan: PullPlan, place: Place) -> None:
    """Let the branch or tag point to the commit: an engine without network starts from it."""
    revision = plan.model.revision
    if revision == plan.model.commit:
        return
    ref = place.folder / "refs" / revision
    place.sharing.make_folder(ref.parent)
    place.sharing.write_text(ref, plan.model.commit, place.aside)
