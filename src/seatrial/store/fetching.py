"""Loads one file of the Hub into the store: goes on where an earlier attempt ended, and checks its hash.

huggingface_hub 2 itself begins a file anew after every interruption (its temporary file has a name of its own and is
removed). A shard has gigabytes, so this keeps the half under `blobs/HASH.incomplete` and asks for the rest. The
session, the headers, the waiting after 429 and the locks are huggingface_hub's; so is the layout that results.
"""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seatrial.errors import FetchError, StorageError
from seatrial.store.hashing import OnBytes, is_whole
from seatrial.store.hub_source import clean, endpoint, first_line
from seatrial.store.layout import INCOMPLETE, STATE_FOLDER, ListedFile
from seatrial.store.locks import blob_lock
from seatrial.store.sharing import PART, Sharing

FRUITLESS_ATTEMPTS = 5
"""So often in a row a connection may break without one new byte."""
FIRST_WAIT_SECONDS = 0.25
LONGEST_WAIT_SECONDS = 8.0
PIECE_BYTES = 8 << 30
"""Most bytes that are asked for at once: the Hub's plain download ends at 50 GB."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a file goes.

    Attributes:
        repo: `owner/name`.
        commit: which commit it is loaded from.
        folder: `…/models--owner--name`.
        sharing: how new files are shared.
    """

    repo: str
    commit: str
    folder: Path
    sharing: Sharing

    def blob(self, file: ListedFile) -> Path:
        """Where the content lies."""
        return self.folder / "blobs" / file.etag

    def half(self, file: ListedFile) -> Path:
        """Where the content grows meanwhile."""
        return self.folder / "blobs" / f"{file.etag}{INCOMPLETE}"

    @property
    def aside(self) -> Path:
        """Where parts of small files are written, out of every other program's way."""
        return self.folder / STATE_FOLDER

    def link(self, file: ListedFile) -> Path:
        """The file's name in the snapshot."""
        return self.folder / "snapshots" / self.commit / file.name


@dataclass(frozen=True, slots=True)
class Watching:
    """Told what happens; each may raise to end the work, the file stays as far as it is.

    Attributes:
        loaded: bytes that came; negative where some were given up.
        checked: bytes that were compared with the Hub's hash.
        waiting: another process loads the same file.
        say: a sentence for people.
    """

    loaded: OnBytes = lambda _more: None
    checked: OnBytes = lambda _more: None
    waiting: Callable[[], None] = lambda: None
    say: Callable[[str], None] = lambda _text: None


def fetch(place: Place, file: ListedFile, watching: Watching) -> None:
    """Bring one file into the store, whole and checked; does nothing but check where it is there.

    Raises:
        FetchError: it can't be loaded, or what came has another hash twice.
        StorageError: the disk is full, or the store can't be written.
    """
    try:
        place.sharing.make_folder(place.folder / "blobs")
        with blob_lock(place.folder, file.etag, place.sharing, watching.waiting):
            if not _is_there(place, file, watching):
                _load(place, file, watching)
            _link(place, file)
    except OSError as error:
        if hasattr(error, "response"):
            raise  # an answer of the Hub: its client's errors are OSErrors too
        raise storage_error(error, place.folder) from None


def _is_there(place: Place, file: ListedFile, watching: Watching) -> bool:
    blob = place.blob(file)
    if not blob.is_file():
        return False
    if is_whole(blob, file.bytes, file.etag, watching.checked):
        if not blob.is_symlink():
            place.sharing.share(blob)
        return True
    watching.say(f"{file.name} in the store is not what the Hub has: it is loaded anew")
    return False


def _load(place: Place, file: ListedFile, watching: Watching) -> None:
    half = place.half(file)
    for attempt in (1, 2):
        _stream(place, file, half, watching)
        if is_whole(half, file.bytes, file.etag, watching.checked):
            with half.open("rb") as whole:
                os.fsync(whole.fileno())
            half.replace(place.blob(file))
            return
        half.unlink()
        watching.loaded(-file.bytes)
        if attempt == 1:
            watching.say(f"{file.name} came with another hash than the Hub's: it is loaded once more")
    raise FetchError(
        "what came has another hash than the Hub says, twice",
        where=f"{place.repo}: {file.name}",
        advice="Nothing of it is used. A proxy or a bad disk or memory does this.",
    )


