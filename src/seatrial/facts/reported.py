"""What others report about checkpoints: data, with sources. It warns and asks; a verdict of one's own decides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal

from seatrial.yaml_text import read_yaml


@dataclass(frozen=True, slots=True)
class Report:
    """What one source says about a checkpoint on one engine.

    Attributes:
        verdict: broken, clean, or mixed where it is vague.
        engine: engine and version, e.g. `sglang 0.5.16`; empty where the source does not say.
        symptom: what was seen; empty where all was well.
        source: who says so.
        date: of the report, ISO 8601; None where the source has none.
    """

    verdict: Literal["broken", "clean", "mixed"]
    engine: str
    symptom: str
    source: str
    date: str | None = None


@dataclass(frozen=True, slots=True)
class Reported:
    """One checkpoint's reports.

    Attributes:
        repo: `owner/name` on the Hub.
        verdict: broken, clean, or mixed where reports disagree or are vague; untested where somebody only names it as
            a candidate.
        family: what it is a version of, e.g. `Qwen3.6`: its sisters' reports are worth knowing.
        reports: one a source and engine, the one that counts most first.
        note: what else is worth knowing about it.
    """

    repo: str
    verdict: Literal["broken", "clean", "mixed", "untested"]
    family: str
    reports: tuple[Report, ...]
    note: str = ""

    @property
    def symptom(self) -> str:
        """What was seen, as the first report that saw something says it."""
        return next((report.symptom for report in self.reports if report.symptom), "")

    @property
    def engines(self) -> tuple[str, ...]:
        """Engine and version that it was seen on; those that it was fine on are left out where any was not."""
        bad = tuple(report.engine for report in self.reports if report.verdict != "clean" and report.engine)
        return bad or (self.clean_on if self.verdict == "clean" else ())

    @property
    def clean_on(self) -> tuple[str, ...]:
        """Engine and version that it was seen to be fine on."""
        return tuple(report.engine for report in self.reports if report.verdict == "clean" and report.engine)

    @property
    def sources(self) -> tuple[str, ...]:
        """Who says so."""
        return tuple(dict.fromkeys(report.source for report in self.reports))


@cache
def reported_checkpoints() -> tuple[Reported, ...]:
    """Load every report."""
    text = (resources.files("seatrial.facts") / "reported.yaml").read_text(encoding="utf-8")
    return tuple(_reported(row) for row in read_yaml(text, where="reported.yaml").value)


def reported_about(name: str) -> Reported | None:
    """Find what is reported about a repository, also by a path of the Hub's cache (`…/models--owner--name/…`).

    Returns:
        None where nobody reports anything; a candidate that nobody tested is no report (`on_record` has it).
    """
    found = on_record(name)
    return None if found is None or found.verdict == "untested" else found


def on_record(name: str) -> Reported | None:
    """Find what is on record about a repository, candidates that nobody tested among it."""
    for part in name.strip("/").split("/"):
        if part.startswith("models--"):
            name = part.removeprefix("models--").replace("--", "/", 1)
    wanted = name.strip("/").lower()
    return next(
        (
            report
            for report in reported_checkpoints()
            if wanted == report.repo.lower() or wanted.endswith("/" + report.repo.lower())
        ),
        None,
    )


def reported_in_family(family: str) -> tuple[Reported, ...]:
    """List what is on record about the checkpoints of a family, e.g. `Qwen3.6`."""
    return tuple(report for report in reported_checkpoints() if report.family.lower() == family.lower())


def _reported(row: Mapping[str, Any]) -> Reported:
    reports = tuple(
        Report(
            item["verdict"],
            item.get("engine") or "",
            item.get("symptom") or "",
            item["source"],
            str(item["date"]) if item.get("date") else None,
        )
        for item in row.get("reports") or ()
    )
    return Reported(row["repo"], row["verdict"], row["family"], reports, row.get("note") or "")
