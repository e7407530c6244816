"""Does its text fall into loops or garbage? Many different questions, and a verdict with statistics.

One clean answer proves nothing: on broken checkpoints one answer in three may be fine. So answers are asked for
until a sequential test decides, or the suite's budget ends. The sampling under test decides; greedy decoding
(temperature 0), at which some model families loop even when the checkpoint is good, is recorded apart.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from seatrial.degeneration import Severity
from seatrial.endpoint.exchange import Exchange
from seatrial.trials.broken_text import degenerations, place
from seatrial.trials.interface import Asker, Case, Findings, failed
from seatrial.trials.prompts import Prompt, loop_pool
from seatrial.trials.statistics import SequentialTest, wilson_interval
from seatrial.verdicts import CheckResult, Evidence, Verdict

SHOWN = 5
"""Loops that are shown as evidence; all are in `requests.jsonl`."""

GREEDY = {"temperature": 0}


@dataclass(slots=True)
class Tally:
    """What the answers so far were."""

    clean: int = 0
    broken: list[tuple[Exchange, Evidence, str]] = field(default_factory=list)
    failures: list[Exchange] = field(default_factory=list)
    suspicious: int = 0
    aborted: int = 0
    tokens_saved: int = 0

    @property
    def asked(self) -> int:
        """Answers that say something."""
        return self.clean + len(self.broken)

    def add(self, exchange: Exchange) -> None:
        """Count one more answer."""
        if exchange.failure is not None:
            self.failures.append(exchange)
            return
        found = degenerations(exchange)
        fails = [one for one in found if one.severity is Severity.FAIL]
        if fails:
            self.broken.append((exchange, place(exchange, fails[0]), fails[0].why))
        else:
            self.clean += 1
            self.suspicious += bool(found)
        if exchange.stopped is not None:
            self.aborted += 1
            self.tokens_saved += max(0, exchange.request.get("max_tokens", 0) - exchange.output_tokens)


@dataclass(frozen=True, slots=True)
class Repetition:
    """The loop trial of one suite.

    Attributes:
        test: the sequential test and its budget.
        greedy: how many questions are also asked at temperature 0, apart.
        together: how many requests are under way at once in the second half of the answers; the first half is
            asked one by one. Some servers break only under load.
    """

    test: SequentialTest
    greedy: int = 2
    together: int = 1
    name: str = "repetition"
    title: str = "Its text does not fall into loops or garbage"

    @property
    def planned_requests(self) -> int:
        """As many as prove a clean server."""
        return self.test.clean_answers_to_prove + self.greedy

    async def run(self, asker: Asker) -> Findings:
        """Ask until the test decides."""
        pool = loop_pool()
        tally = Tally()
        verdict: Verdict | None = None
        while verdict is None and len(tally.failures) < 3:
            first = tally.asked + len(tally.failures)
            size = self.together if tally.asked * 2 >= self.test.clean_answers_to_prove else 1
            size = max(1, min(size, self.test.budget - tally.asked))
            numbers = range(first, first + size)
            cases = [case_of(pool[number % len(pool)], number, streamed=number % 4 != 3) for number in numbers]
            for exchange in await asyncio.gather(*(asker.ask(case) for case in cases)):
                tally.add(exchange)
            verdict = self.test.verdict(tally.clean, len(tally.broken))
        greedy = None if asker.settings.is_greedy else await self._greedy(asker, pool)
        return Findings((self._result(tally, verdict),), tuple(notes(tally, greedy, self.test)), figures(tally, greedy))

    async def _greedy(self, asker: Asker, pool: Sequence[Prompt]) -> Tally:
        tally = Tally()
        for number in range(self.greedy):
            case = case_of(pool[number % len(pool)], number, streamed=True)
            tally.add(await asker.ask(Case(f"greedy-{case.id}", {**case.request, **GREEDY})))
        return tally

    def _result(self, tally: Tally, verdict: Verdict | None) -> CheckResult:
        if verdict is None:
            failure = tally.failures[-1].failure
            assert failure is not None
            return failed("no_loops", tally.failures[-1], failure)
        count = len(tally.broken)
        low, high = wilson_interval(count, tally.asked)
        rate = (
            f"{count} of {tally.asked} answers broken: {count / tally.asked:.0%}, 95% interval {low:.0%} to {high:.0%}"
        )
        if verdict is Verdict.UNPROVEN:
            rate += f"; the budget of {self.test.budget} answers ended before the test decided"
        if count:
            rate += f". First: {tally.broken[0][2]}"
        return CheckResult("no_loops", verdict, rate, tuple(place for _, place, _ in tally.broken[:SHOWN]))


def case_of(prompt: Prompt, number: int, *, streamed: bool) -> Case:
    """Make the request of one question."""
    request: dict[str, Any] = {"messages": prompt.messages, **({"tools": prompt.tools} if prompt.tools else {})}
    if streamed:
        request |= {"stream": True, "stream_options": {"include_usage": True}}
    return Case(f"{number + 1:03d}-{prompt.id}", request)


def notes(tally: Tally, greedy: Tally | None, test: SequentialTest) -> list[str]:
    """Say what stands beside the verdict."""
    said = [test.describe()]
    if tally.aborted:
        said.append(
            f"streams stopped at the loop: {tally.aborted}; tokens not waited for: at most {tally.tokens_saved}"
        )
    if tally.suspicious:
        said.append(f"{tally.suspicious} answers are worth a look, but not surely broken")
    if greedy is not None and greedy.asked:
        said.append(f"greedy (temperature 0), recorded apart: {len(greedy.broken)} of {greedy.asked} answers broken")
    return said


def figures(tally: Tally, greedy: Tally | None) -> dict[str, float | str | None]:
    """Give the numbers to reports and to the record."""
    low, high = wilson_interval(len(tally.broken), tally.asked)
    return {
        "answers": tally.asked,
        "broken_answers": len(tally.broken),
        "loop_rate": len(tally.broken) / tally.asked if tally.asked else None,
        "loop_rate_low_95": low,
        "loop_rate_high_95": high,
        "streams_aborted": tally.aborted,
        "tokens_saved_at_most": tally.tokens_saved,
        "greedy_answers": greedy.asked if greedy else None,
        "greedy_broken_answers": len(greedy.broken) if greedy else None,
    }
