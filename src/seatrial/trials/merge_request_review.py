"""Merge-request review with tools, the main workload: real-looking diffs, most with one planted defect, some clean.

Two kinds of claims are told apart. What the server must do (calls parse, match their schema, carry ids; no markup
leaks) must hold in every turn: one failure refutes. What the model decides (finds the defect, invents nothing,
approves what is clean) is a rate: each review counts once for each claim, and a sequential test decides.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from seatrial.endpoint.answer import Answer, ToolCall
from seatrial.endpoint.exchange import Exchange
from seatrial.trials.attempts import ATTEMPTS, MODEL_CHECKS, two_of_three
from seatrial.trials.interface import Asker, Case, Findings, evidence, failed
from seatrial.trials.responses import judge_exchange, merge
from seatrial.trials.review_cases import TOOLS, TURNS, Review, Workspace, all_reviews, invented
from seatrial.trials.review_claims import (
    CLAIMS,
    CLEAN,
    CONDUCT,
    CUT_IN_CALL,
    DEFECTS,
    SHOWN,
    TALLIED,
    Ending,
    FinishedReview,
    decide,
)
from seatrial.trials.statistics import wilson_interval
from seatrial.verdicts import CheckResult, Verdict

FAILED_REVIEWS = 2
"""So many reviews without an end because the server could not be asked, or our budget was too small: enough."""


@dataclass(slots=True)
class _Record:
    """What a trial has found so far."""

    finished: list[FinishedReview] = field(default_factory=list)
    results: list[tuple[str, CheckResult]] = field(default_factory=list)
    failures: list[Exchange] = field(default_factory=list)
    unfinished: int = 0

    def is_over(self, planned: int) -> bool:
        """Whether another review can't change the verdict: something is refuted, or all is proven."""
        if len(self.failures) + self.unfinished >= FAILED_REVIEWS or self.is_refuted:
            return True
        verdicts = {decide(claim, self.finished).verdict for claim in CLAIMS}
        enough = len(self.finished) + len(self.failures) + self.unfinished >= planned
        return Verdict.REFUTED in verdicts or (enough and verdicts == {Verdict.PROVEN})

    @property
    def is_refuted(self) -> bool:
        """Whether the server broke a claim that must hold in every turn."""
        return any(result.verdict is Verdict.REFUTED for _, result in self.results)

    def findings(self) -> Findings:
        """Say all that was found."""
        checks = merge(self.results, several=True)
        if len(self.failures) >= FAILED_REVIEWS:
            failure = self.failures[-1].failure
            assert failure is not None
            checks.append(failed("review_made", self.failures[-1], failure))
        if self.finished:
            checks += [decide(claim, self.finished) for claim in CLAIMS]
        return Findings(tuple(checks), tuple(self._notes()), self._figures())

    def _notes(self) -> Iterator[str]:
        for test, what in ((DEFECTS, "misses"), (CONDUCT, "inventions and missing ends"), (CLEAN, "false alarms")):
            yield f"{what}: {test.describe()}"
        yield f"{len(self.finished)} of {len(all_reviews())} merge requests were reviewed to their end"
        if self.failures and len(self.failures) < FAILED_REVIEWS:
            failure = self.failures[0].failure
            yield f"one review has no end, because the server could not be asked ({failure.message if failure else ''})"
        if absent := [f"{done.review.id}: {path}" for done in self.finished for path in done.absent]:
            yield f"files that are not there were asked for, {len(absent)} times: {', '.join(absent[:SHOWN])}"

    def _figures(self) -> dict[str, float | str | None]:
        with_defect = [done for done in self.finished if done.review.defect is not None]
        found = sum(done.finds_defect for done in with_defect)
        low, high = wilson_interval(found, len(with_defect))
        return {
            "reviews": len(self.finished),
            "reviews_with_defect": len(with_defect),
            "defects_found": found,
            "defects_found_low_95": low,
            "defects_found_high_95": high,
            "comments": sum(len(done.comments) for done in self.finished),
            "comments_invented": sum(invented(d.review, one) is not None for d in self.finished for one in d.comments),
            "turns": sum(done.turns for done in self.finished),
        }


@dataclass(frozen=True, slots=True)
class _Attempt:
    """One walk through a review: finished, or why not."""

    results: tuple[CheckResult, ...]
    finished: FinishedReview | None = None
    failure: Exchange | None = None

    @property
    def text(self) -> CheckResult | None:
        """Whether its text is broken: the worst of its turns."""
        found = [result for result in self.results if result.check == "not_degenerate"]
        return next((result for result in found if result.verdict is Verdict.REFUTED), found[0] if found else None)

    @property
    def results_of_turns(self) -> list[CheckResult]:
        """What must hold in every turn."""
        return [result for result in self.results if result.check not in {"not_degenerate", *TALLIED}]


def _decide_texts(texts: Sequence[CheckResult], last: _Attempt) -> list[CheckResult]:
    """Let two of three decide whether the text of a review is broken."""
    broken = [text for text in texts if text.verdict is Verdict.REFUTED]
    if len(broken) == 1 and len(texts) < ATTEMPTS:
        why = (
            last.failure.failure.message if last.failure and last.failure.failure else "the answer could not be judged"
        )
        return [replace(broken[0], verdict=Verdict.UNPROVEN, detail=f"{broken[0].detail}; asked again: {why}")]
    return two_of_three([[text] for text in texts])


