"""Makes the text of a bug report for the engine's issue tracker: one Markdown file, redacted, short. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from seatrial.doctor.figures import LEVEL_WORDS
from seatrial.doctor.model import Diagnosis, Named, Traceback
from seatrial.doctor.reading import parse_line
from seatrial.doctor.redacting import ReportRedactor
from seatrial.doctor.watching import Watcher

LONGEST_REPORT = 60_000
"""An issue on GitHub holds 65,536 characters."""
LONGEST_LINE = 2_000
HEAD_LINES, TAIL_LINES = 80, 200
EMPTY_LINES = ("Decode batch", "Prefill batch", '"GET /health', '"GET /metrics')


def make_bundle(
    found: Diagnosis,
    watcher: Watcher,
    *,
    redact: ReportRedactor,
    versions: Mapping[str, str | None] | None = None,
    plan: Mapping[str, Any] | None = None,
) -> str:
    """Write the report.

    Args:
        found: what the doctor says.
        watcher: has read the log; it keeps the log's beginning and end.
        redact: knows this machine's secrets and names; it learns more from the log.
        versions: names and versions of what runs.
        plan: the plan's document (`seatrial plan --json`), if there is one.
    """
    head = [parse_line(raw, number).raw for number, raw in enumerate(watcher.head, 1)][:HEAD_LINES]
    skipped = watcher.lines - len(watcher.tail)
    numbered = enumerate(watcher.tail, skipped + 1)
    tail = [parse_line(raw, number).raw for number, raw in numbered if number > len(head)]
    shown_plan = json.dumps(_plain(plan), indent=2, ensure_ascii=False) if plan else ""
    for text in (*head, *tail, shown_plan, *_evidence_of(found)):
        redact.learn(text)
    parts = [
        "# Failure report",
        _cause(found),
        _section("Versions", _table(versions or {})),
        _section("What the log says about memory and settings", _table(found.figures)),
        _section("Plan", f"```json\n{shown_plan}\n```" if shown_plan else ""),
        _section("First traceback", _traceback(found.traceback)),
        _section("Evidence", _block(_evidence_of(found))),
        _section("The log's beginning", _block(head)),
        _section("The log's end", _block([line for line in tail if not _says_nothing(line)][-TAIL_LINES:])),
    ]
    text = redact("\n\n".join(part for part in parts if part))
    if len(text) > LONGEST_REPORT:
        half = LONGEST_REPORT // 2
        text = f"{text[:half]}\n\n[… {len(text) - 2 * half:,} characters left out …]\n\n{text[-half:]}"
    return f"{text}\n"


def _cause(found: Diagnosis) -> str:
    cause = found.cause
    if cause is None:
        return "No known cause was found in the log."
    said = "unknown failure" if found.unknown else LEVEL_WORDS[cause.level]
    lines = [f"**{said}** `{cause.id}`, line {cause.line}, phase {cause.phase}", "", cause.cause]
    lines += ["", f"Phase reached: {found.phase or 'none'}. Starts in the log: {found.starts}. Lines: {found.lines}."]
    lines += [f"- also: `{other.id}` ({LEVEL_WORDS[other.level]}, {other.count}x)" for other in found.others]
    return "\n".join(lines)


def _evidence_of(found: Diagnosis) -> list[str]:
    named: Iterable[Named] = [found.cause, *found.others] if found.cause else found.others
    return [f"{evidence.line}: {evidence.text}" for entry in named for evidence in entry.evidence[:3]][:40]


def _traceback(traceback: Traceback | None) -> str:
    if traceback is None:
        return ""
    return _block([f"line {traceback.line} {traceback.rank}".strip(), *traceback.frames, traceback.error])


def _section(title: str, text: str) -> str:
    return f"## {title}\n\n{text}" if text else ""


def _table(values: Mapping[str, Any]) -> str:
    return "\n".join(f"- {name}: {value}" for name, value in values.items() if value not in (None, ""))


def _block(lines: Iterable[str]) -> str:
    shown = [line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]} […]" for line in lines]
    return "```text\n" + "\n".join(shown).replace("```", "'''") + "\n```" if shown else ""


def _says_nothing(line: str) -> bool:
    return any(part in line for part in EMPTY_LINES)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)
