"""Runs a suite on an endpoint: asks, watches every stream for broken text, and never gives up half-way silently."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from seatrial.degeneration import Severity, StreamDetector
from seatrial.endpoint.address import Endpoint
from seatrial.endpoint.answer import Delta
from seatrial.endpoint.client import Client, Watch
from seatrial.endpoint.exchange import Exchange, FailureKind
from seatrial.trials.interface import Case, Findings, Settings, Trial, evidence
from seatrial.trials.suites import Suite
from seatrial.verdicts import CheckResult, SuiteResult, TrialResult, Verdict

logger = logging.getLogger(__name__)

DEATH_SECONDS = 5.0
"""So long after the first failed request it is waited for the server's port to refuse connections: SGLang ends all its
processes within a few seconds of the exception that kills one."""

FAILURES_IN_A_ROW = 3
"""So many requests without an answer, one after another: the server is gone, and the rest is not asked."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a suite is: for a progress bar.

    Attributes:
        trial: title of the trial under way.
        asked: requests answered so far.
        planned: requests in all, as far as is known.
    """

    trial: str
    asked: int
    planned: int


OnProgress = Callable[[Progress], None]


async def run_suite(
    suite: Suite, client: Client, settings: Settings, on_progress: OnProgress = lambda _progress: None
) -> SuiteResult:
    """Make all trials of a suite; whatever the server does, there is a result."""
    run = SuiteRun(suite, client, settings, on_progress)
    for trial in suite.trials:
        await run.make(trial)
    return run.result(complete=True)


@dataclass(slots=True)
class SuiteRun:
    """A suite under way: what it found so far can be read at any time, also after an interruption."""

    suite: Suite
    client: Client
    settings: Settings
    on_progress: OnProgress = lambda _progress: None
    earlier: Sequence[TrialResult] = ()
    """Results of an interrupted run of the same suite: their trials are not made again."""
    _done: list[TrialResult] = field(default_factory=list)
    _asked: int = 0
    _asked_before: int = 0
    _failures_in_a_row: int = 0
    _last_failure: str = ""
    _was_there: bool = False
    _has_waited: bool = False
    _death: CheckResult | None = None
    _gate_closed: str | None = None

    def result(self, *, complete: bool) -> SuiteResult:
        """Return what was found so far; trials that were not made are unproven."""
        missing = [
            not_made(trial, "the run was interrupted before this trial")
            for trial in self.suite.trials[len(self._done) :]
        ]
        return SuiteResult(self.suite.name, (*self._done, *missing), complete)

    async def make(self, trial: Trial) -> None:
        """Make one trial, unless the server is known to be gone."""
        for result in self.earlier:
            if result.trial == trial.name:
                self._done.append(result)
                return
        if self._gate_closed is not None:
            self._done.append(not_made(trial, self._gate_closed))
            return
        self._asked_before = self._asked
        self._report(trial)
        asker = _Asker(self, trial)
        began = time.perf_counter()
        findings = await trial.run(asker)
        if self._death is not None:
            findings = replace(findings, checks=(*findings.checks, self._death))
        self._done.append(
            TrialResult(
                trial.name,
                trial.title,
                findings.checks,
                findings.notes,
                findings.figures,
                asker.requests,
                asker.output_tokens,
                time.perf_counter() - began,
            )
        )
        self._close_gate(findings)
        logger.info("%s: %s", trial.name, self._done[-1].verdict)

    def count(self, exchange: Exchange, trial: Trial) -> None:
        """Keep account of one exchange."""
        self._asked += 1
        if exchange.failure is not None and exchange.failure.is_infrastructure:
            self._failures_in_a_row += 1
            self._last_failure = exchange.failure.message
        else:
            self._failures_in_a_row = 0
        self._report(trial)

    async def look_whether_it_is_there(self) -> None:
        """Before the first request: a server that was never there has not died."""
        if self._asked == 0:
            self._was_there = await _body_of(self.client.get_json("/models")) is not None

    async def look_whether_it_died(self, exchange: Exchange) -> None:
        """Tell a server that a request has killed from one that can't be reached: it was there before.

        That is a finding about the server, not about the network, as soon as its port refuses connections.
        """
        if exchange.failure is None or not exchange.failure.is_infrastructure:
            self._was_there = True
            return
        if not self._was_there or self._death is not None:
            return
        cut_off = exchange.failure.kind in (FailureKind.UNREACHABLE, FailureKind.BROKEN_STREAM)
        patience = DEATH_SECONDS if cut_off and not self._has_waited else 0.0
        self._has_waited = self._has_waited or cut_off
        if await self.client.refuses_connections(patience):
            detail = (
                f"the server was there before this request, and its port refuses connections after it "
                f"({exchange.failure.message}): it died. `seatrial doctor` names the cause from its log"
            )
            self._death = CheckResult("server_survives", Verdict.REFUTED, detail, (evidence(exchange),))

    def _report(self, trial: Trial) -> None:
        later = self.suite.trials[len(self._done) + 1 :]
        left = max(trial.planned_requests - (self._asked - self._asked_before), 0)
        planned = self._asked + left + sum(one.planned_requests for one in later)
        self.on_progress(Progress(trial.title, self._asked, planned))

    def _close_gate(self, findings: Findings) -> None:
        first = len(self._done) == 1
        unanswered = [check for check in findings.checks if check.infrastructure]
        if self._death is not None:
            self._gate_closed = "not asked: the server died"
        elif first and unanswered:
            self._gate_closed = f"not asked: {unanswered[0].detail}"
        elif self._failures_in_a_row >= FAILURES_IN_A_ROW:
            self._gate_closed = f"not asked: {self._failures_in_a_row} requests in a row failed ({self._last_failure})"
        elif self.settings.fail_fast and self._done[-1].verdict is Verdict.REFUTED:
            self._gate_closed = f"not asked: {self._done[-1].trial} is refuted, and that is enough (--fail-fast)"


@dataclass(slots=True)
class _Asker:
    """What one trial asks through."""

    run: SuiteRun
    trial: Trial
    requests: int = 0
    output_tokens: int = 0

    @property
    def endpoint(self) -> Endpoint:
        return self.run.client.endpoint

    @property
    def settings(self) -> Settings:
        return self.run.settings

    async def ask(self, case: Case) -> Exchange:
        request: Mapping[str, Any] = {
            "max_tokens": self.settings.answer_tokens,
            **self.settings.sampling,
            **case.request,
        }
        label = f"{self.trial.name}/{case.id}"
        await self.run.look_whether_it_is_there()
        watch = watch_for_loops(_last_prompt(case)) if self.settings.early_abort else None
        exchange = await self.run.client.chat(request, label=label, watch=watch)
        self.requests += 1
        self.output_tokens += exchange.output_tokens
        self.run.count(exchange, self.trial)
        await self.run.look_whether_it_died(exchange)
        return exchange

    async def get_json(self, path: str, *, at_origin: bool = False) -> Any:
        return await _body_of(self.run.client.get_json(path, at_origin=at_origin))

    async def post_json(self, path: str, body: Any, *, at_origin: bool = False) -> Any:
        return await _body_of(self.run.client.post_json(path, body, at_origin=at_origin))


async def _body_of(asking: Awaitable[tuple[int, Any]]) -> Any:
    try:
        status, body = await asking
    except OSError:
        return None
    return body if status == 200 else None


def watch_for_loops(prompt: str) -> Watch:
    """Make a watch that stops a stream as soon as one of its fields is surely broken.

    The tokens of a loop prove nothing more; on a slow server they cost minutes.
    """
    detectors: dict[str, StreamDetector] = {}

    def watch(delta: Delta) -> str | None:
        detector = detectors.get(delta.field)
        if detector is None:
            detector = detectors[delta.field] = StreamDetector(field=delta.field, prompt=prompt)
        found = detector.feed(delta.text)
        return found.why if found is not None and found.severity is Severity.FAIL else None

    return watch


def not_made(trial: Trial, why: str) -> TrialResult:
    """Say of a trial that it was not made."""
    check = CheckResult("made", Verdict.UNPROVEN, why, infrastructure=True)
    return TrialResult(trial.name, trial.title, (check,))


def _last_prompt(case: Case) -> str:
    messages = case.request.get("messages") or [{}]
    content = messages[-1].get("content")
    return content if isinstance(content, str) else ""
