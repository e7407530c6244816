"""Looks whether a stored model is whole: names, hashes, shards, halves of downloads. Changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from seatrial.findings import Finding, Level, by_weight
from seatrial.store.hashing import OnBytes, can_check, digest_like
from seatrial.store.layout import (
    INCOMPLETE,
    STATE_FOLDER,
    ListedFile,
    Revision,
    StoredModel,
    read_listing,
)
from seatrial.store.removal import ASIDE, halves
from seatrial.store.selection import select
from seatrial.store.shards import REPULL, check_shards


@dataclass(frozen=True, slots=True)
class Verified:
    """What was found about one model.

    Attributes:
        model: the model.
        findings: the heaviest first.
        checked_bytes: content that was compared with its hash.
        corrupt: blobs whose content is another than their name says.
        wanted: commit -> files that it must have and that are missing or corrupt; None where nobody knows its files.
    """

    model: StoredModel
    findings: tuple[Finding, ...]
    checked_bytes: int
    corrupt: tuple[Path, ...] = ()
    wanted: tuple[tuple[str, tuple[ListedFile, ...]], ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether nothing is missing or wrong."""
        return not any(finding.level is Level.ERROR for finding in self.findings)


def verify(
    model: StoredModel,
    *,
    commits: frozenset[str] | None = None,
    hashes: bool = True,
    on_bytes: OnBytes = lambda _more: None,
    phase: Callable[[str], None] = lambda _name: None,
) -> Verified:
    """Check one model.

    Args:
        model: as it was read.
        commits: only these; None for all.
        hashes: compare contents with their hashes, which reads every byte.
        on_bytes: told of progress.
        phase: told what is looked at.
    """
    findings: list[Finding] = []
    corrupt: list[Path] = []
    known: dict[Path, bool] = {}
    checked = 0
    wanted = []
    chosen = [one for one in model.revisions if commits is None or one.commit in commits]
    for revision in chosen:
        phase(f"{model.repo} {revision.commit[:12]}")
        listing = _listing(model.folder, revision)
        bad = {file.name for file in revision.files if file.blob is None}
        found = [*_names(model, revision, listing)]
        for file in revision.files:
            etag = _etag(file.name, file.entry, listing)
            if not hashes or file.blob is None or etag is None or not can_check(etag):
                continue
            if file.blob not in known:
                known[file.blob] = digest_like(file.blob, etag, on_bytes) == etag
                checked += file.bytes
            if not known[file.blob]:
                bad.add(file.name)
                corrupt.append(file.entry or file.path)
                found.append(_corrupt(file.name, file.bytes, etag, listing))
        found += check_shards(revision.folder, frozenset(file.name for file in revision.files if file.blob is not None))
        findings += [_at(finding, revision.commit) for finding in found]
        if listing is not None:
            there = {file.name for file in revision.files} - bad
            short = {file.name for file in listing if _size(revision, file.name) != file.bytes}
            lacks = tuple(file for file in listing if file.name not in there or file.name in short)
            if lacks:
                wanted.append((revision.commit, lacks))
    findings += _whole_folder(model)
    return Verified(model, by_weight(findings), checked, tuple(dict.fromkeys(corrupt)), tuple(wanted))


def _listing(folder: Path, revision: Revision) -> tuple[ListedFile, ...] | None:
    """Which files the commit must have; code and pickles that are not there were left out by choice."""
    listing = read_listing(folder, revision.commit)
    if listing is None:
        return None
    there = {file.name for file in revision.files}
    chosen = {file.name for file in select(listing).files}
    return tuple(file for file in listing if file.name in chosen or file.name in there)


def _etag(name: str, entry: Path | None, listing: tuple[ListedFile, ...] | None) -> str | None:
    if entry is not None:
        return entry.name
    return next((file.etag for file in listing or () if file.name == name), None)


def _size(revision: Revision, name: str) -> int | None:
    return next((file.bytes for file in revision.files if file.name == name and file.blob is not None), None)


