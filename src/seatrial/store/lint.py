"""What is wrong with a store as a folder: layout, owners, modes, room. Looks; changes nothing but a probe file.

The kinds of trouble are those of public reports: a root container's files in a user's cache, a cache that the
container's account can't write, a full disk, weights laid flat into the hub folder, a missing `refs/main` offline.
"""

from __future__ import annotations

import contextlib
import grp
import os
import pwd
import shlex
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from seatrial.findings import Finding, Level, by_weight
from seatrial.store.flat_files import FlatFiles, find_flat_files
from seatrial.store.layout import PREFIX, StoredModel, hub_folder, read_store
from seatrial.store.pull import free_bytes
from seatrial.store.verify import verify

LITTLE_BYTES = 20 << 30
"""Less free space than that holds no model of the kind that is served here."""
SHOWN = 3
ACL_DEFAULT = "system.posix_acl_default"
KNOWN_ENTRIES = (".locks", "blobs", "CACHEDIR.TAG", "version.txt", ".cache", "tmp")
KNOWN_PREFIXES = (PREFIX, "datasets--", "spaces--", "kernels--", ".")


@dataclass(frozen=True, slots=True)
class Account:
    """Who must be able to write the store.

    Attributes:
        user: its id.
        groups: ids of its groups.
        name: for people.
    """

    user: int
    groups: frozenset[int]
    name: str


def lint_store(store: Path, accounts: Sequence[Account] = ()) -> tuple[Finding, ...]:
    """Look at a store.

    Args:
        store: HF_HOME, or its hub folder.
        accounts: that must be able to write it, e.g. the container's own.
    """
    hub = hub_folder(store)
    if not hub.is_dir():
        advice = "`seatrial models pull` makes it; or name the right folder: --store."
        return (Finding(Level.WARNING, "store-missing", "there is no hub folder", advice, where=str(hub)),)
    models = read_store(store)
    findings = [
        *_layout(store, hub, models),
        *_writable(hub),
        *(finding for account in accounts for finding in _writable_for(hub, account)),
        *_owners(hub),
        *_modes(hub),
        *_token(store, hub),
        *_room(hub),
    ]
    for model in models:
        found = verify(model, hashes=False).findings
        findings += [
            Finding(one.level, one.id, f"{model.repo}: {one.message}", one.advice, where=one.where)
            for one in found
            if one.level is not Level.NOTE
        ]
    return by_weight(findings)


def _layout(store: Path, hub: Path, models: Sequence[StoredModel]) -> Iterator[Finding]:
    flat = find_flat_files(hub, models)
    if flat is not None:
        yield _flat(flat)
    nested = hub / "hub"
    if nested.is_dir() and any(nested.glob(f"{PREFIX}*")):
        message = "there is a hub folder in the hub folder: HF_HOME was once set to the hub folder itself"
        advice = f"HF_HOME is {hub.parent}; move the models one folder up."
        yield Finding(Level.ERROR, "hub-in-hub", message, advice, where=str(nested))
    beside = sorted(path.name for path in hub.parent.glob(f"{PREFIX}*--*")) if hub.name == "hub" else []
    if beside:
        message = f"{_some(beside)} lie beside the hub folder, where HF_HOME is not looked at"
        advice = "HF_HUB_CACHE was set to HF_HOME once; move them into the hub folder."
        yield Finding(Level.ERROR, "models-beside-hub", message, advice, where=str(store))
    strange = sorted(
        path.name
        for path in hub.iterdir()
        if path.is_dir()
        and path.name not in KNOWN_ENTRIES
        and not path.name.startswith(KNOWN_PREFIXES)
        and path != nested
    )
    if strange:
        message = (
            f"{_some(strange)} are folders that the Hub's layout does not have: no engine finds what is in them by name"
        )
        yield Finding(Level.WARNING, "folder-unknown", message, "Move them out of the hub folder.", where=str(hub))


