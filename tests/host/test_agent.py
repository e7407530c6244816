"""The agent that is sent to other machines: self-contained, old Python, careful with what changed meanwhile."""

from __future__ import annotations

import ast
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from seatrial.host.agent.acl import (
    DEFAULT,
    GROUP,
    GROUP_OBJ,
    MASK,
    OTHER,
    USER,
    USER_OBJ,
    AclEntry,
    acl_of_mode,
    build_acl,
    group_rights,
    named_rights,
    parse_acl,
)
from seatrial.host.agent.acting import Journal, perform
from seatrial.host.agent.rules import Entry, Ids, Rule, Rules, judge
from seatrial.host.agent.undoing import read_journal
from seatrial.host.connection import MODULES, OLDEST_PYTHON, PACKAGE, OverSsh, sources
from seatrial.host.looking.inside import script

IDS = Ids(999, 999, frozenset({1001}))
SHARED, CLOSED, SECRET = (
    Rule("hf-cache", shared=True, forbidden=0o002),
    Rule("docker"),
    Rule("docker/secrets", forbidden=0o077),
)
ACL = tuple(acl_of_mode(0o775))


@pytest.mark.parametrize("module", MODULES)
def test_each_module_is_old_python_and_imports_only_what_is_sent_before_it(module: str) -> None:
    tree = ast.parse(sources()[f"{PACKAGE}.{module}"], feature_version=OLDEST_PYTHON)
    sent = {f"{PACKAGE}.{name}" for name in MODULES[: MODULES.index(module)]}
    for node in ast.walk(tree):
        names = [node.module] if isinstance(node, ast.ImportFrom) else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        for name in names:
            assert name in sent or (name or "").split(".")[0] in sys.stdlib_module_names, name


def test_what_runs_in_images_is_old_python_and_needs_nothing() -> None:
    tree = ast.parse(script(), feature_version=(3, 8))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert names <= {*sys.stdlib_module_names, "importlib.metadata"} | {"importlib"}


def test_a_machines_name_can_not_be_an_option_of_ssh() -> None:
    from seatrial.errors import InputError

    with pytest.raises(InputError):
        OverSsh("-oProxyCommand=x")
    assert OverSsh("gpu1").command[-3:-1] == ["--", "gpu1"]


def test_an_acl_comes_back_as_it_was_written() -> None:
    entries = [
        AclEntry(USER_OBJ, 7),
        AclEntry(USER, 6, 1000),
        AclEntry(GROUP_OBJ, 7),
        AclEntry(MASK, 5),
        AclEntry(OTHER, 0),
    ]
    assert parse_acl(build_acl(entries)) == entries
    assert (group_rights(entries), named_rights(entries)) == (5, 4)
    assert parse_acl(b"\x03\x00\x00\x00") == []


def entry(path: str, mode: int, uid: int = 999, gid: int = 999, **more: Any) -> Entry:
    return Entry(path, mode, uid, gid, **more)


FOLDER, FILE, LINK = stat.S_IFDIR, stat.S_IFREG, stat.S_IFLNK


