"""The agent's entry: one request in, lines of JSON out. `look` tells, `act` and `undo` change."""

# Paths are reached by descriptors and given as text: pathlib has no part in that.
# ruff: noqa: PTH111, PTH112, PTH118, PTH119, PTH123

from __future__ import annotations

import json
import os
import sys
from typing import Any

from seatrial.host.agent.accounts import look_up
from seatrial.host.agent.acting import Emit, Journal, perform
from seatrial.host.agent.rules import Ids, Rule, Rules
from seatrial.host.agent.scanning import Scan
from seatrial.host.agent.undoing import journals, undo

SYSTEM_STATE = "/var/lib/seatrial/host"
USER_STATE = "~/.local/state/seatrial/host"


def serve(request: dict[str, Any], emit: Emit) -> None:
    """Do what a request asks. The last line that is emitted is `{"event": "end"}`: without it the answer is cut."""
    os.umask(0o022)
    {"look": _look, "act": _act, "undo": _undo, "journals": _journals}[request["do"]](request, emit)
    emit({"event": "end"})


def state_folder() -> str:
    """Where journals lie: nobody but the account that changed something may write there."""
    return SYSTEM_STATE if os.geteuid() == 0 else os.path.expanduser(USER_STATE)


def _look(request: dict[str, Any], emit: Emit) -> None:
    found = look_up(request["service"], request["admins"], request["root"])
    service, group = found["service"], found["group"]
    gid = service["gid"] if service else group["gid"] if group else None
    members = set((group or {}).get("members", {}).values())
    members |= {one["uid"] for one in found["admins"].values() if one}
    ids = Ids(service["uid"] if service else None, gid, frozenset(members))
    rules = Rules([Rule(one[0], one[1], one[2], tuple(one[3]), one[4]) for one in request["rules"]])
    found["tree"] = Scan(request["root"], rules, ids, frozenset(request["folders"])).run()
    found["folders"] = {path: _is_folder(request["root"], path) for path in request["folders"]}
    found["files"] = {path: _text(path) for path in request["files"]}
    emit({"event": "found", "found": found})


def _is_folder(root: str, path: str) -> bool:
    return os.path.isdir(os.path.join(root, path))


def _text(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(1 << 20)
    except OSError:
        return None


def _act(request: dict[str, Any], emit: Emit) -> None:
    journal = Journal(state_folder(), request["journal"])
    try:
        perform(request["actions"], journal, emit)
    finally:
        journal.close()
    emit({"event": "journal", "path": journal.path})


def _undo(request: dict[str, Any], emit: Emit) -> None:
    undo(os.path.join(state_folder(), os.path.basename(request["journal"])), emit)


def _journals(_request: dict[str, Any], emit: Emit) -> None:
    emit({"event": "found", "found": {"folder": state_folder(), "journals": journals(state_folder())}})


def main() -> None:
    """Serve a request from standard input."""

    def emit(line: dict[str, Any]) -> None:
        sys.stdout.write(json.dumps(line, ensure_ascii=True) + "\n")
        sys.stdout.flush()

    serve(json.loads(sys.stdin.readline()), emit)