def _flat(flat: FlatFiles) -> Finding:
    of = f", probably of {flat.candidates[0][0]} ({flat.candidates[0][1]})" if flat.candidates else ""
    mixed = "; of several commits, so a later download overwrote files of an earlier one" if flat.is_mixed else ""
    return Finding(
        Level.ERROR,
        "flat-files",
        f"{len(flat.names)} files lie flat in the hub folder ({_some(flat.names)}){of}: "
        f"--local-dir was pointed at it{mixed}",
        "seatrial models verify --repair moves them to their place; pull with HF_HOME, never with --local-dir.",
        where=str(flat.hub),
    )


def _writable(hub: Path) -> Iterator[Finding]:
    """Write, rename and remove a file, as a download does; a mode alone does not tell (read-only mounts, ACLs)."""
    probe = hub / f".seatrial-{uuid4().hex[:8]}.probe"
    try:
        probe.touch()
        renamed = probe.rename(probe.with_suffix(".done"))
        renamed.unlink()
    except OSError as error:
        with contextlib.suppress(OSError):
            probe.unlink(missing_ok=True)
        message = f"this account ({_user(os.geteuid())}) can't write it ({(error.strerror or str(error)).lower()})"
        advice = "A pull or an engine that runs as this account fails after it has read the listing."
        yield Finding(Level.ERROR, "store-not-writable", message, advice, where=str(hub))


def _writable_for(hub: Path, account: Account) -> Iterator[Finding]:
    for path in (hub, *sorted(hub.glob(f"{PREFIX}*")), *sorted(hub.glob(f"{PREFIX}*/*")), hub / ".locks"):
        if path.is_dir() and not may_write(path, account):
            message = f"{account.name} can't write it: the engine dies at its first file there"
            advice = (
                f"chown -R {account.user}:{next(iter(sorted(account.groups)), account.user)} {shlex.quote(str(hub))}"
            )
            yield Finding(Level.ERROR, "store-not-writable-for", message, advice, where=str(path))
            return


def may_write(path: Path, account: Account) -> bool:
    """Whether an account may make files in a folder, by owner, group and mode."""
    facts = path.stat()
    if account.user == 0:
        return True
    if facts.st_uid == account.user:
        wanted = 0o300
    elif facts.st_gid in account.groups:
        wanted = 0o030
    else:
        wanted = 0o003
    return facts.st_mode & wanted == wanted


def _owners(hub: Path) -> Iterator[Finding]:
    """Find files whose owner is another than the hub folder's: a root container's, or an admin's."""
    owner, group = hub.stat().st_uid, hub.stat().st_gid
    others: dict[int, list[Path]] = {}
    groups: list[Path] = []
    for path, facts in _walk(hub):
        if facts.st_uid != owner:
            others.setdefault(facts.st_uid, []).append(path)
        if facts.st_gid != group:
            groups.append(path)
    command = f"chown -R {_user(owner)}:{_group(group)} {shlex.quote(str(hub))}"
    shared = bool(hub.stat().st_mode & 0o020)
    for user, paths in sorted(others.items()):
        tops = _tops(hub, paths)
        if shared and user != 0 and not any(path in groups for path in paths):
            continue  # an admin of the group pulled it: that is what the group is for
        message = f"{len(paths)} files and folders belong to {_user(user)}, the rest to {_user(owner)}: {_some(tops)}"
        yield Finding(Level.WARNING, "owners-mixed", message, f"One command: {command}", where=str(hub))
    if groups and not others:
        tops = _tops(hub, groups)
        message = f"{len(groups)} files and folders are of another group than {_group(group)}: {_some(tops)}"
        yield Finding(Level.WARNING, "groups-mixed", message, f"One command: {command}", where=str(hub))