@pytest.mark.parametrize(
    ("found", "rule", "why"),
    [
        (entry("hf-cache/x", FOLDER | 0o2775, default=ACL), SHARED, []),
        (entry("hf-cache/x", FOLDER | 0o2775, uid=1001, default=ACL), SHARED, []),
        (entry("hf-cache/x", FOLDER | 0o2775, uid=1002, default=ACL), SHARED, ["owner"]),
        (entry("hf-cache", FOLDER | 0o2775, uid=1001, default=ACL), SHARED, ["owner"]),
        (entry("hf-cache/x", FOLDER | 0o755), SHARED, ["not-group-writable", "no-setgid", "no-default-acl"]),
        (entry("hf-cache/x", FOLDER | 0o2775, default=None), SHARED, []),
        (entry("hf-cache/x", FILE | 0o600), SHARED, ["not-group-writable"]),
        (entry("hf-cache/x", FILE | 0o666), SHARED, ["others-write"]),
        (entry("hf-cache/x", LINK | 0o777), SHARED, []),
        (entry("hf-cache/x", LINK | 0o777, uid=0, gid=0), SHARED, ["owner-root", "group"]),
        (entry("docker/x", FILE | 0o644), CLOSED, []),
        (entry("docker/x", FILE | 0o664), CLOSED, ["group-write"]),
        (entry("docker/x", FILE | 0o644, uid=1001), CLOSED, ["owner"]),
        (
            entry("docker/x", FILE | 0o664, access=(AclEntry(GROUP_OBJ, 4), AclEntry(MASK, 6), AclEntry(USER, 4, 5))),
            CLOSED,
            [],
        ),
        (
            entry("docker/x", FILE | 0o664, access=(AclEntry(GROUP_OBJ, 4), AclEntry(MASK, 6), AclEntry(GROUP, 6, 5))),
            CLOSED,
            ["access-acl"],
        ),
        (entry("docker/secrets/k", FILE | 0o640), SECRET, ["group-read"]),
        (entry("docker/secrets/k", FILE | 0o604), SECRET, ["others-read"]),
    ],
)
def test_an_entry_is_judged_by_its_rule(found: Entry, rule: Rule, why: list[str]) -> None:
    told = judge(found, rule, IDS)
    assert (told["why"] if told else []) == why


def test_what_an_entry_should_become_is_right_by_its_rule() -> None:
    told = judge(entry("hf-cache/x", FILE | 0o755, uid=5, gid=5), SHARED, IDS)
    assert told is not None
    assert told["wants"] == {"owner": True, "group": True, "mode": 0o775}
    private = judge(entry("docker/secrets/k", FILE | 0o777), SECRET, IDS)
    assert private is not None
    assert private["wants"]["mode"] == 0o700


def test_the_longest_rule_and_the_names_of_its_part_decide() -> None:
    token = Rule("hf-cache", forbidden=0o077, names=("token",), members=True)
    rules = Rules([Rule(""), SHARED, CLOSED, SECRET, token])
    assert rules.of_folder("docker/secrets/deep").path == "docker/secrets"
    assert rules.of_folder("docker-old").path == ""
    assert rules.of_file("hf-cache/token", rules.of_folder("hf-cache")) is token
    assert rules.of_file("hf-cache/hub/token", rules.of_folder("hf-cache/hub")) is SHARED


