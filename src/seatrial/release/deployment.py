"""The stage on a real runtime: starts and follows the engine, proves it, compares it with the plan; the ledger."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from seatrial.bench.against_last import kept_figures, of_entry
from seatrial.bench.comparison import REGRESSION_MARGIN
from seatrial.bench.plan import LoadPlan
from seatrial.bench.result import BenchResult
from seatrial.bench.workload import builtin
from seatrial.endpoint.address import Endpoint, Secret
from seatrial.endpoint.client import Limits
from seatrial.endpoint.preflight import find_endpoint
from seatrial.engines.sglang.boot_log import read_boot_log
from seatrial.engines.sglang.memory.compare import compare
from seatrial.errors import InputError, SeatrialError, StartError
from seatrial.facts.probe.gpus import gpu_facts
from seatrial.findings import Finding
from seatrial.host.remembering import remember_good_start
from seatrial.ledger.database import FILE_NAME, Ledger
from seatrial.ledger.entry import Combination, Entry, Kind
from seatrial.planning.document import plan_document
from seatrial.planning.plan import Plan
from seatrial.planning.setting import text_of
from seatrial.progress import Display
from seatrial.proof import Proof
from seatrial.release.switch import Judgement
from seatrial.reports.memory_picture import memory_svg
from seatrial.runs.folder import RunFolder
from seatrial.runs.redaction import Redactor
from seatrial.runtimes.following import Started, follow_start
from seatrial.runtimes.instance import Instance, Launcher, runs_as_planned
from seatrial.runtimes.process.local import session_of
from seatrial.runtimes.project import Project, refuse_taken_port
from seatrial.store.known_stacks import remember_stack
from seatrial.trials.interface import OverLongPolicy, Settings
from seatrial.trials.suites import SuiteName, suite
from seatrial.verdicts import SuiteResult, Verdict

ANSWER_SECONDS = 60.0
"""From the engine's word that it is ready to the first answer of its port: the proxy, and the first kernels."""

BENCH_LEVELS = (1, 8)
"""One request alone, and the eight at once of the deployment notes' headline."""


