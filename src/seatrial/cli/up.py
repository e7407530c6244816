"""`seatrial up`: writes the stack's files, starts it on Docker, follows the start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from seatrial.cli.deploying import DEFAULT_STACK, Facts, StackOption, deployment, take_up
from seatrial.cli.options import Json
from seatrial.cli.planning_inputs import FactsFile, Gpus, Store

if TYPE_CHECKING:
    from seatrial.findings import Finding
    from seatrial.planning.plan import Plan
    from seatrial.release.deployment import Deployment


def up(
    stack: StackOption = DEFAULT_STACK,
    facts: FactsFile = None,
    gpus: Gpus = None,
    store: Store = None,
    force: Annotated[
        bool,
        typer.Option("--force", help="Overwrite a file edited by hand; start in spite of errors."),
    ] = False,
    preflight: Annotated[
        bool, typer.Option("--preflight/--no-preflight", help="Look at the host first, as `seatrial host check` does.")
    ] = True,
    as_json: Json = False,
) -> None:
    """Write compose.yaml from the stack file, start it on Docker, and follow the start until it answers.

    Phases come from the engine's own log. A fatal line ends the wait at once, with its cause and fix; so does a log
    that is silent for too long. Where the stack serves already as planned, nothing is touched. Started is not proven:
    `seatrial prove`, or better `seatrial switch`, says whether it answers correctly.

    The host is looked at first: an error there (no NVIDIA runtime, a full disk, a folder that the container's account
    can't write) ends it before anything is started.

    Exit code 0: it answers; 1: the plan or the host has errors; 2: something can't be read, or was edited by hand; 3:
    it did not start.
    """
    from seatrial.cli.output import TerminalDisplay, console, print_json
    from seatrial.errors import ExitCode
    from seatrial.findings import Level
    from seatrial.planning.document import findings_document

    with TerminalDisplay() as display:
        found = deployment(stack, display, Facts(facts, gpus, store))
        take_up(found)
        plan = found.plan()
        errors = [finding for finding in plan.findings if finding.level is Level.ERROR]
        if errors and not force:
            if as_json:
                print_json({"up": False, "findings": findings_document(errors)})
            else:
                from seatrial.cli.findings_output import print_findings

                print_findings(console(stderr=True), errors)
            raise typer.Exit(int(ExitCode.REFUTED))
        text = stack.read_text(encoding="utf-8")
        files = found.project.files(plan, text)
        if not force:
            found.project.refuse_edited(files)
        # What runs already shows that the host is fine, and holds the memory and the port that would be looked for.
        host = () if not preflight or found.is_running() else _look_at_host(found, plan)
        if not force and any(finding.level is Level.ERROR for finding in host):
            if as_json:
                print_json({"up": False, "findings": findings_document(host)})
            raise typer.Exit(int(ExitCode.REFUTED))
        files.put(found.folder)
        found.start()
    started = found.started
    if as_json:
        print_json(
            {
                "up": True,
                "already": started is None,
                "usual_seconds": found.usual_seconds(plan),
                "seconds": started.seconds if started else 0.0,
                "phases": started.phases if started else {},
                "memory": found.boot,
                "findings": findings_document((*host, *found.findings)),
            }
        )
        return
    where = f"{plan.stack.serve.origin}/v1"
    if started is None:
        typer.echo(f"{plan.stack.name} serves already as planned, at {where}; nothing was touched.")
        return
    out = console()
    usual = found.usual_seconds(plan)
    compared = f" (usually {usual:.0f} s)" if usual else ""
    out.print(f"{plan.stack.name} answers at {where} after {started.seconds:.0f} s{compared}. Started is not proven.")
    for phase, seconds in started.phases.items():
        out.print(f"  {phase:<20} {seconds:6.1f} s", highlight=False)
    for figure, both in found.boot.items():
        out.print(f"  {figure:<24} planned {both['planned']:,.6g}, actual {both['actual']:,.6g}", highlight=False)
    if found.findings:
        from seatrial.cli.findings_output import print_findings

        print_findings(out, found.findings)
    typer.echo(f"Next: seatrial prove --url {where}, or promote it with seatrial switch.")


def _look_at_host(found: Deployment, plan: Plan) -> tuple[Finding, ...]:
    """Make the preflight; say what it found, but for notes."""
    from seatrial.cli.findings_output import print_findings
    from seatrial.cli.output import console
    from seatrial.findings import Level
    from seatrial.host.looking import look
    from seatrial.host.preflight import preflight

    host = plan.host if plan.host is not None and plan.host.source == "this host" else None
    findings = preflight(look(plan, found.folder, found.display, host=host))
    told = tuple(finding for finding in findings if finding.level is not Level.NOTE)
    if told:
        print_findings(console(stderr=True), told)
    return findings
