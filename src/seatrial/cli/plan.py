"""`seatrial plan`: settings with reasons, the memory plan, findings; nothing is started."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seatrial.cli.options import Json
from seatrial.cli.planning_inputs import FactsFile, Gpus, Offline, Store

if TYPE_CHECKING:
    from seatrial.engines.sglang.memory.advice import Trade
    from seatrial.engines.sglang.memory.compare import Difference
    from seatrial.planning.difference import Change
    from seatrial.planning.plan import Plan


def plan(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="[STACK]", help="The stack file. Default: stack.yaml.", show_default=False),
    ] = None,
    facts: FactsFile = None,
    gpus: Gpus = None,
    store: Store = None,
    why: Annotated[
        bool, typer.Option("--why", help="All reasons: what returns without each setting, and where it is known from.")
    ] = False,
    goal: Annotated[
        list[str] | None,
        typer.Option(
            "--goal",
            metavar="NAME=NUMBER",
            help="What must fit: context=262144, concurrency=8. Prints what reaches it.",
        ),
    ] = None,
    compare: Annotated[
        Path | None,
        typer.Option(
            "--compare", metavar="LOG", help="A server's log: compare it with the memory plan, figure by figure."
        ),
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
    from seatrial.errors import InputError

    # `--goal context=262144 concurrency=8`: all but the first goal arrive as arguments.
    words = [word for word in files or () if "=" in word and not Path(word).exists()]
    names = [word for word in files or () if word not in words]
    if len(names) > 1 or (words and not goal):
        raise InputError("one stack file at a time", where=" ".join((names[1:] or words)[:1]), advice="See --help.")
    stack, goal = Path(names[0] if names else "stack.yaml"), [*(goal or ()), *words]
    from seatrial.cli.plan_output import print_advice, print_changes, print_differences, print_memory, print_plan
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
    from rich.text import Text

    from seatrial.cli.findings_output import print_findings
    from seatrial.cli.output import console

    out = console()
    print_plan(out, made, all_reasons=why)
    if made.memory is not None:
        print_memory(out, made.memory)
    if goal:
        print_advice(out, advice)
    if compare:
        print_differences(out, differences)
    if diff:
        print_changes(out, changes)
    for note in notes:
        out.print(Text(note, style="dim"))
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
    from seatrial.cli.planning_inputs import catalogue_for, facts_for, with_version
    from seatrial.planning.plan import make_plan
    from seatrial.stack.reading import load_stack

    read = with_version(load_stack(stack_file), stack_file)
    known = facts_for(read, stack_file, facts=facts, gpus=gpus, store=store, offline=offline)
    catalogue = catalogue_for(read)
    return make_plan(read, model=known.model, host=known.host, catalogue=catalogue), known.notes


def _compared(plan: Plan, log: Path) -> tuple[Difference, ...]:
    """Compare the memory plan with a server's log."""
    from seatrial.engines.sglang.boot_log import read_boot_log
    from seatrial.engines.sglang.memory.compare import compare
    from seatrial.errors import InputError

    if plan.memory is None:
        raise InputError(
            "there is no memory plan to compare with",
            where="--compare",
            advice="Give the host's facts and the model's.",
        )
    try:
        text = log.read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"the log can't be read ({reason.lower()})", where=str(log)) from None
    return compare(plan.memory, read_boot_log(text, where=str(log)))


def _advice(plan: Plan, goal: list[str]) -> tuple[Trade, ...]:
    """Find settings that reach a goal."""
    from seatrial.engines.sglang.memory.advice import advise, read_goal
    from seatrial.engines.sglang.memory.options import MemoryOptions
    from seatrial.errors import InputError

    wanted = read_goal(goal)
    if plan.model is None or plan.host is None:
        raise InputError(
            "memory can't be planned without facts", where="--goal", advice="Give the host's facts and the model's."
        )
    options = MemoryOptions.from_settings({setting.name: setting.value for setting in plan.settings})
    return advise(plan.model, plan.host, options, wanted, version=plan.version)


def _changes(plan: Plan, compose: Path) -> tuple[Change, ...]:
    """Compare the plan with what a Compose file starts."""
    from seatrial.cli.launch_reading import read_launch
    from seatrial.engines.sglang.catalogue import load
    from seatrial.engines.sglang.command_line import understand
    from seatrial.planning.difference import differences
    from seatrial.planning.lint import given_settings

    launch = read_launch(compose, (), service=None)
    command = understand([word.text for word in launch.words], load(plan.version))
    return differences(plan, given_settings(launch, command), image=launch.service.image if launch.service else None)
