"""Trials that are data: cases, and a pure judgement of each answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from seatrial.endpoint.exchange import Exchange
from seatrial.trials.attempts import ask_up_to_three
from seatrial.trials.interface import Asker, Case, Findings, failed
from seatrial.trials.responses import merge
from seatrial.verdicts import CheckResult


@dataclass(frozen=True, slots=True)
class DeclaredTrial:
    """Asks all its cases one after another, and judges each.

    Attributes:
        name: stable, in snake_case.
        title: what it tries, for people.
        cases: what is asked.
        judge: says what an answer shows; gets answered exchanges only.
        notes: says what is worth knowing beside the checks, from the first exchange of each case.
    """

    name: str
    title: str
    cases: tuple[Case, ...]
    judge: Callable[[Exchange], list[CheckResult]]
    notes: Callable[[Sequence[Exchange]], Iterable[str]] = lambda _exchanges: ()

    @property
    def planned_requests(self) -> int:
        """One request a case."""
        return len(self.cases)

    async def run(self, asker: Asker) -> Findings:
        """Ask all cases, judging each."""
        results: list[tuple[str, CheckResult]] = []
        firsts: list[Exchange] = []
        for case in self.cases:
            tried = await ask_up_to_three(asker, case, self._judge)
            firsts.append(tried.exchanges[0])
            results += [(case.id, result) for result in tried.results]
        return Findings(tuple(merge(results, several=len(self.cases) > 1)), tuple(self.notes(firsts)))

    def _judge(self, exchange: Exchange) -> list[CheckResult]:
        if exchange.failure is not None:
            return [failed("request_accepted", exchange, exchange.failure)]
        return self.judge(exchange)


def whole_and_streamed(request: dict[str, object]) -> tuple[Case, Case]:
    """Make the two forms of one request."""
    return Case("whole", request), Case("streamed", streamed(request))


def streamed(request: Mapping[str, object]) -> dict[str, object]:
    """Ask for a stream with token counts at its end."""
    return {**request, "stream": True, "stream_options": {"include_usage": True}}
