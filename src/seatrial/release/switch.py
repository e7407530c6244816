"""The switch: stop the old stack, start the candidate, prove it, promote it or put the old one back.

The logic alone: what starts, stops and proves is handed in (`Stage`). Every step is journaled before it is taken and
can be taken again, so a switch that was killed anywhere is finished or undone by `recover`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol
from uuid import uuid4

from seatrial.errors import SeatrialError, StartError
from seatrial.ledger.entry import Kind
from seatrial.release.journal import Journal, Step, end_journal, read_journal, write_journal
from seatrial.runtimes.snapshot import STATE_FOLDER, Snapshot
from seatrial.verdicts import Verdict

PROVEN = "proven.json"
SWITCHES = "switches"


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the proof of a candidate said.

    Attributes:
        verdict: proven, refuted or unproven; only proven promotes.
        summary: one sentence: what was refuted first, or why it could not be proven.
        run: the run's folder.
    """

    verdict: Verdict
    summary: str
    run: str = ""


class Stage(Protocol):
    """What a switch is played on: real Docker, or a stand-in that fails on command."""

    @property
    def folder(self) -> Path:
        """The stack's folder."""

    @property
    def file_names(self) -> tuple[str, ...]:
        """Names of the files that make the stack."""

    def is_running(self) -> bool:
        """Whether the stack in the folder serves, or is starting."""

    def start(self) -> None:
        """Start what the files in the folder say, and wait until it answers. Does nothing where it serves already.

        Raises:
            StartError: it did not come up.
        """

    def stop(self) -> None:
        """Stop whatever of the stack runs. Does nothing where nothing does."""

    def prove(self) -> Judgement:
        """Prove what serves now.

        Raises:
            SeatrialError: it could not be asked at all.
        """

    def record(self, kind: Kind, judgement: Judgement | None, note: str) -> None:
        """Write to the ledger what became of the candidate."""

    def say(self, text: str) -> None:
        """Tell a person what happens now."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a switch ended.

    Attributes:
        promoted: the candidate serves, and is the stack to return to.
        judgement: what the proof said; None where it did not come to one.
        why: why the candidate was given up; empty where it was promoted.
        restored: the old stack serves again; None where none was serving before.
    """

    promoted: bool
    judgement: Judgement | None
    why: str = ""
    restored: bool | None = None


def switch(stage: Stage, candidate: Snapshot, name: str, *, forced: str = "") -> Outcome:
    """Switch to a candidate.

    Args:
        stage: where.
        candidate: the files of the new stack.
        name: what it is, for people and the ledger.
        forced: the reason for trying what is reported broken.

    Raises:
        StorageError: nothing could be written before anything changed; the old stack serves on.
    """
    recover(stage)
    folder = stage.folder
    now = datetime.now(UTC).isoformat(timespec="seconds")
    journal = Journal(uuid4().hex[:12], Step.PREPARED, now, name, was_running=stage.is_running(), forced=forced)
    kept = folder / STATE_FOLDER / SWITCHES / journal.id
    way_back(stage).save(kept / "before.json")
    candidate.save(kept / "candidate.json")
    write_journal(folder, journal)
    judgement = None
    try:
        journal = _go(folder, journal, Step.REPLACING)
        if Snapshot.take(folder, stage.file_names).files != candidate.files:
            stage.say(f"stopping what serves, starting {name}")
            stage.stop()
            candidate.put(folder)
        journal = _go(folder, journal, Step.STARTING)
        stage.start()
        journal = _go(folder, journal, Step.PROVING)
        judgement = stage.prove()
        if judgement.verdict is Verdict.PROVEN:
            journal = _go(folder, journal, Step.PROMOTING)
            return _promote(stage, journal, judgement)
        why = f"{judgement.verdict.value}: {judgement.summary}"
    except SeatrialError as error:
        why = _clause(error)
    except KeyboardInterrupt:
        why = "interrupted"
    return _roll_back(stage, journal.at(Step.ROLLING_BACK, why=why), judgement)


def way_back(stage: Stage) -> Snapshot:
    """Find what a switch returns to: the last proven stack, else the files that are there."""
    proven = Snapshot.load(stage.folder / STATE_FOLDER / PROVEN)
    return proven if proven is not None else Snapshot.take(stage.folder, stage.file_names)


def recover(stage: Stage) -> Outcome | None:
    """Finish or undo a switch that did not end; None where there is none.

    Raises:
        InputError: its journal can't be understood.
    """
    journal = read_journal(stage.folder)
    if journal is None:
        return None
    stage.say(f"a switch to {journal.candidate} ended while {journal.step.value}")
    if journal.step is Step.PROMOTING:
        return _promote(stage, journal, None)
    why = journal.why or f"the switch ended while {journal.step.value}"
    return _roll_back(stage, journal.at(Step.ROLLING_BACK, why=why), None)


def _promote(stage: Stage, journal: Journal, judgement: Judgement | None) -> Outcome:
    """Keep the candidate as the stack to return to."""
    kept = stage.folder / STATE_FOLDER / SWITCHES / journal.id / "candidate.json"
    candidate = Snapshot.load(kept)
    assert candidate is not None, "the candidate is kept before anything changes"
    candidate.save(stage.folder / STATE_FOLDER / PROVEN)
    stage.record(Kind.PROMOTION, judgement, journal.forced)
    end_journal(stage.folder)
    stage.say(f"{journal.candidate} is promoted")
    return Outcome(promoted=True, judgement=judgement)


def _roll_back(stage: Stage, journal: Journal, judgement: Judgement | None) -> Outcome:
    """Put the old stack back, and let it serve if it did."""
    folder = stage.folder
    write_journal(folder, journal)
    stage.say(f"{journal.candidate} is given up ({journal.why}); putting the last proven stack back")
    before = Snapshot.load(folder / STATE_FOLDER / SWITCHES / journal.id / "before.json")
    assert before is not None, "the way back is kept before anything changes"
    here = Snapshot.take(folder, stage.file_names)
    if here.files != before.files or not journal.was_running:
        stage.stop()
        before.put(folder)
        for name in here.files.keys() - before.files.keys():
            (folder / name).unlink(missing_ok=True)
    restored = None
    if journal.was_running:
        try:
            stage.start()
            restored = True
        except StartError as error:
            restored = False
            stage.say(f"the old stack does not come up either: {error}")
    stage.record(Kind.ROLL_BACK, judgement, journal.why)
    end_journal(folder)
    return Outcome(promoted=False, judgement=judgement, why=journal.why, restored=restored)


def _go(folder: Path, journal: Journal, step: Step) -> Journal:
    moved = journal.at(step)
    write_journal(folder, moved)
    return moved


def _clause(error: SeatrialError) -> str:
    return f"{error.problem}{f' ({error.where})' if error.where else ''}"
