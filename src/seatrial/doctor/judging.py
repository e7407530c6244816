"""Finds the root cause in what was seen: the first that says what is wrong, not the last line. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from seatrial.doctor.figures import context_figures, suggest, versions_in
from seatrial.doctor.model import DEADLY, GRAVITY, ROLES, Diagnosis, Evidence, Level, Named, Role, Traceback
from seatrial.doctor.signature import Knowledge, Phase, Signature
from seatrial.doctor.slowness import why_slow
from seatrial.doctor.starts import Seen, Start
from seatrial.doctor.watching import Watcher
from seatrial.doctor.wording import fill, nearest
from seatrial.engines.versions import in_range

RUN_TIME_PHASES = frozenset({"run time", "first request", "first concurrent requests"})
"""What happens in these is not survived because the server had become ready."""

UNKNOWN_FAILURE = "unknown-failure"
HANGS_WITHOUT_A_WORD = frozenset({"distributed init", "graph capture"})
"""Phases that are short where they go well, and in which nothing is written while they hang."""
FEW_LINES = 3
DOES_NOT_FIT = "memory-does-not-fit"
CHOICE = re.compile(r"'([^']+)'|([\w.-]+)")


def judge(
    watcher: Watcher, *, metrics: str | None = None, silence_seconds: float | None = None, ended: bool = False
) -> Diagnosis:
    """Say what was found in the lines that a watcher has read.

    Args:
        watcher: has read the log.
        metrics: the text of the server's `/metrics`, if it was asked.
        silence_seconds: for how long nothing has come, where that is known; a phase that is silent for too long hangs.
        ended: nothing more will come, and for how long nothing came is not known: a file.
    """
    given = context_figures(watcher.context)
    last = watcher.starts[-1] if watcher.starts else None
    version = versions_in({**given, **(last.figures if last else {})})
    named: list[Named] = []
    directions: set[str] = set()
    for start in watcher.starts:
        figures = _figures_of(start, given)
        for seen in _believed(start, version):
            named.append(_name(seen, start, figures, watcher))
            directions.add(seen.signature.direction)
    cut = watcher.cut_traceback()
    deciding = _deciding(watcher.starts, named, cut)
    open_end = False
    if not _deadly(named) and last is not None and not _died(last, cut):
        hang = hang_of(watcher, silence_seconds) if silence_seconds is not None else None
        if hang is None and silence_seconds is None and ended:
            hang = open_end_of(watcher)
            open_end = hang is not None
        if hang is not None:
            named.append(hang)
            deciding = last
    cause = _root(named, deciding)
    unknown = False
    if (cause is None or cause.level not in DEADLY) and deciding is not None and _died(deciding, cut):
        cause, unknown = _unknown(deciding, cut), True
    if {"raise", "lower"} <= directions and cause is not None and cause.level is Level.FATAL:
        cause = _does_not_fit(named, watcher.knowledge, deciding) or cause
    others = [entry for entry in _by_gravity(_fold(named)) if not _is_said(entry, cause)]
    return Diagnosis(
        cause=cause,
        others=tuple(others),
        unknown=unknown,
        open_end=open_end,
        died=deciding is not None and _died(deciding, cut),
        ready=watcher.is_ready,
        phase=last.phase.id if last and last.phase else "",
        phases=tuple(last.phases) if last else (),
        starts=watcher.start_count,
        lines=watcher.lines,
        traceback=next(iter(deciding.tracebacks), cut) if deciding else cut,
        slow=why_slow(watcher, metrics),
        figures=_figures_of(deciding, given) if deciding else given,
    )


def hang_of(watcher: Watcher, silence_seconds: float) -> Named | None:
    """Name a hang: a phase that has been silent for longer than it may be."""
    start = watcher.starts[-1] if watcher.starts else None
    if start is None or start.phase is None or not watcher.silence_is_a_hang(silence_seconds):
        return None
    limit = watcher.silence_limit_seconds() or 0.0
    return _hang(
        start,
        start.phase,
        f"While {start.phase.title} nothing has come for {silence_seconds:.0f} s ({limit:.0f} s would be normal).",
    )


def open_end_of(watcher: Watcher) -> Named | None:
    """Name the phase in which a file ends, where ends like this are hangs: the phase began, and nothing followed."""
    start = watcher.starts[-1] if watcher.starts else None
    if start is None or start.phase is None or start.phase.id not in HANGS_WITHOUT_A_WORD:
        return None
    began = start.marks[start.phase.mark].last
    if watcher.lines - began > FEW_LINES or any(seen.last_line > began for seen in start.seen.values()):
        return None
    limit = start.phase.silence_seconds or 0.0
    return _hang(
        start,
        start.phase,
        f"The log ends while {start.phase.title}. If nothing more came for {limit:.0f} s, it hangs there.",
    )


def _hang(start: Start, phase: Phase, about: str) -> Named:
    mark = start.marks[phase.mark]
    workers = f" Workers that came so far: {', '.join(sorted(mark.ranks))}." if mark.ranks else ""
    return Named(
        id=f"hang-{phase.id.replace(' ', '-')}",
        level=Level.HANG,
        role=Role.CAUSE,
        phase=phase.id,
        cause=f"{about} {phase.hang_cause}{workers}",
        fix=phase.hang_fix,
        line=mark.last,
        ranks=tuple(sorted(mark.ranks)),
        sources=(phase.source,),
        start=start.number,
    )


def _believed(start: Start, version: str | None) -> Iterable[Seen]:
    """List what was seen and holds: the engine's version fits, and what must follow did."""
    for seen in start.seen.values():
        signature = seen.signature
        if version is not None and signature.versions and not in_range(version, signature.versions):
            continue
        if signature.after.holds(start.marks_after(seen.last_line)):
            yield seen