@dataclass(slots=True)
class Deployment:
    """One stack's life, in a container or as a process.

    Attributes:
        project: its folder.
        plan_of: reads the stack file there and plans it.
        display: shown progress.
        tell: told sentences.
        limits: of requests.
        max_tokens: most tokens of one answer of a proof.
        sampling: sent with each request of a proof; empty for the server's own.
        with_bench: whether a proven candidate is measured too.
        regression_margin: how much slower than the last promoted one it may be before that is a finding.
        started: the newest start; None where it served already.
        boot: figures of that start, planned beside actual.
        findings: where the two differ by more than they may.
        bench: figures of the newest benchmark.
        judged: what a proof beside the running stack said already; then it is not proven again in place.
        candidate: what a switch is about; the ledger's entries are about it, also when the old stack runs again.
    """

    project: Project
    plan_of: Callable[[Path], Plan]
    display: Display
    tell: Callable[[str], None]
    limits: Limits = field(default_factory=lambda: Limits(request=300, silence=120))
    max_tokens: int = 2048
    sampling: dict[str, Any] = field(default_factory=dict)
    with_bench: bool = True
    regression_margin: float = REGRESSION_MARGIN
    started: Started | None = None
    boot: dict[str, Any] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    bench: BenchResult | None = None
    run: str = ""
    candidate: Plan | None = None
    judged: Judgement | None = None
    _plan: Plan | None = None

    @property
    def folder(self) -> Path:
        """The stack's folder."""
        return self.project.folder

    @property
    def file_names(self) -> tuple[str, ...]:
        """The files that make the stack."""
        return self.project.file_names

    def plan(self) -> Plan:
        """Plan what the stack file says now."""
        return self.plan_of(self.project.stack_file)

    def instances(self) -> list[Instance]:
        """List what was started of the stack, running or not; the one that runs first.

        Raises:
            StartError: Docker can't be asked.
        """
        if not self.project.is_written:
            return []
        return sorted(self.project.launcher().instances(), key=lambda one: not one.is_running)

    def is_running(self) -> bool:
        """Whether the stack runs or starts."""
        return any(one.is_alive for one in self.instances())

    def start(self) -> None:
        """Start what the files say, and wait until it answers. Does nothing where that very plan serves already.

        Raises:
            StartError: it did not come up; it is stopped again, so that Docker does not restart it for ever.
        """
        plan = self._plan = self.plan()
        key = self.project.write_secrets(plan.stack)
        self.project.make_folders(plan.stack)
        remember_stack(self.folder / plan.stack.store, self.project.stack_file)  # so that `models rm` knows of it
        self.project.refuse_unready(plan)
        launcher = self.project.launcher(plan)
        self.started = None
        if runs_as_planned(plan, launcher.instances()) is not None:
            self._answer(plan, key)
            return
        refuse_taken_port(plan.stack, launcher.instances())
        usual = self.usual_seconds(plan)
        self.display.phase(f"Starting: the {launcher.kind}{f' (usually {usual:.0f} s)' if usual else ''}")
        launcher.up()
        instance = self._ours(plan, launcher)
        try:
            self.started = follow_start(launcher, instance, self.display, context=plan_document(plan))
            self._ours(plan, launcher)
            self._answer(plan, key)
        except BaseException as error:
            # Ctrl-C too: what has not answered yet is of use to nobody, and Docker would restart it for ever.
            if isinstance(error, StartError | KeyboardInterrupt):
                launcher.stop()
            raise
        self._remember(plan, instance, promoted=False)
        self._compare(plan, self.started)
        self._append(plan, Kind.BOOT, None, "; ".join(finding.message for finding in self.findings))

    def _ours(self, plan: Plan, launcher: Launcher) -> Instance:
        """Make sure that what runs is what was started, and publishes the stack's port."""
        instance = runs_as_planned(plan, launcher.instances())
        if instance is None:
            found = launcher.instances()
            if found:
                one = found[0]
                status = "" if one.exit_code is None else f" (status {one.exit_code})"
                raise StartError(
                    f"the {launcher.kind} {one.name} is {one.state}{status}",
                    where=launcher.where,
                    advice="`seatrial logs` shows what it said.",
                )
            raise StartError(f"no {launcher.kind} was started", where=launcher.where)
        wanted = f":{plan.stack.serve.port}"
        published = [place for places in instance.ports.values() for place in places]
        if published and not any(place.endswith(wanted) for place in published):
            raise StartError(
                f"the {launcher.kind} publishes {', '.join(published)}, not {plan.stack.serve.port}",
                where=launcher.where,
            )
        return instance

    def _answer(self, plan: Plan, key: Secret | None) -> Endpoint:
        """Wait until the published port answers with the stack's model.

        Raises:
            StartError: it does not.
        """
        until = time.monotonic() + ANSWER_SECONDS
        while True:
            try:
                return asyncio.run(self._endpoint(plan, key))
            except InputError as error:
                raise StartError(error.problem, where=error.where, advice=error.advice) from None
            except SeatrialError as error:
                if time.monotonic() > until:
                    raise StartError(f"it runs, and does not answer: {error.problem}", where=error.where) from None
                time.sleep(0.5)

    async def _endpoint(self, plan: Plan, key: Secret | None) -> Endpoint:
        name = plan.setting("--served-model-name") or plan.setting("--model-path")
        served = text_of(name.value) if name else None
        limits = Limits(connect=2, request=10, silence=10)
        return await find_endpoint(f"{plan.stack.serve.origin}/v1", served, key, limits)

    def gpu_process_ids(self) -> frozenset[int]:
        """Name the processes of the stack that hold memory of a GPU; empty where no GPU tells."""
        ids = {one.id for one in self.instances() if one.is_alive}
        ours = frozenset(pid for one in ids if one.isdigit() for pid in session_of(int(one)))
        return frozenset(
            process.pid
            for gpu in (gpu_facts().gpus or () if ids else ())
            for process in gpu.processes
            if process.container in ids or process.pid in ours
        )

    def stop(self) -> None:
        """End the stack's engine with all that belongs to it; the GPU is free then.

        Raises:
            StartError: it does not end.
        """
        if self.project.is_written:
            self.project.launcher().stop()

    def prove(self) -> Judgement:
        """Prove what serves now, measure it, and write both to the ledger.

        Raises:
            SeatrialError: the server could not be asked at all.
        """
        plan = self._plan or self.plan()
        key = self.project.write_secrets(plan.stack)
        endpoint = self._answer(plan, key)
        if self.judged is not None:
            return self.judged
        chosen = SuiteName(plan.stack.policy.prove)
        settings = Settings(
            self.sampling,
            self.max_tokens,
            plan.memory.effective_input_tokens if plan.memory else plan.stack.serve.context_length,
            OverLongPolicy(plan.stack.policy.over_long_input),
        )
        facts = {"stack": plan.stack.name, "suite": chosen.value, "plan": plan.digest, **self._identity(plan)}
        proof = Proof(endpoint, facts, picture=memory_svg(plan.memory) if plan.memory else "")
        folder = RunFolder(self._ledger_folder(plan) / "runs", "switch", Redactor([key] if key else []))
        with folder:
            asyncio.run(self._prove(proof, chosen, settings, folder))
        assert proof.suite is not None
        self.run, self.bench = str(folder.path), proof.bench
        self._compare_bench(plan)
        judgement = Judgement(proof.suite.verdict, summary(proof.suite), self.run)
        self._append(plan, Kind.VERDICT, judgement, judgement.summary)
        return judgement

    def _identity(self, plan: Plan) -> dict[str, str]:
        """Name what really runs: the engine's version, and the image with its digest, since tags move."""
        running = next((one for one in self.instances() if one.is_running), None)
        image = f"{running.image}@{running.image_id}" if running and running.image_id else plan.stack.engine.provider
        return {"engine": f"{plan.stack.engine.kind} {plan.version}", "image": image}

    async def _prove(self, proof: Proof, chosen: SuiteName, settings: Settings, folder: RunFolder) -> None:
        try:
            await proof.prove(suite(chosen), settings, self.limits, folder, self.display)
            assert proof.suite is not None
            if self.with_bench and proof.suite.verdict is Verdict.PROVEN:
                load = LoadPlan.closed(BENCH_LEVELS, lambda level: 2 * level)
                await proof.measure(
                    builtin("chat", self.max_tokens, self.sampling), load, self.limits, folder, self.display
                )
        finally:
            proof.write_report(folder)

    def _remember(self, plan: Plan, instance: Instance, *, promoted: bool) -> None:
        """Keep what the next preflight holds a start against: the image's digest, and what its kernels are for."""
        host = plan.host if plan.host is not None and plan.host.source == "this host" else None
        remember_good_start(plan, self.folder, instance.image_id or None, host, promoted=promoted)

    def record(self, kind: Kind, judgement: Judgement | None, note: str) -> None:
        """Write to the ledger what became of a candidate."""
        running = next((one for one in self.instances() if one.is_running), None)
        if kind is Kind.PROMOTION and running is not None:
            self._remember(self._plan or self.plan(), running, promoted=True)
        self._append(self.candidate or self._plan or self.plan(), kind, judgement, note)

    def say(self, text: str) -> None:
        """Tell a person."""
        self.tell(text)

    def combination(self, plan: Plan) -> Combination:
        """Name what is served, as the ledger's key."""
        return combination_of(plan, self.sampling)

    def _append(self, plan: Plan, kind: Kind, judgement: Judgement | None, note: str) -> None:
        # After a roll-back the newest figures are those of the old stack that was put back.
        figures = {} if kind is Kind.ROLL_BACK else self._figures()
        ledger = Ledger(self._ledger_folder(plan))
        try:
            ledger.append(
                Entry(
                    kind,
                    datetime.now(UTC).isoformat(timespec="seconds"),
                    self.combination(plan),
                    judgement.verdict.value if judgement else None,
                    plan.stack.name,
                    plan.digest,
                    judgement.run if judgement else "",
                    figures,
                    note,
                )
            )
        finally:
            ledger.close()

    def usual_seconds(self, plan: Plan) -> float | None:
        """Say how long this very combination took to start before: the median; None where it never did."""
        folder = self._ledger_folder(plan)
        if not (folder / FILE_NAME).is_file():
            return None
        ledger = Ledger(folder)
        try:
            entries = ledger.entries(digest=self.combination(plan).digest(), kind=Kind.BOOT, limit=9)
        finally:
            ledger.close()
        taken = [float(entry.figures["start_seconds"]) for entry in entries if "start_seconds" in entry.figures]
        return statistics.median(taken) if taken else None

    def _compare_bench(self, plan: Plan) -> None:
        """Say how fast it is beside the last promoted one, where both were measured; a regression is a finding."""
        if self.bench is None:
            return
        folder = self._ledger_folder(plan)
        ledger = Ledger(folder)
        try:
            before = ledger.last_promoted(plan.stack.name)
        finally:
            ledger.close()
        if before is None:
            return
        found = of_entry(before, folder).compared_with(self.bench, "the candidate", margin=self.regression_margin)
        for row in found.rows:
            if row.metric == "clean_output_token_throughput" and row.ratio is not None:
                interval = f" ({row.interval[0]:.2f} to {row.interval[1]:.2f})" if row.interval else ""
                now = f"{row.b:.0f} clean tokens/s"
                self.tell(
                    f"{row.level}: {now}, {row.ratio:.2f}{interval} of the last promoted stack's {row.a:.0f}: "
                    f"{row.answer.value}"
                )
        self.findings = (*self.findings, *found.findings)
        for finding in found.findings:
            self.tell(f"{finding.level.value}: {finding.message}")

    def _figures(self) -> dict[str, Any]:
        figures: dict[str, Any] = {}
        if running := next((one for one in self.instances() if one.is_running and one.image_id), None):
            figures["image_id"] = running.image_id
        if self.boot:
            figures["boot"] = self.boot
        if self.started is not None:
            figures["start_seconds"] = round(self.started.seconds, 1)
        if self.bench is not None:
            figures["output_token_throughput"] = {
                str(level.concurrency): round(level.clean_output_token_throughput, 1) for level in self.bench.levels
            }
            figures["bench"] = kept_figures(self.bench)
        return figures

    def _ledger_folder(self, plan: Plan) -> Path:
        return (self.folder / plan.stack.ledger).resolve()

    def _compare(self, plan: Plan, started: Started) -> None:
        """Set the memory plan beside what the engine said."""
        self.boot, self.findings = {}, ()
        if plan.memory is None:
            return
        try:
            record = read_boot_log(started.log)
        except InputError:
            return
        differences = compare(plan.memory, record)
        self.boot = {item.figure: {"planned": item.planned, "actual": item.actual} for item in differences}
        self.findings = tuple(item.finding for item in differences if item.finding)


