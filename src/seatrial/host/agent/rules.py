"""What a file or folder of the tree must be like, and what one that is not should become. Pure."""

from __future__ import annotations

import re
import stat
from fnmatch import translate
from typing import Any, NamedTuple

from seatrial.host.agent.acl import (
    SHARED_MODE,
    AclEntry,
    acl_of_mode,
    group_rights,
    named_rights,
    other_rights,
)

PRIVATE = 0o077
"""Bits that a secret must not have: group's and others'."""


class Rule(NamedTuple):
    """What one part of the tree must be like. The rule with the longest matching path decides.

    Attributes:
        path: of the part, relative to the root; empty for the root itself and all that no other rule is about.
        shared: group members write here: g+rwX, setgid and a default ACL on folders, members may own files.
        forbidden: bits that neither files nor folders may have.
        names: patterns of files that the rule is about, relative to `path`; empty for everything.
        members: members of the group may own what is here, without being able to share it.
    """

    path: str
    shared: bool = False
    forbidden: int = 0o022
    names: tuple[str, ...] = ()
    members: bool = False


class Entry(NamedTuple):
    """A file or folder as it is.

    Attributes:
        path: relative to the root; empty for the root itself.
        mode: type and permission bits, as `lstat` has them.
        uid: owner.
        gid: group.
        links: hard links.
        inode: to know it again.
        access: its access ACL, where it has more than the mode says.
        default: the ACL that new files get, of a folder; None where ACLs are not supported there.
    """

    path: str
    mode: int
    uid: int
    gid: int
    links: int = 1
    inode: int = 0
    access: tuple[AclEntry, ...] = ()
    default: tuple[AclEntry, ...] | None = ()


class Ids(NamedTuple):
    """The service account in numbers; None for what does not exist yet.

    Attributes:
        uid: of the account.
        gid: of its group.
        members: uids of the group's members, who may own files in shared parts.
    """

    uid: int | None
    gid: int | None
    members: frozenset[int] = frozenset()


class Rules:
    """All rules of a tree, and which of them an entry falls under."""

    def __init__(self, rules: list[Rule]) -> None:
        self._parts = sorted((rule for rule in rules if not rule.names), key=lambda rule: -len(rule.path))
        self._named = [
            (rule, re.compile("|".join(translate(pattern) for pattern in rule.names))) for rule in rules if rule.names
        ]

    def of_folder(self, path: str) -> Rule:
        """Find the rule for what lies in a folder (and for the folder itself)."""
        for rule in self._parts:
            if rule.path in ("", path) or path.startswith(rule.path + "/"):
                return rule
        return Rule("")

    def of_file(self, path: str, folder_rule: Rule) -> Rule:
        """Find the rule for a file, given its folder's."""
        for rule, names in self._named:
            if rule.path == folder_rule.path and names.match(path, len(rule.path) + 1 if rule.path else 0):
                return rule
        return folder_rule


def judge(entry: Entry, rule: Rule, ids: Ids) -> dict[str, Any] | None:
    """Say how an entry differs from its rule, and what it should become; None where it is right.

    Returns:
        `path`, `inode`, `links`, `was` (uid, gid, mode, access, default), `wants` (some of owner, group, mode,
        default, access), and `why`: kinds of difference, each a word of `KINDS`.
    """
    folder, link = stat.S_ISDIR(entry.mode), stat.S_ISLNK(entry.mode)
    why: list[str] = []
    wants: dict[str, Any] = {}
    if not _owner_is_right(entry, rule, ids):
        why.append("owner-root" if entry.uid == 0 else "owner")
        wants["owner"] = True
    if ids.gid is None or entry.gid != ids.gid:
        why.append("group")
        wants["group"] = True
    if not link:
        _judge_mode(entry, rule, why, wants, folder=folder)
    if folder:
        _judge_default(entry, rule, why, wants)
    if not why:
        return None
    was = {
        "uid": entry.uid,
        "gid": entry.gid,
        "mode": stat.S_IMODE(entry.mode),
        "access": [list(one) for one in entry.access],
        "default": None if entry.default is None else [list(one) for one in entry.default],
    }
    kind = "folder" if folder else "link" if link else "file" if stat.S_ISREG(entry.mode) else "other"
    return {
        "path": entry.path,
        "kind": kind,
        "inode": entry.inode,
        "links": entry.links,
        "was": was,
        "wants": wants,
        "why": why,
    }


def _owner_is_right(entry: Entry, rule: Rule, ids: Ids) -> bool:
    if ids.uid is not None and entry.uid == ids.uid:
        return True
    return (rule.shared or rule.members) and entry.path != rule.path and entry.uid in ids.members


def _judge_mode(entry: Entry, rule: Rule, why: list[str], wants: dict[str, Any], *, folder: bool) -> None:
    """Compare permission bits; an access ACL decides what the group's bits mean."""
    mode = stat.S_IMODE(entry.mode)
    acl = list(entry.access)
    effective = mode & ~0o070 | group_rights(acl) << 3 if acl else mode
    wanted = effective & ~rule.forbidden
    if rule.shared:
        wanted |= 0o060 | (0o2010 if folder else 0o010 if effective & 0o111 else 0)
    if wanted & ~effective & 0o777:
        why.append("not-group-writable")
    if folder and wanted & ~effective & 0o2000:
        why.append("no-setgid")
    excess = effective & ~wanted
    if excess & 0o007:
        why.append("others-write" if excess & 0o002 else "others-read")
    if excess & 0o070:
        why.append("group-write" if excess & 0o020 else "group-read")
    if not folder and mode & 0o6000:
        why.append("setuid")
        wanted &= ~0o6000
    if acl and named_rights(acl) & (rule.forbidden >> 3 & 7):
        why.append("access-acl")
        wants["access"] = "remove"
    if wanted != effective:
        wants["mode"] = wanted
        if acl:
            wants["access"] = "remove"
    elif wants.get("access") == "remove":
        wants["mode"] = wanted


def _judge_default(entry: Entry, rule: Rule, why: list[str], wants: dict[str, Any]) -> None:
    """Compare the ACL that new files will get."""
    if entry.default is None:
        return
    acl = list(entry.default)
    if rule.shared:
        if not acl or group_rights(acl) != 7 or other_rights(acl) & 2:
            why.append("no-default-acl")
            wants["default"] = [list(one) for one in acl_of_mode(SHARED_MODE & ~rule.forbidden)]
    elif acl and (group_rights(acl) | named_rights(acl)) & (rule.forbidden >> 3 & 7):
        why.append("default-acl")
        wants["default"] = []
