"""`seatrial status`: what runs, since when, whether it is proven, and whether file, container and plan agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from seatrial.cli.deploying import DEFAULT_STACK, Facts, StackOption, deployment
from seatrial.cli.options import Json
from seatrial.cli.planning_inputs import FactsFile, Gpus, Store

if TYPE_CHECKING:
    from seatrial.planning.plan import Plan
    from seatrial.release.deployment import Deployment
    from seatrial.runtimes.instance import Instance


def status(
    stack: StackOption = DEFAULT_STACK,
    facts: FactsFile = None,
    gpus: Gpus = None,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Say what of the stack runs, since when, whether it is proven, and where file, container and plan differ.

    The doctor reads the newest log and the engine's own figures: what ended it, why it is slow, why requests wait.

    Exit code 0: it runs as planned; 1: it runs differently, or not at all; 3: Docker can't be asked.
    """
    from seatrial.cli.output import TerminalDisplay, console, print_json
    from seatrial.errors import ExitCode

    with TerminalDisplay() as display:
        found = deployment(stack, display, Facts(facts, gpus, store))
        document = gather(found, stack.read_text(encoding="utf-8"))
    agrees = document["state"] == "running" and not document["drift"]
    if as_json:
        print_json(document)
    else:
        out = console()
        for name, value in document.items():
            if name in ("drift", "live", "doctor"):
                continue
            out.print(f"{name:<12} {value if value not in (None, '') else '–'}", highlight=False)
        for name, value in (document["live"] or {}).items():
            out.print(f"  {name:<26} {value:g}", highlight=False)
        for line in document["drift"]:
            out.print(f"differs      {line}", style="yellow", highlight=False)
        for entry in document["doctor"]:
            out.print(f"doctor       {entry['level']}: {entry['cause']}", style="yellow", highlight=False, markup=False)
            if entry["fix"]:
                out.print(f"             {entry['fix']}", highlight=False, markup=False)
    raise typer.Exit(int(ExitCode.PROVEN if agrees else ExitCode.REFUTED))


def gather(found: Deployment, stack_text: str) -> dict[str, Any]:
    """Find out everything that a status says."""
    from seatrial.release.journal import read_journal
    from seatrial.runtimes.instance import PLAN_LABEL

    plan = found.plan()
    journal = read_journal(found.folder)
    instances = found.instances()
    one = instances[0] if instances else None
    drift = found.project.drift(found.project.files(plan, stack_text))
    if one is not None and one.labels.get(PLAN_LABEL) != plan.digest:
        drift.append(f"the {found.project.launcher().kind} was started from another plan")
    if journal is not None:
        drift.append(
            f"a switch to {journal.candidate} ended while {journal.step.value}; the next up or switch takes it up"
        )
    metrics = metrics_text(plan) if one and one.is_running else None
    return {
        "stack": plan.stack.name,
        "state": one.state if one else "not there",
        "health": one.health if one else "",
        "since": one.started_at if one and one.is_running else "",
        "restarts": one.restarts if one else 0,
        "image": one.image if one else plan.stack.engine.provider,
        "model": plan.stack.model.repo,
        "revision": plan.stack.model.revision,
        "proven": proven(found, plan),
        "drift": drift,
        "live": live(metrics) if metrics else None,
        "doctor": examine(found, plan, one, metrics) if one else [],
    }


def proven(found: Deployment, plan: Plan) -> str:
    """Say what the ledger knows about this very combination."""
    from seatrial.ledger.database import FILE_NAME, Ledger
    from seatrial.ledger.entry import Kind

    folder = (found.folder / plan.stack.ledger).resolve()
    if not (folder / FILE_NAME).is_file():
        return "never tried"
    ledger = Ledger(folder)
    try:
        entries = ledger.entries(digest=found.combination(plan).digest(), kind=Kind.VERDICT, limit=1)
    finally:
        ledger.close()
    return f"{entries[0].verdict} on {entries[0].at}" if entries else "never tried"


LOG_LINES = 50_000
"""Lines of the newest log that the doctor reads: some hours of a busy server."""

LIVE = {
    "sglang:num_running_reqs": "requests running",
    "sglang:num_queue_reqs": "requests waiting",
    "sglang:token_usage": "KV cache in use",
    "sglang:gen_throughput": "tokens per second",
    "sglang:cache_hit_rate": "prefix cache hit rate",
}
"""Gauges of SGLang 0.5.16 (`observability/metrics_collector.py`) that a person asks for first."""


def metrics_text(plan: Plan) -> str | None:
    """Read `/metrics`; None where nothing answers there."""
    import urllib.error
    import urllib.request

    try:
        with urllib.request.urlopen(f"{plan.stack.serve.origin}/metrics", timeout=3) as answer:  # noqa: S310 - http, by its making
            return str(answer.read(1_000_000).decode("utf-8", "replace"))
    except (OSError, ValueError, urllib.error.URLError):
        return None


def live(text: str) -> dict[str, float] | None:
    """Find the figures of `/metrics` that a person asks for first; None where there are none."""
    figures: dict[str, float] = {}
    for line in text.splitlines():
        name, _, rest = line.partition("{")
        title = LIVE.get(name.split(" ")[0])
        if title and not line.startswith("#"):
            try:
                figures[title] = float((rest.rpartition("}")[2] or line).split()[-1])
            except (ValueError, IndexError):
                continue
    return figures or None


def examine(found: Deployment, plan: Plan, one: Instance, metrics: str | None) -> list[dict[str, str]]:
    """Ask the doctor about the newest log: what ended it, or what makes it slow or wait; nothing where all is well."""
    from seatrial.doctor import Level, Watcher, judge
    from seatrial.planning.document import plan_document

    watcher = Watcher(context=plan_document(plan))
    watcher.feed_all(line.rstrip(b"\n") for line in found.project.launcher().log_text(one.id, tail=LOG_LINES))
    diagnosis = judge(watcher, metrics=metrics, ended=not one.is_running)
    named = [diagnosis.cause] if diagnosis.cause is not None and (diagnosis.deadly or diagnosis.unknown) else []
    named += [entry for entry in diagnosis.others if entry.level is Level.WARNING]
    return [
        {"id": entry.id, "level": entry.level.value, "cause": entry.cause, "fix": entry.fix}
        for entry in (*named, *diagnosis.slow)
    ]
