"""Looks at the folder of compiled kernels, and remembers what the last good start compiled them for."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path

from seatrial.errors import SeatrialError
from seatrial.facts.host import HostFacts
from seatrial.host.situation import Caches
from seatrial.ledger.database import FILE_NAME, Ledger
from seatrial.ledger.entry import Kind
from seatrial.planning.plan import Plan
from seatrial.text_files import write_whole

MARK = ".seatrial-made-for.json"


def look_at_caches(plan: Plan, folder: Path, image_id: str | None, host: HostFacts | None) -> Caches:
    """Look into a plan's folder of compiled kernels."""
    path = (folder / plan.stack.jit_cache).resolve()
    seconds = boot_seconds(plan, folder)
    entries = False
    with contextlib.suppress(OSError):
        entries = any(entry.name != MARK for entry in path.iterdir())
    return Caches(
        path=str(path),
        entries=entries,
        made_for=_made_for(path) if entries else None,
        wanted=cache_key(plan, image_id, host),
        cold_seconds=max(seconds) if seconds else None,
        warm_seconds=min(seconds) if seconds else None,
    )


def cache_key(plan: Plan, image_id: str | None, host: HostFacts | None) -> Mapping[str, str] | None:
    """Say what kernels are compiled for: image, cards and driver; None where one of them is unknown."""
    if host is None or not host.gpus or host.driver_version is None:
        return None
    engine = image_id if plan.stack.engine.environment is None else plan.version
    capability = host.compute_capability
    if engine is None or capability is None:
        return None
    return {"image": engine, "gpu": f"sm{capability[0]}{capability[1]}", "driver": host.driver_version}


def mark_caches(path: Path, key: Mapping[str, str]) -> None:
    """Write down what a good start compiled its kernels for.

    Raises:
        StorageError: the folder can't be written.
    """
    write_whole(path / MARK, json.dumps(dict(key), indent=2) + "\n")


def boot_seconds(plan: Plan, folder: Path) -> tuple[float, ...]:
    """List how long starts of this very plan took, from the ledger."""
    place = (folder / plan.stack.ledger).resolve()
    if not (place / FILE_NAME).is_file():
        return ()
    try:
        ledger = Ledger(place)
    except SeatrialError:
        return ()  # somebody else's ledger, which this account may not open
    try:
        entries = ledger.entries(model=plan.stack.model.repo, kind=Kind.BOOT, limit=20)
    finally:
        ledger.close()
    return tuple(
        float(entry.figures["start_seconds"])
        for entry in entries
        if entry.plan == plan.digest and "start_seconds" in entry.figures
    )


def _made_for(path: Path) -> Mapping[str, str] | None:
    try:
        document = json.loads((path / MARK).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return {str(key): str(value) for key, value in document.items()} if isinstance(document, dict) else None
