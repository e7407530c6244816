"""The journal of a switch: one small file that says how far it came, written before each step is taken.

Whatever ends the program, the next command reads the journal, and finishes or undoes the switch.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path

from seatrial.errors import InputError
from seatrial.runtimes.snapshot import STATE_FOLDER
from seatrial.text_files import write_whole

FILE_NAME = "journal.json"


class Step(StrEnum):
    """How far a switch came. Up to `JUDGED` it is undone, from `PROMOTING` on it is finished."""

    PREPARED = "prepared"
    """Way back and candidate are kept; nothing has changed yet."""
    REPLACING = "replacing"
    """The old stack is being stopped, and the candidate's files are being written."""
    STARTING = "starting"
    """The candidate is being started."""
    PROVING = "proving"
    """It answers, and is being proven."""
    PROMOTING = "promoting"
    """It is proven: it becomes the stack to return to."""
    ROLLING_BACK = "rolling back"
    """It is given up: the old stack is being put back."""


@dataclass(frozen=True, slots=True)
class Journal:
    """One switch that is under way.

    Attributes:
        id: its name; its snapshots lie in `.seatrial/switches/ID/`.
        step: how far it came.
        began: when, UTC, ISO 8601.
        candidate: what it is about, for people.
        was_running: the old stack was serving when it began, so it must serve again if the candidate is given up.
        why: why it is given up, once that is known.
        forced: the reason that was given for trying a checkpoint that is reported broken.
    """

    id: str
    step: Step
    began: str
    candidate: str
    was_running: bool
    why: str = ""
    forced: str = ""

    def at(self, step: Step, *, why: str | None = None) -> Journal:
        """Say how far it is now."""
        return replace(self, step=step, why=self.why if why is None else why)


def journal_path(folder: Path) -> Path:
    """Where a stack's journal lies."""
    return folder / STATE_FOLDER / FILE_NAME


def write_journal(folder: Path, journal: Journal) -> None:
    """Write the journal, whole or not at all.

    Raises:
        StorageError: the folder can't be written, or the disk is full.
    """
    write_whole(journal_path(folder), json.dumps(asdict(journal), indent=2) + "\n")


def read_journal(folder: Path) -> Journal | None:
    """Read the journal of a switch that did not end; None where there is none.

    Raises:
        InputError: it is there and can't be understood.
    """
    path = journal_path(folder)
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        return Journal(**{**document, "step": Step(document["step"])})
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise InputError(
            f"the journal of a switch can't be understood ({type(error).__name__})",
            where=str(path),
            advice="Look at what serves now; if it is right, remove the file.",
        ) from None


def end_journal(folder: Path) -> None:
    """The switch is over."""
    journal_path(folder).unlink(missing_ok=True)
