"""`seatrial logs`: the engine's log, without its secrets."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from seatrial.cli.deploying import DEFAULT_STACK, StackOption, deployment

KEY = re.compile(r"((?:admin_)?api_key=)'[^']*'")
"""How SGLang prints its own keys (0.5.16, `engine.py:798`), also those that the stack file does not know of."""


def logs(
    stack: StackOption = DEFAULT_STACK,
    follow: Annotated[bool, typer.Option("-f", "--follow", help="Go on as it grows.")] = False,
    since: Annotated[str | None, typer.Option("--since", help="Only newer lines: 10m, 2h, or a time.")] = None,
    tail: Annotated[int | None, typer.Option("--tail", min=0, help="Only so many lines from its end.")] = None,
    grep: Annotated[
        str | None, typer.Option("--grep", help="Only lines in which this regular expression is found.")
    ] = None,
) -> None:
    """Show the engine's log with secrets taken out: SGLang prints its API key in its first line."""
    import sys

    from seatrial.cli.output import TerminalDisplay
    from seatrial.endpoint.address import read_api_key
    from seatrial.errors import InputError, StartError
    from seatrial.runs.redaction import Redactor
    from seatrial.stack.reading import load_stack

    try:
        wanted = re.compile(grep) if grep else None
    except re.error as error:
        raise InputError(f"this is no regular expression ({error})", where="--grep") from None
    read = load_stack(stack)
    found = deployment(stack, TerminalDisplay())
    key_file = read.serve.api_key_file
    key = read_api_key(found.folder / key_file) if key_file and (found.folder / key_file).is_file() else None
    redact = Redactor([key] if key else [])
    instances = found.instances()
    if not instances:
        raise StartError("nothing of the stack is there", where=str(stack), advice="seatrial up")
    launcher, one = found.project.launcher(), instances[0]

    def show(raw: bytes) -> None:
        line = KEY.sub(r"\1'***'", redact(raw.decode("utf-8", "replace").rstrip("\n")))
        if wanted is None or wanted.search(line):
            sys.stdout.write(line + "\n")
            sys.stdout.flush()

    if not follow:
        for raw in launcher.log_text(one.id, tail=tail, since=since):
            show(raw)
        return
    log = launcher.log_lines(one.id, since=since)
    try:
        for raw in log:
            show(raw)
    except KeyboardInterrupt:
        pass
    finally:
        log.close()
