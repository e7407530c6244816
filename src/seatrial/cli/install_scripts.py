"""`seatrial install-scripts`: the two scripts of the deployment notes, which call `prove` and `bench`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seatrial.cli.deploying import DEFAULT_STACK, StackOption

if TYPE_CHECKING:
    from seatrial.stack.model import Stack

TEST = "test_tool_calling.sh"
BENCHMARK = "benchmark.sh"
HEAD = """#!/usr/bin/env bash
# Written by `seatrial install-scripts`. More arguments are passed on.
set -euo pipefail
cd "$(dirname "$0")"
"""


def install_scripts(
    stack: StackOption = DEFAULT_STACK,
    folder: Annotated[
        Path | None, typer.Option("--folder", help="Where they are written. Default: above the stack's folder.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace scripts that are there and differ.")] = False,
) -> None:
    """Write test_tool_calling.sh and benchmark.sh, for hands and cron jobs that know these names.

    The first proves the server that the stack file describes: tool calls, the reasoning behind them, over-long input.
    Its exit code is the verdict. The second measures it.
    """
    from seatrial.errors import InputError
    from seatrial.stack.reading import load_stack
    from seatrial.text_files import write_whole

    read = load_stack(stack)
    where = folder or stack.absolute().parent.parent
    for name, text in scripts(read, stack.absolute(), where).items():
        path = where / name
        if path.exists() and path.read_text(encoding="utf-8", errors="replace") != text and not force:
            raise InputError("it is there already, and differs", where=str(path), advice="Look at it, or --force.")
        write_whole(path, text, mode=0o755)
        typer.echo(f"{path}")


def scripts(stack: Stack, stack_file: Path, where: Path) -> dict[str, str]:
    """Write both scripts. Paths below `where` are relative to the script, so that the whole folder can be moved."""
    import os
    import shlex

    words = ["--url", f"{stack.serve.origin}/v1"]
    if stack.model.served_name:
        words += ["--model", stack.model.served_name]
    docker = os.path.relpath(stack_file.parent, where)
    if stack.serve.api_key_file:
        words += ["--api-key-file", f"{docker}/{stack.serve.api_key_file}"]
    runs = f"{docker}/{stack.ledger}/runs"
    over_long = ["--over-long", stack.policy.over_long_input]
    prove = shlex.join(["seatrial", "prove", *words, "--suite", stack.policy.prove, *over_long, "--runs", runs])
    bench = shlex.join(["seatrial", "bench", *words, "--concurrency", "1,8", "--runs", runs])
    return {TEST: f'{HEAD}exec {prove} "$@"\n', BENCHMARK: f'{HEAD}exec {bench} "$@"\n'}
