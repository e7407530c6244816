"""Does it really answer? A completion, not a health page; from the model and the process that it should be."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from seatrial.endpoint.exchange import Exchange
from seatrial.trials.interface import Asker, Case, Findings, evidence, failed
from seatrial.verdicts import CheckResult, Verdict

CASE = Case("hello", {"messages": [{"role": "user", "content": "Say hello."}]})


@dataclass(frozen=True, slots=True)
class Liveness:
    """The first trial: when it can't be made, no other is tried."""

    name: str = "liveness"
    title: str = "It really answers, as the model that was asked for"
    planned_requests: int = 1

    async def run(self, asker: Asker) -> Findings:
        """Ask for one completion."""
        exchange = await asker.ask(CASE)
        return Findings((*judge(exchange, asker.endpoint.model), *ownership(asker, exchange)))


def judge(exchange: Exchange, model: str) -> Iterable[CheckResult]:
    """Check one completion and the model name in it."""
    if exchange.failure is not None:
        yield failed("answers", exchange, exchange.failure)
        return
    answer = exchange.answer
    assert answer is not None
    if answer.is_empty:
        yield CheckResult(
            "answers", Verdict.REFUTED, "HTTP 200 and nothing in the answer: no text, no call", (evidence(exchange),)
        )
    else:
        seconds = exchange.timing.total
        yield CheckResult("answers", Verdict.PROVEN, f"a completion after {seconds:.2f} s")
    if answer.model is None:
        yield CheckResult("served_model", Verdict.UNPROVEN, "the answer does not name its model", (evidence(exchange),))
    elif answer.model != model:
        detail = f"asked for {model!r}, the answer says {answer.model!r}"
        yield CheckResult("served_model", Verdict.REFUTED, detail, (evidence(exchange),))
    else:
        yield CheckResult("served_model", Verdict.PROVEN, f"the answer comes from {model!r}")


def ownership(asker: Asker, exchange: Exchange) -> Iterable[CheckResult]:
    """Check that what answers is what seatrial started; no check for a server that it did not start."""
    ours = asker.endpoint.answered_by_ours
    if ours is None:
        return
    if ours():
        yield CheckResult("answered_by_ours", Verdict.PROVEN, "the process that listens is the one that was started")
    else:
        detail = f"another process listens at {asker.endpoint.origin}"
        yield CheckResult("answered_by_ours", Verdict.REFUTED, detail, (evidence(exchange),))