def summary(result: SuiteResult) -> str:
    """Say in one sentence what a proof found."""
    for verdict in (Verdict.REFUTED, Verdict.UNPROVEN):
        found = result.checks_with(verdict)
        if found:
            trial, check = found[0]
            more = f", and {len(found) - 1} more" if len(found) > 1 else ""
            return f"{trial.trial}/{check.check}: {check.detail}{more}"
    return f"every check of the {result.suite} suite"


def combination_of(plan: Plan, sampling: dict[str, Any]) -> Combination:
    """Name what a plan serves, as the ledger's key."""
    import json  # noqa: PLC0415 - one line needs it

    values = {setting.name: text_of(setting.value) for setting in plan.settings}
    gpus = plan.host.gpus if plan.host else None
    model, memory = plan.model, values.get("--kv-cache-dtype")
    states = [values.get(name, "") for name in ("SGLANG_MAMBA_CONV_DTYPE", "--mamba-ssm-dtype")]
    return Combination(
        model=plan.stack.model.repo,
        revision=plan.model.revision if plan.model and plan.model.revision else plan.stack.model.revision,
        engine=plan.stack.engine.kind,
        engine_version=plan.version,
        image=plan.stack.engine.image if plan.stack.engine.environment is None else None,
        quantization=model.quantization.method if model and model.quantization else None,
        dtype=values.get("--dtype") or (model.dtype if model else None),
        kv_cache_dtype=memory,
        state_dtypes=",".join(states) if any(states) else None,
        gpu=gpus[0].name if gpus else None,
        gpu_count=len(gpus) if gpus else None,
        tensor_parallel=int(values.get("--tp-size", "1")),
        sampling=json.dumps(sampling, sort_keys=True) if sampling else "",
        suite=plan.stack.policy.prove,
    )
