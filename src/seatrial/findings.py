"""A finding: something that a plan, a lint or a check of the host has to say, and what to do about it. Pure values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from seatrial.errors import ExitCode


class Level(StrEnum):
    """How much a finding weighs."""

    ERROR = "error"
    """It will not start, or it will answer wrongly, or it is unsafe."""
    WARNING = "warning"
    """It may fail, or it costs something that nobody decided to pay."""
    NOTE = "note"
    """Worth knowing; nothing has to be done."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was found.

    Attributes:
        level: how much it weighs.
        id: what kind of finding it is, in kebab-case: the same for every stack.
        message: one sentence: what is so, and what follows from it.
        advice: one sentence: what to do; empty where there is nothing to do.
        setting: the flag or environment variable that it is about, in its canonical spelling.
        where: the file and line that it is about, e.g. `compose.yaml:14`.
    """

    level: Level
    id: str
    message: str
    advice: str = ""
    setting: str | None = None
    where: str | None = None


ORDER = tuple(Level)


def by_weight(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Sort findings, the heaviest first; equals keep their order."""
    return tuple(sorted(findings, key=lambda finding: ORDER.index(finding.level)))


def exit_code(findings: Iterable[Finding]) -> ExitCode:
    """Say how a command that found these ends: 1 where one is an error."""
    return ExitCode.REFUTED if any(finding.level is Level.ERROR for finding in findings) else ExitCode.PROVEN
