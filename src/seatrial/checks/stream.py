"""Checks on streams: the deltas rebuild one answer, and it is the answer that comes without a stream. Pure."""

from __future__ import annotations

from typing import Any

from seatrial.checks.arguments import equal_as_json, parse_arguments
from seatrial.checks.asked import Asked
from seatrial.checks.finding import place, plural, proven, refuted, shown, unproven, whole
from seatrial.endpoint.answer import CONTENT, REASONING, Answer
from seatrial.verdicts import CheckResult


def stream_rebuilds(asked: Asked, answer: Answer) -> CheckResult:
    """The deltas of a stream rebuild one answer: each call under one index from 0, its name once, all in time."""
    check = "stream_rebuilds"
    problems = list(answer.defects)
    indexes = [call.index for call in answer.tool_calls]
    if indexes != list(range(len(indexes))):
        problems.append(f"calls have the indexes {indexes}, not 0 to {len(indexes) - 1}")
    for first, second in zip(answer.tool_calls, answer.tool_calls[1:], strict=False):
        if first.name and not first.arguments.strip() and second.arguments.strip() and not second.name:
            problems.append(
                f"index {first.index} has the name {shown(first.name)} and no arguments, index {second.index} has "
                "arguments and no name: one call is spread over two indexes"
            )
    if problems:
        return refuted(check, "; ".join(problems[:3]), whole(asked, "; ".join(problems)))
    return proven(check, f"the deltas rebuild an answer with {plural(len(indexes), 'call')}")


def stream_parity(asked: Asked, complete: Answer, streamed: Answer, *, repeatable: bool = False) -> CheckResult:
    """The streamed answer is the answer that comes without a stream.

    Args:
        asked: the request.
        complete: the answer that came as one.
        streamed: the answer that the deltas rebuild.
        repeatable: whether the server gives the same text when it is asked twice: then other words are a fault of
            the stream, otherwise they only leave it unproven.
    """
    check = "stream_parity"
    problem = _calls_differ(complete, streamed)
    if problem is None and complete.finish_reason != streamed.finish_reason:
        problem = f"finish_reason is {shown(complete.finish_reason)}, streamed {shown(streamed.finish_reason)}"
    if problem is not None:
        return refuted(
            check, problem, whole(asked, f"complete: {complete.tool_calls}; streamed: {streamed.tool_calls}")
        )
    for field in (CONTENT, REASONING):
        left, right = complete.text_of(field).strip(), streamed.text_of(field).strip()
        if left == right:
            continue
        at = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
        evidence = place(asked, field, streamed.text_of(field), at, len(right))
        if not left or not right:
            lacking = "without a stream" if right else "in the stream"
            return refuted(check, f"{field} is there in one answer only; it is empty {lacking}", evidence)
        if left.startswith(right) or right.startswith(left) or repeatable:
            detail = f"{field} has {len(left)} characters, streamed {len(right)}; they part at character {at}"
            return refuted(check, detail, evidence)
        return unproven(check, f"{field} has other words when streamed, from character {at}: not comparable", evidence)
    return proven(check, "the streamed answer equals the complete one")


def _calls_differ(complete: Answer, streamed: Answer) -> str | None:
    left, right = complete.tool_calls, streamed.tool_calls
    if len(left) != len(right):
        return f"{plural(len(left), 'call')} without a stream, {len(right)} in the stream"
    for number, (first, second) in enumerate(zip(left, right, strict=True), start=1):
        if first.name != second.name:
            return f"call {number} names {shown(first.name)}, streamed {shown(second.name)}"
        if not equal_as_json(_value(first.arguments), _value(second.arguments)):
            return (
                f"call {number} has the arguments {shown(first.arguments, 100)}, "
                f"streamed {shown(second.arguments, 100)}"
            )
    return None


def _value(arguments: str) -> Any:
    parsed = parse_arguments(arguments)
    return arguments if parsed.value is None else parsed.value
