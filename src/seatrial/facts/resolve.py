"""Finds a checkpoint's facts by its name: a folder, the model store, what is known offline, and last the Hub."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path

from seatrial.errors import FetchError, InputError
from seatrial.facts.model import ModelFacts
from seatrial.facts.model_folder import read_model_folder


def model_facts(
    name: str, *, store: Path | None = None, revision: str | None = None, offline: bool = False
) -> ModelFacts:
    """Find the facts of a checkpoint; `notes` say where they come from, where that is not the checkpoint itself.

    Args:
        name: a folder, or `owner/name` on the Hub.
        store: a model store (HF_HOME, or its `hub` folder).
        revision: branch, tag or commit; without one, what `main` points to.
        offline: never ask the Hub.

    Raises:
        InputError: the folder holds no checkpoint, or the name is none.
        FetchError: nobody knows it, and the Hub could not be asked or does not know it either.
    """
    if name.startswith((".", "/", "~")):
        return read_model_folder(Path(name).expanduser())
    if store is not None and (snapshot := find_snapshot(store, name, revision)) is not None:
        return read_model_folder(snapshot, repo=name, revision=snapshot.name)
    if Path(name).is_dir() and (Path(name) / "config.json").is_file():
        return read_model_folder(Path(name))
    from seatrial.facts.known_models import known_model  # noqa: PLC0415 - only where nothing nearer is there

    known = known_model(name)
    if known is not None:
        note = f"{name} is not in the model store; its facts are those that seatrial was shipped with"
        return replace(known, notes=(*known.notes, note))
    if offline:
        raise FetchError(
            f"nothing is known about {name} offline",
            where=name,
            advice="Give its folder, a store that holds it (--store), or a file of facts (--facts).",
        )
    if name.count("/") != 1:
        raise InputError("this is neither a folder nor owner/name on the Hub", where=name, advice="Check the name.")
    from seatrial.facts.hub import hub_model_facts  # noqa: PLC0415 - the Hub's client takes a while to import

    return hub_model_facts(name, revision=revision)


def find_snapshot(store: Path, repo: str, revision: str | None) -> Path | None:
    """Find a checkpoint's snapshot in a store of the Hub's layout.

    `models--owner--name/refs/REVISION` holds the commit, `snapshots/COMMIT` its files.
    """
    for folder in (store / "hub", store):
        model = folder / f"models--{repo.replace('/', '--')}"
        commit = revision or "main"
        with contextlib.suppress(OSError, ValueError):  # the revision may be a commit itself
            commit = (model / "refs" / commit).read_text(encoding="utf-8").strip()
        snapshot = model / "snapshots" / commit
        if commit and (snapshot / "config.json").is_file():
            return snapshot
    return None
