"""Undoes what a journal tells, the newest first. What has changed since is left alone, and told."""

# Paths are reached by descriptors and given as text: pathlib has no part in that.
# ruff: noqa: PTH105, PTH106, PTH108, PTH112, PTH118, PTH119, PTH120, PTH123, PTH208

from __future__ import annotations

import json
import os
import stat
from typing import Any

from seatrial.host.agent.accounts import account, group
from seatrial.host.agent.acl import ACCESS, DEFAULT, AclEntry, build_acl
from seatrial.host.agent.acting import Emit, Refused, change_opened, open_inside, opened, put, run_command, words_of


def journals(folder: str) -> list[dict[str, Any]]:
    """List the journals of a folder, the newest first, with what is left to undo in each."""
    found = []
    for name in sorted(os.listdir(folder) if os.path.isdir(folder) else (), reverse=True):
        if name.endswith(".jsonl"):
            steps = read_journal(os.path.join(folder, name))
            found.append({"name": name, "steps": len(steps), "summaries": [step["summary"] for step in steps]})
    return found


def read_journal(path: str) -> list[dict[str, Any]]:
    """Read what can be undone, in the order in which it was done. A last line that was cut by a kill is passed over."""
    steps = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if entry.get("undo"):
                steps.append(entry["undo"])
    return steps


def undo(path: str, emit: Emit) -> None:
    """Undo a journal; it is renamed when nothing is left to do, so that it is not undone twice."""
    left = False
    steps = read_journal(path)
    for number, step in enumerate(reversed(steps)):
        try:
            problems = UNDO[step["kind"]](step)
        except Refused as refusal:
            problems = [str(refusal)]
        except (OSError, KeyError) as error:
            problems = [words_of(error)]
        left = left or bool(problems)
        emit({"event": "undone", "number": number, "summary": step["summary"], "problems": problems[:20]})
    if not left:
        os.replace(path, path + ".undone")


def _command(step: dict[str, Any]) -> list[str]:
    words = step["command"]
    guard = step.get("unless_owner")
    if guard:
        if account(guard["user"]) is None:
            return []
        if _owns_something(guard["tree"], guard["user"]):
            return [f"{guard['user']} still owns files under {guard['tree']}: move or remove them first"]
    if words[0] == "gpasswd":
        found = account(words[2])
        if found is None or group(words[3]) is None or words[3] not in found["groups"]:
            return []
    run_command(words)
    return []


def _owns_something(tree: str, user: str) -> bool:
    found = account(user)
    if found is None:
        return False
    for folder, _, files in os.walk(tree):
        for name in (".", *files):
            try:
                if os.lstat(os.path.join(folder, name)).st_uid == found["uid"]:
                    return True
            except OSError:
                continue
    return False


def _remove_folder(step: dict[str, Any]) -> list[str]:
    """Remove a folder that was made, if nothing lies in it."""
    try:
        if not step["path"]:
            os.rmdir(step["root"])
            return []
        parent = open_inside(step["root"], os.path.dirname(step["path"]))
        try:
            os.rmdir(os.path.basename(step["path"]), dir_fd=parent)
        finally:
            os.close(parent)
    except FileNotFoundError:
        return []
    except OSError as error:
        return [f"{step['path'] or step['root']} stays: {words_of(error)}"]
    return []


def _restore_paths(step: dict[str, Any]) -> list[str]:
    problems = []
    for path, inode, was in step["paths"]:
        try:
            with opened(step["root"], path, inode) as descriptor:
                facts = os.fstat(descriptor)
                change_opened(descriptor, facts, was["uid"], was["gid"], was["mode"])
                if not stat.S_ISLNK(facts.st_mode):
                    place = f"/proc/self/fd/{descriptor}"
                    _put_acl(place, ACCESS, was["access"])
                    if stat.S_ISDIR(facts.st_mode) and was["default"] is not None:
                        _put_acl(place, DEFAULT, was["default"])
        except FileNotFoundError:
            continue
        except (OSError, Refused) as error:
            problems.append(f"{path}: {words_of(error)}")
    return problems


def _put_acl(place: str, attribute: str, entries: list[list[int]]) -> None:
    if entries:
        os.setxattr(place, attribute, build_acl([AclEntry(*entry) for entry in entries]))
    elif attribute in os.listxattr(place):
        os.removexattr(place, attribute)


def _restore_file(step: dict[str, Any]) -> list[str]:
    try:
        with open(step["path"], encoding="utf-8") as file:
            now: str | None = file.read()
    except FileNotFoundError:
        now = None
    if now == step["text"]:
        return []
    if now != step["wrote"]:
        return [f"{step['path']} was edited meanwhile: it stays"]
    if step["text"] is None:
        os.unlink(step["path"])
    else:
        put(step["path"], step["text"])
    return []


UNDO = {
    "command": _command,
    "remove-folder": _remove_folder,
    "restore-paths": _restore_paths,
    "restore-file": _restore_file,
}
