"""A diagnosis as a JSON document: what `seatrial doctor --json` prints. Secrets are taken out of what is quoted. Pure.

{"ok", "id", "level", "unknown", "where", "cause": {"id", "level", "role", "phase", "cause", "fix", "line", "count",
"ranks", "evidence": [{"line", "rank", "text"}], "sources", "start"} or null, "others": [the same], "slow": [the same],
"open_end", "died", "ready", "phase", "phases": [{"phase", "line", "time"}], "starts", "lines",
"traceback": {"line", "rank", "error", "frames"} or null, "figures"}
"""

from __future__ import annotations

from typing import Any

from seatrial.doctor.model import Diagnosis, Named
from seatrial.doctor.redacting import ReportRedactor


def diagnosis_document(found: Diagnosis, *, where: str = "", redact: ReportRedactor | None = None) -> dict[str, Any]:
    """Make the document.

    Args:
        found: what the doctor says.
        where: the log's name.
        redact: knows this machine's secrets; prompts and whatever looks like a secret are taken out in any case.
    """
    redact = redact or ReportRedactor()
    cause = found.cause
    traceback = found.traceback
    return {
        "ok": not found.deadly and not found.unknown,
        "id": cause.id if cause else None,
        "level": cause.level.value if cause else None,
        "unknown": found.unknown,
        "where": f"{where}:{cause.line}" if cause and where else where or None,
        "cause": named_document(cause, redact) if cause else None,
        "others": [named_document(other, redact) for other in found.others],
        "slow": [named_document(reason, redact) for reason in found.slow],
        "open_end": found.open_end,
        "died": found.died,
        "ready": found.ready,
        "phase": found.phase,
        "phases": [{"phase": phase.phase, "line": phase.line, "time": phase.time} for phase in found.phases],
        "starts": found.starts,
        "lines": found.lines,
        "traceback": {
            "line": traceback.line,
            "rank": traceback.rank,
            "error": redact.secrets_only(traceback.error),
            "frames": [redact.secrets_only(frame) for frame in traceback.frames],
        }
        if traceback
        else None,
        "figures": {
            name: redact.secrets_only(value) if isinstance(value, str) else value
            for name, value in found.figures.items()
        },
    }


def named_document(named: Named, redact: ReportRedactor) -> dict[str, Any]:
    """Make the document of one finding."""
    return {
        "id": named.id,
        "level": named.level.value,
        "role": named.role.value,
        "phase": named.phase,
        "cause": redact.secrets_only(named.cause),
        "fix": redact.secrets_only(named.fix),
        "line": named.line,
        "count": named.count,
        "ranks": list(named.ranks),
        "evidence": [
            {"line": evidence.line, "rank": evidence.rank, "text": redact.secrets_only(evidence.text)}
            for evidence in named.evidence
        ],
        "sources": list(named.sources),
        "start": named.start,
    }
