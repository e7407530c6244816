"""What the verbs of a stack's life share: the deployment of a stack file; an interrupted switch first."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from seatrial.cli.output import TerminalDisplay
    from seatrial.planning.plan import Plan
    from seatrial.release.deployment import Deployment

StackOption = Annotated[Path, typer.Option("--stack", metavar="FILE", help="The stack file.")]
DEFAULT_STACK = Path("stack.yaml")


@dataclass(frozen=True, slots=True)
class Facts:
    """Where facts about the machine come from, for the plan."""

    facts: Path | None = None
    gpus: str | None = None
    store: Path | None = None


def deployment(stack: Path, display: TerminalDisplay, facts: Facts | None = None) -> Deployment:
    """Make the deployment of a stack file.

    Raises:
        InputError: the stack file is not there.
    """
    from seatrial.cli.plan import make
    from seatrial.release.deployment import Deployment
    from seatrial.runtimes.choice import project_of
    from seatrial.stack.reading import load_stack

    read = load_stack(stack)
    known = facts or Facts()

    def plan_of(path: Path) -> Plan:
        made, _ = make(path, facts=known.facts, gpus=known.gpus, store=known.store, offline=True)
        return made

    return Deployment(project_of(stack, read), plan_of, display, lambda text: typer.echo(f"  {text}", err=True))


def take_up(found: Deployment) -> None:
    """Finish or undo a switch that did not end, before anything else is done."""
    from seatrial.release.switch import recover

    outcome = recover(found)
    if outcome is not None:
        found.say("it is finished" if outcome.promoted else f"it is undone: {outcome.why}")
