"""Tool calls that repeat byte for byte: over the turns of a conversation, or written down as JSON lines."""

from __future__ import annotations

from collections.abc import Sequence

from seatrial.degeneration.model import Degeneration, Kind, Severity, shorten
from seatrial.degeneration.patterns import lazily

FAIL_CALLS = 5
"""Identical calls in a row that are a failure. Nothing happened in between that could change the result."""
FAIL_MALFORMED = 4
"""The same where the arguments are no valid JSON: such a call can't even have run."""
WARN_CALLS = 3
POLLING_FACTOR = 4
"""A tool whose name says that it waits or polls may be called so many times more often."""
FIELD = "tool_calls"
_POLLING = lazily(r"(?i)poll|wait|sleep|status|progress|check|tail|watch|refresh|ping|health")


def scan_tool_calls(calls: Sequence[tuple[str, str]]) -> Degeneration | None:
    """Judge the (name, arguments) pairs of a conversation, in order over all turns.

    Identical calls in a row are counted, and cycles of two or three different calls that repeat. The positions of
    the finding count calls, not characters: `onset` is the index of the first call of the run.
    """
    best: Degeneration | None = None
    for period in (1, 2, 3):
        run = _longest_run(calls, period)
        if run is None:
            continue
        start, end = run
        found = _judge(calls, start, end, period)
        if found is not None and (best is None or (best.severity, found.severity) == (Severity.WARN, Severity.FAIL)):
            best = found
    return best


def calls_in(text: str) -> list[tuple[int, int, str, str]]:
    """Return (start, end, name, arguments) of each line of `text` that is a JSON object of a tool call."""
    import json  # noqa: PLC0415 - scan alone must stay light to import

    found = []
    at = 0
    for line in text.split("\n"):
        if '"arguments"' in line and '"name"' in line:
            try:
                value = json.loads(line)
            except ValueError:
                value = None
            if isinstance(value, dict):
                call = value.get("function", value)
                if isinstance(call, dict) and "name" in call:
                    arguments = call.get("arguments")
                    text_of = arguments if isinstance(arguments, str) else json.dumps(arguments, sort_keys=True)
                    found.append((at, at + len(line), str(call["name"]), text_of))
        at += len(line) + 1
    return found


def calls_needed(name: str, arguments: str) -> int:
    """Return how many identical calls in a row are a failure."""
    if not _is_json(arguments):
        return FAIL_MALFORMED
    return FAIL_CALLS * (POLLING_FACTOR if _POLLING().search(name) else 1)


def _longest_run(calls: Sequence[tuple[str, str]], period: int) -> tuple[int, int] | None:
    """Return start and end of the longest run in which each call equals the one `period` calls before."""
    best: tuple[int, int] | None = None
    start = 0
    for index in range(period, len(calls) + 1):
        if index == len(calls) or calls[index] != calls[index - period]:
            begin = start
            if index - begin >= 2 * period and (best is None or index - begin > best[1] - best[0]):
                best = (begin, index)
            start = index - period + 1
    return best


def _judge(calls: Sequence[tuple[str, str]], start: int, end: int, period: int) -> Degeneration | None:
    unit = calls[start : start + period]
    if period > 1 and len(set(unit)) == 1:
        return None
    copies = (end - start) // period
    needed = max(calls_needed(*call) for call in unit)
    factor = needed / FAIL_CALLS if needed > FAIL_CALLS else 1
    if copies < WARN_CALLS * factor:
        return None
    names = ", ".join(name for name, _ in unit)
    name, arguments = unit[0]
    return Degeneration(
        severity=Severity.FAIL if copies >= needed else Severity.WARN,
        kind=Kind.REPEATED_TOOL_CALL,
        onset=start,
        end=end,
        period=period,
        needle=shorten(f"{name}({arguments})"),
        coverage=(end - start) / len(calls),
        field=FIELD,
        why=f"Calls {start + 1} to {end} of {len(calls)}: {names} called {copies} times in a row with the same "
        "arguments, byte for byte.",
    )


def _is_json(text: str) -> bool:
    import json  # noqa: PLC0415 - scan alone must stay light to import

    try:
        json.loads(text or "{}")
    except (ValueError, RecursionError):
        return False
    return True