def _modes(hub: Path) -> Iterator[Finding]:
    """Find what the group can't read or write. setgid keeps the group, not the mode: that comes from each umask."""
    mode = hub.stat().st_mode
    if mode & 0o002:
        message = "everybody may write it: anyone on this host can replace weights"
        yield Finding(
            Level.ERROR, "store-world-writable", message, f"chmod o-w {shlex.quote(str(hub))}", where=str(hub)
        )
    if not mode & 0o020:
        message = "only its owner may write it: no other account can pull into it"
        advice = f"If others shall: chmod -R g+rwX {shlex.quote(str(hub))} and setgid on its folders."
        yield Finding(Level.NOTE, "store-not-shared", message, advice, where=str(hub))
        return
    narrow, open_, no_setgid = [], [], []
    for path, facts in _walk(hub):
        if stat.S_ISLNK(facts.st_mode):
            continue
        need = 0o070 if stat.S_ISDIR(facts.st_mode) else 0o060
        if facts.st_mode & need != need:
            narrow.append(path)
        if facts.st_mode & 0o002:
            open_.append(path)
        if stat.S_ISDIR(facts.st_mode) and not facts.st_mode & stat.S_ISGID:
            no_setgid.append(path)
    quoted = shlex.quote(str(hub))
    if narrow:
        message = f"the group can't read and write {len(narrow)} files and folders: {_some(_tops(hub, narrow))}"
        advice = (
            f"One command: chmod -R g+rwX {quoted}. `seatrial models pull` sets the modes itself, whatever the umask."
        )
        yield Finding(Level.WARNING, "modes-narrow", message, advice, where=str(hub))
    if open_:
        message = f"everybody may write {len(open_)} files and folders: {_some(_tops(hub, open_))}"
        yield Finding(Level.ERROR, "store-world-writable", message, f"chmod -R o-w {quoted}", where=str(hub))
    if no_setgid or not mode & stat.S_ISGID:
        count = len(no_setgid) + (not mode & stat.S_ISGID)
        message = f"{count} folders are without setgid: what an admin makes in them gets the admin's own group"
        yield Finding(
            Level.WARNING, "setgid-missing", message, f"find {quoted} -type d -exec chmod g+s {{}} +", where=str(hub)
        )
    if not _has_default_acl(hub):
        message = (
            "it has no default ACL: files of other programs get their mode from each account's umask (0644 under 022)"
        )
        advice = f"setfacl -R -m d:g::rwX,g::rwX {quoted}, or a umask of 002 for everybody who downloads."
        yield Finding(Level.NOTE, "default-acl-missing", message, advice, where=str(hub))


def _has_default_acl(path: Path) -> bool:
    try:
        return bool(os.getxattr(path, ACL_DEFAULT))
    except OSError:
        return False


def _token(store: Path, hub: Path) -> Iterator[Finding]:
    """Look whether a token of the Hub lies in the store, where others can read it."""
    for folder in dict.fromkeys((store, hub.parent, hub)):
        for name in ("token", "stored_tokens"):
            path = folder / name
            if path.is_file() and path.stat().st_mode & 0o077:
                message = f"the Hub's token in it can be read by others (mode {stat.S_IMODE(path.stat().st_mode):04o})"
                advice = f"chmod 600 {shlex.quote(str(path))}; better keep it out of a shared store: HF_TOKEN_PATH."
                yield Finding(Level.ERROR, "token-readable", message, advice, where=str(path))


def _room(hub: Path) -> Iterator[Finding]:
    free = free_bytes(hub)
    if free < LITTLE_BYTES:
        message = f"{free / 2**30:.1f} GiB are free on its disk"
        yield Finding(
            Level.WARNING, "disk-low", message, "`seatrial models list` shows what uses what.", where=str(hub)
        )
    facts = os.statvfs(hub)
    if facts.f_files and facts.f_favail < 1_000:
        message = f"{facts.f_favail} inodes are free on its disk"
        yield Finding(Level.WARNING, "inodes-low", message, "A disk without inodes is full, too.", where=str(hub))


def _walk(hub: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """List everything in the hub folder, not through links."""
    for folder, folders, names in os.walk(hub):
        for name in (*folders, *names):
            path = Path(folder) / name
            with contextlib.suppress(OSError):
                yield path, path.lstat()


def _tops(hub: Path, paths: Sequence[Path]) -> list[str]:
    """Name the entries of the hub folder in which these lie, the most hit first."""
    counts = Counter(path.relative_to(hub).parts[0] for path in paths)
    return [name for name, _ in counts.most_common()]


def _some(names: Sequence[str]) -> str:
    rest = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {rest} more" if rest > 0 else "")


def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def _group(number: int) -> str:
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)