def _name(seen: Seen, start: Start, figures: Mapping[str, Any], watcher: Watcher) -> Named:
    """Put what was seen into words."""
    signature = seen.signature
    known = {**figures, **seen.groups, **_spelling(seen, watcher)}
    level, survived = signature.level, _survived(seen, start)
    cause = fill(signature.cause, known) or _bare(signature.cause[-1])
    if survived:
        level, cause = Level.WARNING, f"{cause} It did not stop this start: the server became ready."
    return Named(
        id=signature.id,
        level=level,
        role=signature.role,
        phase=signature.phase,
        cause=cause,
        fix=fill(signature.fix, known),
        line=seen.line,
        count=seen.count,
        ranks=tuple(seen.ranks),
        evidence=tuple(seen.evidence),
        sources=signature.sources,
        start=start.number,
    )


def _survived(seen: Seen, start: Start) -> bool:
    """Whether the server became ready after a line that would have ended its start."""
    if seen.level not in (Level.FATAL, Level.HANG) or seen.signature.phase in RUN_TIME_PHASES:
        return False
    ready = start.marks.get("ready")
    return ready is not None and ready.last > seen.last_line and seen.role is not Role.AFTERMATH


def _spelling(seen: Seen, watcher: Watcher) -> dict[str, str]:
    """Find the right spelling of a wrong flag or choice, from what the engine itself listed."""
    found: dict[str, str] = {}
    flag, choices = seen.groups.get("flag"), seen.groups.get("choices")
    if flag and seen.signature.id == "unknown-flag":
        listed = watcher.context.get("known_flags")
        known = [*watcher.flags_in_usage, *(listed if isinstance(listed, list | tuple | frozenset | set) else ())]
        if (right := nearest(flag.split("=", 1)[0], map(str, known))) is not None:
            found["nearest"] = right
    if choices and (value := seen.groups.get("value")):
        listed_choices = [match[1] or match[2] for match in CHOICE.finditer(choices)]
        if (right := nearest(value, listed_choices)) is not None:
            found["nearest_choice"] = right
    return found


def _bare(sentence: str) -> str:
    """Drop the clause around a name that is not known."""
    return re.sub(r"\s*(?:\([^()]*\{\w+\}[^()]*\)|:?\s*\{\w+\})", "", sentence)


def _deadly(named: Iterable[Named]) -> list[Named]:
    return [entry for entry in named if entry.level in DEADLY and entry.role is not Role.AFTERMATH]


def _deciding(starts: Sequence[Start], named: Iterable[Named], cut: Traceback | None) -> Start | None:
    """Find the start that the diagnosis is about: the last with something deadly in it, else the last that died."""
    deadly = {entry.start for entry in _deadly(named)}
    for start in reversed(starts):
        if start.number in deadly:
            return start
    for start in reversed(starts):
        if _died(start, cut):
            return start
    return starts[-1] if starts else None


def _root(named: Iterable[Named], deciding: Start | None) -> Named | None:
    """Choose the root cause: what ended the server; the gravest of the rest where nothing did.

    Before the end is better than after it, a cause better than a general line, that better than a consequence,
    and earlier better than later.
    """
    own = [entry for entry in named if deciding is None or entry.start == deciding.number]
    end = deciding.death_line if deciding else None
    if killers := _deadly(own):
        return min(
            killers,
            key=lambda entry: (
                entry.level is Level.GARBAGE_PREDICTOR,
                end is not None and entry.line > end and entry.role is not Role.CAUSE,
                ROLES.index(entry.role),
                entry.line,
            ),
        )
    rest = [entry for entry in named if entry.level not in DEADLY]
    return min(rest, key=lambda entry: (GRAVITY.index(entry.level), entry.line), default=None)


