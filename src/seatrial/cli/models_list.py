"""`seatrial models list`: what is in the store, who uses it, and what is known about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seatrial.cli.models_shared import LedgerOption, NoContainers, StacksOption, StoreOption
from seatrial.cli.options import Json

if TYPE_CHECKING:
    from collections.abc import Sequence


def list_(
    store: StoreOption = None,
    stack: StacksOption = None,
    ledger: LedgerOption = None,
    no_containers: NoContainers = False,
    as_json: Json = False,
) -> None:
    """List the models of the store: commit, size, who uses it, and what is known about it on which engine."""
    from seatrial.cli.models_shared import find_store, read_entries
    from seatrial.cli.output import print_json
    from seatrial.store.layout import hub_folder, read_store
    from seatrial.store.pull import free_bytes
    from seatrial.store.reference_sources import find_uses
    from seatrial.store.references import uses_of
    from seatrial.store.standing import standing

    place = find_store(store, stack)
    known = find_uses(place, stacks=stack or (), containers=not no_containers)
    entries = read_entries(place, ledger, stack)
    rows: list[dict[str, Any]] = []
    for model in read_store(place):
        uses = uses_of(model, known.uses)
        for one in model.revisions:
            judged = standing(model.repo, one.commit, entries)
            rows.append(
                {
                    "repo": model.repo,
                    "commit": one.commit,
                    "refs": list(one.refs),
                    "bytes": one.bytes,
                    "used_by": [{"kind": use.kind, "who": use.who, "detail": use.detail} for use in uses[one.commit]],
                    "status": judged.status,
                    "status_engine": judged.engine,
                    "status_date": judged.date,
                    "status_why": judged.why,
                }
            )
        if not model.revisions:
            size = sum(blob.lstat().st_size for blob in model.blobs)
            rows.append(
                {
                    "repo": model.repo, "commit": None, "refs": [], "bytes": size, "used_by": [],
                    "status": "incomplete", "status_engine": "", "status_date": "",
                    "status_why": "no commit of it is complete: a pull was cut off",
                }
            )  # fmt: skip
    total = _total_bytes(place)
    if as_json:
        print_json(
            {
                "store": hub_folder(place),
                "models": rows,
                "bytes": total,
                "free_bytes": free_bytes(hub_folder(place)),
                "unknown": known.unknown,
                "notes": known.notes,
            }
        )
        return
    _print(rows, total, free_bytes(hub_folder(place)), [*known.unknown, *known.notes], str(hub_folder(place)))


def _total_bytes(store: Any) -> int:
    """Measure what the models take, content that commits or models share once."""
    from seatrial.store.layout import read_store

    sizes: dict[tuple[int, int], int] = {}
    for model in read_store(store):
        for path in [*model.blobs, *(file.path for one in model.revisions for file in one.files)]:
            try:
                facts = path.stat()
            except OSError:
                continue
            sizes[facts.st_dev, facts.st_ino] = facts.st_size
    return sum(sizes.values())


def _print(rows: Sequence[dict[str, Any]], total: int, free: int, notes: Sequence[str], where: str) -> None:
    from rich.text import Text

    from seatrial.cli.models_shared import in_words
    from seatrial.cli.output import COLOURS, console

    out = console()
    if not rows:
        out.print(Text(f"{where}: no models"), soft_wrap=True)
    wide = max((len(row["repo"]) for row in rows), default=0)
    for row in rows:
        names = f" {', '.join(row['refs'])}" if row["refs"] else ""
        on = " ".join(part for part in (row["status_engine"], row["status_date"]) if part)
        style = COLOURS.get(str(row["status"]), "bold red" if "broken" in str(row["status"]) else "yellow")
        at = f"{(row['commit'] or '–')[:12]}{names}"
        line = Text.assemble(
            f"{row['repo']:<{wide}}  {at:<20} {in_words(row['bytes']):>10}  ", (str(row["status"]), style)
        )
        out.print(line.append(f" {on}" if on else ""), soft_wrap=True)
        if row["status_why"] and row["status"] != "proven":
            out.print(Text(f"  {row['status_why']}", style="dim"), soft_wrap=True)
        for use in row["used_by"]:
            detail = f" ({use['detail']})" if use["detail"] else ""
            out.print(Text(f"  used by {use['kind']} {use['who']}{detail}", style="dim"), soft_wrap=True)
        if not row["used_by"] and row["commit"]:
            out.print(Text("  used by nothing that was found", style="dim"))
    if rows:
        out.print(Text(f"{in_words(total)} in all, {in_words(free)} free: {where}", style="dim"), soft_wrap=True)
    for note in notes:
        out.print(Text(f"note: {note}", style="dim"), soft_wrap=True)
