"""The checkpoint in the store: whole, and to be found without the Hub. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from seatrial.findings import Finding, Level
from seatrial.host.situation import Situation, Snapshot
from seatrial.planning.plan import Plan
from seatrial.planning.setting import text_of

VARIABLES = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
SHOWN = 3


def check(situation: Situation) -> Iterator[Finding]:
    """Say what a start without the Hub would miss; online it is what the start will load."""
    plan, store = situation.plan, situation.store
    if plan is None or store is None or store.snapshot is None or plan.stack.model.repo.startswith(("/", ".")):
        return
    offline = is_offline(plan)
    snapshot, repo = store.snapshot, plan.stack.model.repo
    level = Level.ERROR if offline else Level.NOTE
    pull = f"seatrial models pull {repo}" + (f"@{snapshot.revision}" if snapshot.revision != "main" else "")
    advice = (
        f"Where there is a network: {pull}." if offline else f"{pull}, before the start, so that its time is known."
    )
    if not snapshot.folder:
        yield Finding(level, "model-not-in-store", f"{repo} is not in the store", advice, where=store.path)
        return
    yield from _reference(snapshot, repo, store.path, offline=offline, level=level, advice=advice)
    if snapshot.missing:
        names = ", ".join(snapshot.missing[:SHOWN]) + (", …" if len(snapshot.missing) > SHOWN else "")
        unfinished = f"; {len(snapshot.unfinished)} downloads were broken off" if snapshot.unfinished else ""
        yield Finding(
            Level.ERROR if offline else Level.WARNING,
            "model-incomplete",
            f"{repo} lacks {len(snapshot.missing)} files that its index names ({names}){unfinished}"
            + (": offline the engine says only that it can't find the model" if offline else ""),
            advice,
            where=store.path,
        )
    elif snapshot.is_whole and not offline:
        yield Finding(
            Level.NOTE,
            "could-be-offline",
            f"{repo} is whole at {str(snapshot.commit)[:12]}: a start needs no Hub",
            "On a machine without a network set HF_HUB_OFFLINE=1 (settings, with a reason): else it hangs in retries.",
        )


def _reference(
    snapshot: Snapshot, repo: str, path: str, *, offline: bool, level: Level, advice: str
) -> Iterator[Finding]:
    place = f"models--{repo.replace('/', '--')}"
    if not snapshot.reference:
        told = (
            "HF_HUB_OFFLINE is set, and nothing says which commit is meant (the engine would say `cannot find the "
            "requested files in the cached path`)"
            if offline
            else "the Hub will be asked which commit is meant"
        )
        yield Finding(
            level,
            "reference-missing",
            f"{place}/refs/{snapshot.revision} is missing: {told}",
            f"{advice} Or set model.revision to a commit that is there.",
            where=path,
        )
    elif snapshot.commit is None:
        yield Finding(
            level,
            "snapshot-missing",
            f"{place}/refs/{snapshot.revision} leads to a commit whose files are not there",
            advice,
            where=path,
        )


def is_offline(plan: Plan) -> bool:
    """Whether the plan forbids asking the Hub."""
    values = [text_of(setting.value) for name in VARIABLES if (setting := plan.setting(name))]
    values += [str(value) for name, value in plan.stack.container.environment.items() if name in VARIABLES]
    return any(value.lower() in ("1", "true", "yes", "on") for value in values)
