"""What a trial is: something asked, and checks on the answers.

Most trials are declared (`declared.py`): cases, and a pure judgement of each answer. A trial that must decide what to
ask next writes its own `run`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from seatrial.endpoint.address import Endpoint
from seatrial.endpoint.client import shorten
from seatrial.endpoint.exchange import Exchange, Failure
from seatrial.verdicts import CheckResult, Evidence, Verdict


class OverLongPolicy(StrEnum):
    """What the user wants to happen to input that is too long."""

    REJECT = "reject"
    TRUNCATE = "truncate"


@dataclass(frozen=True, slots=True)
class Settings:
    """What the person who runs a suite decides.

    Attributes:
        sampling: parameters added to every request; empty means the server's own defaults, which is what a client
            that sets nothing gets.
        answer_tokens: most tokens an answer may have, reasoning included. A model that thinks needs room: with too
            little, a good one would look empty.
        context_tokens: the context length to assume where the server does not tell it, or None.
        over_long_input: what is right for input that is too long.
        early_abort: stop reading a stream as soon as its text is surely broken.
        fail_fast: ask nothing more once a trial is refuted.
    """

    sampling: Mapping[str, Any] = field(default_factory=dict)
    answer_tokens: int = 2048
    context_tokens: int | None = None
    over_long_input: OverLongPolicy = OverLongPolicy.REJECT
    early_abort: bool = True
    fail_fast: bool = False

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

    async def post_json(self, path: str, body: Any, *, at_origin: bool = False) -> Any:
        """Post JSON to a path of the server that is not a completion; None where there is no such thing."""


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


def failed(check: str, exchange: Exchange, failure: Failure) -> CheckResult:
    """Say of a check that the request it needs has no answer.

    A request that the server turned down refutes (these are requests that it has to take); a server that could not be
    asked leaves unproven.
    """
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
