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


def status(
    stack: StackOption = DEFAULT_STACK,
    facts: FactsFile = None,
    gpus: Gpus = None,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Say what of the stack runs, since when, whether it is proven, and where file, container and plan differ.

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
            if name in ("drift", "live"):
                continue
            out.print(f"{name:<12} {value if value not in (None, '') else '–'}", highlight=False)
        for name, value in (document["live"] or {}).items():
            out.print(f"  {name:<26} {value:g}", highlight=False)
        for line in document["drift"]:
            out.print(f"differs      {line}", style="yellow", highlight=False)
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
        "live": live(plan) if one and one.is_running else None,
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


LIVE = {
    "sglang:num_running_reqs": "requests running",
    "sglang:num_queue_reqs": "requests waiting",
    "sglang:token_usage": "KV cache in use",
    "sglang:gen_throughput": "tokens per second",
    "sglang:cache_hit_rate": "prefix cache hit rate",
}
"""Gauges of SGLang 0.5.16 (`observability/metrics_collector.py`) that a person asks for first."""


def live(plan: Plan) -> dict[str, float] | None:
    """Read the figures of `/metrics`; None where there are none."""
    import urllib.error
    import urllib.request

    try:
        with urllib.request.urlopen(f"{plan.stack.serve.origin}/metrics", timeout=3) as answer:  # noqa: S310 - http, by its making
            text = answer.read(1_000_000).decode("utf-8", "replace")
    except (OSError, ValueError, urllib.error.URLError):
        return None
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
