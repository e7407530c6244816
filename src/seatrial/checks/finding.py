"""How a check says what it found: one sentence, and the place in the text where a person can look. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from seatrial.checks.asked import Asked
from seatrial.endpoint.answer import ARGUMENTS, Answer
from seatrial.verdicts import CheckResult, Evidence, Span, Verdict

QUOTE_LENGTH = 160
MAX_NAMED = 4
"""Problems of one kind that a sentence names."""
MAX_EVIDENCE = 20
CONTEXT_LENGTH = 24
"""Characters that a quote shows before the place it is about."""


def proven(check: str, detail: str) -> CheckResult:
    """The claim holds; `detail` says what was seen."""
    return CheckResult(check, Verdict.PROVEN, detail)


def refuted(check: str, detail: str, *evidence: Evidence) -> CheckResult:
    """The claim is wrong; `detail` says what was seen instead."""
    return CheckResult(check, Verdict.REFUTED, detail, evidence)


def refuted_by(check: str, problems: Sequence[tuple[str, Evidence]]) -> CheckResult:
    """The claim is wrong in several places: the first few are named, all are evidence."""
    details = [detail for detail, _ in problems[:MAX_NAMED]]
    if len(problems) > MAX_NAMED:
        details.append(f"and {len(problems) - MAX_NAMED} more")
    return refuted(check, "; ".join(details), *(evidence for _, evidence in problems[:MAX_EVIDENCE]))


def unproven(check: str, detail: str, *evidence: Evidence, infrastructure: bool = False) -> CheckResult:
    """The claim could not be checked; `detail` says why."""
    return CheckResult(check, Verdict.UNPROVEN, detail, evidence, infrastructure)


def place(asked: Asked, field: str, text: str, start: int, end: int) -> Evidence:
    """Point at `text[start:end]` of one field of the answer."""
    around = text[max(0, start - CONTEXT_LENGTH) : min(end + QUOTE_LENGTH, start + QUOTE_LENGTH)]
    return Evidence(asked.exchange, one_line(asked.prompt), one_line(around), Span(field, start, end))


def call_place(asked: Asked, answer: Answer, position: int, start: int = 0, end: int | None = None) -> Evidence:
    """Point at a part of the arguments of the call at `position` in the answer."""
    text = answer.text_of(ARGUMENTS)
    calls = answer.tool_calls
    offset = sum(len(call.arguments) + 1 for call in calls[:position])
    last = len(calls[position].arguments) if end is None else end
    return place(asked, ARGUMENTS, text, offset + start, offset + last)


def whole(asked: Asked, quote: str = "") -> Evidence:
    """Point at an answer as a whole, for what stands in no one place of it."""
    return Evidence(asked.exchange, one_line(asked.prompt), one_line(quote))


def one_line(text: str, length: int = QUOTE_LENGTH) -> str:
    """Fit a text on one line; its end is cut off where it is too long."""
    line = " ".join(text[: length * 4].split())
    return line if len(line) <= length else line[: length - 1] + "…"


def shown(value: Any, length: int = 60) -> str:
    """Write a value for a sentence, shortened."""
    try:
        text = repr(value) if isinstance(value, str) else str(value)
    except RecursionError:
        text = f"a deeply nested {type(value).__name__}"
    return one_line(text, length)


def plural(count: int, noun: str) -> str:
    """Write a count with its noun: `1 call`, `2 calls`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def strings_in(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text in a JSON value with the path to it, e.g. `items[0].name`."""
    waiting: list[tuple[str, Any]] = [(path, value)]
    while waiting:
        where, item = waiting.pop()
        if isinstance(item, str):
            yield where, item
        elif isinstance(item, dict):
            waiting += [(f"{where}.{key}" if where else str(key), part) for key, part in reversed(item.items())]
        elif isinstance(item, list):
            waiting += [(f"{where}[{index}]", part) for index, part in reversed(list(enumerate(item)))]
