"""Brings the response checks of `seatrial.checks` to live exchanges. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from seatrial.checks import Asked, judge
from seatrial.checks.degenerate import not_degenerate
from seatrial.endpoint.answer import Answer
from seatrial.endpoint.exchange import Exchange
from seatrial.trials.interface import evidence
from seatrial.trials.tool_cases import ExpectedCall
from seatrial.verdicts import CheckResult, Verdict

CUT_IN_REASONING = frozenset({"answer_present", "call_made"})
"""Checks that an answer can't pass when our token budget ended it while it was still reasoning."""

CUT_IN_CALL = frozenset(
    {"arguments_parse", "arguments_match_schema", "arguments_as_expected", "argument_contains", "finish_reason_agrees"}
)
"""Checks that an answer can't pass when our token budget ended it inside a call."""


def judge_exchange(exchange: Exchange, expected: Sequence[ExpectedCall] | None) -> list[CheckResult]:
    """Run every check that is due on one answer.

    Args:
        exchange: an answered one.
        expected: the calls that are due; empty where none is, None where the model may call or not.
    """
    answer = exchange.answer
    assert answer is not None
    asked = Asked.from_request(exchange.request, exchange=exchange.id)
    if exchange.stopped is not None:
        # Its text is broken, so we stopped reading: what the rest of it would have been is not known.
        results: Iterable[CheckResult | None] = (not_degenerate(asked, answer),)
    else:
        calls = [{"name": call.name, "arguments": call.arguments} for call in expected or ()]
        results = judge(asked, answer, expected=calls or None, call_due=None if expected is None else bool(expected))
    found = [_as_live(result, answer, exchange) for result in results if result is not None]
    return [*found, *stream_is_closed(exchange)]


def stream_is_closed(exchange: Exchange) -> list[CheckResult]:
    """Hold that a stream ends with `[DONE]`: clients that go by the protocol wait for it."""
    if not isinstance(exchange.raw, list) or exchange.stopped is not None:
        return []
    if exchange.raw[-1:] == ["[DONE]"]:
        return [CheckResult("stream_is_closed", Verdict.PROVEN, "the stream ends with [DONE]")]
    detail = "the stream ends without [DONE]: a client that waits for it takes the answer for broken"
    return [CheckResult("stream_is_closed", Verdict.REFUTED, detail, (evidence(exchange),))]


def merge(results: Sequence[tuple[str, CheckResult]], *, several: bool) -> list[CheckResult]:
    """Bring results of several cases together, one for each check, in the order in which checks first appear."""
    by_check: dict[str, list[tuple[str, CheckResult]]] = {}
    for case, result in results:
        by_check.setdefault(result.check, []).append((case, result))
    return [_together(named, several=several) for named in by_check.values()]


def _as_live(result: CheckResult, answer: Answer, exchange: Exchange) -> CheckResult:
    """Read a result as that of a live request, whose token budget was ours and which can be asked again."""
    if result.check == "not_degenerate" and result.verdict is Verdict.UNPROVEN:
        # A suspicion: the loop trial's statistics decide about those, not one answer.
        return replace(result, verdict=Verdict.PROVEN, detail=f"nothing surely broken; worth a look: {result.detail}")
    if answer.finish_reason == "length" and result.verdict is Verdict.REFUTED and _is_from_cut(result.check, answer):
        budget = exchange.request.get("max_tokens")
        where = " while still reasoning" if answer.reasoning and not answer.content and not answer.tool_calls else ""
        detail = f"the answer was cut at {budget} tokens{where}; a larger --max-tokens may tell more"
        return replace(result, verdict=Verdict.UNPROVEN, detail=detail)
    return result


def _is_from_cut(check: str, answer: Answer) -> bool:
    """Tell whether an answer may fail a check only because our own token budget ended it."""
    if answer.tool_calls:
        return check in CUT_IN_CALL
    still_reasoning = bool((answer.reasoning or "").strip()) and not (answer.content or "").strip()
    return still_reasoning and check in CUT_IN_REASONING


def _together(named: Sequence[tuple[str, CheckResult]], *, several: bool) -> CheckResult:
    verdict = Verdict.of(result.verdict for _, result in named)
    decisive = [(case, result) for case, result in named if result.verdict is verdict]
    case, first = decisive[0]
    if verdict is Verdict.PROVEN:
        detail = first.detail if len(named) == 1 else f"holds in all {len(named)} answers; e.g. {first.detail}"
    else:
        others = f" (and in {len(decisive) - 1} more)" if len(decisive) > 1 else ""
        detail = f"{case}: {first.detail}{others}" if several else first.detail
    return replace(
        first,
        verdict=verdict,
        detail=detail,
        evidence=tuple(place for _, result in decisive for place in result.evidence),
        infrastructure=any(result.infrastructure for _, result in decisive),
    )
