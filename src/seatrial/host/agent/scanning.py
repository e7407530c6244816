"""Walks a tree and reports what is not as its rules say. One `lstat` an entry, no process, no link followed."""

from __future__ import annotations

import os
import stat
from typing import Any

from seatrial.host.agent.acl import ACCESS, DEFAULT, UNSUPPORTED, AclEntry, parse_acl
from seatrial.host.agent.rules import Entry, Ids, Rule, Rules, judge

MOST_NAMED = 50


class Scan:
    """One walk. `found` is what it has to say, in plain values."""

    def __init__(self, root: str, rules: Rules, ids: Ids, parts: frozenset[str] = frozenset()) -> None:
        self.root = root
        self.parts = parts
        self.rules = rules
        self.ids = ids
        self.found: dict[str, Any] = {
            "exists": False,
            "entries": 0,
            "deviations": [],
            "environments": [],
            "unreadable": [],
            "hard_links": [],
            "no_acls": [],
            "linked_parts": [],
        }

    def run(self) -> dict[str, Any]:
        """Walk the tree."""
        try:
            root = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            return self.found
        except OSError as error:
            self.found["exists"] = True
            self._note("unreadable", "")
            linked = stat.S_ISLNK(os.lstat(self.root).st_mode)
            self.found["problem"] = (
                "it is a link: name the folder that it leads to" if linked else (error.strerror or str(error)).lower()
            )
            return self.found
        self.found["exists"] = True
        try:
            rule = self.rules.of_folder("")
            self._judge_entry("", os.fstat(root), f"/proc/self/fd/{root}", rule, follow=True)
            self._walk(root, "", rule)
        finally:
            os.close(root)
        return self.found

    def _walk(self, folder: int, path: str, rule: Rule) -> None:
        prefix = path + "/" if path else ""
        below: list[tuple[str, str]] = []
        place = f"/proc/self/fd/{folder}/"
        with os.scandir(folder) as entries:
            for entry in entries:
                child = prefix + entry.name
                try:
                    facts = entry.stat(follow_symlinks=False)
                except OSError:
                    self._note("unreadable", child)
                    continue
                if stat.S_ISDIR(facts.st_mode):
                    below.append((entry.name, child))
                    self._judge_entry(child, facts, place + entry.name, self.rules.of_folder(child))
                else:
                    if child in self.parts and stat.S_ISLNK(facts.st_mode):
                        self._note("linked_parts", child)
                    if entry.name == "pyvenv.cfg":
                        self._note("environments", path)
                    self._judge_entry(child, facts, place + entry.name, self.rules.of_file(child, rule))
        for name, child in below:
            try:
                deeper = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
            except OSError:
                self._note("unreadable", child)
                continue
            try:
                self._walk(deeper, child, self.rules.of_folder(child))
            finally:
                os.close(deeper)

    def _judge_entry(self, path: str, facts: os.stat_result, place: str, rule: Rule, *, follow: bool = False) -> None:
        self.found["entries"] += 1
        access: tuple[AclEntry, ...] = ()
        default: tuple[AclEntry, ...] | None = ()
        folder = stat.S_ISDIR(facts.st_mode)
        if facts.st_mode & 0o070 and (folder or stat.S_ISREG(facts.st_mode)):
            # With an ACL the group's bits hold its mask; without them no entry of it is in effect.
            access = _read(place, ACCESS, follow=follow) or ()
        if folder:
            default = _read(place, DEFAULT, follow=follow)
            if default is None and rule.shared:
                self._note("no_acls", path)
        entry = Entry(path, facts.st_mode, facts.st_uid, facts.st_gid, facts.st_nlink, facts.st_ino, access, default)
        found = judge(entry, rule, self.ids)
        if found is None:
            return
        found["part"] = rule.path
        if found["kind"] == "file" and facts.st_nlink > 1:
            # A second name may lie outside of the tree: whoever changes this one changes that one too.
            self._note("hard_links", path)
            return
        self.found["deviations"].append(found)

    def _note(self, kind: str, path: str) -> None:
        if len(self.found[kind]) < MOST_NAMED:
            self.found[kind].append(path)


def _read(place: str, attribute: str, *, follow: bool) -> tuple[AclEntry, ...] | None:
    """Read an ACL: empty where there is none, None where the file system has no ACLs."""
    try:
        return tuple(parse_acl(os.getxattr(place, attribute, follow_symlinks=follow)))
    except OSError as error:
        return None if error.errno in UNSUPPORTED else ()
