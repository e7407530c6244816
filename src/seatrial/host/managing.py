"""Looks at a machine, changes it and takes changes back, through a connection. Types what the agent says."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from seatrial.host.accounts import Declared
from seatrial.host.connection import Connection
from seatrial.host.difference import Action
from seatrial.host.observed import Observed, read_observed
from seatrial.progress import Display


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one action.

    Attributes:
        state: `done`, `partly`, `skipped` or `failed`.
        why: for all but `done`.
        changed: paths that were changed, or 1.
    """

    summary: str
    state: str
    why: tuple[str, ...] = ()
    changed: int = 0


@dataclass(frozen=True, slots=True)
class Applied:
    """What was done, and where the journal lies that can undo it; empty where nothing was to do."""

    outcomes: tuple[Outcome, ...]
    journal: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether every action was done."""
        return all(outcome.state == "done" for outcome in self.outcomes)

    @property
    def changed(self) -> int:
        """How many changes were made."""
        return sum(outcome.changed for outcome in self.outcomes)


@dataclass(frozen=True, slots=True)
class Undone:
    """One step that was taken back, with what could not be."""

    summary: str
    problems: tuple[str, ...]


def look(connection: Connection, declared: Declared, *, files: Sequence[str] = ()) -> Observed:
    """Look at a machine; changes nothing.

    Args:
        connection: which machine.
        declared: what to look for.
        files: files whose texts are wanted too.

    Raises:
        StartError: it can't be reached.
    """
    request = {
        "do": "look",
        "service": declared.service,
        "admins": list(declared.admins),
        "root": declared.root,
        "rules": [list(rule) for rule in declared.rules],
        "folders": [folder.path for folder in declared.folders],
        "files": list(files),
    }
    return read_observed(_found(connection, request))


def apply(connection: Connection, actions: Sequence[Action], display: Display) -> Applied:
    """Do actions, and say what became of each.

    Raises:
        StartError: the machine can't be reached, or the connection broke off; the journal says how far it came.
    """
    if not actions:
        return Applied(())
    outcomes: dict[int, Outcome] = {}
    journal = ""

    def hear(line: dict[str, Any]) -> None:
        nonlocal journal
        if line["event"] == "journal":
            journal = line["path"]
        elif line["event"] == "progress":
            display.step(line["done"], line["total"], actions[line["number"]].summary)
        elif "number" in line:
            outcomes[line["number"]] = _outcome(actions[line["number"]], line)

    display.phase(f"Applying on {connection.where}")
    name = f"{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}-{secrets.token_hex(3)}.jsonl"
    connection.ask({"do": "act", "journal": name, "actions": [action.request for action in actions]}, hear)
    return Applied(tuple(outcomes[number] for number in sorted(outcomes)), journal)


def _outcome(action: Action, line: dict[str, Any]) -> Outcome:
    state = line["event"]
    if state == "done":
        return Outcome(action.summary, state, changed=line.get("changed", 1))
    if state == "partly":
        why = (*line["problems"], f"{line['left']} in all") if line["left"] > 1 else tuple(line["problems"])
        return Outcome(action.summary, state, why, line["changed"])
    return Outcome(action.summary, state, (line["why"],))


def journals(connection: Connection) -> tuple[dict[str, Any], ...]:
    """List the journals that can be undone, the newest first.

    Raises:
        StartError: the machine can't be reached.
    """
    return tuple(_found(connection, {"do": "journals"})["journals"])


def undo(connection: Connection, journal: str) -> tuple[Undone, ...]:
    """Undo one journal, the newest step first.

    Raises:
        StartError: the machine can't be reached.
    """
    steps: list[Undone] = []

    def hear(line: dict[str, Any]) -> None:
        if line["event"] == "undone":
            steps.append(Undone(line["summary"], tuple(line["problems"])))

    connection.ask({"do": "undo", "journal": journal}, hear)
    return tuple(steps)


def _found(connection: Connection, request: dict[str, Any]) -> dict[str, Any]:
    found: list[dict[str, Any]] = []
    connection.ask(request, lambda line: found.append(line["found"]) if line["event"] == "found" else None)
    return found[0]
