"""`seatrial models verify`: whether what is in the store is whole; and mends it on request."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seatrial.cli.models_shared import StacksOption, StoreOption
from seatrial.cli.options import Json

if TYPE_CHECKING:
    from seatrial.cli.models_shared import TransferDisplay
    from seatrial.store.flat_files import FlatFiles
    from seatrial.store.layout import StoredModel
    from seatrial.store.verify import Verified


def verify(
    model: Annotated[
        str | None, typer.Argument(help="owner/name, or owner/name@REVISION; without it, the whole store.")
    ] = None,
    store: StoreOption = None,
    stack: StacksOption = None,
    repair: Annotated[
        bool,
        typer.Option("--repair", help="Load what is missing or corrupt; remove what nobody needs; move flat files."),
    ] = False,
    as_repo: Annotated[
        str | None, typer.Option("--as", metavar="REPO", help="Which model the flat files in the hub folder are of.")
    ] = None,
    hashes: Annotated[
        bool, typer.Option("--hashes/--no-hashes", help="Compare every byte with the Hub's hashes.")
    ] = True,
    yes: Annotated[bool, typer.Option("--yes", help="Move flat files without asking.")] = False,
    as_json: Json = False,
) -> None:
    """Check models: names, hashes, shards against the index, halves of downloads, files that lie at the wrong place.

    Needs no network, except for --repair. Exit code 0: all is whole (now); 1: something is missing or wrong; 2: it is
    not in the store.
    """
    from seatrial.cli.models_shared import TransferDisplay, find_store
    from seatrial.cli.output import print_json
    from seatrial.errors import ExitCode
    from seatrial.findings import Level
    from seatrial.store.flat_files import find_flat_files
    from seatrial.store.layout import hub_folder, read_store

    place = find_store(store, stack)
    chosen, commits = _chosen(place, model)
    checked: list[Verified] = []
    done: list[str] = []
    with TransferDisplay(quiet=as_json) as display:
        for one in chosen:
            found = _check(one, commits, display, hashes=hashes)
            if repair and found.findings:
                found = _mend(found, commits, display, done, hashes=hashes)
            checked.append(found)
        flat = find_flat_files(hub_folder(place), read_store(place)) if model is None or as_repo else None
    moved: tuple[str, ...] = ()
    if flat is not None and repair:
        moved = _move(flat, as_repo, yes=yes, ask=not as_json)
        flat = find_flat_files(hub_folder(place), read_store(place))
    findings = [(one.model.repo, finding) for one in checked for finding in one.findings]
    wrong = any(finding.level is Level.ERROR for _, finding in findings) or flat is not None
    if as_json:
        print_json(
            {
                "store": hub_folder(place),
                "models": [
                    {
                        "repo": one.model.repo,
                        "commits": [revision.commit for revision in one.model.revisions],
                        "whole": one.is_whole,
                        "checked_bytes": one.checked_bytes,
                        "findings": one.findings,
                    }
                    for one in checked
                ],
                "flat_files": _flat_document(flat),
                "repaired": done,
                "moved": moved,
                "whole": not wrong,
            }
        )
    else:
        _print(checked, flat, done, moved)
    raise typer.Exit(int(ExitCode.REFUTED if wrong else ExitCode.PROVEN))


def _chosen(store: Path, model: str | None) -> tuple[tuple[StoredModel, ...], frozenset[str] | None]:
    from seatrial.errors import InputError
    from seatrial.store.layout import find_model, hub_folder, read_store

    if model is None:
        if not hub_folder(store).is_dir():
            raise InputError("there is no store", where=str(store), advice="Name it: --store.")
        return read_store(store), None
    repo, at, revision = model.partition("@")
    found = find_model(store, repo)
    if found is None:
        raise InputError("it is not in the store", where=f"{repo} ({store})", advice=f"seatrial models pull {repo}")
    if not at:
        return (found,), None
    one = found.find(revision)
    if one is None:
        raise InputError("this commit is not in the store", where=model, advice=f"seatrial models pull {model}")
    return (found,), frozenset({one.commit})


def _check(model: StoredModel, commits: frozenset[str] | None, display: TransferDisplay, *, hashes: bool) -> Verified:
    from seatrial.store.verify import verify as check

    contents = {
        file.blob: file.bytes
        for one in model.revisions
        if commits is None or one.commit in commits
        for file in one.files
        if file.blob is not None
    }
    total, done = sum(contents.values()), 0

    def on_bytes(more: int) -> None:
        nonlocal done
        done += more
        display.show_check(done, total, model.repo)

    return check(model, commits=commits, hashes=hashes, on_bytes=on_bytes)


def _mend(
    found: Verified, commits: frozenset[str] | None, display: TransferDisplay, done: list[str], *, hashes: bool
) -> Verified:
    """Repair one model, and check it again."""
    from seatrial.store.layout import read_model_entry
    from seatrial.store.repair import repair as mend

    result = mend(found, show=display.show)
    done += [f"{found.model.repo}: {sentence}" for sentence in result.done]
    if not result.done:
        return found
    return _check(read_model_entry(found.model.folder), commits, display, hashes=hashes)


def _move(flat: FlatFiles, as_repo: str | None, *, yes: bool, ask: bool) -> tuple[str, ...]:
    """Move flat files where they belong, after asking."""
    import sys

    from seatrial.errors import FetchError, InputError
    from seatrial.store.flat_files import place_flat_files
    from seatrial.store.hub_source import check_name, look_up

    repo = as_repo or (flat.candidates[0][0] if flat.candidates else None)
    if repo is None:
        raise InputError(
            "nothing says which model these flat files are of",
            where=str(flat.hub),
            advice="Say it: seatrial models verify --repair --as owner/name",
        )
    check_name(repo)
    if not yes and not as_repo:
        if not ask or not sys.stdin.isatty():
            raise InputError(
                f"{len(flat.names)} flat files look like those of {repo}; nobody can be asked whether that is so",
                where=str(flat.hub),
                advice=f"Say it: --as {repo}",
            )
        typer.confirm(f"Move {len(flat.names)} flat files to {repo}?", abort=True)
    revision = next(iter(flat.commits)) if len(flat.commits) == 1 else None
    try:
        listed = look_up(repo, revision)
    except FetchError:
        if len(flat.commits) != 1:
            raise
        listed = None  # the download's own records say commit and hashes
    return place_flat_files(flat, listed, repo)


def _flat_document(flat: FlatFiles | None) -> dict[str, Any] | None:
    if flat is None:
        return None
    return {
        "hub": flat.hub,
        "files": flat.names,
        "bytes": flat.bytes,
        "commits": flat.commits,
        "mixed": flat.is_mixed,
        "candidates": [{"repo": repo, "why": why} for repo, why in flat.candidates],
    }


def _print(checked: list[Verified], flat: FlatFiles | None, done: list[str], moved: tuple[str, ...]) -> None:
    from rich.text import Text

    from seatrial.cli.findings_output import print_findings
    from seatrial.cli.models_shared import in_words
    from seatrial.cli.output import console

    out = console()
    for sentence in done:
        out.print(Text(sentence, style="green"), soft_wrap=True)
    if moved:
        out.print(Text(f"{len(moved)} flat files are at their place now: {', '.join(moved[:4])}"), soft_wrap=True)
    for one in checked:
        compared = f"{in_words(one.checked_bytes)} compared with their hashes"
        out.print(Text.assemble((one.model.repo, "bold"), (f"  {compared}", "dim")), soft_wrap=True)
        print_findings(out, one.findings, nothing="whole")
    if not checked:
        out.print(Text("no models"))
    if flat is not None:
        lies = f"{len(flat.names)} files ({in_words(flat.bytes)}) lie flat in the hub folder, where no engine looks"
        out.print(Text.assemble(("error   ", "bold red"), f"{lies}: {', '.join(flat.names[:4])}"), soft_wrap=True)
        if flat.is_mixed:
            out.print(Text("         of several commits: a later download overwrote files of an earlier one"))
        for repo, why in flat.candidates[:3]:
            out.print(Text(f"         of {repo}? {why}"), soft_wrap=True)
        likely = flat.candidates[0][0] if flat.candidates else "owner/name"
        out.print(Text(f"         Move them: seatrial models verify --repair --as {likely}", style="italic dim"))