def _is_said(entry: Named, cause: Named | None) -> bool:
    """Whether the cause says it already: it is the cause, a general word for the same line, or the end itself."""
    if entry.role is Role.AFTERMATH:
        return True
    if cause is None:
        return False
    return entry.line == cause.line and (entry.id == cause.id or entry.role in (Role.GENERAL, Role.CONSEQUENCE))


def _died(start: Start, cut: Traceback | None) -> bool:
    """Whether a start ended badly: a child failed, or a traceback was the end before the server was ready."""
    if start.death_line is not None:
        return True
    if "asked-to-stop" in start.marks:
        return False
    tracebacks = start.tracebacks or ([cut] if cut is not None else [])
    if not tracebacks:
        return bool(start.errors) and start.phase is None and not start.seen
    last_phase = start.phases[-1].line if start.phases else 0
    return not start.is_ready and tracebacks[-1].line > last_phase


def _unknown(start: Start, cut: Traceback | None) -> Named:
    """Say that nobody knows: the first traceback's error, or the first line that looks like one."""
    traceback = next(iter(start.tracebacks), cut)
    phase = start.phase.id if start.phase else "unknown"
    where = f"while {start.phase.title}" if start.phase else "before any known phase"
    evidence: tuple[Evidence, ...] = ()
    if traceback is not None:
        quoted = traceback.error or "a traceback that is cut off"
        evidence = _evidence(traceback)
        line = traceback.line
    elif start.errors:
        quoted, line, evidence = start.errors[0].text, start.errors[0].line, tuple(start.errors)
    else:
        line = start.death_line or 0
        quoted = "the log holds no error of its own"
    return Named(
        id=UNKNOWN_FAILURE,
        level=Level.FATAL,
        role=Role.CAUSE,
        phase=phase,
        cause=f"Unknown failure {where}: no known cause fits. First: {quoted}",
        fix=(
            "Read the first traceback, and look for its last line in the engine's issue tracker. "
            "`seatrial doctor --bundle report.md` makes a redacted report for it."
        ),
        line=line,
        evidence=evidence,
        ranks=(traceback.rank,) if traceback and traceback.rank else (),
        start=start.number,
    )


def _evidence(traceback: Traceback) -> tuple[Evidence, ...]:
    lines = [Evidence(traceback.line, frame, traceback.rank) for frame in traceback.frames[-3:]]
    return (*lines, Evidence(traceback.error_line or traceback.line, traceback.error, traceback.rank))


def _does_not_fit(named: Iterable[Named], knowledge: Knowledge, deciding: Start | None) -> Named | None:
    """Name the case where one start needs a larger fraction and another a smaller one: none is right."""
    by_id: dict[str, Signature] = {signature.id: signature for signature in knowledge.signatures}
    moved = [entry for entry in named if entry.id in by_id and by_id[entry.id].direction in ("raise", "lower")]
    if len({by_id[entry.id].direction for entry in moved}) < 2:
        return None
    newest = max(moved, key=lambda entry: (entry.start, -entry.line))
    if deciding is not None and newest.start != deciding.number:
        return None
    first = {by_id[entry.id].direction: entry for entry in reversed(moved)}
    return replace(
        newest,
        id=DOES_NOT_FIT,
        cause=(
            "The model does not fit with these settings: the log shows both, too little memory for the pools "
            f"(line {first['raise'].line}) and too little after them (line {first['lower'].line})."
        ),
        fix=(
            "No --mem-fraction-static is right for it. Use more GPUs (--tp-size), a smaller quantization, fewer graphs "
            "(--cuda-graph-max-bs-decode, --disable-cuda-graph), --kv-cache-dtype fp8_e4m3, a shorter --context-length."
        ),
        evidence=(*first["raise"].evidence[:2], *first["lower"].evidence[:2]),
    )


def _figures_of(start: Start, given: Mapping[str, Any]) -> dict[str, Any]:
    figures: dict[str, Any] = {**given, **start.figures}
    return {**figures, **suggest(figures)}


def _fold(named: Iterable[Named]) -> list[Named]:
    """Fold the same finding of many starts into its newest, counted."""
    folded: dict[str, Named] = {}
    for entry in named:
        old = folded.get(entry.id)
        folded[entry.id] = entry if old is None else replace(entry, count=old.count + entry.count)
    return list(folded.values())


def _by_gravity(named: Iterable[Named]) -> list[Named]:
    return sorted(named, key=lambda entry: (GRAVITY.index(entry.level), ROLES.index(entry.role), entry.line))
