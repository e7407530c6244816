"""`seatrial host plan`, `apply` and `audit`: accounts and permissions, declared, shown, applied, watched."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seatrial.cli.host_options import (
    DEFAULT_ROOT,
    DEFAULT_SERVICE,
    Admins,
    NoDocker,
    On,
    Root,
    Service,
    SshOptions,
    Sudo,
    connection_from,
    declared_from,
)
from seatrial.cli.options import Json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from seatrial.host.accounts import Declared
    from seatrial.host.connection import Connection
    from seatrial.host.difference import Action, Difference
    from seatrial.host.managing import Applied
    from seatrial.host.observed import Observed

WithService = Annotated[
    bool,
    typer.Option("--service", help="Also systemd units: the stack at boot, a weekly re-proof into the ledger."),
]
Program = Annotated[
    str | None,
    typer.Option("--program", metavar="PATH", help="Where seatrial lies on that machine, for --service."),
]
DOCKER_IS_ROOT = (
    "Membership in the group docker is root on this host: a container may mount / and change everything. "
    "So only the service account gets it, nobody logs in as that account, and admins use `sudo -u`."
)
NO_FORCED_COMMAND = (
    "A shell of nologin is fine here: no SSH key runs a forced command as this account, so there is none that nologin "
    "could swallow. A deploy job that logs in would need a real shell, and a decision."
)


def plan(
    root: Root = DEFAULT_ROOT,
    account: Service = DEFAULT_SERVICE,
    admin: Admins = None,
    service: WithService = False,
    program: Program = None,
    no_docker: NoDocker = False,
    on: On = None,
    ssh_option: SshOptions = None,
    sudo: Sudo = False,
    as_json: Json = False,
) -> None:
    """Show what `host apply` would change, line by line. Changes nothing.

    Exit code 0: the difference is shown, or there is none; 3: the machine can't be reached.
    """
    declared = declared_from(root, account, admin, no_docker=no_docker)
    connection = connection_from(on, ssh_option, sudo=sudo)
    observed, found = _difference(connection, declared, service=service, program=program)
    if as_json:
        from seatrial.cli.output import print_json

        print_json(_document(declared, observed, found))
        return
    from seatrial.cli.output import console

    _print_difference(console(), declared, observed, found)


def apply(
    root: Root = DEFAULT_ROOT,
    account: Service = DEFAULT_SERVICE,
    admin: Admins = None,
    service: WithService = False,
    program: Program = None,
    no_docker: NoDocker = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask after the difference is shown.")] = False,
    undo: Annotated[
        bool, typer.Option("--undo", help="Take back the newest apply (or --journal's), as far as it can be.")
    ] = False,
    journal: Annotated[
        str | None, typer.Option("--journal", metavar="NAME", help="Which apply is taken back, by its journal's name.")
    ] = None,
    on: On = None,
    ssh_option: SshOptions = None,
    sudo: Sudo = False,
    as_json: Json = False,
) -> None:
    """Make accounts, folders and permissions what the deployment notes say. The difference is shown first.

    A second time it changes nothing. Each step is written to a journal before it is done, so that --undo can take it
    back. Without root it does what it may, and says what is left for root.

    Exit code 0: all is as declared; 1: a step failed; 2: nobody was there to ask; 3: something is left for root.
    """
    declared = declared_from(root, account, admin, no_docker=no_docker)
    connection = connection_from(on, ssh_option, sudo=sudo)
    if undo or journal:
        _undo(connection, journal, yes=yes, as_json=as_json)
        return
    from seatrial.cli.output import TerminalDisplay, console, print_json
    from seatrial.errors import ExitCode
    from seatrial.host.managing import apply as do

    observed, found = _difference(connection, declared, service=service, program=program)
    out = console(stderr=as_json)
    _print_difference(out, declared, observed, found)
    if found.doable and not yes:
        _ask("Apply this?")
    with TerminalDisplay() as display:
        applied = do(connection, found.doable, display)
    if as_json:
        print_json({**_document(declared, observed, found), "applied": applied})
    _print_applied(out, applied)
    if applied.changed:
        out.print(DOCKER_IS_ROOT, style="dim")
        out.print(NO_FORCED_COMMAND, style="dim")
        if any(action.kind == "join-group" for action in found.doable):
            out.print('New groups take effect at the next login; until then: sg docker -c "…".', style="dim")
    if not applied.is_whole:
        raise typer.Exit(int(ExitCode.REFUTED))
    if found.for_root or found.blocked:
        raise typer.Exit(int(ExitCode.UNPROVEN))


def audit(
    root: Root = DEFAULT_ROOT,
    account: Service = DEFAULT_SERVICE,
    admin: Admins = None,
    no_docker: NoDocker = False,
    fix: Annotated[
        bool,
        typer.Option("--fix", help="Mend what is safe: owner, group, mode and ACLs of the tree. Accounts are left."),
    ] = False,
    on: On = None,
    ssh_option: SshOptions = None,
    sudo: Sudo = False,
    as_json: Json = False,
) -> None:
    """Find where the machine has drifted from the account model, and say what each drift would break.

    Exit code 0: no errors; 1: errors; 2: wrong usage; 3: the machine can't be reached.
    """
    from seatrial.cli.findings_output import print_findings
    from seatrial.cli.output import TerminalDisplay, console, print_json
    from seatrial.findings import exit_code
    from seatrial.host.audit import audit as judge
    from seatrial.host.difference import difference
    from seatrial.host.managing import apply as do
    from seatrial.host.managing import look
    from seatrial.planning.document import findings_document

    declared = declared_from(root, account, admin, no_docker=no_docker)
    connection = connection_from(on, ssh_option, sudo=sudo)
    observed = look(connection, declared)
    findings = judge(declared, observed)
    applied: Applied | None = None
    out = console(stderr=as_json)
    if fix:
        safe = [action for action in difference(declared, observed).doable if action.safe]
        with TerminalDisplay() as display:
            applied = do(connection, safe, display)
        if applied.outcomes:
            observed = look(connection, declared)
        findings = judge(declared, observed)
    if as_json:
        document: dict[str, Any] = {"entries": observed.tree.entries, "findings": findings_document(findings)}
        print_json({**document, "fixed": applied} if fix else document)
    else:
        if applied is not None:
            _print_applied(out, applied)
        print_findings(out, findings, nothing=f"{observed.tree.entries:,} entries: all as declared")
    raise typer.Exit(int(exit_code(findings)))


def _difference(
    connection: Connection, declared: Declared, *, service: bool, program: str | None
) -> tuple[Observed, Difference]:
    from dataclasses import replace

    from seatrial.host.difference import difference
    from seatrial.host.managing import look
    from seatrial.host.services import unit_actions, units

    files = [unit.path for unit in units(declared, "")] if service else []
    observed = look(connection, declared, files=files)
    found = difference(declared, observed)
    if not service:
        return observed, found
    path = program or observed.tools.get("seatrial")
    if path is None:
        blocked = "seatrial is not on the PATH of that machine: say where it lies with --program."
        return observed, replace(found, blocked=(*found.blocked, blocked))
    more = tuple(unit_actions(units(declared, path), observed))
    return observed, replace(found, actions=(*found.actions, *more))


def _document(declared: Declared, observed: Observed, found: Difference) -> dict[str, Any]:
    from seatrial.host.difference import total

    def lines(actions: Sequence[Action]) -> list[dict[str, Any]]:
        return [
            {"kind": one.kind, "summary": one.summary, "why": one.why, "diff": one.diff, "changes": total([one])}
            for one in actions
        ]

    return {
        "root": declared.root,
        "account": declared.service,
        "is_root": observed.me.is_root,
        "changes": total(found.actions),
        "actions": lines(found.doable),
        "for_root": lines(found.for_root),
        "blocked": found.blocked,
    }


def _print_difference(out: Console, declared: Declared, observed: Observed, found: Difference) -> None:
    from rich.text import Text

    from seatrial.host.difference import total

    if not found.actions and not found.blocked:
        out.print(Text(f"{declared.root}: nothing to change; {observed.tree.entries:,} entries are as declared."))
        return
    _print_actions(out, found.doable)
    if found.for_root:
        out.print(Text(f"This needs root, and {observed.me.name} is not:", style="yellow"))
        _print_actions(out, found.for_root)
        out.print(Text(f"  sudo {' '.join(['seatrial', *sys.argv[1:]])}", style="yellow"))
    for sentence in found.blocked:
        out.print(Text(sentence, style="yellow"))
    out.print(Text(f"{total(found.doable):,} changes, {total(found.for_root):,} more for root", style="dim"))


def _print_actions(out: Console, actions: Sequence[Action]) -> None:
    from rich.text import Text

    for action in actions:
        out.print(Text.assemble(("• ", "bold"), (action.summary, "bold"), (f"  {action.why}", "dim")))
        for line in action.diff:
            style = "green" if line.startswith("+") else "red" if line.startswith("-") else "dim"
            out.print(Text(f"    {line}", style=style), soft_wrap=True)


def _print_applied(out: Console, applied: Applied) -> None:
    from rich.text import Text

    for outcome in applied.outcomes:
        style = "green" if outcome.state == "done" else "yellow" if outcome.state == "skipped" else "bold red"
        out.print(Text.assemble((f"{outcome.state:<8}", style), outcome.summary))
        for why in outcome.why:
            out.print(Text(f"        {why}", style="dim"))
    if applied.journal:
        out.print(
            Text(f"{applied.changed:,} changes; journal: {applied.journal} (--undo takes them back)", style="dim")
        )


def _ask(question: str) -> None:
    from seatrial.errors import InputError

    if not sys.stdin.isatty():
        raise InputError("nobody is there to ask", where="host apply", advice="Read the difference, then add --yes.")
    if not typer.confirm(question):
        raise typer.Abort


def _undo(connection: Connection, journal: str | None, *, yes: bool, as_json: bool) -> None:
    from rich.text import Text

    from seatrial.cli.output import console, print_json
    from seatrial.errors import ExitCode, InputError
    from seatrial.host.managing import journals, undo

    known = journals(connection)
    name = journal or (known[0]["name"] if known else None)
    chosen = next((one for one in known if one["name"] == name), None)
    if chosen is None:
        names = ", ".join(one["name"] for one in known) or "none is left to take back"
        raise InputError("there is no such journal", where=name or "host apply --undo", advice=f"Journals: {names}.")
    out = console(stderr=as_json)
    out.print(Text(f"{chosen['name']}: {chosen['steps']} steps, the newest first", style="bold"))
    if not yes:
        for summary in reversed(chosen["summaries"]):
            out.print(Text(f"  take back: {summary}"))
        _ask("Take this back?")
    steps = undo(connection, chosen["name"])
    for step in steps:
        out.print(
            Text.assemble(
                ("left    " if step.problems else "undone  ", "yellow" if step.problems else "green"), step.summary
            )
        )
        for problem in step.problems:
            out.print(Text(f"        {problem}", style="dim"))
    if as_json:
        print_json({"journal": chosen["name"], "steps": steps})
    if any(step.problems for step in steps):
        raise typer.Exit(int(ExitCode.REFUTED))
