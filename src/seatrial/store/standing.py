"""What is known about a checkpoint: the newest verdict of one's own, else what others report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from seatrial.errors import SeatrialError
from seatrial.facts.reported import Reported, reported_about
from seatrial.ledger.entry import Entry, Kind
from seatrial.store.layout import COMMIT


class Status(StrEnum):
    """What is known, in one word."""

    PROVEN = "proven"
    REFUTED = "refuted"
    UNPROVEN = "unproven"
    REPORTED_BROKEN = "reported broken"


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known about one commit of a checkpoint.

    Attributes:
        status: in one word; a verdict of one's own outranks every report.
        engine: name and version of the engine that the verdict or the report is about; empty where unknown.
        date: of the verdict or report, `YYYY-MM-DD`; empty where unknown.
        why: one sentence.
        reported: what others report, also where a verdict outranks it.
        verdicts: own verdicts about this repository, the newest first.
    """

    status: Status
    engine: str = ""
    date: str = ""
    why: str = ""
    reported: Reported | None = None
    verdicts: tuple[Entry, ...] = ()

    @property
    def is_known_broken(self) -> bool:
        """Whether somebody must give a reason before it is loaded or served."""
        return self.status in (Status.REFUTED, Status.REPORTED_BROKEN)


def standing(repo: str, commit: str | None, entries: Iterable[Entry]) -> Standing:
    """Judge from what is on record.

    Args:
        repo: `owner/name`.
        commit: which; verdicts about other commits are told, and do not count. None: any commit counts.
        entries: of the ledger, in any order.
    """
    reported = reported_about(repo)
    own = sorted(
        (
            entry
            for entry in entries
            if entry.kind is Kind.VERDICT and not entry.origin and entry.combination.model.lower() == repo.lower()
        ),
        key=lambda entry: (entry.at, entry.id or 0),
        reverse=True,
    )
    about = [entry for entry in own if _is_about(entry, commit)]
    decided = next((entry for entry in about if entry.verdict in ("proven", "refuted")), None)
    newest = decided or next(iter(about), None)
    if newest is not None and (decided is not None or reported is None or reported.verdict != "broken"):
        combination = newest.combination
        engine = f"{combination.engine} {combination.engine_version or ''}".strip()
        return Standing(Status(newest.verdict or "unproven"), engine, newest.at[:10], newest.note, reported, tuple(own))
    if reported is not None and reported.verdict == "broken":
        worst = next(report for report in reported.reports if report.verdict == "broken")
        return Standing(Status.REPORTED_BROKEN, worst.engine, worst.date or "", worst.symptom, reported, tuple(own))
    if own:
        other = own[0]
        revision = (other.combination.revision or "?")[:12]
        return Standing(
            Status.UNPROVEN, "", "", f"another commit is {other.verdict} ({revision})", reported, tuple(own)
        )
    if reported is not None:
        said = next(iter(reported.reports))
        word = "clean" if reported.verdict == "clean" else "doubtful"
        why = f"reported {word}: {said.symptom}" if said.symptom else f"reported {word}"
        return Standing(Status.UNPROVEN, said.engine, said.date or "", why, reported)
    return Standing(Status.UNPROVEN)


def _is_about(entry: Entry, commit: str | None) -> bool:
    """Whether a verdict is about this commit; one without a commit (`main`, or none) may be."""
    revision = entry.combination.revision
    if commit is None or revision is None:
        return True
    return COMMIT.fullmatch(revision) is None or revision == commit


def read_ledgers(folders: Sequence[Path]) -> tuple[tuple[Entry, ...], tuple[str, ...]]:
    """Read the entries of some ledgers; and why some can't be read. A folder without a ledger has none."""
    from seatrial.ledger.database import FILE_NAME, Ledger  # noqa: PLC0415 - only where there is one

    entries: list[Entry] = []
    notes = []
    for folder in dict.fromkeys(path.resolve() for path in folders):
        if not (folder / FILE_NAME).is_file():
            continue
        try:
            ledger = Ledger(folder)
            try:
                entries += ledger.entries()
            finally:
                ledger.close()
        except SeatrialError as error:
            notes.append(str(error))
    return tuple(entries), tuple(notes)
