"""From what was observed to findings: each says what the drift would break, and what to do. Pure."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence

from seatrial.findings import Finding, Level, by_weight
from seatrial.host.accounts import DOCKER, MODEL_CACHE, NO_SHELLS, SECRETS, Declared
from seatrial.host.difference import FOREIGN, is_foreign
from seatrial.host.drift import meaning
from seatrial.host.observed import Account, Deviation, Observed

FIX = "`seatrial host audit --fix` mends it."
APPLY = "`seatrial host apply` mends it."
SHOWN = 3
MAY_BECOME_ROOT = ("sudo", "wheel", "admin", "root")


def audit(declared: Declared, observed: Observed) -> tuple[Finding, ...]:
    """Find where a machine has drifted from what is declared."""
    return by_weight(
        [
            *_account(declared, observed),
            *_people(declared, observed),
            *_above(declared, observed),
            *_tree(declared, observed),
            *_deviations(declared, observed),
        ]
    )


def _account(declared: Declared, observed: Observed) -> Iterator[Finding]:
    found, name = observed.service, declared.service
    if found is None:
        yield Finding(
            Level.ERROR,
            "no-service-account",
            f"there is no account {name}, so nobody owns the stack",
            APPLY,
            where=name,
        )
        return
    if found.shell not in NO_SHELLS:
        yield Finding(
            Level.ERROR,
            "account-with-shell",
            f"{name} has the shell {found.shell}: whoever gets in as it runs containers, which is root on this host",
            f"{APPLY} If a deploy job must log in as it, that is a decision of its own: give it an account for that.",
            where=name,
        )
    yield from _password(found)
    if found.shell in NO_SHELLS and found.keys:
        yield Finding(
            Level.WARNING,
            "keys-without-shell",
            f"{name} has SSH keys, and its shell {found.shell} ends every session: a forced command never runs",
            "Remove ~/.ssh/authorized_keys. An automated deploy needs an account with a real shell.",
            where=f"{found.home}/.ssh/authorized_keys",
        )
    if os.path.normpath(found.home) != os.path.normpath(declared.root):
        yield Finding(
            Level.WARNING,
            "other-home",
            f"{name}'s home is {found.home}, not {declared.root}: tools keep caches there",
            APPLY,
            where=name,
        )
    if found.primary != declared.group:
        yield Finding(
            Level.ERROR,
            "other-first-group",
            f"{name}'s first group is {found.primary}: what it makes is not the admins' group's",
            APPLY,
            where=name,
        )
    yield from _groups_of(declared, found, observed)


def _password(found: Account) -> Iterator[Finding]:
    if found.password in ("set", "empty"):
        what = "has a password" if found.password == "set" else "has an empty password"  # noqa: S105 - a word for it
        yield Finding(
            Level.ERROR,
            "account-with-password",
            f"{found.name} {what}: somebody may log in as it, and run containers as root",
            APPLY,
            where=found.name,
        )
    elif found.password == "unknown":  # noqa: S105 - likewise
        yield Finding(
            Level.NOTE,
            "cannot-tell",
            f"whether {found.name}'s password is locked can't be told: only root reads /etc/shadow",
            "Run the audit as root.",
            where=found.name,
        )


def _groups_of(declared: Declared, found: Account, observed: Observed) -> Iterator[Finding]:
    if declared.container and "docker" not in found.groups and found.primary != "docker":
        if observed.docker is None:
            advice = "Install Docker Engine, then `seatrial host apply`."
        else:
            advice = f"{APPLY} It takes effect at the next login or service start."
        yield Finding(
            Level.ERROR,
            "not-in-docker-group",
            f"{found.name} is not in the group docker: it can't run `docker compose`",
            advice,
            where=found.name,
        )
    grave = sorted(set(found.groups) & set(MAY_BECOME_ROOT))
    if grave:
        yield Finding(
            Level.ERROR,
            "service-account-may-become-root",
            f"{found.name} is in the group {grave[0]}",
            f"gpasswd -d {found.name} {grave[0]}",
            where=found.name,
        )


def _people(declared: Declared, observed: Observed) -> Iterator[Finding]:
    for name, account in observed.admins.items():
        if account is None:
            yield Finding(
                Level.ERROR, "no-such-admin", f"there is no account {name}", f"Make it: adduser {name}", where=name
            )
        elif declared.group not in account.groups:
            yield Finding(
                Level.WARNING,
                "admin-not-in-group",
                f"{name} is not in the group {declared.group}: it can't change models",
                f"{APPLY} It takes effect at {name}'s next login.",
                where=name,
            )
    yield from _docker_group(declared, observed)
    if observed.me.new_login:
        groups = ", ".join(observed.me.new_login)
        yield Finding(
            Level.NOTE,
            "new-login-needed",
            f"{observed.me.name} is in the group {groups}, and this session began before that",
            f'Log in anew; until then: sg {observed.me.new_login[0]} -c "…".',
            where=observed.me.name,
        )


def _docker_group(declared: Declared, observed: Observed) -> Iterator[Finding]:
    members = sorted(observed.docker.members) if observed.docker else []
    people = [name for name in members if name not in (declared.service, "root")]
    if people:
        yield Finding(
            Level.WARNING,
            "people-in-docker-group",
            f"{', '.join(people)} in the group docker may do anything on this host, docker/ included: a container may "
            "mount / and is root in it",
            f"gpasswd -d {people[0]} docker, and `sudo -u {declared.service}` instead; or know that this is "
            f"what it gives.",
            where="/etc/group",
        )
    elif members:
        yield Finding(
            Level.NOTE,
            "docker-group-is-root",
            f"membership in the group docker is root on this host (a container may mount /): {', '.join(members)}",
            f"Keep it to {declared.service}; people use `sudo -u {declared.service}`.",
            where="/etc/group",
        )


def _above(declared: Declared, observed: Observed) -> Iterator[Finding]:
    own = observed.service.uid if observed.service else None
    for folder in observed.above:
        if folder.mode & 0o022 and not folder.mode & stat.S_ISVTX:
            who = "everybody" if folder.mode & 0o002 else "its group"
            yield Finding(
                Level.ERROR,
                "open-folder-above",
                f"{who} may write {folder.path}, and so may replace {declared.root} with a tree of their own",
                f"chmod go-w {folder.path}",
                where=folder.path,
            )
        elif folder.uid not in (0, own):
            yield Finding(
                Level.WARNING,
                "foreign-folder-above",
                f"{folder.path} belongs to uid {folder.uid}, who may replace {declared.root}",
                f"chown root {folder.path}, or take another --root.",
                where=folder.path,
            )


def _tree(declared: Declared, observed: Observed) -> Iterator[Finding]:
    tree, root = observed.tree, declared.root
    if is_foreign(declared, observed):
        yield Finding(Level.ERROR, "foreign-tree", f"{root} {FOREIGN}", where=root)
        return
    if not tree.exists:
        yield Finding(Level.ERROR, "no-tree", f"{root} is not there", APPLY, where=root)
        return
    if tree.problem:
        yield Finding(
            Level.ERROR, "tree-unreadable", f"{root} can't be looked at ({tree.problem})", "Run it as root.", where=root
        )
        return
    missing = [folder for folder in declared.folders if folder.path and not observed.folders.get(folder.path)]
    private = [] if observed.me.is_root else [folder for folder in missing if folder.path == SECRETS]
    for folder in missing:
        if folder not in private:
            yield Finding(
                Level.WARNING,
                "folder-missing",
                f"{folder.path} is not there: {folder.why}",
                APPLY,
                where=f"{root}/{folder.path}",
            )
    for path in tree.linked_parts:
        yield Finding(
            Level.WARNING,
            "linked-part",
            f"{root}/{path} is a link: nothing behind it is looked at or mended",
            "Mount the other disk there instead (a bind mount: mount --bind, or `bind` in /etc/fstab).",
            where=f"{root}/{path}",
        )
    for path in tree.environments:
        yield Finding(
            Level.WARNING,
            "environment-in-tree",
            "a Python environment lies in the production tree: production runs from the pinned image",
            "Move it elsewhere, as an evaluation's; it is nothing to merge back.",
            where=f"{root}/{path}",
        )
    for path in tree.hard_links:
        yield Finding(
            Level.WARNING,
            "hard-link",
            "it is not as declared and has a second name, which may lie outside of the tree: nothing mends it unasked",
            f"find / -xdev -samefile {root}/{path}",
            where=f"{root}/{path}",
        )
    if tree.no_acls:
        yield Finding(
            Level.WARNING,
            "no-acls",
            "the file system has no ACLs: new models get their mode from each program's umask, 0644 under 022",
            f"Set umask 002 for all admins (pam_umask, or UMASK in /etc/login.defs), or keep {MODEL_CACHE} elsewhere.",
            where=f"{root}/{tree.no_acls[0]}".rstrip("/"),
        )
    if tree.unreadable:
        yield Finding(
            Level.NOTE,
            "cannot-tell",
            f"{len(tree.unreadable)} places can't be looked at by {observed.me.name}",
            "Run the audit as root.",
            where=f"{root}/{tree.unreadable[0]}",
        )


def _deviations(declared: Declared, observed: Observed) -> Iterator[Finding]:
    """Make a finding of all paths that differ in one way in one part."""
    if is_foreign(declared, observed):
        return
    kinds: dict[tuple[str, str], list[Deviation]] = {}
    for one in observed.tree.deviations:
        for kind in one.why:
            kinds.setdefault((one.part, kind), []).append(one)
    for (part, kind), found in kinds.items():
        level, what, breaks = meaning(part, kind, found)
        place = f"{declared.root}/{found[0].path}".rstrip("/")
        more = f" ({_others(declared, found)})" if len(found) > 1 else ""
        advice = FIX if kind != "owner-root" else f"{FIX} By hand: {_chown(declared, part)}"
        if kind in ("group-write", "others-write") and part == DOCKER:
            advice += " Then look what was changed meanwhile: `seatrial status`."
        yield Finding(level, f"{_id(part, kind)}", f"{what}{more}: {breaks}", advice, where=place)


def _id(part: str, kind: str) -> str:
    if kind in ("others-read", "group-read"):
        return "readable-secret"
    if kind == "owner-root" and part in (MODEL_CACHE, "jit-cache"):
        return "root-owned-cache"
    return f"{part.replace('/', '-') or 'tree'}-{kind}"


def _others(declared: Declared, found: Sequence[Deviation]) -> str:
    names = ", ".join(one.path or declared.root for one in found[1:SHOWN])
    return f"and {len(found) - 1:,} more: {names}{', …' if len(found) > SHOWN else ''}"


def _chown(declared: Declared, part: str) -> str:
    return f"chown -hR {declared.service}:{declared.group} {declared.root}/{part}".rstrip("/")
