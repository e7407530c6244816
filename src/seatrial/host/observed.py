"""What the agent found, typed: accounts, groups, the tree's deviations. Made once, where its answer is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Account:
    """An account of the machine.

    Attributes:
        uid: its number.
        primary: name of its first group.
        password: `locked`, `set`, `empty`, or `unknown` to those who may not look.
        keys: whether keys of SSH would let somebody in as this account; None for those who may not look.
    """

    name: str
    uid: int
    gid: int
    primary: str
    home: str
    shell: str
    groups: tuple[str, ...]
    password: str
    keys: bool | None


@dataclass(frozen=True, slots=True)
class Group:
    """A group, with the uids of its members by name."""

    name: str
    gid: int
    members: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Deviation:
    """One file or folder that is not as its rule says.

    Attributes:
        path: relative to the root.
        kind: folder, file, link or other.
        part: path of the rule that it falls under.
        why: kinds of difference.
        was: owner, group, mode and ACLs as they are.
        wants: what it should become.
        raw: as the agent needs it to change it.
    """

    path: str
    kind: str
    part: str
    why: tuple[str, ...]
    was: Mapping[str, Any]
    wants: Mapping[str, Any]
    raw: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Tree:
    """What a walk through the tree found.

    Attributes:
        exists: the root is there.
        entries: files and folders that were looked at.
        deviations: what is not as declared.
        environments: folders with a Python environment.
        unreadable: what could not be looked at.
        hard_links: files that are not as declared, and have a second name.
        no_acls: shared folders on a file system without ACLs.
        linked_parts: declared folders that are links, so that nothing behind them was looked at.
        problem: why the root can't be opened.
    """

    exists: bool
    entries: int
    deviations: tuple[Deviation, ...]
    environments: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()
    hard_links: tuple[str, ...] = ()
    no_acls: tuple[str, ...] = ()
    linked_parts: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Me:
    """The account that looked.

    Attributes:
        gids: of the groups that this process has.
        new_login: groups that the account is in, and this process is not: it began before.
    """

    uid: int
    name: str
    gids: frozenset[int]
    groups: tuple[str, ...]
    new_login: tuple[str, ...]

    @property
    def is_root(self) -> bool:
        """Whether it may do everything."""
        return self.uid == 0


@dataclass(frozen=True, slots=True)
class Above:
    """A folder above the tree."""

    path: str
    uid: int
    mode: int


@dataclass(frozen=True, slots=True)
class Observed:
    """One machine, as it was looked at.

    Attributes:
        service: the service account; None where there is none.
        group: the group of its name.
        admins: wanted admins by name; None for one that has no account.
        docker: Docker's group.
        above: folders above the tree, the nearest first.
        me: who looked.
        tools: paths of programs, None for what is not installed.
        systemd: it runs here.
        tree: what the walk found.
        folders: declared folders, and whether each is there.
        files: texts of the files that were asked for.
    """

    service: Account | None
    group: Group | None
    admins: Mapping[str, Account | None]
    docker: Group | None
    above: tuple[Above, ...]
    me: Me
    tools: Mapping[str, str | None]
    systemd: bool
    tree: Tree
    folders: Mapping[str, bool]
    files: Mapping[str, str | None] = field(default_factory=dict)


def read_observed(found: Mapping[str, Any]) -> Observed:
    """Type the agent's answer."""
    me, tree = found["me"], found["tree"]
    return Observed(
        service=_account(found["service"]),
        group=_group(found["group"]),
        admins={name: _account(one) for name, one in found["admins"].items()},
        docker=_group(found["docker"]),
        above=tuple(Above(one["path"], one["uid"], one["mode"]) for one in found["above"]),
        me=Me(me["uid"], me["name"], frozenset(me["gids"]), tuple(me["groups"]), tuple(me["new_login"])),
        tools=found["tools"],
        systemd=found["systemd"],
        tree=Tree(
            exists=tree["exists"],
            entries=tree["entries"],
            deviations=tuple(_deviation(one) for one in tree["deviations"]),
            environments=tuple(tree["environments"]),
            unreadable=tuple(tree["unreadable"]),
            hard_links=tuple(tree["hard_links"]),
            no_acls=tuple(tree["no_acls"]),
            linked_parts=tuple(tree["linked_parts"]),
            problem=tree.get("problem", ""),
        ),
        folders=found["folders"],
        files=found["files"],
    )


def _account(found: Mapping[str, Any] | None) -> Account | None:
    return None if found is None else Account(**{**found, "groups": tuple(found["groups"])})


def _group(found: Mapping[str, Any] | None) -> Group | None:
    return None if found is None else Group(**found)


def _deviation(found: Mapping[str, Any]) -> Deviation:
    return Deviation(
        found["path"], found["kind"], found["part"], tuple(found["why"]), found["was"], found["wants"], found
    )
