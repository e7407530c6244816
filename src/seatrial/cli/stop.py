"""`seatrial stop` and `seatrial restart`."""

from __future__ import annotations

import typer

from seatrial.cli.deploying import DEFAULT_STACK, StackOption, deployment, take_up
from seatrial.cli.planning_inputs import FactsFile, Gpus, Store


def stop(stack: StackOption = DEFAULT_STACK) -> None:
    """Stop the stack: its containers are removed, and the GPU is free. Models, caches and the ledger stay."""
    from seatrial.cli.output import TerminalDisplay
    from seatrial.errors import StartError
    from seatrial.host.releasing import wait_until_released

    with TerminalDisplay() as display:
        found = deployment(stack, display)
        take_up(found)
        running = found.is_running()
        display.phase("Stopping: running answers are finished first")
        held = found.gpu_process_ids()
        found.stop()
        left = wait_until_released(held) if held else ()
    if left:
        for one in left:
            typer.echo(f"process {one.pid} of {one.user or 'nobody known'} still holds {one.memory_mib} MiB", err=True)
        raise StartError(
            "the engine is stopped, and its GPU memory is not free",
            where=str(stack),
            advice=f"Look at what they are; if they are left over: kill {' '.join(str(one.pid) for one in left)}",
        )
    typer.echo(f"{stack}: {'stopped; its GPUs are free' if running else 'nothing was running'}.")


def restart(
    stack: StackOption = DEFAULT_STACK, facts: FactsFile = None, gpus: Gpus = None, store: Store = None
) -> None:
    """Stop the stack and start it again, as `up` does."""
    from seatrial.cli.up import up

    stop(stack)
    up(stack, facts, gpus, store, force=False, preflight=True, as_json=False)
