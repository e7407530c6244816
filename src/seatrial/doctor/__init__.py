"""The doctor: from a log to the cause and its fix. Signatures are data; reading, matching and judging are pure.

log ─► reading (prefixes off) ─► watching (known lines, phases, tracebacks) ─► judging (root cause) ─► Diagnosis
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from seatrial.doctor.judging import judge
from seatrial.doctor.model import DEADLY, Diagnosis, Event, EventKind, Level, Named, Role
from seatrial.doctor.reading import to_bytes
from seatrial.doctor.watching import Watcher

__all__ = ["DEADLY", "Diagnosis", "Event", "EventKind", "Level", "Named", "Role", "Watcher", "diagnose", "judge"]


def diagnose(
    log: Iterable[str | bytes],
    *,
    context: Mapping[str, Any] | None = None,
    metrics: str | None = None,
    silence_seconds: float | None = None,
) -> Diagnosis:
    """Name the root cause of what a log shows.

    Args:
        log: its lines, with or without their ends; any bytes are taken.
        context: what the plan knows, e.g. `plan_document(plan)`: `settings`, `memory`, `host`, `engine`;
            `known_flags` helps to correct a misspelt one.
        metrics: the text of the server's `/metrics`.
        silence_seconds: for how long the log has been silent, where that is known.
    """
    watcher = Watcher(context=context)
    watcher.feed_all(to_bytes(log))
    return judge(watcher, metrics=metrics, silence_seconds=silence_seconds, ended=silence_seconds is None)
