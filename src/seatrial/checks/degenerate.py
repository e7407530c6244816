"""Check that no text of an answer loops or falls apart, the values of arguments included. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from seatrial.checks.arguments import parse_arguments
from seatrial.checks.asked import Asked
from seatrial.checks.finding import call_place, place, proven, refuted, shown, strings_in, unproven
from seatrial.endpoint.answer import ARGUMENTS, CONTENT, REASONING, Answer
from seatrial.verdicts import CheckResult, Evidence


def not_degenerate(asked: Asked, answer: Answer) -> CheckResult | None:
    """No text loops, floods or falls apart: content, reasoning, and every text inside the arguments.

    What is only suspicious leaves the check unproven: a person should look.
    """
    from seatrial.degeneration import Severity, scan  # noqa: PLC0415 - keeps this package quick to import

    check = "not_degenerate"
    suspicions = []
    scanned = 0
    for field, text, name, evidence in _texts(asked, answer):
        scanned += 1
        found = scan(text, field=field, prompt=asked.prompt)
        if found is None:
            continue
        where = evidence or place(asked, field, text, found.onset, found.end)
        detail = f"{name}: {found.why.rstrip('.')} (from character {found.onset}, {found.kind})"
        if found.severity is Severity.FAIL:
            return refuted(check, detail, where)
        suspicions.append(unproven(check, detail, where))
    if suspicions:
        return suspicions[0]
    return proven(check, "no text loops or falls apart") if scanned else None


def _texts(asked: Asked, answer: Answer) -> Iterator[tuple[str, str, str, Evidence | None]]:
    """Yield each text with its field, its name in words, and where to look if that is not the text itself."""
    for field, text in ((CONTENT, answer.content), (REASONING, answer.reasoning)):
        if text:
            yield field, text, field, None
    for position, call in enumerate(answer.tool_calls):
        evidence = call_place(asked, answer, position)
        value = parse_arguments(call.arguments).value
        number = f"call {position + 1} ({shown(call.name)})"
        if value is None:
            yield ARGUMENTS, call.arguments, f"the arguments of {number}", evidence
            continue
        for path, text in strings_in(value):
            yield ARGUMENTS, text, f"{shown(path)} of {number}", evidence
