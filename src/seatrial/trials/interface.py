"""What a trial is: something asked, and checks on the answers.

Most trials are declared: cases (data) and checks (pure functions of the exchanges). A trial that must decide what to
ask next writes its own `run`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from seatrial.endpoint.address import Endpoint
from seatrial.endpoint.client import shorten
from seatrial.endpoint.exchange import Exchange, Failure
from seatrial.verdicts import CheckResult, Evidence, Verdict


@dataclass(frozen=True, slots=True)
class Settings:
    """What the person who runs a suite decides.

    Attributes:
        sampling: parameters added to every request; empty means the server's own defaults, which is what a client
            that sets nothing gets.
        answer_tokens: most tokens an answer may have, reasoning included. A model that thinks needs room: with too
            little, a good one would look empty.
        context_tokens: the context length to assume where the server does not tell it, or None.
    """

    sampling: Mapping[str, Any] = field(default_factory=dict)
    answer_tokens: int = 2048
    context_tokens: int | None = None

    @property
    def is_greedy(self) -> bool:
        """Whether requests ask for the most likely token each time."""
        return self.sampling.get("temperature") == 0


class Asker(Protocol):
    """What a trial may do: ask the endpoint. Every exchange is recorded and watched for degenerate text."""

    @property
    def endpoint(self) -> Endpoint:
        """The endpoint on trial."""

    @property
    def settings(self) -> Settings:
        """What the user decided."""

    async def ask(self, case: Case) -> Exchange:
        """Send one case's request; never raises for what the server does."""

    async def get_json(self, path: str, *, at_origin: bool = False) -> Any:
        """Get a JSON document of the server; None where there is none."""


@dataclass(frozen=True, slots=True)
class Case:
    """One request of a trial.

    Attributes:
        id: unique in its trial, e.g. `streamed`.
        request: the body without `model`; `max_tokens` and sampling are added where it does not set them.
    """

    id: str
    request: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Check:
    """A claim about some of a trial's exchanges.

    Attributes:
        name: stable, in snake_case: reports and scripts refer to it.
        of: ids of the cases that it looks at.
        judge: gets those exchanges, all answered; returns what it found (several results where it makes several
            claims at once).
    """

    name: str
    of: tuple[str, ...]
    judge: Callable[[Sequence[Exchange]], Iterable[CheckResult]]


@dataclass(frozen=True, slots=True)
class Findings:
    """What a trial's run found."""

    checks: tuple[CheckResult, ...]
    notes: tuple[str, ...] = ()
    figures: Mapping[str, float | str | None] = field(default_factory=dict)


class Trial(Protocol):
    """Something to try on an endpoint."""

    @property
    def name(self) -> str:
        """Stable, in snake_case."""

    @property
    def title(self) -> str:
        """What it tries, for people."""

    @property
    def planned_requests(self) -> int:
        """How many requests it will make, as far as is known beforehand."""

    async def run(self, asker: Asker) -> Findings:
        """Ask, and check the answers."""


@dataclass(frozen=True, slots=True)
class DeclaredTrial:
    """A trial that asks all its cases one after another and then makes its checks."""

    name: str
    title: str
    cases: tuple[Case, ...]
    checks: tuple[Check, ...]
    notes: Callable[[Mapping[str, Exchange]], Iterable[str]] = lambda _exchanges: ()

    @property
    def planned_requests(self) -> int:
        """One request a case."""
        return len(self.cases)

    async def run(self, asker: Asker) -> Findings:
        """Ask all cases, then judge."""
        exchanges = {case.id: await asker.ask(case) for case in self.cases}
        checks = [result for check in self.checks for result in run_check(check, exchanges)]
        return Findings(tuple(checks), tuple(self.notes(exchanges)))


def run_check(check: Check, exchanges: Mapping[str, Exchange]) -> Iterable[CheckResult]:
    """Make one check, or say why it can't be made.

    A request that the server turned down refutes (these are requests that it has to take); a server that could not
    be asked leaves unproven. An answer that was stopped because its text is broken is judged by the checks of its
    text alone (`text_is_clean`): what the rest of it would have been is not known.
    """
    needed = [exchanges[case] for case in check.of]
    for exchange in needed:
        if exchange.failure is not None:
            return [failed(check.name, exchange, exchange.failure)]
    return check.judge(needed)


def failed(check: str, exchange: Exchange, failure: Failure) -> CheckResult:
    """Say of a check that the request it needs has no answer."""
    infrastructure = failure.is_infrastructure
    words = f"HTTP {failure.status}: {failure.message}" if failure.status not in {None, 200} else failure.message
    return CheckResult(
        check,
        Verdict.UNPROVEN if infrastructure else Verdict.REFUTED,
        words if infrastructure else f"the server turns the request down: {words}",
        (evidence(exchange),),
        infrastructure=infrastructure,
    )


def evidence(exchange: Exchange, quote: str = "") -> Evidence:
    """Point at an exchange."""
    return Evidence(exchange.id, shorten(exchange.prompt, 160), shorten(quote, 240))
