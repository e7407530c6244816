"""First-time set-up, the eight steps of the deployment notes, each judged by what is there now. Pure.

Nothing is remembered between two runs: a step is done when the machine says so, so it can be resumed at any point, and
what was undone since is to do again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from seatrial.findings import Finding, Level
from seatrial.host.accounts import DOCKER, Declared
from seatrial.host.difference import Action, Difference
from seatrial.host.observed import Observed


class State(StrEnum):
    """How a step stands."""

    DONE = "done"
    TO_DO = "to do"
    """`host setup --go` does it."""
    NEEDS_YOU = "needs you"
    """A decision, or something that no program here can do."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step.

    Attributes:
        number: 1 to 8.
        title: what it is.
        state: how it stands.
        detail: why it stands so.
        command: words after `seatrial` that do it, as the service account; empty where the account model does it.
        actions: of the account model, for steps that are done by them.
    """

    number: int
    title: str
    state: State
    detail: str
    command: tuple[str, ...] = ()
    actions: tuple[Action, ...] = ()


@dataclass(frozen=True, slots=True)
class StackState:
    """What is known about the stack of a tree.

    Attributes:
        written: there is a stack file.
        problem: why it can't be planned; empty where it can.
        errors: of its plan.
        model: that it serves; empty without a stack.
        store: folder of its models.
        revision: that is asked for.
        snapshot: the checkpoint is whole in the store.
        running: it serves as planned.
        verdict: the newest verdict on what it serves; None where there is none.
        measured: that verdict came with a benchmark.
        suite: that the stack's policy asks for.
    """

    written: bool
    problem: str = ""
    errors: tuple[str, ...] = ()
    model: str = ""
    store: str = ""
    revision: str = "main"
    snapshot: bool = False
    running: bool = False
    verdict: str | None = None
    measured: bool = False
    suite: str = "standard"


def set_up_steps(
    declared: Declared,
    observed: Observed,
    found: Difference,
    driver: Sequence[Finding],
    stack: StackState,
    *,
    model: str | None = None,
) -> tuple[Step, ...]:
    """Judge all eight steps.

    Args:
        declared: the account model.
        observed: the machine.
        found: how the two differ.
        driver: findings about driver, CUDA and GPUs.
        stack: the stack in `docker/`.
        model: for a stack file that is not written yet.
    """
    file = f"{declared.root}/{DOCKER}/stack.yaml"
    return (
        _account(declared, observed, found),
        _folders(found),
        _cuda(driver),
        _stack(stack, file, model),
        _admins(declared, observed, found),
        _models(stack),
        _start(stack, file),
        _proof(stack, file),
    )


def _account(declared: Declared, observed: Observed, found: Difference) -> Step:
    title = f"The service account {declared.service}, in the group docker"
    actions = tuple(
        one
        for one in found.actions
        if one.kind in ("add-account", "set-account")
        or (one.kind == "join-group" and one.body.get("name") == declared.service)
    )
    if declared.container and observed.docker is None:
        return Step(1, title, State.NEEDS_YOU, "there is no group docker: install Docker Engine", actions=actions)
    return _by_actions(1, title, actions, "nologin, no password, docker")


def _folders(found: Difference) -> Step:
    actions = tuple(one for one in found.actions if one.kind in ("make-folder", "set-paths"))
    return _by_actions(
        2, "The tree, owned by it; hf-cache/ shared, docker/ not", actions, "all entries are as declared"
    )


def _by_actions(number: int, title: str, actions: tuple[Action, ...], done: str) -> Step:
    if not actions:
        return Step(number, title, State.DONE, done)
    if any(action.needs_root for action in actions):
        return Step(number, title, State.NEEDS_YOU, "only root may: run it under sudo", actions=actions)
    return Step(number, title, State.TO_DO, "; ".join(action.summary for action in actions[:3]), actions=actions)


def _cuda(driver: Sequence[Finding]) -> Step:
    title = "Driver and CUDA; the system's own toolkit is left alone"
    grave = [one for one in driver if one.level is Level.ERROR]
    if grave:
        return Step(3, title, State.NEEDS_YOU, f"{grave[0].message}. {grave[0].advice}")
    notes = "; ".join(one.message for one in driver if one.id == "older-system-nvcc")
    return Step(3, title, State.DONE, notes or "the driver runs the engine's CUDA")


def _stack(stack: StackState, file: str, model: str | None) -> Step:
    title = "docker/stack.yaml (compose.yaml and .env are written from it)"
    if not stack.written:
        if model is None:
            return Step(4, title, State.NEEDS_YOU, "say which model is to be served: --model OWNER/NAME")
        return Step(4, title, State.TO_DO, f"for {model}", ("init", model, "--output", file))
    if stack.problem or stack.errors:
        return Step(4, title, State.NEEDS_YOU, stack.problem or f"its plan has errors: {stack.errors[0]}")
    return Step(4, title, State.DONE, f"{stack.model}, planned without errors")


def _admins(declared: Declared, observed: Observed, found: Difference) -> Step:
    title = "Admins in the group, who may change models and not the stack"
    actions = tuple(
        one for one in found.actions if one.kind == "join-group" and one.body.get("name") != declared.service
    )
    missing = [name for name, account in observed.admins.items() if account is None]
    if missing:
        return Step(5, title, State.NEEDS_YOU, f"there is no account {missing[0]}: adduser {missing[0]}")
    members = sorted(set(observed.group.members) - {declared.service}) if observed.group else []
    if not actions and not members:
        return Step(5, title, State.NEEDS_YOU, "name them: --admin USER (or leave it: then all goes through sudo -u)")
    return _by_actions(5, title, actions, f"{', '.join(members)}; a new login makes it count")


def _models(stack: StackState) -> Step:
    title = "The model in hf-cache/hub"
    if not stack.model:
        return Step(6, title, State.NEEDS_YOU, "step 4 comes first")
    if stack.snapshot:
        return Step(6, title, State.DONE, f"{stack.model} is whole")
    return Step(
        6,
        title,
        State.TO_DO,
        f"pull {stack.model}",
        ("models", "pull", f"{stack.model}@{stack.revision}", "--store", stack.store),
    )


def _start(stack: StackState, file: str) -> Step:
    title = "A first start, its log followed live"
    if not stack.model or stack.problem:
        return Step(7, title, State.NEEDS_YOU, "step 4 comes first")
    if stack.running:
        return Step(7, title, State.DONE, "it serves as planned")
    return Step(7, title, State.TO_DO, "phases, and an early end on a fatal line", ("up", "--stack", file))


def _proof(stack: StackState, file: str) -> Step:
    title = "Proof and benchmark: a server that starts cleanly is not one that answers correctly"
    words = ("host", "reprove", "--stack", file, "--suite", stack.suite, "--bench")
    if not stack.model or stack.problem:
        return Step(8, title, State.NEEDS_YOU, "step 4 comes first")
    if stack.verdict == "proven" and stack.measured:
        return Step(8, title, State.DONE, "proven and measured; the ledger has it")
    if stack.verdict == "refuted":
        return Step(8, title, State.NEEDS_YOU, "it was refuted: `seatrial ledger list` says by what", words)
    return Step(8, title, State.TO_DO, f"the {stack.suite} suite, then a benchmark", words)
