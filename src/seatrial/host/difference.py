"""From what is declared and what was observed to the actions that make them one. Pure."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from seatrial.host.accounts import NO_SHELL, NO_SHELLS, Declared, Folder
from seatrial.host.agent.acl import acl_of_mode
from seatrial.host.observed import Account, Deviation, Observed

SHOWN_PATHS = 3
FOREIGN = "is not empty, and has neither docker/ nor hf-cache/: it is no stack's tree. Name another --root, or "
"make docker/ in it."

WORDS = {
    "owner-root": "owned by root",
    "owner": "owned by somebody else",
    "group": "another group",
    "not-group-writable": "not the group's to write",
    "no-setgid": "new files would not get the group",
    "no-default-acl": "new files would not be the group's to write",
    "others-write": "everybody may write it",
    "others-read": "everybody may read it",
    "group-write": "the group may write it",
    "group-read": "the group may read it",
    "setuid": "setuid or setgid",
    "access-acl": "an ACL gives it to others",
    "default-acl": "new files would be others' to write",
}


@dataclass(frozen=True, slots=True)
class Action:
    """One thing to do.

    Attributes:
        kind: a word that the agent knows.
        summary: what it does, for people.
        why: what for.
        diff: lines of what is (`-`) and what will be (`+`).
        needs_root: this account may not do it.
        safe: an audit may mend it by itself.
        body: what the agent needs.
    """

    kind: str
    summary: str
    why: str
    diff: tuple[str, ...]
    needs_root: bool
    safe: bool = False
    body: Mapping[str, Any] = field(default_factory=dict)

    @property
    def request(self) -> dict[str, Any]:
        """The action as the agent takes it."""
        return {"kind": self.kind, "summary": self.summary, **self.body}


@dataclass(frozen=True, slots=True)
class Difference:
    """What has to be done, and what can't be.

    Attributes:
        actions: in the order in which they must be done.
        blocked: sentences about what nothing here can do: an account of a person, Docker itself.
    """

    actions: tuple[Action, ...]
    blocked: tuple[str, ...] = ()

    @property
    def doable(self) -> tuple[Action, ...]:
        """What the account that looked may do."""
        return tuple(action for action in self.actions if not action.needs_root)

    @property
    def for_root(self) -> tuple[Action, ...]:
        """What only root may do."""
        return tuple(action for action in self.actions if action.needs_root)


def difference(declared: Declared, observed: Observed) -> Difference:
    """Compare, and say what to do about it."""
    if is_foreign(declared, observed):
        return Difference((), (f"{declared.root} {FOREIGN}",))
    actions = [
        *_service_account(declared, observed),
        *_memberships(declared, observed),
        *_folders(declared, observed),
        *_paths(declared, observed),
    ]
    return Difference(tuple(actions), tuple(_blocked(declared, observed)))


def is_foreign(declared: Declared, observed: Observed) -> bool:
    """Whether the root is full of something else: a wrong --root must not give it away."""
    parts = [observed.folders.get(folder.path) for folder in declared.folders if folder.path]
    return observed.tree.exists and observed.tree.entries > 1 and not any(parts)


def _service_account(declared: Declared, observed: Observed) -> Iterator[Action]:
    name, root = declared.service, not observed.me.is_root
    shell = observed.tools.get("nologin") or NO_SHELL
    if observed.service is None:
        own_group = ["-g", name] if observed.group else ["-U"]
        command = ["useradd", "-r", *own_group, "-s", shell, "-d", declared.root, "-M", name]
        yield Action(
            "add-account",
            f"add the system account {name}",
            "it owns the tree and runs the stack; nobody can log in as it",
            (f"+ {' '.join(command)}",),
            root,
            body={"name": name, "home": declared.root, "command": command},
        )
        return
    yield from _corrected(declared, observed.service, shell, needs_root=root)


def _corrected(declared: Declared, found: Account, shell: str, *, needs_root: bool) -> Iterator[Action]:
    name = declared.service

    def change(option: str, was: str, will: str, what: str, why: str) -> Action:
        words = ["usermod", option, *([will] if option != "-L" else []), name]
        body = {"name": name, "command": words}
        return Action("set-account", f"{what} of {name}", why, (f"- {was}", f"+ {will}"), needs_root, body=body)

    if found.shell not in NO_SHELLS:
        yield change("-s", found.shell, shell, "shell", "nobody logs in as the service account")
    if os.path.normpath(found.home) != os.path.normpath(declared.root):
        yield change("-d", found.home, declared.root, "home", "the tree is the account's home")
    if found.primary != declared.group:
        yield change("-g", found.primary, declared.group, "first group", "what it makes must be the admins' group's")
    if found.password in ("set", "empty"):
        yield change("-L", found.password, "locked", "password", "nobody logs in as the service account")


def _memberships(declared: Declared, observed: Observed) -> Iterator[Action]:
    wanted = [(declared.service, "docker", "it runs `docker compose`; membership is root on this host")]
    if not declared.container or observed.docker is None:
        wanted = []
    wanted += [(admin, declared.group, "an admin: may change models, not the stack") for admin in declared.admins]
    for name, group, why in wanted:
        account = observed.service if name == declared.service else observed.admins.get(name)
        if (account is None and name != declared.service) or (account is not None and group in account.groups):
            continue
        yield Action(
            "join-group",
            f"put {name} into the group {group}",
            why,
            (f"+ usermod -aG {group} {name}",),
            not observed.me.is_root,
            body={"name": name, "group": group, "command": ["usermod", "-aG", group, name]},
        )


def _folders(declared: Declared, observed: Observed) -> Iterator[Action]:
    for folder in declared.folders:
        if observed.folders.get(folder.path):
            continue
        yield _make_folder(declared, folder, observed)


def _make_folder(declared: Declared, folder: Folder, observed: Observed) -> Action:
    wants: dict[str, Any] = {"owner": declared.service, "group": declared.group, "mode": folder.mode}
    if folder.shared:
        wants["default"] = [list(entry) for entry in acl_of_mode(folder.mode & 0o777)]
    path = f"{declared.root}/{folder.path}".rstrip("/")
    acl = ", default ACL g:rwx" if folder.shared else ""
    mine = observed.service is not None and observed.me.uid == observed.service.uid and bool(folder.path)
    return Action(
        "make-folder",
        f"make {path}",
        folder.why,
        (f"+ {path}  {declared.service}:{declared.group} {folder.mode:04o}{acl}",),
        not (observed.me.is_root or mine),
        body={"root": declared.root, "path": folder.path, "wants": wants},
    )


def _paths(declared: Declared, observed: Observed) -> Iterator[Action]:
    """Make an action of all paths that differ in the same way in the same part; what needs root apart."""
    grouped: dict[tuple[str, tuple[str, ...], bool], list[Deviation]] = {}
    for one in observed.tree.deviations:
        grouped.setdefault((one.part, one.why, not may_change(one, observed)), []).append(one)
    for (part, why, needs_root), found in sorted(grouped.items(), key=lambda item: item[0]):
        what = ", ".join(WORDS[kind] for kind in why)
        place = f"{declared.root}/{part}".rstrip("/")
        count = f"{len(found):,} entries" if len(found) > 1 else f"/{found[0].path}".rstrip("/") or "the folder itself"
        yield Action(
            "set-paths",
            f"mend {count} in {place}",
            what,
            tuple(path_lines(declared, found)),
            needs_root,
            safe=True,
            body={
                "root": declared.root,
                "owner": declared.service,
                "group": declared.group,
                "paths": [one.raw for one in found],
            },
        )


def may_change(one: Deviation, observed: Observed) -> bool:
    """Whether the account that looked may make this change: root, or the owner where the owner stays."""
    if observed.me.is_root:
        return True
    if one.was["uid"] != observed.me.uid or "owner" in one.wants:
        return False
    return "group" not in one.wants or (observed.group is not None and observed.group.gid in observed.me.gids)


def path_lines(declared: Declared, found: Sequence[Deviation]) -> Iterator[str]:
    """Show how some paths change, the first of many."""
    for one in found[:SHOWN_PATHS]:
        path = f"{declared.root}/{one.path}".rstrip("/")
        yield f"- {path}  {one.was['uid']}:{one.was['gid']} {one.was['mode']:04o}{_acl_words(one.was)}"
        yield f"+ {path}  {_after(declared, one)}"
    if len(found) > SHOWN_PATHS:
        yield f"  … and {len(found) - SHOWN_PATHS:,} more like these"


def _after(declared: Declared, one: Deviation) -> str:
    owner = declared.service if "owner" in one.wants else str(one.was["uid"])
    group = declared.group if "group" in one.wants else str(one.was["gid"])
    mode = one.wants.get("mode", one.was["mode"])
    acl = ""
    if "default" in one.wants:
        acl = ", default ACL g:rwx" if one.wants["default"] else ", no default ACL"
    return f"{owner}:{group} {mode:04o}{acl}"


def _acl_words(was: Mapping[str, Any]) -> str:
    words = [f"{name} ACL" for name in ("access", "default") if was.get(name)]
    return f", {', '.join(words)}" if words else ""


def _blocked(declared: Declared, observed: Observed) -> Iterator[str]:
    for admin in declared.admins:
        if observed.admins.get(admin) is None:
            yield f"There is no account {admin}: make it (`adduser {admin}`), then apply again."
    if declared.container and observed.docker is None:
        yield "There is no group docker: install Docker Engine, then apply again."
    if observed.tree.problem:
        yield f"{declared.root} can't be looked at ({observed.tree.problem})."
    for path in observed.tree.linked_parts:
        yield f"{declared.root}/{path} is a link: mount the other disk there instead; nothing behind it is changed."
    for path in observed.tree.hard_links:
        yield f"{declared.root}/{path} has a second name (a hard link), which may lie elsewhere: look, then mend it."


def total(actions: Iterable[Action]) -> int:
    """Count changes: each path of an action is one."""
    return sum(len(action.body.get("paths", (0,))) for action in actions)