def _stream(place: Place, file: ListedFile, half: Path, watching: Watching) -> None:
    """Load what is missing of a file."""
    from huggingface_hub import errors  # noqa: PLC0415 - takes 140 ms, and only the Hub needs it

    descriptor = place.sharing.open_file(half, os.O_RDWR)
    with os.fdopen(descriptor, "r+b", buffering=0) as out:
        if out.seek(0, os.SEEK_END) > file.bytes:
            out.truncate(0)
        place.sharing.share(out.fileno())
        fruitless = 0
        while (have := out.seek(0, os.SEEK_END)) < file.bytes:
            try:
                _piece(place, file, out, have, watching)
                broke = "nothing came" if out.tell() == have else ""
            except errors.HfHubHTTPError:
                raise  # an answer of the Hub: said by whoever asked for the file
            except errors.HTTPError as error:  # type: ignore[attr-defined]  # what its client raises
                broke = clean(first_line(error))
            if not broke:
                continue
            fruitless = 0 if out.seek(0, os.SEEK_END) > have else fruitless + 1
            if fruitless >= FRUITLESS_ATTEMPTS:
                raise FetchError(
                    f"the connection broke {fruitless} times without a new byte ({broke})",
                    where=f"{place.repo}: {file.name}",
                    advice="Run it again; it goes on where it was.",
                )
            watching.waiting()
            time.sleep(min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2**fruitless))


def _piece(place: Place, file: ListedFile, out: Any, have: int, watching: Watching) -> None:
    from huggingface_hub import constants, hf_hub_url, hf_raise_for_status  # noqa: PLC0415 - likewise
    from huggingface_hub.utils import (  # type: ignore[attr-defined]  # noqa: PLC0415 - filled in when imported
        build_hf_headers,
        http_stream_backoff,
    )

    headers = build_hf_headers(library_name="seatrial")
    headers["Accept-Encoding"] = "identity"  # a range of a compressed text would be another range
    end = min(have + PIECE_BYTES, file.bytes)
    if have or end < file.bytes:
        headers["Range"] = f"bytes={have}-{end - 1}"
    url = hf_hub_url(place.repo, file.name, revision=place.commit, endpoint=endpoint())
    seconds = constants.HF_HUB_DOWNLOAD_TIMEOUT
    with http_stream_backoff("GET", url, headers=headers, retry_on_exceptions=(), timeout=seconds) as answer:
        if answer.status_code == 416:  # what is there is not a beginning of it
            out.truncate(0)
            watching.loaded(-have)
            return
        hf_raise_for_status(answer)
        if have and answer.status_code == 200:  # the range was ignored: all of it comes
            out.seek(0)
            out.truncate(0)
            watching.loaded(-have)
            have = 0
        for block in answer.iter_bytes():
            room = file.bytes - have
            if len(block) > room:  # more than the Hub said: the hash will tell
                block = block[:room]  # noqa: PLW2901 - the rest is of no use
            if block:
                _write(out, block)
                have += len(block)
                watching.loaded(len(block))


def _write(out: Any, block: bytes) -> None:
    view = memoryview(block)
    while view:
        view = view[out.write(view) :]


def _link(place: Place, file: ListedFile) -> None:
    """Name the blob in the snapshot; the name appears at once."""
    link = place.link(file)
    target = os.path.relpath(place.blob(file), link.parent)
    if link.is_symlink() and str(link.readlink()) == target:
        return
    place.sharing.make_folder(link.parent)
    if not os.path.lexists(link):
        with contextlib.suppress(FileExistsError):  # another pull was faster: it made the same link
            link.symlink_to(target)
        return
    place.sharing.make_folder(place.aside)
    part = place.aside / f"{link.name}.{os.getpid()}{PART}"
    part.unlink(missing_ok=True)
    part.symlink_to(target)
    part.replace(link)


def storage_error(error: OSError, where: Path) -> StorageError:
    """Make one clear line of a failed write."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StorageError(
            "the disk is full",
            where=str(where),
            advice="Free some space and run it again: it goes on where it was. `seatrial models list` shows sizes.",
        )
    reason = (error.strerror or str(error)).lower()
    denied = error.errno in (errno.EACCES, errno.EPERM)
    advice = "Which account does the store belong to? `seatrial models lint` says." if denied else None
    named = error.filename if isinstance(error.filename, str) else str(where)
    return StorageError(f"the store can't be written ({reason})", where=named, advice=advice)
