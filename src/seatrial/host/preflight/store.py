"""The model store: who owns what in it, and who can write there, on this side and inside the container. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from seatrial.findings import Finding, Level
from seatrial.host.situation import Inside, OwnedFolder, Situation, Store, Written

SHOWN = 5


def check(situation: Situation) -> Iterator[Finding]:
    """Look at the store from both sides."""
    store = situation.store
    if store is not None and store.exists:
        yield from _owners(store)
        yield from _here(store, situation)
    inside = situation.inside
    if inside is not None and not inside.problem:
        yield from _inside(inside, situation)


def _owners(store: Store) -> Iterator[Finding]:
    """Find models that some container, or somebody else, left: by the owner that the store itself has."""
    odd = [model for model in store.models if model.owners - {store.owner} and not _shared(model, store)]
    if not odd:
        return
    names = ", ".join(model.name for model in odd[:SHOWN]) + (", …" if len(odd) > SHOWN else "")
    root = any(0 in model.owners for model in odd)
    yield Finding(
        Level.WARNING,
        "mixed-owners",
        f"{'root' if root else 'another account'} owns files of {names}, and uid {store.owner} owns the store"
        + (", as containers that run as root leave them" if root else "")
        + ": a later download or clean-up by anybody else ends with `Permission denied`",
        f"chown -hR {store.owner}:{store.group} "
        + " ".join(f"{store.path.rstrip('/')}/hub/{model.name}" for model in odd[:SHOWN])
        + ". To keep it from coming back, run the container without root (container.non_root).",
        where=store.path,
    )


def _shared(model: OwnedFolder, store: Store) -> bool:
    """Whether all of it is the store's group to write, whoever owns it, as `host apply` arranges it."""
    return model.writable and model.groups == {store.group}


def _here(store: Store, situation: Situation) -> Iterator[Finding]:
    here = store.here
    if here is None or not here.problem:
        return
    name = situation.person.name if situation.person else "this account"
    yield Finding(
        Level.WARNING,
        "store-not-writable",
        f"{name} can't write the store ({here.problem}): a download would end after its metadata was fetched",
        "Let an admin of its group do it (`seatrial host apply --admin USER`), or name another store.",
        where=here.path,
    )


def _inside(inside: Inside, situation: Situation) -> Iterator[Finding]:
    yield from _hub(inside, situation)
    caches = inside.caches
    if caches is not None and caches.problem:
        yield Finding(
            Level.ERROR,
            "caches-not-writable-inside",
            f"uid {inside.uid} can't write {caches.path} inside the container ({caches.problem}): kernels can't "
            f"be compiled",
            _chown(situation, situation.plan.stack.jit_cache if situation.plan else "jit-cache"),
            where=caches.path,
        )


def _hub(inside: Inside, situation: Situation) -> Iterator[Finding]:
    hub: Written | None = inside.hub
    if hub is None:
        return
    named = inside.hub_variable or "HF_HOME is not set, so the default is taken"
    if hub.problem:
        yield Finding(
            Level.ERROR,
            "store-not-writable-inside",
            f"uid {inside.uid} can't write {hub.path} inside the container ({named}): {hub.problem}. A download would "
            "end in `[Errno 13] Permission denied` after minutes, or never become healthy",
            f"{_chown(situation, situation.store.path if situation.store else 'the store')} Nothing else is tried: a "
            "silent fall-back would load the weights into the container's own layer.",
            "HF_HOME",
            hub.path,
        )
    elif hub.mounted is False:
        yield Finding(
            Level.ERROR,
            "store-not-mounted",
            f"{hub.path} ({named}) lies in the container's own layer: the weights are loaded anew with every container",
            "Set HF_HOME to the folder that the store is mounted on.",
            "HF_HOME",
            hub.path,
        )


def _chown(situation: Situation, path: str) -> str:
    uid = situation.inside.uid if situation.inside else None
    return f"Run: chown -hR {uid} {path} (or set container.non_root to match its owner)."
