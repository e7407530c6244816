"""`seatrial upgrade`: what another engine version would change. Starts nothing, writes nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seatrial.cli.options import Json
from seatrial.cli.planning_inputs import FactsFile, Gpus, Offline, Store

if TYPE_CHECKING:
    from rich.console import Console

    from seatrial.planning.upgrade import Upgrade


def upgrade(
    version: Annotated[str, typer.Argument(help="The version to look at, e.g. 0.5.23.")],
    stack: Annotated[Path, typer.Option("--stack", metavar="FILE", help="The stack file.")] = Path("stack.yaml"),
    facts: FactsFile = None,
    gpus: Gpus = None,
    store: Store = None,
    offline: Offline = False,
    every_flag: Annotated[bool, typer.Option("--all", help="Every flag that differs, not only those in use.")] = False,
    as_json: Json = False,
) -> None:
    """Show what another version of the engine would change for this stack, before anything is pulled.

    Flags that are gone, renamed, deprecated or have another default; settings that rules would decide differently; and
    what the plan for that version has to say. Exit code 1 where that plan has errors.
    """
    from seatrial.cli.planning_inputs import catalogue_for, facts_for
    from seatrial.engines.sglang.catalogue import load, versions
    from seatrial.engines.versions import parse_version
    from seatrial.errors import InputError
    from seatrial.findings import exit_code
    from seatrial.planning.plan import make_plan
    from seatrial.planning.upgrade import compare_plans
    from seatrial.stack.reading import load_stack

    wanted = version.removeprefix("v")
    if parse_version(wanted) is None:
        raise InputError("this is no version", where=version, advice="E.g. 0.5.23.")
    read = load_stack(stack)
    known = facts_for(read, stack, facts=facts, gpus=gpus, store=store, offline=offline)
    newer = read.model_copy(
        update={
            "engine": read.engine.model_copy(update={"version": wanted, "image": _image(read.engine.image, wanted)})
        }
    )
    old_flags, new_flags = catalogue_for(read), load(wanted)
    old = make_plan(read, model=known.model, host=known.host, catalogue=old_flags)
    new = make_plan(newer, model=known.model, host=known.host, catalogue=new_flags)
    found = compare_plans(old, new, old_flags, new_flags)
    notes = list(known.notes)
    if not new_flags.exact:
        known_versions = ", ".join(versions())
        notes.append(
            f"the flags of {wanted} are not known; those of {new_flags.version} are taken (known: {known_versions})"
        )
    if as_json:
        from seatrial.cli.output import print_json
        from seatrial.planning.document import findings_document

        document = {
            "before": found.before,
            "after": found.after,
            "flags": found.flags,
            "settings": found.settings,
            "findings": findings_document(found.findings),
            "new_findings": findings_document(found.new_findings),
            "notes": notes,
        }
        print_json(document)
    else:
        from seatrial.cli.output import console

        _print(console(), found, notes, every_flag=every_flag)
    raise typer.Exit(int(exit_code(found.findings)))


def _image(image: str, version: str) -> str:
    """Put another version into an image's tag, where its tag is a version."""
    import re

    name, colon, tag = image.partition("@")[0].rpartition(":")
    changed = re.sub(
        r"v?\d+\.\d+\.\d+(\.?(post|rc|dev)\d+)?", f"v{version}" if tag.startswith("v") else version, tag, count=1
    )
    return f"{name}:{changed}" if colon and "/" not in tag else image


def _print(out: Console, found: Upgrade, notes: list[str], *, every_flag: bool) -> None:
    from rich.table import Table
    from rich.text import Text

    from seatrial.cli.findings_output import print_findings

    out.print(Text(f"from SGLang {found.before} to {found.after}", style="bold"))
    for note in notes:
        out.print(Text(note, style="yellow"))
    shown = [change for change in found.flags if change.used or every_flag]
    counts = {
        kind: sum(change.change == kind for change in found.flags)
        for kind in ("removed", "renamed", "added", "default", "deprecated")
    }
    out.print(
        Text(
            f"of all flags and variables: {', '.join(f'{count} {kind}' for kind, count in counts.items() if count)}",
            style="dim",
        )
    )
    out.print()
    if not shown:
        out.print(Text("none of those in use differs"))
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for change in shown:
        table.add_row(
            Text(change.name, style="bold" if change.used else ""), change.change, _change(change.before, change.after)
        )
    for setting in found.settings:
        table.add_row(
            Text(setting.name, style="bold"),
            "setting",
            f"{_value(setting.before)} → {_value(setting.after)}: {setting.why}",
        )
    out.print(table)
    out.print()
    print_findings(out, found.new_findings, nothing="the plan for the new version has nothing new to say")


def _change(before: object, after: object) -> str:
    return f"{_value(before)} → {_value(after)}"


def _value(value: object) -> str:
    return "–" if value is None else str(value)
