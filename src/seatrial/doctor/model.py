"""What the doctor says, as values: levels, phases, sightings in a log, and the diagnosis made of them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Level(StrEnum):
    """How grave a known line is."""

    FATAL = "fatal"
    """The server does not start, or it died."""
    FATAL_AT_FIRST_REQUEST = "fatal-at-first-request"
    """It starts, may even be healthy, and dies at the first real request."""
    FATAL_UNDER_LOAD = "fatal-at-load"
    """It answers single requests, and dies when several come at once."""
    GARBAGE_PREDICTOR = "garbage-predictor"
    """It will answer, and the answers will be garbage: a proof must not go on."""
    HANG = "hang"
    """Nothing goes on, and nothing says so."""
    REQUEST_ERROR = "request-error"
    """One request was refused or cut; the server is well."""
    SLOW = "slow"
    """It works, and takes longer than it had to."""
    WARNING = "warning"
    """Worth knowing; it works."""
    BENIGN = "benign"
    """It looks alarming, and means nothing."""


DEADLY = frozenset(
    {
        Level.FATAL,
        Level.FATAL_AT_FIRST_REQUEST,
        Level.FATAL_UNDER_LOAD,
        Level.GARBAGE_PREDICTOR,
        Level.HANG,
    }
)
"""Levels with which nothing can be proven: `up` stops there."""

GRAVITY = tuple(Level)


class Role(StrEnum):
    """What part a line plays in a failure; the earlier in this list, the better it is as the root cause."""

    CAUSE = "cause"
    """It says what is wrong."""
    GENERAL = "general"
    """It says what happened, and many things can make it happen: named where nothing better is known."""
    CONSEQUENCE = "consequence"
    """Another process or rank died, and this one noticed: named where nothing else is known."""
    AFTERMATH = "aftermath"
    """The end itself ("Received sigquit"): never a cause, but it proves that something died."""


ROLES = tuple(Role)


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line of a log, without what others wrote around it.

    Attributes:
        number: counted from 1.
        text: the message: no colours, no prefix of Docker, Compose, a journal or the logger.
        raw: the whole line, without colours.
        source: the Compose service or container that wrote it; empty where there is no such prefix.
        rank: of which worker, e.g. `TP0`, `DP1 TP0`, `rank 3`; empty for the parent process.
        time: seconds since the epoch as the prefix says (taken for UTC where it names no zone); None without one.
        prefixed: whether a logger's prefix stood there: such a line begins a message.
    """

    number: int
    text: str
    raw: str
    source: str = ""
    rank: str = ""
    time: float | None = None
    prefixed: bool = False


@dataclass(frozen=True, slots=True)
class Evidence:
    """A line that shows what is claimed; secrets are taken out before it is shown."""

    line: int
    text: str
    rank: str = ""


@dataclass(frozen=True, slots=True)
class Traceback:
    """One traceback, of one process.

    Attributes:
        line: where it begins, counted from 1.
        rank: of which worker.
        error: its last line, e.g. `RuntimeError: …`; empty where the log ends before.
        frames: its frames, the innermost last; the outermost are dropped where there are many.
        chained: it follows from another one ("During handling of the above exception").
        error_line: the line of `error`.
    """

    line: int
    rank: str
    error: str
    frames: tuple[str, ...]
    chained: bool = False
    error_line: int = 0


@dataclass(frozen=True, slots=True)
class Named:
    """One thing that the doctor found, in words.

    Attributes:
        id: name of the signature, in kebab-case: the same for every log.
        level: how grave it is.
        role: what part it plays.
        phase: in which phase of the start it happens.
        cause: one or two sentences: what is so.
        fix: what to do; empty where there is nothing to do.
        line: first line that shows it, counted from 1.
        count: how often it was seen.
        ranks: which workers said it.
        evidence: the lines themselves, the first few.
        sources: where that is known from.
        start: which start of the server it belongs to, counted from 1.
    """

    id: str
    level: Level
    role: Role
    phase: str
    cause: str
    fix: str
    line: int
    count: int = 1
    ranks: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    sources: tuple[str, ...] = ()
    start: int = 1


@dataclass(frozen=True, slots=True)
class PhaseTime:
    """When a phase began."""

    phase: str
    line: int
    time: float | None = None


class EventKind(StrEnum):
    """What a watcher may have to say about a line."""

    PHASE = "phase"
    SIGHTING = "sighting"
    DEATH = "death"


@dataclass(frozen=True, slots=True)
class Event:
    """What one line of a starting server means.

    Attributes:
        kind: a new phase, a known line, or the end.
        phase: the phase that it is in now.
        line: number of the line.
        text: its message.
        id: the signature, for a sighting.
        level: its level, for a sighting.
        role: what part it plays, for a sighting.
    """

    kind: EventKind
    phase: str
    line: int
    text: str
    id: str | None = None
    level: Level | None = None
    role: Role | None = None

    @property
    def stops_a_proof(self) -> bool:
        """Whether `up` need not wait any longer. A general line may still be survived: it does not stop alone."""
        if self.kind is EventKind.DEATH:
            return True
        return self.kind is EventKind.SIGHTING and self.level in DEADLY and self.role is Role.CAUSE


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What a log says.

    Attributes:
        cause: the root cause, or the gravest thing found; None where nothing is known about any line.
        others: everything else that was found, the gravest first.
        unknown: the server died, and no signature knows why: `cause` then quotes the first traceback.
        open_end: `cause` is where the log ends; whether it hangs there can't be said from the log alone.
        died: the log shows an end: a traceback that nobody caught, a signal, an exit code.
        ready: the newest start became ready, and did not end.
        phase: the furthest phase of the last start; empty where the log shows none.
        phases: when each phase of the last start began.
        starts: how many starts of the server the log holds.
        lines: how many lines were read.
        traceback: the first traceback of the failing start.
        slow: why it is slow or waiting, a sentence each.
        figures: what the log and the plan say about memory and settings, by name.
        name: the log's name, as it was given.
    """

    cause: Named | None
    others: tuple[Named, ...] = ()
    unknown: bool = False
    open_end: bool = False
    died: bool = False
    ready: bool = False
    phase: str = ""
    phases: tuple[PhaseTime, ...] = ()
    starts: int = 0
    lines: int = 0
    traceback: Traceback | None = None
    slow: tuple[Named, ...] = ()
    figures: Mapping[str, object] = field(default_factory=dict)
    name: str = ""

    @property
    def deadly(self) -> bool:
        """Whether a fatal cause, a hang or a garbage predictor was found."""
        return self.cause is not None and self.cause.level in DEADLY
