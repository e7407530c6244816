"""What was seen during one start of a server: marks, phases, known lines, tracebacks. Filled as the log is read."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from seatrial.doctor.model import Evidence, Level, LogLine, PhaseTime, Role, Traceback
from seatrial.doctor.signature import Phase, Signature

MOST_EVIDENCE = 5
MOST_RANKS = 16
MOST_TRACEBACKS = 8
MOST_ERRORS = 8
MOST_FOLLOWED = 500
"""Tracebacks that are followed line by line; more of them say nothing new."""
LONGEST_EVIDENCE = 1000


@dataclass(slots=True)
class Seen:
    """A signature that was seen, folded: however often it came."""

    signature: Signature
    line: int
    groups: dict[str, str]
    count: int = 1
    last_line: int = 0
    ranks: list[str] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)
    traceback: int | None = None
    after_death: bool = False
    distinct: set[int] = field(default_factory=set)

    @property
    def level(self) -> Level:
        """Its level."""
        return self.signature.level

    @property
    def role(self) -> Role:
        """Its role."""
        return self.signature.role

    def add(self, line: LogLine) -> None:
        """Add one line."""
        self.last_line = line.number
        if line.rank and line.rank not in self.ranks and len(self.ranks) < MOST_RANKS:
            self.ranks.append(line.rank)
        if len(self.evidence) < MOST_EVIDENCE:
            fingerprint = hash(line.text)
            if fingerprint not in self.distinct:
                self.distinct.add(fingerprint)
                self.evidence.append(Evidence(line.number, line.text.strip()[:LONGEST_EVIDENCE], line.rank))


@dataclass(slots=True)
class Mark:
    """When something was first and last seen, and by which workers."""

    first: int
    last: int
    ranks: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Start:
    """One start of one server."""

    number: int
    source: str = ""
    marks: dict[str, Mark] = field(default_factory=dict)
    seen: dict[str, Seen] = field(default_factory=dict)
    phases: list[PhaseTime] = field(default_factory=list)
    phase: Phase | None = None
    tracebacks: list[Traceback] = field(default_factory=list)
    errors: list[Evidence] = field(default_factory=list)
    traceback_count: int = 0
    error_looks: int = 0
    death_line: int | None = None
    figures: dict[str, str] = field(default_factory=dict)

    def mark(self, name: str, line: LogLine) -> None:
        """Set a mark."""
        mark = self.marks.get(name)
        if mark is None:
            mark = self.marks[name] = Mark(line.number, line.number)
        mark.last = line.number
        if line.rank and len(mark.ranks) < 1024:
            mark.ranks.add(line.rank)

    def marks_for(self, rank: str) -> set[str]:
        """Name the marks that hold for a worker: its own where ranks are written, else everybody's."""
        return {name for name, mark in self.marks.items() if not rank or not mark.ranks or rank in mark.ranks}

    def marks_after(self, line: int) -> set[str]:
        """Name the marks that were set after a line."""
        return {name for name, mark in self.marks.items() if mark.last > line}

    @property
    def is_ready(self) -> bool:
        """Whether it became ready, and did not end after that."""
        return "ready" in self.marks

    def enter(self, phase: Phase, line: LogLine) -> bool:
        """Take note of a phase's line; return whether the start has come further by it."""
        self.mark(phase.mark, line)
        if self.phase is not None and phase.order <= self.phase.order:
            return False
        self.phase = phase
        self.phases.append(PhaseTime(phase.id, line.number, line.time))
        return True

    def sight(self, signature: Signature, match: re.Match[str], line: LogLine) -> bool:
        """Take note of a known line; return whether it is the first of its kind."""
        self.mark(signature.id, line)
        seen = self.seen.get(signature.id)
        first = seen is None
        if seen is None:
            groups = {name: value for name, value in match.groupdict().items() if value is not None}
            seen = Seen(signature, line.number, groups, after_death=self.death_line is not None)
            self.seen[signature.id] = seen
        else:
            seen.count += 1
        seen.add(line)
        if signature.role is Role.AFTERMATH and self.death_line is None:
            self.death_line = line.number
        return first

    def add_error(self, line: LogLine) -> None:
        """Keep one of the first lines that look like an error and that nobody knows."""
        if len(self.errors) < MOST_ERRORS:
            self.errors.append(Evidence(line.number, line.text.strip()[:LONGEST_EVIDENCE], line.rank))

    def add_traceback(self, traceback: Traceback) -> None:
        """Keep one of the first tracebacks."""
        self.traceback_count += 1
        if len(self.tracebacks) < MOST_TRACEBACKS:
            self.tracebacks.append(traceback)
