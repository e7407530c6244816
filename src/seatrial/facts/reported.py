"""What others report about checkpoints: data, with sources. It warns and asks; a verdict of one's own decides."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal

from seatrial.yaml_text import read_yaml


@dataclass(frozen=True, slots=True)
class Reported:
    """One checkpoint's reports.

    Attributes:
        repo: `owner/name` on the Hub.
        verdict: broken, clean, or mixed where reports disagree or are vague.
        symptom: what was seen.
        engines: engine and version that it was seen on.
        clean_on: engine and version that it was seen to be fine on.
        sources: who says so.
    """

    repo: str
    verdict: Literal["broken", "clean", "mixed"]
    symptom: str
    engines: tuple[str, ...]
    clean_on: tuple[str, ...]
    sources: tuple[str, ...]


@cache
def reported_checkpoints() -> tuple[Reported, ...]:
    """Load every report."""
    text = (resources.files("seatrial.facts") / "reported.yaml").read_text(encoding="utf-8")
    return tuple(
        Reported(
            row["repo"],
            row["verdict"],
            row["symptom"],
            tuple(row["engines"]),
            tuple(row["clean_on"]),
            tuple(row["sources"]),
        )
        for row in read_yaml(text, where="reported.yaml").value
    )


def reported_about(name: str) -> Reported | None:
    """Find what is reported about a repository, also by a path of the Hub's cache (`…/models--owner--name/…`)."""
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
