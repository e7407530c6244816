"""Several requests at once, and the same one again after a cache hit: each gets its own answer, as it does alone.

Some servers break only under load or on a reused prefix. Each question names a city of its own, so an answer that
belongs to somebody else shows itself. A group with a wrong answer is asked a second time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from seatrial.endpoint.exchange import Exchange
from seatrial.trials.attempts import MODEL_CHECKS
from seatrial.trials.interface import Asker, Case, Findings, failed
from seatrial.trials.responses import judge_exchange, merge
from seatrial.trials.tool_cases import ExpectedCall, tool_groups
from seatrial.verdicts import CheckResult, Verdict

CITIES = ("Turku", "Oslo", "Lima", "Paris", "Tokyo", "Berlin", "Rome", "Cairo")


@dataclass(frozen=True, slots=True)
class Together:
    """Asks for the weather of each city alone, then of several at once, then of one again and again.

    Attributes:
        groups: how many requests are under way at once, group by group.
        repeats: how often one request is repeated, word for word.
    """

    groups: tuple[int, ...] = (2, 8)
    repeats: int = 3
    name: str = "together"
    title: str = "Several at once, and repeated requests, get the answers that they get alone"

    @property
    def planned_requests(self) -> int:
        """Alone, in groups, repeated."""
        return max(self.groups) + sum(self.groups) + self.repeats

    async def run(self, asker: Asker) -> Findings:
        """Ask alone first, so that what the model can't do alone is not held against load."""
        largest = CITIES[: max(self.groups)]
        alone = {city: await asker.ask(case_of(city, "alone")) for city in largest}
        results: list[tuple[str, CheckResult]] = []
        for size in self.groups:
            rounds = [await self._at_once(asker, size, 1)]
            if any(broken(exchange, city) for city, exchange in rounds[0].items()):
                rounds.append(await self._at_once(asker, size, 2))
            for city in CITIES[:size]:
                answers = [answers[city] for answers in rounds]
                results += beside_alone("as_alone_at_once", city, alone[city], answers, f"{size} at once")
        city = CITIES[0]
        repeated = [await asker.ask(case_of(city, f"again-{number}")) for number in range(self.repeats)]
        results += beside_alone("as_alone_after_cache_hit", city, alone[city], repeated, "asked again")
        return Findings(tuple(merge(results, several=True)), (cache_note(repeated),))

    async def _at_once(self, asker: Asker, size: int, number: int) -> dict[str, Exchange]:
        cities = CITIES[:size]
        cases = (case_of(city, f"{size}-at-once-{number}") for city in cities)
        return dict(zip(cities, await asyncio.gather(*(asker.ask(case) for case in cases)), strict=True))


def case_of(city: str, label: str) -> Case:
    """Make the question about one city."""
    (case,) = tool_groups()["tool_call"].cases
    request = {**case.request(streamed=True), "messages": [{"role": "user", "content": question(city)}]}
    return Case(f"{city.lower()}-{label}", request)


def question(city: str) -> str:
    """Return the words of the question."""
    return f"What is the weather in {city}?"


def broken(exchange: Exchange, city: str) -> dict[str, CheckResult]:
    """List the checks that an answer fails, by name; a request without an answer fails none."""
    if exchange.failure is not None:
        return {}
    found = judge_exchange(exchange, (ExpectedCall("get_weather", {"city": city}),))
    return {result.check: result for result in found if result.verdict is Verdict.REFUTED}


def beside_alone(
    check: str, city: str, alone: Exchange, others: Sequence[Exchange], label: str
) -> list[tuple[str, CheckResult]]:
    """Judge answers beside the one that the same question got alone.

    What the server must do counts at once, and so does another question's city. What sampling may break counts when
    it breaks in most of the answers and did not alone.
    """
    for exchange in (alone, *others):
        if exchange.failure is not None:
            return [(label, failed(check, exchange, exchange.failure))]
    results: list[tuple[str, CheckResult]] = []
    missed_alone = set(broken(alone, city))
    missed = [broken(exchange, city) for exchange in others]
    for exchange, failures in zip(others, missed, strict=True):
        if failures and (other := foreign_city(exchange, city)) is not None:
            detail = f"the answer to the question about {city} is about {other}"
            places = next(iter(failures.values())).evidence
            results.append((label, CheckResult("no_cross_talk", Verdict.REFUTED, detail, places)))
    hard = [result for failures in missed for name, result in failures.items() if name not in MODEL_CHECKS]
    soft = [failures for failures in missed if failures.keys() - missed_alone]
    if hard and hard[0].check not in missed_alone:
        results.append((label, CheckResult(check, Verdict.REFUTED, f"{city}: {hard[0].detail}", hard[0].evidence)))
    elif soft and len(soft) * 2 > len(missed):
        first = next(result for name, result in soft[0].items() if name not in missed_alone)
        detail = f"{city}: right alone, but {first.detail} ({len(soft)} of {len(missed)} answers)"
        results.append((label, CheckResult(check, Verdict.REFUTED, detail, first.evidence)))
    else:
        results.append((label, CheckResult(check, Verdict.PROVEN, "the answers are as they are alone")))
    return results


def cache_note(repeated: Sequence[Exchange]) -> str:
    """Say whether the server reports that it used its cache."""
    cached = [e.answer.usage.cached_tokens for e in repeated if e.answer and e.answer.usage]
    hits = [count for count in cached if count]
    return f"the server reports {max(hits)} cached prompt tokens" if hits else "the server reports no cache hits"


def foreign_city(exchange: Exchange, city: str) -> str | None:
    """Find another question's city in an answer."""
    if exchange.answer is None:
        return None
    text = " ".join((exchange.answer.content or "", *(call.arguments for call in exchange.answer.tool_calls)))
    return next((other for other in CITIES if other != city and other in text), None)