@dataclass(frozen=True, slots=True)
class MergeRequestReview:
    """Lets the model review merge requests, turn by turn, and executes its calls.

    Attributes:
        reviews: how many are made at least; more (up to all that there are) while a claim is undecided. A claim
            that is refuted ends the trial at once. 0 makes none, and proves nothing: leave the trial out instead.
    """

    reviews: int = 6
    name: str = "merge_request_review"
    title: str = "It reviews merge requests: finds defects, invents none, and comes to an end"

    @property
    def planned_requests(self) -> int:
        """About three turns a review."""
        return 3 * min(self.reviews, len(all_reviews()))

    async def run(self, asker: Asker) -> Findings:
        """Make reviews until all claims are decided."""
        record = _Record()
        for number, review in enumerate(all_reviews() if self.reviews else ()):
            if record.is_over(self.reviews):
                break
            await self._make(asker, review, record, streamed=number % 2 == 0)
        return record.findings()

    async def _make(self, asker: Asker, review: Review, record: _Record, *, streamed: bool) -> None:
        """Make one review; where a text is broken, twice more, and two of three decide."""
        attempts: list[_Attempt] = []
        texts: list[CheckResult] = []
        while len(attempts) < ATTEMPTS:
            again = f"-again-{len(attempts)}" if attempts else ""
            attempt = await walk_through(asker, review, f"{review.id}{again}", streamed=streamed)
            attempts.append(attempt)
            record.results += [(review.id, result) for result in attempt.results_of_turns]
            texts += [text] if (text := attempt.text) is not None else []
            broken = sum(result.verdict is Verdict.REFUTED for result in texts)
            if broken != 1 or attempt.failure is not None or record.is_refuted:
                break
        record.results += [(review.id, result) for result in _decide_texts(texts, attempts[-1])]
        whole = next((one.finished for one in attempts if one.finished is not None), None)
        if whole is not None:
            record.finished.append(whole)
        elif attempts[-1].failure is not None:
            self._add_failure(review, attempts[-1].failure, record)
        elif not record.is_refuted:
            record.unfinished += 1

    @staticmethod
    def _add_failure(review: Review, exchange: Exchange, record: _Record) -> None:
        failure = exchange.failure
        assert failure is not None
        if failure.is_infrastructure:
            record.failures.append(exchange)
            return
        result = failed("request_accepted", exchange, failure)
        if re.search(r"context|too long|length", failure.message):
            detail = f"the review does not fit into the context ({failure.message}); a smaller --max-tokens may help"
            result = CheckResult("request_accepted", Verdict.UNPROVEN, detail, result.evidence)
            record.unfinished += 1
        record.results.append((review.id, result))


async def walk_through(asker: Asker, review: Review, label: str, *, streamed: bool) -> _Attempt:
    """Make one review: ask, execute the calls, ask again, until it ends or something is wrong with an answer."""
    workspace, messages = Workspace(review), review.messages()
    results: list[CheckResult] = []
    ending, exchange, turn = Ending.TURNS, None, 0
    for turn in range(1, TURNS + 1):
        request: dict[str, Any] = {"messages": list(messages), "tools": list(TOOLS)}
        if streamed:
            request |= {"stream": True, "stream_options": {"include_usage": True}}
        exchange = await asker.ask(Case(f"{label}-turn-{turn}", request))
        if exchange.failure is not None:
            return _Attempt(tuple(results), failure=exchange)
        found = judge_turn(exchange)
        results += found
        if any(result.verdict is not Verdict.PROVEN and result.check not in TALLIED for result in found):
            return _Attempt(tuple(results))
        answer = exchange.answer
        assert answer is not None
        if not answer.tool_calls:
            ending = Ending.CUT if answer.finish_reason == "length" else Ending.WORDS
            break
        messages += turn_messages(answer, workspace, exchange.id)
        if workspace.decisions:
            ending = Ending.DECISION
            break
    last = exchange.id if exchange else ""
    done = FinishedReview.of(workspace, ending, turns=turn, exchange=last, turn_results=tuple(results))
    return _Attempt(tuple(results), done)


def judge_turn(exchange: Exchange) -> list[CheckResult]:
    """Judge what the server must do in one turn, and whether its text is broken; the model may call or not.

    Of a broken text nothing else is judged. A call that our own token budget cut off says nothing about the server.
    """
    of_the_model = MODEL_CHECKS - {"not_degenerate", *TALLIED}
    found = [result for result in judge_exchange(exchange, None) if result.check not in of_the_model]
    broken = [result for result in found if result.check == "not_degenerate" and result.verdict is Verdict.REFUTED]
    if broken or exchange.stopped is not None:
        return broken or [CheckResult("not_degenerate", Verdict.REFUTED, exchange.stopped or "", (evidence(exchange),))]
    answer = exchange.answer
    if answer is not None and answer.finish_reason == "length" and answer.tool_calls:
        budget = exchange.request.get("max_tokens")
        advice = f"it was cut at {budget} tokens; a larger --max-tokens may tell more"
        found = [
            replace(result, verdict=Verdict.UNPROVEN, detail=f"{result.detail}: {advice}")
            if result.check in CUT_IN_CALL and result.verdict is Verdict.REFUTED
            else result
            for result in found
        ]
    return found


def turn_messages(answer: Answer, workspace: Workspace, exchange: str) -> list[dict[str, Any]]:
    """Execute an answer's calls; return the answer and their results as the next messages."""
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in answer.tool_calls
    ]
    said = {"role": "assistant", "content": answer.content or "", "tool_calls": calls}
    return [said, *(_result_of(call, workspace, exchange) for call in answer.tool_calls)]


def _result_of(call: ToolCall, workspace: Workspace, exchange: str) -> dict[str, Any]:
    arguments = json.loads(call.arguments)  # `judge_turn` has held that they are an object that matches its schema
    text = workspace.execute(call.name or "", arguments, exchange=exchange)
    return {"role": "tool", "tool_call_id": call.id, "content": text}
