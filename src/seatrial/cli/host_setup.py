"""`seatrial host setup`: the eight steps of a first set-up, as a checklist that can be resumed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from seatrial.cli.host_options import (
    DEFAULT_ROOT,
    DEFAULT_SERVICE,
    Admins,
    Root,
    Service,
    connection_from,
    declared_from,
)
from seatrial.cli.options import Json

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from seatrial.host.accounts import Declared
    from seatrial.host.connection import Connection
    from seatrial.host.setup import StackState, Step
    from seatrial.planning.plan import Plan
    from seatrial.release.deployment import Deployment

LAST_OF_THE_HOST = 5
"""Steps up to this one are about the host; those after it build on the first four."""
STYLES = {"done": "green", "to do": "yellow", "needs you": "bold red"}


def setup(
    root: Root = DEFAULT_ROOT,
    account: Service = DEFAULT_SERVICE,
    admin: Admins = None,
    model: Annotated[
        str | None, typer.Option("--model", metavar="OWNER/NAME", help="What to serve, where no stack file is there.")
    ] = None,
    go: Annotated[
        bool, typer.Option("--go", help="Do what is to do, step by step, until one needs you or does not succeed.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show the eight steps from a bare server to a proven one: done, to do, needs you. --go takes them in order.

    Each step is judged by the machine as it is, so the list can be left and resumed at any point. It ends with a proof
    and a benchmark, because a server that starts cleanly is not a server that answers correctly.

    Exit code 0: all is done; 1: a step did not succeed; 3: something is left.
    """
    from seatrial.cli.output import console, print_json
    from seatrial.errors import ExitCode
    from seatrial.host.setup import State

    declared = declared_from(root, account, admin, no_docker=False)
    connection = connection_from(None, None, sudo=False)
    out = console(stderr=as_json)
    steps = _look(declared, connection, model)
    failed = False
    if go:
        steps, failed = _go(out, declared, connection, model, steps)
    if as_json:
        keys = ("number", "title", "state", "detail", "command")
        print_json({"steps": [{key: getattr(step, key) for key in keys} for step in steps]})
    else:
        _print(out, declared, steps)
    if failed:
        raise typer.Exit(int(ExitCode.REFUTED))
    if any(step.state is not State.DONE for step in steps):
        raise typer.Exit(int(ExitCode.UNPROVEN))


def _look(declared: Declared, connection: Connection, model: str | None) -> tuple[Step, ...]:
    from seatrial.facts.probe import probe_host
    from seatrial.host.difference import difference
    from seatrial.host.managing import look
    from seatrial.host.preflight import driver
    from seatrial.host.setup import set_up_steps
    from seatrial.host.situation import Situation

    observed = look(connection, declared)
    stack, plan = _stack_state(declared)
    findings = tuple(driver.check(Situation(host=probe_host(docker=False), plan=plan)))
    return set_up_steps(declared, observed, difference(declared, observed), findings, stack, model=model)


def _stack_state(declared: Declared) -> tuple[StackState, Plan | None]:
    from pathlib import Path

    from seatrial.cli.deploying import deployment
    from seatrial.cli.output import TerminalDisplay
    from seatrial.errors import SeatrialError
    from seatrial.findings import Level
    from seatrial.host.accounts import DOCKER
    from seatrial.host.looking.store import find_snapshot
    from seatrial.host.setup import StackState

    file = Path(declared.root) / DOCKER / "stack.yaml"
    try:
        if not file.is_file():
            return StackState(written=False), None
        with TerminalDisplay() as display:
            found = deployment(file, display)
        plan = found.plan()
    except PermissionError:
        return StackState(written=True, problem="it can't be read by this account"), None
    except SeatrialError as error:
        return StackState(written=True, problem=str(error)), None
    store = (file.parent / plan.stack.store).resolve()
    revision = plan.stack.model.revision or "main"
    snapshot = find_snapshot(store / "hub", plan.stack.model.repo, revision)
    verdict, measured = _newest(plan, file.parent)
    errors = tuple(one.message for one in plan.findings if one.level is Level.ERROR)
    state = StackState(
        written=True,
        errors=errors,
        model=plan.stack.model.repo,
        store=str(store),
        revision=revision,
        snapshot=snapshot.is_whole,
        running=_runs(found),
        verdict=verdict,
        measured=measured,
        suite=plan.stack.policy.prove,
    )
    return state, plan


