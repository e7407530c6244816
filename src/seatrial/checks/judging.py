"""Runs every check that is due on one answer. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from seatrial.checks import arguments, calls, completion, leaks, stream
from seatrial.checks.arguments import Expected
from seatrial.checks.asked import Asked
from seatrial.checks.degenerate import not_degenerate
from seatrial.checks.dictated import arguments_as_dictated
from seatrial.endpoint.answer import Answer
from seatrial.verdicts import CheckResult


def judge(
    asked: Asked, answer: Answer, *, expected: Expected | None = None, call_due: bool | None = None
) -> tuple[CheckResult, ...]:
    """Run every check that is due; a check that is not due (arguments where there is no call) is left out.

    Args:
        asked: the request.
        answer: the answer.
        expected: the argument values that are known to be right: of one call, or of several. A call is then due.
        call_due: whether a call is due, where the caller knows more than the request tells.
    """
    due = call_due
    if due is None and expected is not None:
        due = isinstance(expected, dict) or len(expected) > 0
    return tuple(result for result in _results(asked, answer, expected, due) if result is not None)


def _results(asked: Asked, answer: Answer, expected: Expected | None, due: bool | None) -> Iterator[CheckResult | None]:
    yield completion.answer_present(asked, answer)
    yield (stream.stream_rebuilds if asked.stream else completion.answer_well_formed)(asked, answer)
    yield calls.call_made(asked, answer, due=due)
    yield calls.call_withheld(asked, answer, due=due)
    yield calls.call_count_allowed(asked, answer)
    yield calls.call_names_known(asked, answer)
    yield calls.call_ids_unique(asked, answer)
    yield calls.calls_differ(asked, answer)
    yield arguments.arguments_parse(asked, answer)
    yield arguments.arguments_match_schema(asked, answer)
    yield arguments.arguments_declared(asked, answer)
    if expected is None:
        yield arguments_as_dictated(asked, answer)
    else:
        yield arguments.arguments_as_expected(asked, answer, expected)
    yield leaks.no_markup_in_content(asked, answer)
    yield leaks.no_markup_in_reasoning(asked, answer)
    yield leaks.no_markup_in_arguments(asked, answer)
    yield leaks.no_arguments_in_content(asked, answer)
    yield leaks.no_special_tokens(asked, answer)
    yield leaks.reasoning_kept_apart(asked, answer)
    yield leaks.text_undamaged(asked, answer)
    yield arguments.content_matches_format(asked, answer)
    yield not_degenerate(asked, answer)
    yield completion.finish_reason_agrees(asked, answer)
    yield completion.usage_adds_up(asked, answer)
