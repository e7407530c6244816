"""What a good start leaves for the next preflight: the image that it ran on, and what its kernels were compiled for."""

from __future__ import annotations

from pathlib import Path

from seatrial.facts.host import HostFacts
from seatrial.host.looking.caches import cache_key, mark_caches
from seatrial.host.looking.image import lock_image, locked_image
from seatrial.planning.plan import Plan


def remember_good_start(
    plan: Plan, folder: Path, image_id: str | None, host: HostFacts | None, *, promoted: bool = False
) -> None:
    """Write down what a stack that answers runs on.

    Args:
        plan: what was started.
        folder: the stack's.
        image_id: digest of the image that runs; None for a process.
        host: facts about this machine.
        promoted: it was proven, so that its image becomes the one to hold later starts against. A start that was not
            proven sets it only where there was none.

    Raises:
        StorageError: a folder can't be written.
    """
    name = plan.stack.engine.image
    if image_id is not None and (promoted or locked_image(folder, name) is None):
        lock_image(folder, name, image_id)
    key = cache_key(plan, image_id, host)
    caches = (folder / plan.stack.jit_cache).resolve()
    if key is not None and caches.is_dir():
        mark_caches(caches, key)
