"""`seatrial switch`: candidate up, proven, promoted; or the last proven stack is put back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seatrial.cli.deploying import DEFAULT_STACK, Facts, StackOption, deployment, take_up
from seatrial.cli.options import Json, Sampling
from seatrial.cli.planning_inputs import FactsFile, Gpus, Store

if TYPE_CHECKING:
    from rich.console import Console

    from seatrial.planning.plan import Plan
    from seatrial.release.deployment import Deployment
    from seatrial.release.switch import Judgement, Outcome


KNOWN_BROKEN = ("reported-broken", "model-refuted")
"""Findings about a checkpoint that only a reason gets past."""


def switch(
    model: Annotated[
        str | None, typer.Argument(help="The new checkpoint: owner/name, or owner/name@revision.", show_default=False)
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option("--to", metavar="FILE", help="Or a whole stack file that takes the place of this one."),
    ] = None,
    image: Annotated[str | None, typer.Option("--image", help="Or another engine: an image with its tag.")] = None,
    stack: StackOption = DEFAULT_STACK,
    facts: FactsFile = None,
    gpus: Gpus = None,
    store: Store = None,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Try a checkpoint that is reported broken; needs --why.")
    ] = False,
    why: Annotated[str, typer.Option("--why", help="The reason for --anyway; it goes into the ledger.")] = "",
    max_tokens: Annotated[
        int, typer.Option("--max-tokens", min=16, help="Most tokens of one answer of the proof.")
    ] = 2048,
    sampling: Sampling = None,
    side_by_side: Annotated[
        int | None,
        typer.Option(
            "--side-by-side",
            metavar="PORT",
            min=1,
            max=65_535,
            help="Prove it first beside the running stack, on this port: needs memory for both.",
        ),
    ] = None,
    bench: Annotated[bool, typer.Option("--bench/--no-bench", help="Measure it too, once it is proven.")] = True,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a Compose file that was edited by hand.")] = False,
    as_json: Json = False,
) -> None:
    """Switch to another model, engine or stack; prove it; promote it, or put the last proven stack back.

    Without anything to switch to, the stack as it is gets started, proven and promoted. The switch may be killed at any
    moment: the next command finishes or undoes it. Exit code 0: promoted; 1: refuted and rolled back; 3: unproven and
    rolled back.
    """
    from seatrial.cli.options import parse_sampling
    from seatrial.cli.output import TerminalDisplay, console, print_json
    from seatrial.errors import InputError
    from seatrial.release.beside import prove_beside
    from seatrial.release.switch import switch as play
    from seatrial.verdicts import Verdict

    if sum(item is not None for item in (model, to)) > 1:
        raise InputError("a model and a stack file are given", where="switch", advice="Give one of the two.")
    with TerminalDisplay() as display:
        found = deployment(stack, display, Facts(facts, gpus, store))
        found.max_tokens, found.sampling, found.with_bench = max_tokens, parse_sampling(sampling), bench
        take_up(found)
        text = pinned(candidate_text(stack, model=model, to=to, image=image), found)
        plan = _planned(stack, text, found)
        _check(found, plan, anyway=anyway, why=why)
        files = found.project.files(plan, text)
        if not force:
            found.project.refuse_edited(files)
        found.candidate = plan
        if image is not None and not as_json:
            _say_upgrade(found, plan)
        if side_by_side is not None:
            beside = prove_beside(found, plan, text, side_by_side)
            if beside.verdict is not Verdict.PROVEN:
                found.say("what serves was not touched")
                _show_beside(beside, as_json=as_json)
                raise typer.Exit(int(beside.verdict.exit_code))
            found.judged = beside
        outcome = play(
            found, files, f"{plan.stack.model.repo} on {plan.stack.engine.provider}", forced=why if anyway else ""
        )
    if as_json:
        print_json(
            {
                "promoted": outcome.promoted,
                "verdict": outcome.judgement.verdict if outcome.judgement else None,
                "why": outcome.why,
                "restored": outcome.restored,
                "run": outcome.judgement.run if outcome.judgement else None,
                "boot": found.boot,
                "start_seconds": found.started.seconds if found.started else None,
            }
        )
    else:
        _print(console(), outcome)
    raise typer.Exit(_exit_code(outcome))


def _show_beside(judgement: Judgement, *, as_json: bool) -> None:
    from seatrial.cli.output import console, print_json, verdict_text

    if as_json:
        print_json(
            {
                "promoted": False,
                "verdict": judgement.verdict,
                "why": judgement.summary,
                "restored": None,
                "run": judgement.run,
            }
        )
        return
    console().print(verdict_text(judgement.verdict.value), judgement.summary)


def candidate_text(stack: Path, *, model: str | None, to: Path | None, image: str | None) -> str:
    """Make the candidate's stack file: the present one with what changes."""
    from seatrial.stack.editing import set_value
    from seatrial.stack.reading import parse_stack
    from seatrial.text_files import read_text

    text = read_text(to or stack, "stack file")
    where = str(to or stack)
    parse_stack(text, where=where)
    if model is not None:
        repo, _, revision = model.partition("@")
        text = set_value(text, ("model", "repo"), repo, where=where)
        text = set_value(text, ("model", "revision"), revision or "main", where=where)
    if image is not None:
        text = set_value(text, ("engine", "image"), image, where=where)
        text = set_value(text, ("engine", "version"), None, where=where)
    return text