class TestActing:
    """Changing files that others may write beside."""

    def run(self, root: Path, paths: list[dict[str, Any]], tmp_path: Path) -> list[dict[str, Any]]:
        import grp
        import pwd

        lines: list[dict[str, Any]] = []
        action = {
            "kind": "set-paths",
            "summary": "mend",
            "root": str(root),
            "owner": pwd.getpwuid(os.geteuid()).pw_name,
            "group": grp.getgrgid(os.getegid()).gr_name,
            "paths": paths,
        }
        journal = Journal(str(tmp_path / "state"), "one.jsonl")
        perform([action], journal, lines.append)
        journal.close()
        return lines

    def path(self, root: Path, name: str, mode: int) -> dict[str, Any]:
        facts = (root / name).lstat()
        was = {
            "uid": facts.st_uid,
            "gid": facts.st_gid,
            "mode": stat.S_IMODE(facts.st_mode),
            "access": [],
            "default": [],
        }
        return {"path": name, "inode": facts.st_ino, "was": was, "wants": {"mode": mode}}

    def test_a_mode_is_changed_and_the_journal_tells_what_it_was(self, tmp_path: Path) -> None:
        (tmp_path / "tree" / "a").mkdir(parents=True)
        (tmp_path / "tree" / "a" / "f").touch(mode=0o666)
        lines = self.run(tmp_path / "tree", [self.path(tmp_path / "tree", "a/f", 0o600)], tmp_path)
        assert lines[-1] == {"event": "done", "number": 0, "changed": 1}
        assert stat.S_IMODE((tmp_path / "tree" / "a" / "f").stat().st_mode) == 0o600
        (step,) = read_journal(str(tmp_path / "state" / "one.jsonl"))
        assert step["paths"][0][0] == "a/f"
        assert (tmp_path / "state").stat().st_mode & 0o077 == 0

    @pytest.mark.parametrize("swap", ["file-for-link", "folder-for-link", "other-file", "hard-link", "mode"])
    def test_what_was_swapped_meanwhile_is_left_alone(self, tmp_path: Path, swap: str) -> None:
        root, target = tmp_path / "tree", tmp_path / "target"
        (root / "a").mkdir(parents=True)
        (target).mkdir()
        (target / "f").touch(mode=0o644)
        (root / "a" / "f").touch(mode=0o644)
        wanted = self.path(root, "a/f", 0o666)
        if swap == "file-for-link":
            (root / "a" / "f").unlink()
            (root / "a" / "f").symlink_to(target / "f")
        elif swap == "folder-for-link":
            (root / "a").rename(root / "b")
            (root / "a").symlink_to(target)
        elif swap == "other-file":
            (root / "a" / "g").touch(mode=0o644)
            (root / "a" / "g").rename(root / "a" / "f")
        elif swap == "hard-link":
            (target / "f").unlink()
            (target / "f").hardlink_to(root / "a" / "f")
        else:
            (root / "a" / "f").chmod(0o640)
        before = stat.S_IMODE((target / "f").stat().st_mode)
        lines = self.run(root, [wanted], tmp_path)
        assert lines[-1]["event"] == "partly"
        assert lines[-1]["left"] == 1
        assert stat.S_IMODE((target / "f").stat().st_mode) == before

    def test_a_default_acl_is_set(self, tmp_path: Path) -> None:
        root = tmp_path / "tree"
        (root / "a").mkdir(parents=True)
        wanted = self.path(root, "a", 0o2775)
        wanted["wants"]["default"] = [list(one) for one in acl_of_mode(0o775)]
        try:
            os.setxattr(root / "a", DEFAULT, build_acl(acl_of_mode(0o755)))
            os.removexattr(root / "a", DEFAULT)
        except OSError as error:
            pytest.skip(f"no ACLs on this file system: {error.strerror}")
        self.run(root, [wanted], tmp_path)
        assert parse_acl(os.getxattr(root / "a", DEFAULT)) == acl_of_mode(0o775)
        descriptor = os.open(root / "a" / "f", os.O_CREAT | os.O_WRONLY, 0o666)
        os.close(descriptor)
        assert stat.S_IMODE((root / "a" / "f").stat().st_mode) == 0o664

    def test_a_journal_that_was_cut_is_read_up_to_there(self, tmp_path: Path) -> None:
        journal = Journal(str(tmp_path), "x.jsonl")
        journal.write({"number": 0, "undo": {"kind": "command", "summary": "one"}})
        journal.close()
        with (tmp_path / "x.jsonl").open("a", encoding="utf-8") as file:
            file.write('{"number": 1, "undo": {"kin')
        assert [step["summary"] for step in read_journal(str(tmp_path / "x.jsonl"))] == ["one"]


def test_memory_that_stays_held_is_told_with_its_process() -> None:
    from seatrial.facts.host import GpuFacts, GpuProcess
    from seatrial.facts.probe.gpus import FoundGpus
    from seatrial.host.releasing import wait_until_released

    stuck, other = GpuProcess(5, "sglang", 100, "root"), GpuProcess(6, "desktop", 50)
    answers = [
        FoundGpus((GpuFacts(0, "x", 1, processes=processes),))
        for processes in ((stuck, other), (stuck, other), (other,))
    ]
    told = iter(answers)
    assert wait_until_released([5], ask=lambda: next(told), sleep=lambda _: None) == ()
    assert wait_until_released([5], seconds=-1, ask=lambda: answers[0], sleep=lambda _: None) == (stuck,)
