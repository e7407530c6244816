"""`seatrial plan`: settings with reasons, the memory plan, findings; nothing is started."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seatrial.cli.options import Json
from seatrial.cli.planning_inputs import FactsFile, Gpus, Offline, StackFile, Store

if TYPE_CHECKING:
    from seatrial.planning.plan import Plan


def plan(
    stack: StackFile = Path("stack.yaml"),
    facts: FactsFile = None,
    gpus: Gpus = None,
    store: Store = None,
    why: Annotated[
        bool, typer.Option("--why", help="All reasons: what returns without each setting, and where it is known from.")
    ] = False,
    goal: Annotated[
        list[str] | None,
        typer.Option(
            "--goal", metavar="NAME=NUMBER", help="What must fit: context=262144, concurrency=8. Prints what reaches it."
        ),
    ] = None,
    compare: Annotated[
        Path | None,
        typer.Option("--compare", metavar="LOG", help="A server's log: compare it with the memory plan, figure by figure."),
    ] = None,
    diff: Annotated[
        Path | None,
        typer.Option("--diff", metavar="COMPOSE", help="What runs: show how the plan differs from this Compose file."),
    ] = None,
    offline: Offline = False,
    as_json: Json = False,
) -> None:
    """Turn a stack file into settings with reasons, a memory plan, and findings. Starts nothing.

    Exit code 0: no errors; 1: the plan has errors, or the log differs by more than 3%; 2: something can't be read.
    """
    from seatrial.cli.plan_output import print_memory, print_plan
    from seatrial.findings import exit_code

    made, notes = make(stack, facts=facts, gpus=gpus, store=store, offline=offline)
    differences = _compared(made, compare) if compare else ()
    findings = (*made.findings, *(item.finding for item in differences if item.finding))
    advice = _advice(made, goal) if goal else ()
    changes = _changes(made, diff) if diff else ()
    if as_json:
        from seatrial.cli.output import print_json
        from seatrial.planning.document import findings_document, plan_document

        document = {**plan_document(made), "findings": findings_document(findings), "notes": list(notes)}
        if compare:
            document["compared"] = differences
        if goal:
            document["advice"] = advice
        if diff:
            document["changes"] = changes
        print_json(document)
        raise typer.Exit(int(exit_code(findings)))
    from seatrial.cli.findings_output import print_findings
    from seatrial.cli.output import console

    out = console()
    print_plan(out, made, all_reasons=why)
    if made.memory is not None:
        print_memory(out, made.memory)
    for note in notes:
        out.print(f"[dim]{note}[/dim]", highlight=False)
    out.print()
    print_findings(out, findings, nothing="no findings")
    raise typer.Exit(int(exit_code(findings)))


def make(
    stack_file: Path,
    *,
    facts: Path | None = None,
    gpus: str | None = None,
    store: Path | None = None,
    offline: bool = False,
) -> tuple[Plan, tuple[str, ...]]:
    """Read a stack file, find the facts, and make its plan; with notes about what could not be found.

    Raises:
        InputError: something that was named can't be read.
    """
    from seatrial.cli.planning_inputs import catalogue_for, find_facts
    from seatrial.planning.plan import make_plan
    from seatrial.stack.reading import load_stack

    read = load_stack(stack_file)
    known = find_facts(
        read.model.repo,
        revision=read.model.revision,
        facts=facts,
        gpus=gpus,
        store=store or stack_file.parent / read.store,
        offline=offline,
    )
    catalogue = catalogue_for(read)
    return make_plan(read, model=known.model, host=known.host, catalogue=catalogue), known.notes