def pinned(text: str, found: Deployment) -> str:
    """Name the commit that a branch points to in the store: what is proven is then what a roll-back returns to."""
    from seatrial.facts.resolve import find_snapshot
    from seatrial.stack.editing import set_value
    from seatrial.stack.reading import parse_stack

    stack = parse_stack(text, where="the candidate")
    if stack.model.repo.startswith(("/", ".", "~")):
        return text
    snapshot = find_snapshot(found.folder / stack.store, stack.model.repo, stack.model.revision)
    if snapshot is None or snapshot.name == stack.model.revision:
        return text
    found.say(
        f"{stack.model.revision or 'main'} of {stack.model.repo} is commit {snapshot.name[:12]} here: it is pinned"
    )
    return set_value(text, ("model", "revision"), snapshot.name, where="the candidate")


def _planned(stack: Path, text: str, found: Deployment) -> Plan:
    """Plan the candidate from a file beside the stack's own, which is left alone."""
    candidate = stack.with_name(f".{stack.stem}.candidate.yaml")
    try:
        candidate.write_text(text, encoding="utf-8")
        return found.plan_of(candidate)
    finally:
        candidate.unlink(missing_ok=True)


def _check(found: Deployment, plan: Plan, *, anyway: bool, why: str) -> None:
    """Refuse before anything is stopped what can't go well, and what is known to be broken without a reason to try it.

    Raises:
        InputError: the plan has errors, the checkpoint in the store is not whole, or it is reported or was seen broken.
    """
    from seatrial.errors import InputError
    from seatrial.findings import Level
    from seatrial.ledger.database import FILE_NAME, Ledger
    from seatrial.store.readiness import about_model

    for finding in plan.findings:
        if finding.level is Level.ERROR:
            raise InputError(finding.message, where=finding.setting or "plan", advice=finding.advice)
    model, folder = plan.stack.model, found.folder / plan.stack.ledger
    entries = []
    if (folder / FILE_NAME).is_file():
        ledger = Ledger(folder)
        entries = ledger.entries(model=model.repo)
        ledger.close()
    for finding in about_model(found.folder / plan.stack.store, model.repo, model.revision, entries):
        if finding.level is Level.ERROR:
            raise InputError(finding.message, where=finding.where or "store", advice=finding.advice)
        if finding.id in KNOWN_BROKEN and not (anyway and len(why.strip()) >= 3):
            raise InputError(
                finding.message,
                where="switch",
                advice="To try it all the same: --anyway --why 'the reason'; it is recorded.",
            )
        found.say(finding.message)


def _say_upgrade(found: Deployment, plan: Plan) -> None:
    """Say which flags in use differ between the two engines, before anything is stopped."""
    from seatrial.engines.sglang.catalogue import load
    from seatrial.planning.upgrade import compare_plans

    old = found.plan()
    changes = compare_plans(old, plan, load(old.version), load(plan.version))
    for change in changes.flags:
        if change.used:
            found.say(f"{change.name}: {change.change}, {change.before} → {change.after}")
    for setting in changes.settings:
        found.say(f"{setting.name}: {setting.before} → {setting.after}")


def _print(out: Console, outcome: Outcome) -> None:
    from seatrial.cli.output import verdict_text

    if outcome.judgement is not None:
        out.print(verdict_text(outcome.judgement.verdict.value), outcome.judgement.summary)
        if outcome.judgement.run:
            out.print(f"Report: {outcome.judgement.run}/report.html", soft_wrap=True)
    if outcome.promoted:
        out.print("promoted: this is the stack to return to now")
        return
    out.print(f"not promoted: {outcome.why}")
    if outcome.restored is True:
        out.print("the last proven stack serves again")
    elif outcome.restored is False:
        out.print("and the last proven stack does not come up either: seatrial logs", style="bold red")


def _exit_code(outcome: Outcome) -> int:
    from seatrial.errors import ExitCode
    from seatrial.verdicts import Verdict

    if outcome.promoted:
        return int(ExitCode.PROVEN)
    refuted = outcome.judgement is not None and outcome.judgement.verdict is Verdict.REFUTED
    return int(ExitCode.REFUTED if refuted else ExitCode.UNPROVEN)
