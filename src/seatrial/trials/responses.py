"""Brings the response checks of `seatrial.checks` to a trial's exchanges. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from seatrial.checks import Asked, judge
from seatrial.checks.degenerate import not_degenerate
from seatrial.endpoint.answer import Answer
from seatrial.endpoint.exchange import Exchange
from seatrial.verdicts import CheckResult, Verdict

CUT_IN_REASONING = frozenset({"answer_present", "call_made"})
"""Checks that an answer can't pass when our own token budget ended it while it was still reasoning."""


def judge_answers(
    exchanges: Sequence[Exchange], expected: Mapping[str, Mapping[str, Any] | None] | None = None
) -> Iterable[CheckResult]:
    """Judge several answers to the same question; a claim is proven when it holds for each of them.

    Args:
        exchanges: all answered.
        expected: for each case (the last part of an exchange's label) the arguments that a right call has; without
            them no call is due.
    """
    found: dict[str, list[tuple[str, CheckResult]]] = {}
    for exchange in exchanges:
        case = exchange.label.rpartition("/")[2]
        for result in _judge(exchange, (expected or {}).get(case)):
            found.setdefault(result.check, []).append((case, result))
    for check, results in found.items():
        yield _together(check, results, several=len(exchanges) > 1)


def _judge(exchange: Exchange, arguments: Mapping[str, Any] | None) -> Iterator[CheckResult]:
    answer = exchange.answer
    assert answer is not None
    asked = Asked.from_request(exchange.request, exchange=exchange.id)
    if exchange.stopped is not None:
        # Its text is broken, so we stopped reading: what the rest of it would have been is not known.
        results: Iterable[CheckResult | None] = (not_degenerate(asked, answer),)
    else:
        results = judge(asked, answer, expected=arguments, call_due=arguments is not None)
    for result in results:
        if result is not None:
            yield _as_live(result, answer, exchange)


def _as_live(result: CheckResult, answer: Answer, exchange: Exchange) -> CheckResult:
    """Read a result as that of a live request, whose token budget was ours and which can be asked again."""
    if result.check == "not_degenerate" and result.verdict is Verdict.UNPROVEN:
        # A suspicion: the loop trial's statistics decide about those, not one answer.
        return replace(result, verdict=Verdict.PROVEN, detail=f"nothing surely broken; worth a look: {result.detail}")
    cut = answer.finish_reason == "length" and not (answer.content or "").strip() and not answer.tool_calls
    if cut and (answer.reasoning or "").strip() and result.check in CUT_IN_REASONING:
        budget = exchange.request.get("max_tokens")
        detail = f"the answer was cut at {budget} tokens while still reasoning; a larger --max-tokens may tell more"
        return replace(result, verdict=Verdict.UNPROVEN, detail=detail)
    return result


def _together(check: str, results: list[tuple[str, CheckResult]], *, several: bool) -> CheckResult:
    verdict = Verdict.of(result.verdict for _, result in results)
    case, first = next((case, result) for case, result in results if result.verdict is verdict)
    detail = f"{case}: {first.detail}" if several and verdict is not Verdict.PROVEN else first.detail
    evidence = tuple(place for _, result in results if result.verdict is verdict for place in result.evidence)
    return replace(first, check=check, detail=detail, evidence=evidence)
