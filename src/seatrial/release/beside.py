"""Proves a candidate beside what serves: in a project of its own, on a port of its own, taken away afterwards."""

from __future__ import annotations

from seatrial.errors import InputError
from seatrial.planning.plan import Plan
from seatrial.release.deployment import Deployment
from seatrial.release.switch import Judgement
from seatrial.runtimes.choice import project_of
from seatrial.runtimes.snapshot import STATE_FOLDER
from seatrial.stack.editing import set_value


def prove_beside(found: Deployment, plan: Plan, text: str, port: int) -> Judgement:
    """Start the candidate in a project of its own, prove it there, and take it away again.

    Args:
        found: the deployment that serves; it is not touched.
        plan: the candidate's.
        text: the candidate's stack file.
        port: where it is published meanwhile.

    Raises:
        SeatrialError: it did not start, or could not be asked.
    """
    if port == plan.stack.serve.port:
        raise InputError("that is the stack's own port", where="--side-by-side", advice="Take another one.")
    for path, value in (
        (("name",), f"{plan.stack.name}-candidate"),
        (("serve", "port"), port),
        (("store",), str((found.folder / plan.stack.store).resolve())),
        (("jit_cache",), str((found.folder / plan.stack.jit_cache).resolve())),
        (("ledger",), str((found.folder / plan.stack.ledger).resolve())),
        (("container", "service"), None),
    ):
        text = set_value(text, path, value, where="the candidate")
    if plan.stack.serve.api_key_file:
        key = str((found.folder / plan.stack.serve.api_key_file).resolve())
        text = set_value(text, ("serve", "api_key_file"), key, where="the candidate")
    project = project_of(found.folder / STATE_FOLDER / "beside" / "stack.yaml", plan.stack)
    project.folder.mkdir(parents=True, exist_ok=True)
    project.stack_file.write_text(text, encoding="utf-8")
    beside = Deployment(
        project,
        found.plan_of,
        found.display,
        found.tell,
        max_tokens=found.max_tokens,
        sampling=found.sampling,
        with_bench=False,
    )
    project.files(beside.plan(), text).put(project.folder)
    try:
        found.say(f"starting the candidate beside what serves, on port {port}")
        beside.start()
        return beside.prove()
    finally:
        beside.stop()
