"""Looks up accounts, groups, the folders above the tree and this process's own rights. Changes nothing."""

# Paths are reached by descriptors and given as text: pathlib has no part in that.
# ruff: noqa: PTH100, PTH112, PTH116, PTH118, PTH120, PTH123

from __future__ import annotations

import grp
import os
import pwd
import shutil
import stat
from typing import Any


def look_up(service: str, admins: list[str], root: str) -> dict[str, Any]:
    """Say what is true about the service account, the admins, Docker's group, and who asks."""
    return {
        "service": account(service),
        "group": group(service),
        "admins": {name: account(name) for name in admins},
        "docker": group("docker"),
        "above": above(root),
        "me": me(),
        "tools": {name: shutil.which(name, path=search_path()) for name in ("useradd", "systemctl", "seatrial")},
        "systemd": os.path.isdir("/run/systemd/system"),
    }


def search_path() -> str:
    """Where account tools lie: a plain user's PATH lacks the sbin folders."""
    return os.environ.get("PATH", "/usr/bin:/bin") + ":/usr/local/sbin:/usr/sbin:/sbin"


def account(name: str) -> dict[str, Any] | None:
    """Describe an account; None where there is none."""
    try:
        found = pwd.getpwnam(name)
    except KeyError:
        return None
    groups = sorted({one.gr_name for one in grp.getgrall() if name in one.gr_mem} | {_group_name(found.pw_gid)})
    return {
        "name": name,
        "uid": found.pw_uid,
        "gid": found.pw_gid,
        "primary": _group_name(found.pw_gid),
        "home": found.pw_dir,
        "shell": found.pw_shell,
        "groups": groups,
        "password": password_state(name),
        "keys": _authorized_keys(found.pw_dir),
    }


def _group_name(gid: int) -> str:
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return str(gid)


def group(name: str) -> dict[str, Any] | None:
    """Describe a group with its members, those whose first group it is too; None where there is none."""
    try:
        found = grp.getgrnam(name)
    except KeyError:
        return None
    first = [one.pw_name for one in pwd.getpwall() if one.pw_gid == found.gr_gid]
    members = {}
    for member in {*found.gr_mem, *first}:
        try:
            members[member] = pwd.getpwnam(member).pw_uid
        except KeyError:
            continue
    return {"name": name, "gid": found.gr_gid, "members": members}


def password_state(name: str) -> str:
    """Say whether an account's password is `locked`, `set` or `empty`; `unknown` to those who may not look."""
    try:
        with open("/etc/shadow", encoding="utf-8", errors="replace") as file:
            for line in file:
                fields = line.rstrip("\n").split(":")
                if fields[0] == name:
                    return "empty" if not fields[1] else "locked" if fields[1][0] in "!*" else "set"
    except OSError:
        return "unknown"
    return "locked"


def _authorized_keys(home: str) -> bool | None:
    """Whether keys of SSH would let somebody in as this account; None for those who may not look."""
    try:
        return os.stat(os.path.join(home, ".ssh", "authorized_keys")).st_size > 0
    except PermissionError:
        return None
    except OSError:
        return False


def above(root: str) -> list[dict[str, Any]]:
    """List the folders above the tree that others could use to replace it."""
    found = []
    folder = os.path.dirname(os.path.abspath(root))
    while True:
        try:
            facts = os.stat(folder)
        except OSError:
            facts = None
        if facts is not None:
            mode = stat.S_IMODE(facts.st_mode)
            found.append({"path": folder, "uid": facts.st_uid, "gid": facts.st_gid, "mode": mode})
        if folder == "/":
            return found
        folder = os.path.dirname(folder)


def me() -> dict[str, Any]:
    """Say who this process is, and whether the groups it has are those that the account would get now."""
    uid = os.geteuid()
    try:
        name = pwd.getpwuid(uid).pw_name
        entitled = os.getgrouplist(name, pwd.getpwuid(uid).pw_gid)
    except KeyError:
        name, entitled = str(uid), []
    has = {os.getegid(), *os.getgroups()}
    return {
        "uid": uid,
        "name": name,
        "gids": sorted(has),
        "groups": sorted(_group_name(gid) for gid in has),
        "new_login": sorted(_group_name(gid) for gid in set(entitled) - has),
    }
