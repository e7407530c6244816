"""All parts of one answer at once, and what only their combination shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from seatrial.degeneration.ending import cut_in_loop
from seatrial.degeneration.model import Degeneration, Kind, Severity, shorten
from seatrial.degeneration.stream import scan

CONTENT, REASONING, ARGUMENTS = "content", "reasoning_content", "tool_calls.function.arguments"
FULL_REASONING = 2_000
"""Characters of reasoning from which on an answer cut by length is blamed on the model, not on a small budget."""


def scan_answer(
    *,
    content: str | None,
    reasoning: str | None,
    tool_arguments: Sequence[str],
    finish_reason: str | None,
    prompt: str | None = None,
) -> tuple[Degeneration, ...]:
    """Judge the texts of one answer.

    Args:
        content: the visible answer.
        reasoning: the reasoning before it, if the server gives it apart.
        tool_arguments: the JSON text of the arguments of each call; the strings inside are judged too.
        finish_reason: as the server gave it; "length" means that the token budget ended the answer.
        prompt: what the user asked, if known.

    Returns:
        All findings, failures first. `field` names the part, and for a string inside arguments its path.
    """
    found = [
        finding
        for field, text in ((CONTENT, content), (REASONING, reasoning))
        if text and (finding := scan(text, field=field, prompt=prompt)) is not None
    ]
    for index, arguments in enumerate(tool_arguments):
        found += _scan_arguments(arguments, f"{ARGUMENTS}[{index}]", prompt)
    if finish_reason == "length" and all(finding.severity is not Severity.FAIL for finding in found):
        at_the_end = _cut(content, reasoning, tool_arguments, prompt)
        fields = {finding.field for finding in at_the_end}
        found = [finding for finding in found if finding.field not in fields] + at_the_end
    unanswered = _without_answer(content, reasoning, tool_arguments, finish_reason)
    if unanswered is not None:
        found.append(unanswered)
    return tuple(sorted(found, key=lambda finding: finding.severity is not Severity.FAIL))


def _cut(
    content: str | None, reasoning: str | None, tool_arguments: Sequence[str], prompt: str | None
) -> list[Degeneration]:
    """Look at the end of what was written last: there the budget cut."""
    last = len(tool_arguments) - 1
    parts = ((f"{ARGUMENTS}[{last}]", tool_arguments[-1] if tool_arguments else ""), (CONTENT, content))
    for field, text in (*parts, (REASONING, reasoning)):
        if text:
            found = cut_in_loop(text, field, prompt)
            return [found] if found else []
    return []


def _scan_arguments(arguments: str, field: str, prompt: str | None) -> list[Degeneration]:
    whole = scan(arguments, field=field, prompt=prompt)
    if whole is not None and whole.severity is Severity.FAIL:
        return [whole]
    import json  # noqa: PLC0415 - scan alone must stay light to import

    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return [whole] if whole else []
    inside = [finding for path, text in _strings(value) if (finding := scan(text, field=field + path, prompt=prompt))]
    return inside or ([whole] if whole else [])


def _strings(value: object) -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each string inside a JSON value."""
    waiting = [("", value)]
    while waiting:
        path, item = waiting.pop()
        if isinstance(item, str):
            yield path, item
        elif isinstance(item, dict):
            waiting += [(f"{path}.{key}", part) for key, part in item.items()]
        elif isinstance(item, list):
            waiting += [(f"{path}[{index}]", part) for index, part in enumerate(item)]


def _without_answer(
    content: str | None, reasoning: str | None, tool_arguments: Sequence[str], finish_reason: str | None
) -> Degeneration | None:
    if finish_reason != "length" or (content or "").strip() or tool_arguments:
        return None
    text = reasoning or ""
    full = len(text) >= FULL_REASONING
    blame = "" if full else "; the budget may have been too small"
    return Degeneration(
        severity=Severity.FAIL if full else Severity.WARN,
        kind=Kind.LENGTH_WITHOUT_ANSWER,
        onset=0,
        end=len(text),
        period=None,
        needle=shorten(text[-80:]),
        coverage=1.0,
        field=REASONING if text else CONTENT,
        why=f"The token budget ended (finish_reason=length) after {len(text):,} characters of reasoning with no "
        f"content at all{blame}.",
    )
