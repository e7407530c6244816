"""`seatrial host check`: what would fail, or cost, at the next start."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seatrial.cli.options import Json
from seatrial.cli.planning_inputs import FactsFile, Gpus, Store

if TYPE_CHECKING:
    from seatrial.host.situation import Situation


def check(
    stack: Annotated[
        Path | None,
        typer.Option("--stack", metavar="FILE", help="The stack file. Default: stack.yaml, where there is one."),
    ] = None,
    facts: FactsFile = None,
    gpus: Gpus = None,
    store: Store = None,
    online: Annotated[
        bool, typer.Option("--online", help="Ask the registry whether it still has the image's tag.")
    ] = False,
    containers: Annotated[
        bool,
        typer.Option(
            "--container/--no-container",
            help="Start a container of the image for some seconds: its rights, its packages, its GPUs.",
        ),
    ] = True,
    as_json: Json = False,
) -> None:
    """Look at this host before a start: driver, GPUs, links, Docker, image, store, space, ports, leftovers, caches.

    With a stack it is looked at with the stack's eyes. Nothing is ended, removed or changed. With --facts or --gpus
    only what such facts tell is checked.

    Exit code 0: no errors; 1: errors; 2: something can't be read.
    """
    from seatrial.cli.findings_output import print_findings
    from seatrial.cli.output import TerminalDisplay, console, print_json
    from seatrial.findings import exit_code
    from seatrial.host.preflight import preflight
    from seatrial.planning.document import findings_document

    with TerminalDisplay() as display:
        situation = _situation(stack, facts, gpus, store, display, online=online, containers=containers)
    findings = preflight(situation)
    if as_json:
        seconds = situation.inside.seconds if situation.inside else None
        document = {"host": situation.host, "container_seconds": seconds, "findings": findings_document(findings)}
        print_json(document)
    else:
        print_findings(console(), findings, nothing="nothing stands in the way of a start")
    raise typer.Exit(int(exit_code(findings)))


def _situation(
    stack: Path | None,
    facts: Path | None,
    gpus: str | None,
    store: Path | None,
    display: Any,
    *,
    online: bool,
    containers: bool,
) -> Situation:
    from seatrial.cli.deploying import DEFAULT_STACK
    from seatrial.cli.plan import make
    from seatrial.cli.planning_inputs import find_facts
    from seatrial.host.looking import look

    host = find_facts("", facts=facts, gpus=gpus).host if facts or gpus else None
    file = stack or (DEFAULT_STACK if DEFAULT_STACK.is_file() else None)
    plan = None
    if file is not None:
        plan, _ = make(file, facts=facts, gpus=gpus, store=store, offline=not online)
    if host is not None and facts is not None:
        from dataclasses import replace

        host = replace(host, source=str(facts))
    return look(
        plan, file.absolute().parent if file else None, display, host=host, online=online, containers=containers
    )
