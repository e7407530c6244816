"""`seatrial models pull`: a checkpoint into the store, looked at before a byte is loaded."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seatrial.cli.deploying import DEFAULT_STACK
from seatrial.cli.models_shared import LedgerOption, StacksOption, StoreOption
from seatrial.cli.options import Json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seatrial.store.hub_source import HubModel
    from seatrial.store.pull import PullPlan
    from seatrial.store.standing import Standing


def pull(
    model: Annotated[str, typer.Argument(help="owner/name, or owner/name@REVISION: a branch, tag or commit.")],
    store: StoreOption = None,
    stack: StacksOption = None,
    ledger: LedgerOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be loaded, and load nothing.")] = False,
    allow_pickle: Annotated[
        bool, typer.Option("--allow-pickle", help="Also load weights in formats that may run code when they are read.")
    ] = False,
    include: Annotated[
        list[str] | None, typer.Option("--include", metavar="PATTERN", help="Also load these, e.g. '*.gguf'.")
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option("--exclude", metavar="PATTERN", help="Never load these, e.g. 'figures/*'.")
    ] = None,
    parallel: Annotated[int, typer.Option("--parallel", min=1, max=64, help="Files at once.")] = 8,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Load a checkpoint that is known to be broken; needs --why.")
    ] = False,
    why: Annotated[str, typer.Option("--why", help="The reason for --anyway; it is kept beside the model.")] = "",
    as_json: Json = False,
) -> None:
    """Load a checkpoint into the store; killed or cut off, it goes on where it was.

    Says commit, size, licence, gate, free disk, and what the ledger and others say about it, before a byte is loaded.
    Every file is compared with the Hub's hash. The branch points to the new commit only when all of it is there; the
    old one stays. Loads safetensors only, and the repository's own code only if a stack file trusts it.

    Exit code 0: it is there, whole; 2: it was refused (known broken, no room, pickle); 3: it could not be loaded.
    """
    from seatrial.cli.models_shared import TransferDisplay, find_store, read_entries
    from seatrial.cli.output import print_json
    from seatrial.errors import InputError
    from seatrial.store.hub_source import check_name, look_up
    from seatrial.store.known_stacks import remember_stack
    from seatrial.store.pull import plan_pull
    from seatrial.store.pull import pull as load
    from seatrial.store.selection import select
    from seatrial.store.standing import standing

    repo, _, revision = model.partition("@")
    check_name(repo)
    place = find_store(store, stack)
    found = look_up(repo, revision or None)
    selection = select(
        found.files,
        allow_pickle=allow_pickle,
        allow_code=_trusts_code(repo, stack),
        include=include or (),
        exclude=exclude or (),
    )
    plan = plan_pull(found, selection, place)
    known = standing(repo, found.commit, read_entries(place, ledger, stack))
    document = _document(plan, known, why if anyway else "")
    if not as_json:
        _print_plan(plan, known)
    _refuse(found, plan, allow_pickle=allow_pickle)
    if dry_run:
        if as_json:
            print_json({**document, "pulled": False})
        return
    if known.is_known_broken:
        why = _reason(found, known, anyway=anyway, why=why, ask=not as_json)
        document["forced"] = why
    elif anyway and len(why.strip()) < 3:
        raise InputError("--anyway needs a reason", where="--why", advice="--why 'the reason'; it is kept.")
    with TransferDisplay(quiet=as_json) as display:
        snapshot = load(plan, parallel=parallel, show=display.show)
    for file in (*(stack or ()), DEFAULT_STACK):
        if file.is_file() and store is None:
            remember_stack(place, file)
    if known.is_known_broken:
        _keep_reason(plan, why)
    if as_json:
        print_json({**document, "pulled": True, "snapshot": snapshot})
    else:
        typer.echo(f"{repo} at {found.commit[:12]} is in the store, every file is the Hub's: {snapshot}")


def _trusts_code(repo: str, stacks: Sequence[Path] | None) -> bool:
    """Whether a stack file says that this repository's own code may be run."""
    from seatrial.errors import SeatrialError
    from seatrial.stack.reading import load_stack

    for path in (*(stacks or ()), DEFAULT_STACK):
        if path.is_file():
            try:
                model = load_stack(path).model
            except SeatrialError:
                continue
            if model.repo.lower() == repo.lower() and model.trust_remote_code:
                return True
    return False


def _refuse(found: HubModel, plan: PullPlan, *, allow_pickle: bool) -> None:
    from seatrial.cli.models_shared import in_words
    from seatrial.errors import FetchError, InputError

    if not found.access:
        raise FetchError(
            "the Hub gives this checkpoint only to accounts that accepted its terms",
            where=found.repo,
            advice="Accept them on its page, and log in: hf auth login (or set HF_TOKEN).",
        )
    selection = plan.selection
    if not selection.has_weights and selection.pickles and not allow_pickle:
        raise InputError(
            f"its weights are pickles ({selection.pickles[0].name}), which may run code when they are read",
            where=found.repo,
            advice="Look for a safetensors version; or --allow-pickle, if you trust its owner.",
        )
    if not selection.has_weights:
        others = f" ({selection.others[0].name} is left out: --include)" if selection.others else ""
        raise InputError(f"it has no safetensors weights{others}", where=found.repo)
    if not plan.fits:
        raise InputError(
            f"{in_words(plan.needed_bytes)} must be free and {in_words(plan.free_bytes)} are",
            where=str(plan.hub),
            advice="`seatrial models list` shows what takes the space, and what uses it.",
        )


