"""Reads back a `prove` run that did not finish, so that it can be gone on with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import psutil
from pydantic import TypeAdapter, ValidationError

from seatrial.errors import InputError
from seatrial.runs.results import read_suite
from seatrial.trials.interface import Settings
from seatrial.trials.suites import SuiteName
from seatrial.verdicts import TrialResult


@dataclass(frozen=True, slots=True)
class ProveArguments:
    """What a `prove` run was started with; kept in `run.json`. No key: that is asked for again."""

    url: str
    model: str
    suite: SuiteName
    settings: Settings


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A run to go on with: its folder, what it was started with, and the trials that are done."""

    path: Path
    arguments: ProveArguments
    done: tuple[TrialResult, ...]


@dataclass(frozen=True, slots=True)
class _Run:
    verb: str
    status: str
    process: int
    arguments: ProveArguments | None = None


def read_unfinished(path: Path) -> Unfinished:
    """Read the folder of an interrupted, failed or killed run.

    Raises:
        InputError: there is no such run, it is finished, or it still runs.
    """
    where = f"--resume {path}"
    try:
        run = TypeAdapter(_Run).validate_json((path / "run.json").read_bytes())
    except (OSError, ValidationError):
        raise InputError("there is no run there (run.json can't be read)", where=where) from None
    if run.verb != "prove" or run.arguments is None:
        raise InputError(f"only runs of `prove` can be gone on with, this is one of {run.verb!r}", where=where)
    if run.status == "finished":
        raise InputError("this run is finished: there is nothing to go on with", where=where)
    if run.status == "running" and psutil.pid_exists(run.process):
        raise InputError(f"this run may still be under way (process {run.process})", where=where)
    suite = read_suite(path, where)
    done = () if suite is None else tuple(trial for trial in suite.trials if trial.was_made)
    return Unfinished(path, run.arguments, done)
