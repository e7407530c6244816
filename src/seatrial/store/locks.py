"""Locks of the store: one for each blob, at huggingface_hub's own place, and one for each model.

Every pull holds its model's lock together with other pulls; whoever removes something holds it alone. The kernel lets
go of a lock when its holder ends, however it ends.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from seatrial.store.sharing import Sharing

MODEL_LOCK = "seatrial.lock"
POLL_SECONDS = 0.2


class Busy(Exception):  # noqa: N818 - said as it is
    """Somebody else holds the lock."""


def lock_folder(model_folder: Path) -> Path:
    """Find where a model's locks lie: `hub/.locks/models--owner--name/`."""
    return model_folder.parent / ".locks" / model_folder.name


@contextmanager
def model_lock(model_folder: Path, sharing: Sharing, *, alone: bool) -> Iterator[None]:
    """Hold a model's lock.

    Raises:
        Busy: somebody removes (or, with `alone`, pulls) it now.
    """
    with _opened(lock_folder(model_folder) / MODEL_LOCK, sharing) as descriptor:
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Busy from None
        yield


@contextmanager
def blob_lock(
    model_folder: Path, etag: str, sharing: Sharing, waiting: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Hold a blob's lock, as huggingface_hub does while it downloads; wait until it is free.

    Args:
        model_folder: the repository's folder in the store.
        etag: the blob's name.
        sharing: how the lock's file is shared.
        waiting: called again and again meanwhile; may raise to end the waiting.
    """
    with _opened(lock_folder(model_folder) / f"{etag}.lock", sharing) as descriptor:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                waiting()
                time.sleep(POLL_SECONDS)
        yield


def is_being_loaded(model_folder: Path, etag: str) -> bool:
    """Whether somebody downloads this blob now."""
    path = lock_folder(model_folder) / f"{etag}.lock"
    try:
        descriptor = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(descriptor)


@contextmanager
def _opened(path: Path, sharing: Sharing) -> Iterator[int]:
    sharing.make_folder(path.parent)
    try:
        descriptor = sharing.open_file(path, os.O_RDWR)
    except PermissionError:  # another account's, made under a narrow umask: to lock it, reading is enough
        descriptor = os.open(path, os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
