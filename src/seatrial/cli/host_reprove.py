"""`seatrial host reprove`: prove the stack that serves now once more, with its verdict in the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from seatrial.cli.deploying import DEFAULT_STACK, StackOption, deployment
from seatrial.cli.options import Json

if TYPE_CHECKING:
    from pathlib import Path

    from seatrial.planning.plan import Plan


def reprove(
    stack: StackOption = DEFAULT_STACK,
    suite: Annotated[
        Literal["quick", "standard", "deep"], typer.Option("--suite", help="How much is tried.")
    ] = "quick",
    bench: Annotated[bool, typer.Option("--bench", help="Measure it too, when it is proven.")] = False,
    as_json: Json = False,
) -> None:
    """Prove again what serves now, and write the verdict to the stack's ledger. The weekly timer runs this.

    Nothing is started, stopped or promoted. Exit code: 0 proven, 1 refuted, 3 it could not be checked.
    """
    from seatrial.cli.output import TerminalDisplay, print_json
    from seatrial.errors import StartError

    with TerminalDisplay() as display:
        found = deployment(stack, display)
        planned = found.plan_of

        def with_suite(path: Path) -> Plan:
            from dataclasses import replace

            made = planned(path)
            policy = made.stack.policy.model_copy(update={"prove": suite})
            return replace(made, stack=made.stack.model_copy(update={"policy": policy}))

        found.plan_of = with_suite
        found.with_bench = bench
        if not found.is_running():
            raise StartError("nothing of this stack runs", where=str(stack), advice="seatrial up starts it.")
        judgement = found.prove()
    if as_json:
        print_json({"verdict": judgement.verdict.value, "summary": judgement.summary, "run": judgement.run})
    else:
        typer.echo(f"{judgement.verdict.value}: {judgement.summary} ({judgement.run})")
    raise typer.Exit(int(judgement.verdict.exit_code))
