"""Does actions, one after the other, and writes each to a journal before it is done, so that it can be undone.

Files are reached from the root by descriptors that follow no link, and are changed only when they are still what was
looked at: an admin who may write to a shared folder can't make root change something else.
"""

# Paths are reached by descriptors and given as text: pathlib has no part in that.
# ruff: noqa: PTH101, PTH103, PTH105, PTH108, PTH118, PTH119, PTH120, PTH123

from __future__ import annotations

import contextlib
import ctypes
import errno
import grp
import json
import os
import pwd
import stat
import subprocess
import time
from collections.abc import Callable
from typing import Any

from seatrial.host.agent.accounts import account, group, search_path
from seatrial.host.agent.acl import ACCESS, DEFAULT, UNSUPPORTED, AclEntry, build_acl

Emit = Callable[[dict[str, Any]], None]
BATCH = 500
"""Paths that are written to the journal together, before they are changed."""
COMMAND_SECONDS = 60.0


class Refused(Exception):  # noqa: N818 - a refusal is an answer
    """An action can't be done, with the reason."""


class Journal:
    """A file of lines, on disk before what they tell is done."""

    def __init__(self, folder: str, name: str) -> None:
        self.path = os.path.join(folder, name)
        os.makedirs(folder, mode=0o700, exist_ok=True)
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._file = os.fdopen(descriptor, "a", encoding="utf-8")

    def write(self, line: dict[str, Any]) -> None:
        """Write one line, and wait until the disk has it."""
        self._file.write(json.dumps(line, ensure_ascii=False) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close it."""
        self._file.close()


def perform(actions: list[dict[str, Any]], journal: Journal, emit: Emit) -> None:
    """Do actions in their order. One that fails is told, and the rest goes on.

    `emit` gets a line for each: `done`, `skipped` (with `why`) or `failed` (with `why`), and `progress` for long ones.
    """
    for number, action in enumerate(actions):
        do = ACTIONS[action["kind"]]
        try:
            do(number, action, journal, emit)
        except Refused as refusal:
            emit({"event": "skipped", "number": number, "why": str(refusal)})
        except (OSError, KeyError, subprocess.SubprocessError) as error:
            emit({"event": "failed", "number": number, "why": words_of(error)})


def words_of(error: BaseException) -> str:
    """Say what went wrong, with the file that it is about."""
    if isinstance(error, OSError):
        return f"{error.filename or ''} {(error.strerror or str(error)).lower()}".strip()
    return str(error)


def run_command(words: list[str]) -> None:
    """Run a tool of the system; its last line is the reason when it refuses."""
    done = subprocess.run(
        words,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=COMMAND_SECONDS,
        check=False,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "PATH": search_path(), "LC_ALL": "C"},
    )
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise Refused(f"{words[0]}: {said[-1] if said else f'status {done.returncode}'}")


def _by_command(
    number: int, action: dict[str, Any], journal: Journal, emit: Emit, *, undo: dict[str, Any] | None
) -> None:
    journal.write({"number": number, "action": action["kind"], "summary": action["summary"], "undo": undo})
    run_command(action["command"])
    journal.write({"number": number, "done": True})
    emit({"event": "done", "number": number})


def _add_account(number: int, action: dict[str, Any], journal: Journal, emit: Emit) -> None:
    if account(action["name"]):
        raise Refused("it exists already")
    undo = {
        "kind": "command",
        "summary": f"remove the account {action['name']}",
        "command": ["userdel", action["name"]],
    }
    guard = {"user": action["name"], "tree": action["home"]}
    _by_command(number, action, journal, emit, undo={**undo, "unless_owner": guard})


def _set_account(number: int, action: dict[str, Any], journal: Journal, emit: Emit) -> None:
    found = account(action["name"])
    if not found:
        raise Refused(f"there is no account {action['name']}")
    if action["command"][1] == "-L":
        # The password stays as it was below the lock: -U gives it back. An empty one would need no password at all.
        can = found["password"] == "set"  # noqa: S105 - a state, no password
        undo = {"kind": "command", "summary": "unlock the password", "command": ["usermod", "-U", action["name"]]}
        _by_command(number, action, journal, emit, undo=undo if can else None)
        return
    option, key = action["command"][1], {"-s": "shell", "-d": "home", "-g": "primary"}[action["command"][1]]
    words = ["usermod", option, found[key], action["name"]]
    undo = {"kind": "command", "summary": f"give {action['name']} its {key} {found[key]} again", "command": words}
    _by_command(number, action, journal, emit, undo=undo)


def _join_group(number: int, action: dict[str, Any], journal: Journal, emit: Emit) -> None:
    found = account(action["name"])
    if not found:
        raise Refused(f"there is no account {action['name']}")
    if not group(action["group"]):
        raise Refused(f"there is no group {action['group']}")
    if action["group"] in found["groups"]:
        raise Refused(f"{action['name']} is in it already")
    undo = {
        "kind": "command",
        "summary": f"take {action['name']} out of the group {action['group']}",
        "command": ["gpasswd", "-d", action["name"], action["group"]],
    }
    _by_command(number, action, journal, emit, undo=undo)


def _make_folder(number: int, action: dict[str, Any], journal: Journal, emit: Emit) -> None:
    """Make a folder that is right from its first moment on."""
    parent = open_inside(action["root"], os.path.dirname(action["path"])) if action["path"] else None
    name = os.path.basename(action["path"]) if parent is not None else action["root"]
    summary = f"remove {action['root']}/{action['path']}".rstrip("/")
    undo = {"kind": "remove-folder", "root": action["root"], "path": action["path"], "summary": summary}
    try:
        journal.write({"number": number, "action": action["kind"], "summary": action["summary"], "undo": undo})
        if parent is None:
            os.makedirs(os.path.dirname(name), exist_ok=True)
        try:
            os.mkdir(name, 0o700, dir_fd=parent)
        except FileExistsError:
            raise Refused("it exists already") from None
        made = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
        try:
            wanted_uid, wanted_gid = _ids(action["wants"])
            _chown(made, wanted_uid, wanted_gid)
            _set_acl(made, DEFAULT, action["wants"].get("default"))
            os.fchmod(made, action["wants"]["mode"])
        finally:
            os.close(made)
    finally:
        if parent is not None:
            os.close(parent)
    journal.write({"number": number, "done": True})
    emit({"event": "done", "number": number})


def _set_paths(number: int, action: dict[str, Any], journal: Journal, emit: Emit) -> None:
    """Give files and folders their owner, group, mode and ACLs."""
    uid, gid = _ids(action)
    journal.write({"number": number, "action": action["kind"], "summary": action["summary"], "undo": None})
    changed, problems = 0, []
    paths = action["paths"]
    for start in range(0, len(paths), BATCH):
        batch = paths[start : start + BATCH]
        undo = {
            "kind": "restore-paths",
            "root": action["root"],
            "summary": f"put back as it was: {action['summary']}",
            "paths": [[one["path"], one["inode"], one["was"]] for one in batch],
        }
        journal.write({"number": number, "undo": undo})
        for one in batch:
            try:
                _set_path(action["root"], one, uid, gid)
                changed += 1
            except (OSError, Refused) as error:
                problems.append(f"{one['path']}: {words_of(error)}")
        emit({"event": "progress", "number": number, "done": start + len(batch), "total": len(paths)})
    journal.write({"number": number, "done": True})
    if problems:
        emit(
            {"event": "partly", "number": number, "changed": changed, "problems": problems[:20], "left": len(problems)}
        )
    else:
        emit({"event": "done", "number": number, "changed": changed})


def _set_path(root: str, one: dict[str, Any], uid: int, gid: int) -> None:
    wants = one["wants"]
    with opened(root, one["path"], one["inode"]) as descriptor:
        facts = os.fstat(descriptor)
        was = one["was"]
        if (facts.st_uid, facts.st_gid, stat.S_IMODE(facts.st_mode)) != (was["uid"], was["gid"], was["mode"]):
            raise Refused("it was changed meanwhile: look again")
        if facts.st_nlink > 1 and stat.S_ISREG(facts.st_mode):
            raise Refused("it has a second name, which may lie elsewhere")
        change_opened(
            descriptor,
            facts,
            uid if wants.get("owner") else -1,
            gid if wants.get("group") else -1,
            wants.get("mode"),
        )
        if wants.get("access") == "remove":
            _set_acl(descriptor, ACCESS, [])
            os.chmod(f"/proc/self/fd/{descriptor}", wants["mode"])
        _set_acl(descriptor, DEFAULT, wants.get("default"))


def change_opened(descriptor: int, facts: os.stat_result, uid: int, gid: int, mode: int | None) -> None:
    """Change what an `O_PATH` descriptor points at."""
    if uid != -1 or gid != -1:
        _chown(descriptor, uid, gid)
    if stat.S_ISLNK(facts.st_mode):
        return
    # A change of owner takes setuid and setgid away: the mode comes after it.
    wanted = mode if mode is not None else stat.S_IMODE(facts.st_mode)
    if stat.S_IMODE(os.fstat(descriptor).st_mode) != wanted:
        os.chmod(f"/proc/self/fd/{descriptor}", wanted)


def _chown(descriptor: int, uid: int, gid: int) -> None:
    """`fchownat` with `AT_EMPTY_PATH`: Python has no other way to the very file that an `O_PATH` descriptor opened."""
    at_empty_path = 0x1000
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.fchownat(descriptor, b"", ctypes.c_uint(uid & 0xFFFFFFFF), ctypes.c_uint(gid & 0xFFFFFFFF), at_empty_path):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _set_acl(descriptor: int, attribute: str, entries: list[list[int]] | None) -> None:
    if entries is None:
        return
    place = f"/proc/self/fd/{descriptor}"
    try:
        if entries:
            os.setxattr(place, attribute, build_acl([AclEntry(*entry) for entry in entries]))
        else:
            os.removexattr(place, attribute)
    except OSError as error:
        if error.errno not in (errno.ENODATA, *UNSUPPORTED):
            raise


def _ids(wants: dict[str, Any]) -> tuple[int, int]:
    """Turn the names of owner and group into numbers; they exist by now, or the action is refused."""
    try:
        return pwd.getpwnam(wants["owner"]).pw_uid, grp.getgrnam(wants["group"]).gr_gid
    except KeyError:
        raise Refused(f"there is no account {wants['owner']} with a group {wants['group']}") from None


def open_inside(root: str, path: str) -> int:
    """Open a folder of the tree, following no link on the way."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(root, flags)
    for part in path.split("/") if path else ():
        try:
            deeper = os.open(part, flags, dir_fd=descriptor)
        finally:
            os.close(descriptor)
        descriptor = deeper
    return descriptor


@contextlib.contextmanager
def opened(root: str, path: str, inode: int) -> Any:
    """Open one entry of the tree to change it, not to read it, if it is the one that was looked at."""
    flags = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
    if path:
        parent = open_inside(root, os.path.dirname(path))
        try:
            descriptor = os.open(os.path.basename(path), flags, dir_fd=parent)
        finally:
            os.close(parent)
    else:
        descriptor = os.open(root, flags)
    try:
        if os.fstat(descriptor).st_ino != inode:
            raise Refused("it was replaced meanwhile: look again")
        yield descriptor
    finally:
        os.close(descriptor)


def _write_file(number: int, action: dict[str, Any], journal: Journal, emit: Emit) -> None:
    """Write a small file of the system, whole or not at all."""
    path = action["path"]
    try:
        with open(path, encoding="utf-8") as file:
            before: str | None = file.read()
    except FileNotFoundError:
        before = None
    undo = {
        "kind": "restore-file",
        "path": path,
        "text": before,
        "wrote": action["text"],
        "summary": f"put back {path}",
    }
    journal.write({"number": number, "action": action["kind"], "summary": action["summary"], "undo": undo})
    put(path, action["text"], action.get("mode", 0o644))
    journal.write({"number": number, "done": True})
    emit({"event": "done", "number": number})


def put(path: str, text: str, mode: int = 0o644) -> None:
    """Write a file beside its place and rename it."""
    part = f"{path}.{os.getpid()}.{time.monotonic_ns()}.part"
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError:
        os.unlink(part)
        raise


def _run(number: int, action: dict[str, Any], journal: Journal, emit: Emit) -> None:
    _by_command(number, action, journal, emit, undo=action.get("undo"))


ACTIONS: dict[str, Callable[[int, dict[str, Any], Journal, Emit], None]] = {
    "add-account": _add_account,
    "set-account": _set_account,
    "join-group": _join_group,
    "make-folder": _make_folder,
    "set-paths": _set_paths,
    "write-file": _write_file,
    "run": _run,
}
