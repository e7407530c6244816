"""`seatrial models rm`: out of the store, unless anything refers to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from seatrial.cli.models_shared import NoContainers, StacksOption, StoreOption
from seatrial.cli.options import Json

if TYPE_CHECKING:
    from seatrial.store.removal import Removal


def rm(
    model: Annotated[
        str, typer.Argument(help="owner/name for all of it, or owner/name@REVISION for one commit, branch or tag.")
    ],
    store: StoreOption = None,
    stack: StacksOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would go, and remove nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Remove without asking.")] = False,
    no_containers: NoContainers = False,
    as_json: Json = False,
) -> None:
    """Remove a model, or one commit of it, from the store.

    Refuses while a stack file, a container (running or stopped), a switch under way or the last proven stack refers to
    it, or a process has one of its files open; and where that can't be known. Content that other commits or models
    share stays. Exit code 0: removed, or could be (--dry-run); 1: something refers to it; 3: it could not be known.
    """
    import sys

    from seatrial.cli.models_shared import find_store, in_words
    from seatrial.cli.output import print_json
    from seatrial.errors import ExitCode, InputError
    from seatrial.store.layout import find_model, read_store
    from seatrial.store.reference_sources import find_uses
    from seatrial.store.removal import plan_removal, remove

    place = find_store(store, stack)
    repo, at, revision = model.partition("@")
    found = find_model(place, repo)
    if found is None or ".." in repo:
        raise InputError(
            "it is not in the store", where=f"{repo} ({place})", advice="`seatrial models list` shows what is."
        )
    commits = None
    if at:
        one = found.find(revision)
        if one is None:
            have = ", ".join(sorted({*found.refs, *(known.commit[:12] for known in found.revisions)}))
            raise InputError("this commit is not in the store", where=model, advice=f"It has {have or 'none'}.")
        commits = [one.commit]
    known = find_uses(place, stacks=stack or (), containers=not no_containers)
    plan = plan_removal(found, commits, known.uses, read_store(place))
    if known.unknown or not plan.may_go or dry_run:
        _answer(plan, known.unknown, known.notes, removed=False, as_json=as_json)
        code = ExitCode.UNPROVEN if known.unknown and plan.may_go else ExitCode.PROVEN
        raise typer.Exit(int(code if plan.may_go else ExitCode.REFUTED))
    if not yes:
        if as_json or not sys.stdin.isatty():
            raise InputError("nobody can be asked whether it may go", where="models rm", advice="Add --yes.")
        what = f"{repo}" if plan.whole else f"{repo} at {plan.commits[0][:12]}"
        typer.confirm(f"Remove {what}, {in_words(plan.frees_bytes)}?", abort=True)

    def look_again() -> tuple[object, ...]:
        now = find_uses(place, stacks=stack or (), containers=not no_containers)
        if now.unknown:
            raise InputError(now.unknown[0], where="models rm", advice="Nothing was removed.")
        return now.uses

    done = remove(plan, look_again)  # type: ignore[arg-type]  # the uses, as a tuple
    if as_json:
        print_json(_document(done, (), known.notes, removed=done.may_go))
    elif done.may_go:
        typer.echo(f"{repo}: removed, {in_words(done.frees_bytes)} are free again")
    else:
        _answer(done, (), (), removed=False, as_json=False)
    raise typer.Exit(int(ExitCode.PROVEN if done.may_go else ExitCode.REFUTED))


def _document(plan: Removal, unknown: tuple[str, ...], notes: tuple[str, ...], *, removed: bool) -> dict[str, object]:
    return {
        "repo": plan.model.repo,
        "commits": plan.commits,
        "whole": plan.whole,
        "frees_bytes": plan.frees_bytes,
        "removed": removed,
        "refused": [{"kind": use.kind, "who": use.who, "detail": use.detail} for use in plan.refused],
        "loading": plan.loading,
        "unknown": unknown,
        "notes": notes,
    }


def _answer(plan: Removal, unknown: tuple[str, ...], notes: tuple[str, ...], *, removed: bool, as_json: bool) -> None:
    from rich.text import Text

    from seatrial.cli.models_shared import in_words
    from seatrial.cli.output import console, print_json

    if as_json:
        print_json(_document(plan, unknown, notes, removed=removed))
        return
    out = console()
    what = "all of it" if plan.whole else ", ".join(commit[:12] for commit in plan.commits)
    out.print(Text(f"{plan.model.repo}, {what}: {len(plan.blobs)} blobs, {in_words(plan.frees_bytes)} would be free"))
    for use in plan.refused:
        out.print(Text.assemble(("used by ", "bold red"), str(use)), soft_wrap=True)
    if plan.loading:
        out.print(Text("it is being pulled right now", style="bold red"))
    for reason in unknown:
        out.print(Text.assemble(("unknown ", "yellow"), f"{reason}: so nobody can say what uses it"), soft_wrap=True)
    for note in notes:
        out.print(Text(f"note: {note}", style="dim"), soft_wrap=True)
    if plan.may_go and not unknown:
        out.print(Text("nothing refers to it", style="green"))
    elif not removed:
        out.print(Text("nothing was removed"))