def _names(model: StoredModel, revision: Revision, listing: tuple[ListedFile, ...] | None) -> Iterator[Finding]:
    """Check the names of a snapshot: what they lead to, and what is missing."""
    home = model.folder.resolve()
    hub = home.parent
    for file in revision.files:
        if file.blob is None:
            yield Finding(Level.ERROR, "link-broken", f"{file.name} leads to content that is not there", REPULL)
        elif hub not in file.blob.parents and home not in file.blob.parents:
            message = f"{file.name} leads out of the store, to {file.blob}: a container that mounts the store lacks it"
            yield Finding(Level.ERROR, "link-outside", message, "Pull it anew, or mount that folder, too.")
    if listing is None:
        if "config.json" not in {file.name for file in revision.files}:
            yield Finding(Level.ERROR, "file-missing", "it has no config.json", "Pull it anew.")
        yield Finding(
            Level.NOTE,
            "listing-unknown",
            "nobody kept which files the Hub lists for it, so a missing small file would not be noticed",
            f"`seatrial models pull {model.repo}@{revision.commit}` asks the Hub.",
        )
        return
    there = {file.name: file for file in revision.files}
    for listed in listing:
        found = there.get(listed.name)
        if found is None:
            yield Finding(Level.ERROR, "file-missing", f"{listed.name} is not there", REPULL, where=listed.name)
        elif found.blob is not None and found.bytes != listed.bytes:
            message = f"{listed.name} has {found.bytes:,} bytes, and the Hub's has {listed.bytes:,}"
            yield Finding(Level.ERROR, "file-size", message, REPULL, where=listed.name)


def _corrupt(name: str, size: int, etag: str, listing: tuple[ListedFile, ...] | None) -> Finding:
    listed = next((file for file in listing or () if file.name == name), None)
    short = listed is not None and size < listed.bytes
    word = "is cut" if short else "has another content than the Hub's"
    return Finding(Level.ERROR, "content-corrupt", f"{name} {word} (its hash is not {etag[:12]}…)", REPULL, where=name)


def _whole_folder(model: StoredModel) -> Iterator[Finding]:
    """Check what does not belong to one commit: references, halves of downloads, content that nobody names."""
    commits = {one.commit for one in model.revisions}
    for name, commit in model.refs.items():
        if commit not in commits:
            message = (
                f"{name} points to {commit[:12]}, which is not in the store: an engine without network finds nothing"
            )
            yield Finding(Level.ERROR, "ref-dangling", message, f"`seatrial models pull {model.repo}@{name}`.")
    if commits and "main" not in model.refs:
        message = "no branch `main` is recorded: without network it is found by its commit alone"
        advice = f"Serve it with its commit as the revision, or: seatrial models pull {model.repo}"
        yield Finding(Level.WARNING, "ref-main-missing", message, advice)
    if not commits:
        yield Finding(Level.ERROR, "no-commit", "nothing of it is complete", f"seatrial models pull {model.repo}")
    used = {file.entry for one in model.revisions for file in one.files}
    for half, busy in halves(model).items():
        size = half.stat().st_size
        if busy:
            yield Finding(
                Level.NOTE, "download-running", f"a download of {half.name[:12]}… is under way ({size:,} bytes)"
            )
        elif half.name.count(".") == 1:
            message = f"half a download of {half.name[:12]}… ({size:,} bytes): the next pull goes on with it"
            yield Finding(Level.WARNING, "download-half", message, f"seatrial models pull {model.repo}")
        else:
            message = (
                f"a download by another program was cut off ({half.name[:12]}…, {size:,} bytes): nobody goes on with it"
            )
            yield Finding(Level.WARNING, "download-abandoned", message, "`seatrial models verify --repair` removes it.")
    spare = [blob for blob in model.blobs if blob not in used and not blob.name.endswith(INCOMPLETE)]
    if spare:
        size = sum(blob.stat().st_size for blob in spare if blob.exists())
        message = f"{len(spare)} blobs ({size:,} bytes) are content of no commit that is here"
        yield Finding(Level.WARNING, "content-unused", message, "`seatrial models verify --repair` removes them.")
    if any((model.folder / STATE_FOLDER).glob(f"{ASIDE}*")):
        message = "a removal was cut off: what it set aside takes space"
        yield Finding(Level.WARNING, "removal-unfinished", message, "`seatrial models verify --repair` finishes it.")


def _at(finding: Finding, commit: str) -> Finding:
    place = f"{commit[:12]}/{finding.where}" if finding.where else commit[:12]
    return replace(finding, where=place)