def _reason(found: HubModel, known: Standing, *, anyway: bool, why: str, ask: bool) -> str:
    """Get the reason for loading what is known to be broken.

    Raises:
        InputError: none is given, and nobody can be asked.
    """
    import sys

    from seatrial.errors import InputError

    if anyway and len(why.strip()) >= 3:
        return why.strip()
    on = f" on {known.engine}" if known.engine else ""
    if ask and sys.stdin.isatty() and typer.confirm(f"It is {known.status.value}{on}. Load it all the same?"):
        given = str(typer.prompt("Why? (kept beside the model)"))
        if len(given.strip()) >= 3:
            return given.strip()
    raise InputError(
        f"it is {known.status.value}{on}: {known.why}",
        where=found.repo,
        advice="To load it all the same: --anyway --why 'the reason'; it is kept.",
    )


def _keep_reason(plan: PullPlan, why: str) -> None:
    """Keep why a checkpoint that is known to be broken was loaded: a line a time, in the model's folder."""
    import json
    from datetime import UTC, datetime

    from seatrial.store.layout import STATE_FOLDER
    from seatrial.store.sharing import Sharing

    path = plan.folder / STATE_FOLDER / "reasons.jsonl"
    row = {"at": datetime.now(UTC).isoformat(timespec="seconds"), "commit": plan.model.commit, "why": why}
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row, ensure_ascii=False) + "\n")
    Sharing.of(plan.hub).share(path)


def _document(plan: PullPlan, known: Standing, why: str) -> dict[str, Any]:
    model = plan.model
    return {
        "repo": model.repo,
        "revision": model.revision,
        "commit": model.commit,
        "licence": model.licence,
        "gated": model.gated,
        "access": model.access,
        "bytes": plan.selection.bytes,
        "load_bytes": plan.load_bytes,
        "free_bytes": plan.free_bytes,
        "needed_bytes": plan.needed_bytes,
        "files": [file.name for file in plan.selection.files],
        "left_out": {
            "pickles": [file.name for file in plan.selection.pickles],
            "code": [file.name for file in plan.selection.code],
            "others": [file.name for file in plan.selection.others],
        },
        "kept_commits": [commit for commit, _ in plan.others],
        "status": known.status,
        "status_engine": known.engine,
        "status_date": known.date,
        "status_why": known.why,
        "reported": known.reported,
        "store": plan.hub,
        "forced": why,
    }


def _print_plan(plan: PullPlan, known: Standing) -> None:
    from rich.text import Text

    from seatrial.cli.models_shared import in_words
    from seatrial.cli.output import console

    model = plan.model
    out = console()
    gate = "gated, and this account has access" if model.access else "gated, and this account has no access"
    rows = [
        ("commit", f"{model.commit} ({model.revision})"),
        ("licence", model.licence or "its card names none"),
        ("gate", gate if model.gated else "open" if not model.private else "private"),
        ("size", f"{in_words(plan.selection.bytes)} in {len(plan.selection.files)} files"),
        ("to load", in_words(plan.load_bytes) if plan.load_bytes else "nothing, it is all there: hashes are compared"),
        ("disk", f"{in_words(plan.free_bytes)} free at {plan.hub}, {in_words(plan.needed_bytes)} needed"),
    ]
    if plan.others:
        old = ", ".join(f"{commit[:12]} ({in_words(size)})" for commit, size in plan.others)
        rows.append(("stays", f"{old}, until it is removed: the way back"))
    for name, files in (
        ("pickles left out", plan.selection.pickles),
        ("code left out", plan.selection.code),
        ("others left out", plan.selection.others),
    ):
        if files:
            more = f" and {len(files) - 2} more" if len(files) > 2 else ""
            rows.append((name, ", ".join(file.name for file in files[:2]) + more))
    on = f" on {known.engine}" if known.engine else ""
    when = f", {known.date}" if known.date else ""
    rows.append(("known", f"{known.status.value}{on}{when}{f': {known.why}' if known.why else ''}"))
    if known.reported is not None:
        rows += [
            ("reported", f"{report.verdict}{f' on {report.engine}' if report.engine else ''}: {report.source}")
            for report in known.reported.reports
        ]
    for name, text in rows:
        style = "bold red" if name == "known" and known.is_known_broken else ""
        out.print(Text.assemble((f"{name:<17}", "dim"), (text, style)), soft_wrap=True)
