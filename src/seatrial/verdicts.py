"""The three answers, and what they are made of: evidence → check → trial → suite. Pure values.

A check that could not be made is `unproven` with its reason, never a pass. What a server has no duty to do
(reasoning on a model that has none) is no check at all: the trial says so in a note.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from seatrial.errors import ExitCode


class Verdict(StrEnum):
    """What is known about a claim."""

    PROVEN = "proven"
    REFUTED = "refuted"
    UNPROVEN = "unproven"

    @property
    def exit_code(self) -> ExitCode:
        """The exit status of a command whose result this is."""
        return ExitCode[self.name]

    @staticmethod
    def of(parts: Iterable[Verdict]) -> Verdict:
        """Combine the verdicts of parts: one refuted part refutes, one unproven part leaves unproven.

        Nothing to combine proves nothing: the result is then unproven.
        """
        seen = set(parts)
        if Verdict.REFUTED in seen:
            return Verdict.REFUTED
        if seen == {Verdict.PROVEN}:
            return Verdict.PROVEN
        return Verdict.UNPROVEN


@dataclass(frozen=True, slots=True)
class Span:
    """A place in a text: half-open character positions in one field of an answer."""

    field: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a person can look at to agree or disagree with a check.

    Attributes:
        exchange: id of the request and answer in `requests.jsonl`.
        prompt: what was asked, shortened.
        quote: the part of the answer that shows it, shortened.
        span: where in the answer the quote stands, if it stands in one place.
    """

    exchange: str
    prompt: str = ""
    quote: str = ""
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check found.

    Attributes:
        check: the check's name, e.g. `arguments_match_schema`.
        verdict: what is known now.
        detail: one sentence: what was seen, or why it could not be checked.
        evidence: where to look; empty for a claim that holds everywhere.
        infrastructure: the check is unproven because the server could not be asked (time-out, 5xx, connection
            refused), not because of what it answered.
    """

    check: str
    verdict: Verdict
    detail: str
    evidence: tuple[Evidence, ...] = ()
    infrastructure: bool = False


@dataclass(frozen=True, slots=True)
class TrialResult:
    """What one trial found: its checks, what it has to say beside them, and what it cost.

    Attributes:
        trial: the trial's name.
        title: what it tries, for people.
        checks: what it found.
        notes: what is worth knowing and is no check.
        figures: measured numbers by name (unit in the name), e.g. `loop_rate` and its interval.
        requests: how many were sent.
        output_tokens: what the answers took, as the server counted.
        seconds: how long it took.
    """

    trial: str
    title: str
    checks: tuple[CheckResult, ...]
    notes: tuple[str, ...] = ()
    figures: Mapping[str, float | str | None] = field(default_factory=dict)
    requests: int = 0
    output_tokens: int = 0
    seconds: float = 0.0

    @property
    def was_made(self) -> bool:
        """Whether anything was asked for it, and answered."""
        return bool(self.requests) and not any(check.infrastructure for check in self.checks)

    @property
    def verdict(self) -> Verdict:
        """All checks together."""
        return Verdict.of(check.verdict for check in self.checks)


@dataclass(frozen=True, slots=True)
class SuiteResult:
    """What a suite found about one endpoint."""

    suite: str
    trials: tuple[TrialResult, ...]
    complete: bool = True
    """False when it was interrupted: then what was not asked leaves it unproven at best."""

    @property
    def verdict(self) -> Verdict:
        """All trials together; an interrupted suite proves nothing, but what it refuted stays refuted."""
        together = Verdict.of(trial.verdict for trial in self.trials)
        if not self.complete and together is Verdict.PROVEN:
            return Verdict.UNPROVEN
        return together

    def checks_with(self, verdict: Verdict) -> list[tuple[TrialResult, CheckResult]]:
        """List the checks of one verdict, each with its trial, in the order in which they were made."""
        return [(trial, check) for trial in self.trials for check in trial.checks if check.verdict is verdict]