def _runs(found: Deployment) -> bool:
    from seatrial.errors import SeatrialError
    from seatrial.runtimes.instance import runs_as_planned

    try:
        return runs_as_planned(found.plan(), found.instances()) is not None
    except SeatrialError:
        return False


def _newest(plan: Plan, folder: Path) -> tuple[str | None, bool]:
    """Find the newest verdict on what the plan serves, and whether it came with a benchmark."""
    from seatrial.errors import SeatrialError
    from seatrial.ledger.database import FILE_NAME, Ledger
    from seatrial.ledger.entry import Kind

    place = (folder / plan.stack.ledger).resolve()
    try:
        if not (place / FILE_NAME).is_file():
            return None, False
        ledger = Ledger(place)
    except (SeatrialError, OSError):
        return None, False
    try:
        entries = ledger.entries(model=plan.stack.model.repo, kind=Kind.VERDICT, limit=50)
    finally:
        ledger.close()
    ours = [entry for entry in entries if entry.plan == plan.digest]
    return (ours[0].verdict if ours else None, any("output_token_throughput" in entry.figures for entry in ours))


def _go(
    out: Console, declared: Declared, connection: Connection, model: str | None, steps: tuple[Step, ...]
) -> tuple[tuple[Step, ...], bool]:
    """Take the steps in order; each is judged anew before it is taken, for an earlier one may have done it."""
    from seatrial.host.setup import State

    for number in range(1, len(steps) + 1):
        step = steps[number - 1]
        if step.state is State.DONE:
            continue
        if step.state is State.NEEDS_YOU and number <= LAST_OF_THE_HOST:
            continue  # the others of the host don't wait for it
        waits = [one for one in steps[:4] if one.state is not State.DONE]
        if step.state is State.NEEDS_YOU or (number > LAST_OF_THE_HOST and waits):
            return steps, False
        out.print(f"Step {step.number}: {step.title}", style="bold", highlight=False)
        succeeded = _apply(out, connection, step) if step.actions else _run(declared, step)
        steps = _look(declared, connection, model)
        if not succeeded:
            return steps, True
    return steps, False


def _apply(out: Console, connection: Connection, step: Step) -> bool:
    from seatrial.cli.output import TerminalDisplay
    from seatrial.host.managing import apply

    with TerminalDisplay() as display:
        applied = apply(connection, step.actions, display)
    for outcome in applied.outcomes:
        out.print(f"  {outcome.state}: {outcome.summary} {'; '.join(outcome.why)}".rstrip(), highlight=False)
    return applied.is_whole


def _run(declared: Declared, step: Step) -> bool:
    """Run one of our own verbs as the service account, its output shown as it comes."""
    import os
    import shutil
    import subprocess
    import sys

    words = [sys.executable, "-m", "seatrial", *step.command]
    become = shutil.which("runuser")
    if os.geteuid() == 0 and become:
        words = [become, "-u", declared.service, "--", *words]
    # What it says goes to stderr: stdout is for the checklist. What it makes is not the group's to write.
    done = subprocess.run(
        words,
        cwd=declared.root,
        check=False,
        env={**os.environ, "HOME": declared.root},
        stdout=sys.stderr,
        umask=0o022,
    )
    return done.returncode == 0


def _print(out: Console, declared: Declared, steps: tuple[Step, ...]) -> None:
    import shlex

    from rich.text import Text

    from seatrial.host.setup import State

    for step in steps:
        head = Text.assemble(
            (f"{step.number}  ", "dim"), (f"{step.state.value:<10}", STYLES[step.state.value]), step.title
        )
        out.print(head)
        out.print(Text(f"              {step.detail}", style="dim"))
        if step.state is State.TO_DO and step.command:
            command = shlex.join(["sudo", "-u", declared.service, "seatrial", *step.command])
            out.print(Text(f"              {command}", style="italic dim"), soft_wrap=True)
    left = sum(step.state is State.TO_DO for step in steps)
    yours = sum(step.state is State.NEEDS_YOU for step in steps)
    out.print(Text(f"{8 - left - yours} done, {left} to do (--go), {yours} need you", style="dim"))
