"""A trial of tool calling: each case of a group, whole and streamed, and what must agree between the two."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace

from seatrial.checks import Asked, stream_parity
from seatrial.endpoint.answer import CONTENT
from seatrial.endpoint.exchange import Exchange
from seatrial.trials.attempts import MODEL_CHECKS, Tried, ask_up_to_three
from seatrial.trials.fault import whose_fault
from seatrial.trials.interface import Asker, Case, Findings, evidence, failed
from seatrial.trials.metrics import ToolTally
from seatrial.trials.responses import judge_exchange, merge
from seatrial.trials.tool_cases import ToolCase, ToolGroup
from seatrial.verdicts import CheckResult, Verdict

SERVER_MUST_CALL = MODEL_CHECKS - {"call_made"}
"""With `tool_choice` required or named the server has to see to it that there is a call."""


@dataclass(frozen=True, slots=True)
class Calls:
    """The trial of one group of cases."""

    group: ToolGroup

    @property
    def name(self) -> str:
        """The group's name."""
        return self.group.name

    @property
    def title(self) -> str:
        """The group's title."""
        return self.group.title

    @property
    def planned_requests(self) -> int:
        """Each case whole and streamed."""
        return 2 * len(self.group.cases)

    async def run(self, asker: Asker) -> Findings:
        """Ask every case in both forms."""
        results: list[tuple[str, CheckResult]] = []
        tally = ToolTally()
        notes: list[str] = []
        for case in self.group.cases:
            whole = await self._ask(asker, case, tally, streamed=False)
            streamed = await self._ask(asker, case, tally, streamed=True)
            results += [(case.id, result) for result in whole.results]
            results += [(f"{case.id}, streamed", result) for result in streamed.results]
            if whole.at_once and streamed.at_once and case.expected:
                parity = parity_of(whole.exchanges[0], streamed.exchanges[0])
                tally.add_pair(agrees=parity.verdict is Verdict.PROVEN)
                results.append((case.id, parity))
            if (lost := lost_call(whole) or lost_call(streamed)) is not None:
                notes.append(f"{case.id}: {await whose_fault(asker, case, lost)}")
        return Findings(tuple(merge(results, several=True)), tuple(notes), tally.figures())

    async def _ask(self, asker: Asker, case: ToolCase, tally: ToolTally, *, streamed: bool) -> Tried:
        def judge(exchange: Exchange) -> list[CheckResult]:
            found = judge_case(case, exchange)
            tally.add(case, exchange, found)
            return found

        forced = case.tool_choice not in (None, "auto", "none")
        label = f"{case.id}{'-streamed' if streamed else ''}"
        return await ask_up_to_three(
            asker, Case(label, case.request(streamed=streamed)), judge, SERVER_MUST_CALL if forced else MODEL_CHECKS
        )


def judge_case(case: ToolCase, exchange: Exchange) -> list[CheckResult]:
    """Judge one answer to a case."""
    if exchange.failure is not None:
        return [failed("request_accepted", exchange, exchange.failure)]
    results = judge_exchange(exchange, case.expected)
    if exchange.stopped is None:
        results += [result for result in (argument_contains(case, exchange), answer_says(case, exchange)) if result]
    return results


def argument_contains(case: ToolCase, exchange: Exchange) -> CheckResult | None:
    """Hold that the only call's arguments contain the texts that the prompt dictates."""
    calls = exchange.answer.tool_calls if exchange.answer else ()
    if not case.contains or len(calls) != 1:
        return None
    try:
        arguments = json.loads(calls[0].arguments)
    except ValueError:
        return None  # `arguments_parse` speaks of it
    for name, text in case.contains.items():
        value = arguments.get(name) if isinstance(arguments, dict) else None
        if not isinstance(value, str) or text not in value:
            detail = f"{name!r} does not contain the text that the prompt dictates, it is {value!r}"
            return CheckResult("argument_contains", Verdict.REFUTED, detail, (evidence(exchange, calls[0].arguments),))
    return CheckResult("argument_contains", Verdict.PROVEN, "the dictated text is there, to the letter")


def answer_says(case: ToolCase, exchange: Exchange) -> CheckResult | None:
    """Hold that the answer's words say what they must."""
    if not case.says:
        return None
    content = exchange.answer.text_of(CONTENT) if exchange.answer else ""
    for pattern in case.says:
        if not re.search(pattern, content, re.IGNORECASE):
            detail = f"the answer does not use the tool's result (nothing matches {pattern!r})"
            return CheckResult("answer_says", Verdict.REFUTED, detail, (evidence(exchange, content),))
    return CheckResult("answer_says", Verdict.PROVEN, "the answer uses the tool's result")


def parity_of(whole: Exchange, streamed: Exchange) -> CheckResult:
    """Compare the calls of the two forms, both right; their words may differ by the chance of sampling."""
    assert whole.answer is not None
    assert streamed.answer is not None
    asked = Asked.from_request(streamed.request, exchange=streamed.id)
    return stream_parity(
        asked,
        replace(whole.answer, content=None, reasoning=None),
        replace(streamed.answer, content=None, reasoning=None),
    )


def lost_call(tried: Tried) -> Exchange | None:
    """Return the first exchange of a case whose call did not arrive."""
    refuted = {result.check for result in tried.results if result.verdict is Verdict.REFUTED}
    return tried.exchanges[0] if "call_made" in refuted else None
