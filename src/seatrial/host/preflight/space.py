"""Free space where it is really used: the store's own file system, /tmp, Docker's folder. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from seatrial.findings import Finding, Level
from seatrial.host.situation import Situation

GIB = 1 << 30


def check(situation: Situation) -> Iterator[Finding]:
    """Compare what is needed with what is free."""
    store = situation.store
    if store is not None and store.free_bytes is not None:
        needed = store.needed_bytes
        if needed and store.free_bytes < needed:
            yield Finding(
                Level.ERROR,
                "disk-full-in-download",
                f"the checkpoint still needs {needed / GIB:.1f} GiB, and {store.path} has "
                f"{store.free_bytes / GIB:.1f} GiB "
                "free: the download would break off, and leave parts that later look like a broken model",
                "Free space (`seatrial models rm`), or set store to a larger file system, before the first byte "
                "is loaded.",
                where=store.path,
            )
    for space in situation.spaces:
        if space.free_bytes is not None and space.free_bytes < space.needed_bytes:
            yield Finding(
                Level.WARNING,
                "little-space",
                f"{space.path} has {space.free_bytes / GIB:.1f} GiB free; {space.what} takes up to "
                f"{space.needed_bytes / GIB:.0f} GiB",
                "`docker system df` and `du -xh` say what takes it; keep the image that serves.",
                where=space.path,
            )
