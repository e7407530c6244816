"""The main job on any endpoint: make the trials, measure, and leave everything in the run's folder.

Whatever interrupts it, what was found so far is written, and says that it is not all.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from seatrial.bench.load import LoadRun
from seatrial.bench.plan import LoadPlan
from seatrial.bench.reading import is_degenerate
from seatrial.bench.result import BenchResult
from seatrial.bench.rows import RowWriter
from seatrial.bench.workload import Workload
from seatrial.endpoint.address import Endpoint
from seatrial.endpoint.client import Client, Limits
from seatrial.endpoint.exchange import Exchange
from seatrial.progress import Display
from seatrial.reports.html import ReportInput, render
from seatrial.reports.transcript import read_transcripts
from seatrial.runs.folder import RunFolder
from seatrial.trials.interface import Settings
from seatrial.trials.metrics import tool_metrics
from seatrial.trials.reference import compare
from seatrial.trials.runner import Progress, SuiteRun
from seatrial.trials.suites import Suite
from seatrial.verdicts import SuiteResult, TrialResult

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Proof:
    """What one run found about an endpoint; parts are None until they are there."""

    endpoint: Endpoint
    facts: dict[str, str]
    remark: str = ""
    picture: str = ""
    suite: SuiteResult | None = None
    bench: BenchResult | None = None

    async def prove(
        self,
        suite: Suite,
        settings: Settings,
        limits: Limits,
        folder: RunFolder,
        display: Display,
        *,
        earlier: Sequence[TrialResult] = (),
        references: Sequence[SuiteResult] = (),
    ) -> None:
        """Make a suite's trials but for those that an `earlier` run made; an interruption leaves a verdict so far.

        What `references` found on a trusted server is compared with what was found here.
        """
        display.phase(f"Proving {self.endpoint.model} ({suite.name} suite)")

        def show(progress: Progress) -> None:
            display.step(progress.asked, progress.planned, progress.trial)

        async with Client(self.endpoint, limits, record=folder.record, asked=folder.recorded) as client:
            run = SuiteRun(suite, client, settings, show, earlier)
            complete = False
            try:
                for trial in suite.trials:
                    await run.make(trial)
                    folder.write_json("verdict.json", run.result(complete=False))
                complete = True
            finally:
                self.suite = with_comparison(run.result(complete=complete), references)
                folder.write_json("verdict.json", self.suite)
        logger.info("verdict: %s", self.suite.verdict)

    async def measure(
        self, workload: Workload, plan: LoadPlan, limits: Limits, folder: RunFolder, display: Display
    ) -> None:
        """Run a benchmark; an interruption leaves the levels that had ended."""
        display.phase(f"Measuring {self.endpoint.model}")
        with RowWriter(folder.path, folder.redact) as rows:
            run = LoadRun(
                self.endpoint,
                limits,
                workload,
                plan,
                on_request=display.step,
                on_row=rows.write,
                on_exchange=Kept(folder.record),
                folder=folder.path,
            )
            complete = False
            try:
                await run.make()
                complete = True
            finally:
                self.bench = run.result(complete=complete)
                folder.write_json("bench.json", self.bench)

    def write_report(self, folder: RunFolder) -> Path:
        """Write `report.html` from what there is."""
        report = ReportInput(
            title=self.endpoint.model,
            where=self.endpoint.base_url,
            facts=self.facts,
            suite=self.suite,
            bench=self.bench,
            transcripts=list(read_transcripts(folder.path / "requests.jsonl")),
            remark=self.remark,
            picture=self.picture,
        )
        return folder.write_text("report.html", render(report))


@dataclass(slots=True)
class Kept:
    """Records what a benchmark asked and was answered: all of an ordinary run, and of a huge one the first exchanges.

    Of the rest those are kept that failed or whose text is broken: `bench_requests.jsonl` has a row for each anyway.
    """

    record: Callable[[Exchange], None]
    most: int = 5_000
    most_broken: int = 1_000

    def __call__(self, exchange: Exchange) -> None:
        """Take one."""
        if self.most > 0:
            self.most -= 1
        elif self.most_broken > 0 and (exchange.failure is not None or is_degenerate(exchange)):
            self.most_broken -= 1
        else:
            return
        self.record(exchange)


def with_comparison(suite: SuiteResult, references: Sequence[SuiteResult]) -> SuiteResult:
    """Add the comparison with reference runs to a suite's result, where there are any."""
    ours = tool_metrics(suite.trials)
    theirs = [metrics for reference in references if (metrics := tool_metrics(reference.trials)) is not None]
    if not references or not suite.complete or ours is None:
        return suite
    return replace(suite, trials=(*suite.trials, compare(ours, theirs)))
