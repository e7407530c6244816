"""What counts against a server at once, and what sampling may break by chance. Pure but for the asking.

What the server must do (parse, keep types, name ids, separate reasoning) must hold in every answer: one failure
refutes. What the model decides (to call or not, with which values, which words) may fail once under sampling: such an
answer is asked for twice more, and two of three decide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from seatrial.endpoint.exchange import Exchange
from seatrial.trials.interface import Asker, Case
from seatrial.verdicts import CheckResult, Verdict

MODEL_CHECKS = frozenset(
    {
        "answer_says",
        "argument_contains",
        "arguments_as_dictated",
        "arguments_as_expected",
        "call_made",
        "call_withheld",
        "calls_differ",
        "is_right",
        "not_degenerate",
    }
)
"""Claims that sampling may break once."""

ATTEMPTS = 3

Judge = Callable[[Exchange], list[CheckResult]]


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of asking for one case.

    Attributes:
        exchanges: one, or three where the first failed by what may be chance.
        results: what they show together.
    """

    exchanges: tuple[Exchange, ...]
    results: tuple[CheckResult, ...]

    @property
    def at_once(self) -> bool:
        """Whether the first answer was right in everything."""
        return len(self.exchanges) == 1 and all(result.verdict is Verdict.PROVEN for result in self.results)


async def ask_up_to_three(asker: Asker, case: Case, judge: Judge, model_checks: frozenset[str] = MODEL_CHECKS) -> Tried:
    """Ask once, and twice more where only claims about the model failed."""
    exchanges = [await asker.ask(case)]
    tries = [judge(exchanges[0])]
    if not by_chance(tries[0], model_checks):
        return Tried(tuple(exchanges), tuple(tries[0]))
    while len(tries) < ATTEMPTS:
        exchanges.append(await asker.ask(replace(case, id=f"{case.id}-again-{len(tries)}")))
        tries.append(judge(exchanges[-1]))
    return Tried(tuple(exchanges), tuple(two_of_three(tries, model_checks)))


def by_chance(results: Sequence[CheckResult], model_checks: frozenset[str] = MODEL_CHECKS) -> bool:
    """Tell whether an answer failed, and only in what sampling may break."""
    refuted = {result.check for result in results if result.verdict is Verdict.REFUTED}
    return bool(refuted) and refuted <= model_checks


def two_of_three(
    tries: Sequence[Sequence[CheckResult]], model_checks: frozenset[str] = MODEL_CHECKS
) -> list[CheckResult]:
    """Let the majority decide about the model's claims; any other failure counts at once."""
    named: dict[str, list[CheckResult]] = {}
    for found in tries:
        for result in found:
            named.setdefault(result.check, []).append(result)
    return [_decide(check, results, len(tries), model_checks) for check, results in named.items()]


def _decide(check: str, results: Sequence[CheckResult], tries: int, model_checks: frozenset[str]) -> CheckResult:
    refuted = [result for result in results if result.verdict is Verdict.REFUTED]
    others = [result for result in results if result.verdict is not Verdict.REFUTED]
    if not refuted:
        return others[0]
    if check in model_checks and len(refuted) * 2 <= tries:
        detail = f"held in {tries - len(refuted)} of {tries} attempts; once: {refuted[0].detail}"
        return replace(refuted[0], verdict=Verdict.PROVEN, detail=detail, evidence=())
    detail = f"{refuted[0].detail} ({len(refuted)} of {tries} attempts)"
    return replace(refuted[0], detail=detail, evidence=tuple(one for result in refuted for one in result.evidence))
