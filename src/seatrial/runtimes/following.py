"""Follows a start by the engine's own log: phases, and an early end on a fatal line or on silence."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from seatrial.doctor import Diagnosis, EventKind, Watcher, judge
from seatrial.errors import StartError
from seatrial.progress import Display
from seatrial.runtimes.instance import Instance, Launcher, LogStream

LOOK_SECONDS = 1.0
"""How often the container itself is looked at while its log is silent."""
SILENCE_SECONDS = 1_200.0
"""Silence after which a start is given up where the doctor knows no limit for the phase: a large shard on a slow disk,
or the compilation of all kernels of a new GPU, says nothing for minutes."""
LONGEST_START_SECONDS = 4 * 3_600.0
KEPT_LINES = 20_000
"""Lines of the start that are kept, for the memory plan's comparison."""


@dataclass(frozen=True, slots=True)
class Started:
    """A start that came to its end.

    Attributes:
        seconds: how long it took.
        phases: seconds that each phase took, in their order.
        log: its lines, the newest `KEPT_LINES` of them.
    """

    seconds: float
    phases: dict[str, float]
    log: str


class StartFailure(StartError):  # noqa: N818 - a start that failed is no mistake of the program
    """A start that failed, with what the doctor says about its log."""

    def __init__(
        self, problem: str, diagnosis: Diagnosis | None, log: str, *, where: str, advice: str | None = None
    ) -> None:
        super().__init__(problem, where=where, advice=advice)
        self.diagnosis = diagnosis
        self.log = log


def follow_start(
    launcher: Launcher,
    instance: Instance,
    display: Display,
    *,
    context: dict[str, object] | None = None,
    longest_seconds: float = LONGEST_START_SECONDS,
    silence_seconds: float = SILENCE_SECONDS,
    on_line: Callable[[bytes], None] = lambda _line: None,
) -> Started:
    """Follow a start until the engine is ready.

    Args:
        launcher: what started it.
        instance: as it was when it started.
        display: told each phase.
        context: what the plan knows, for the doctor.
        longest_seconds: a start that takes longer is given up.
        silence_seconds: so is one whose log says nothing for so long, where the doctor knows no limit for its phase.
        on_line: told each line.

    Raises:
        StartFailure: it ended, said something fatal, was silent for too long or took too long.
    """
    watcher = Watcher(context=context or {})
    began = last = time.monotonic()
    phases: dict[str, float] = {}
    phase, phase_began = launcher.kind, began
    kept: list[bytes] = []
    display.phase(f"Starting: the {launcher.kind}")
    log = launcher.log_lines(instance.id, since=instance.started_at or None)
    lines = _lines_of(log)

    def fail(problem: str, *, silent: float | None = None) -> StartFailure:
        return _failure(problem, watcher, kept, where=launcher.where, silent=silent)

    try:
        while True:
            now = time.monotonic()
            try:
                line = lines.get(timeout=LOOK_SECONDS)
            except queue.Empty:
                line = None
            if line is not None:
                last = time.monotonic()
                kept.append(line)
                if len(kept) > 2 * KEPT_LINES:
                    del kept[:KEPT_LINES]
                on_line(line)
                event = watcher.feed(line)
                if watcher.phase and watcher.phase != phase:
                    phases[phase] = phases.get(phase, 0.0) + last - phase_began
                    phase, phase_began = watcher.phase, last
                    display.phase(f"Starting: {_words(watcher, phase)}")
                if watcher.is_ready:
                    phases[phase] = phases.get(phase, 0.0) + last - phase_began
                    return Started(last - began, phases, _text(kept))
                if event is not None and event.stops_a_proof and event.kind is not EventKind.DEATH:
                    raise fail("the engine said something that it does not survive")
                continue
            ended = _ended(launcher, instance)
            if ended:
                raise fail(ended)
            silent = now - last
            limit = watcher.silence_limit_seconds() or silence_seconds
            if silent > limit:
                problem = f"its log has been silent for {silent:.0f} s while {_words(watcher, phase)}"
                raise fail(problem, silent=silent)
            if now - began > longest_seconds:
                raise fail(f"it was not ready after {longest_seconds:.0f} s")
    finally:
        log.close()


def _lines_of(log: LogStream) -> queue.Queue[bytes]:
    """Read lines in a thread: waiting for one must not keep us from looking whether the engine still runs."""
    lines: queue.Queue[bytes] = queue.Queue(maxsize=10_000)

    def read() -> None:
        for line in log:
            lines.put(line)

    threading.Thread(target=read, daemon=True, name="engine-log").start()
    return lines


def _ended(launcher: Launcher, instance: Instance) -> str:
    """Say how it ended; empty while it runs."""
    now = next((found for found in launcher.instances() if found.id == instance.id), None)
    if now is None:
        return f"the {launcher.kind} was removed while it started"
    status = "" if now.exit_code is None else f" with status {now.exit_code}"
    if now.restarts > instance.restarts or now.state == "restarting":
        return f"the engine ended{status} and Docker restarts it"
    if now.oom_killed:
        return f"the kernel ended the {launcher.kind}: the host's memory is used up"
    if now.state in ("exited", "dead"):
        return f"the {launcher.kind} ended{status}"
    return ""


def _failure(
    problem: str, watcher: Watcher, kept: list[bytes], *, where: str, silent: float | None = None
) -> StartFailure:
    diagnosis = judge(watcher, silence_seconds=silent, ended=silent is None)
    cause = diagnosis.cause
    if cause is None or diagnosis.unknown:
        advice = "`seatrial logs` shows what it said last."
        return StartFailure(problem, diagnosis, _text(kept), where=where, advice=advice)
    return StartFailure(f"{problem}: {cause.cause}", diagnosis, _text(kept), where=where, advice=cause.fix or None)


def _words(watcher: Watcher, phase: str) -> str:
    for known in watcher.knowledge.phases:
        if known.id == phase:
            return known.title
    return phase


def _text(lines: list[bytes]) -> str:
    return b"".join(lines).decode("utf-8", "replace")
