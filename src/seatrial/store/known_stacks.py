"""Which stack files use a store, remembered in the store itself: a stack that is down has no container to ask."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from seatrial.store.layout import hub_folder
from seatrial.store.sharing import Sharing

FILE = Path(".locks") / "seatrial" / "stacks"


def remember_stack(store: Path, stack: Path) -> None:
    """Write down that a stack file uses this store; does nothing where that is known, or can't be written.

    Args:
        store: HF_HOME, or its hub folder; where there is none yet, nothing needs to be kept.
        stack: the stack file.
    """
    hub = hub_folder(store)
    real = stack.resolve()
    if not hub.is_dir() or real in known_stacks(store) or "\n" in str(real):
        return
    sharing = Sharing.of(hub)
    with contextlib.suppress(OSError):
        path = hub / FILE
        sharing.make_folder(path.parent)
        descriptor = sharing.open_file(path, os.O_WRONLY | os.O_APPEND)
        with os.fdopen(descriptor, "a", encoding="utf-8") as file:
            file.write(f"{real}\n")


def known_stacks(store: Path) -> tuple[Path, ...]:
    """List the stack files that are remembered and are still there."""
    try:
        lines = (hub_folder(store) / FILE).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return ()
    return tuple(dict.fromkeys(path for line in lines if line and (path := Path(line)).is_file()))
