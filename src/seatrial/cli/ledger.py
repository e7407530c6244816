"""`seatrial ledger`: what was proven about what."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seatrial.cli.options import Json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seatrial.ledger.database import Ledger
    from seatrial.ledger.entry import Entry

Folder = Annotated[
    Path | None, typer.Option("--ledger", metavar="FOLDER", help="The ledger. Default: the one that stack.yaml names.")
]
ledger = typer.Typer(no_args_is_help=True, help="What was proven about what: verdicts, benchmarks, promotions.")


@ledger.command("list")
def list_entries(
    folder: Folder = None,
    model: Annotated[str | None, typer.Option("--model", help="Only entries about this checkpoint.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Most entries that are shown.")] = 30,
    as_json: Json = False,
) -> None:
    """List entries, the newest first."""
    found = _open(folder)
    _show(found.entries(model=model, limit=limit), as_json=as_json)


@ledger.command("show")
def show(
    number: Annotated[int, typer.Argument(help="The entry's number.")], folder: Folder = None, as_json: Json = False
) -> None:
    """Show one entry whole."""
    from seatrial.cli.output import console, print_json
    from seatrial.errors import InputError

    entry = _open(folder).entry(number)
    if entry is None:
        raise InputError(
            "there is no such entry", where=str(number), advice="`seatrial ledger list` shows their numbers."
        )
    if as_json:
        print_json(entry)
        return
    out = console()
    for name, value in _plain(entry).items():
        out.print(f"{name:<16} {value}", highlight=False, soft_wrap=True)


@ledger.command("history")
def history(
    model: Annotated[str, typer.Argument(help="The checkpoint.")], folder: Folder = None, as_json: Json = False
) -> None:
    """Show what is recorded about a checkpoint, oldest first: on which engine, with which verdict, since when."""
    _show(list(reversed(_open(folder).entries(model=model))), as_json=as_json)


@ledger.command("export")
def export(output: Annotated[Path, typer.Argument(help="The JSON file to write.")], folder: Folder = None) -> None:
    """Write every entry to one JSON file that another team can import; no prompts or answers are in it."""
    import json

    from seatrial.ledger.exchange import export_document
    from seatrial.text_files import write_whole

    entries = _open(folder).entries()
    write_whole(output, json.dumps(export_document(entries), ensure_ascii=False, indent=1) + "\n")
    typer.echo(f"{output}: {len(entries)} entries")


@ledger.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="What another ledger exported.")],
    origin: Annotated[str, typer.Option("--origin", help="Whose it is; shown with every entry.")],
    folder: Folder = None,
) -> None:
    """Take in what another team found, as reported: it warns and asks, a verdict of your own decides."""
    from seatrial.ledger.exchange import import_document
    from seatrial.text_files import read_text

    found = _open(folder, create=True)
    known = {(entry.origin, entry.at, entry.combination.digest(), entry.note) for entry in found.entries()}
    entries = [
        entry
        for entry in import_document(read_text(file, "exported ledger"), origin=origin, where=str(file))
        if (entry.origin, entry.at, entry.combination.digest(), entry.note) not in known
    ]
    found.append_all(entries)
    typer.echo(f"{len(entries)} new entries are taken in as reported by {origin}")


def _open(folder: Path | None, *, create: bool = False) -> Ledger:
    from seatrial.errors import InputError
    from seatrial.ledger.database import FILE_NAME, Ledger
    from seatrial.stack.reading import load_stack

    if folder is None:
        stack = Path("stack.yaml")
        folder = stack.parent / load_stack(stack).ledger if stack.is_file() else Path("ledger")
    if not create and not (folder / FILE_NAME).is_file():
        raise InputError(
            "there is no ledger", where=str(folder), advice="`seatrial switch` begins one; or name it: --ledger."
        )
    return Ledger(folder)


def _show(entries: Sequence[Entry], *, as_json: bool) -> None:
    from seatrial.cli.output import COLOURS, console, print_json

    if as_json:
        print_json(list(entries))
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for column in ("", "when", "what", "verdict", "model", "engine", "note"):
        table.add_column(column, overflow="fold")
    for entry in entries:
        table.add_row(
            str(entry.id),
            entry.at.replace("T", " ").removesuffix("+00:00"),
            entry.kind.value + (f" by {entry.origin}" if entry.origin else ""),
            Text(entry.verdict or "–", style=COLOURS.get(entry.verdict or "", "")),
            Text(entry.combination.model),
            Text(f"{entry.combination.engine} {entry.combination.engine_version or ''}".strip()),
            Text(entry.note),
        )
    console().print(table)


def _plain(entry: Entry) -> dict[str, Any]:
    from dataclasses import asdict

    document = asdict(entry)
    combination = document.pop("combination")
    return {**{name: value for name, value in document.items() if value not in (None, "", {})}, **combination}
