"""`seatrial doctor`: from a dead server's log to its cause and fix."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seatrial.cli.options import Json

if TYPE_CHECKING:
    from typing import BinaryIO

    from seatrial.doctor import Diagnosis, Named

BLOCK_BYTES = 1 << 20
SHOWN_OTHERS = 8
SHOWN_EVIDENCE = 4


def doctor(
    log: Annotated[
        Path | None, typer.Option("--log", metavar="FILE", help="The server's log, of any length; - is stdin.")
    ] = None,
    stdin: Annotated[bool, typer.Option("--stdin", help="Read the log from stdin.")] = False,
    compose: Annotated[bool, typer.Option("--compose", help="Read the log of the stack in stack.yaml.")] = False,
    as_json: Json = False,
) -> None:
    """Name the root cause of a failed start, a crash or a hang, and what to do about it.

    Reads SGLang's own log, also with Docker's prefixes, of several ranks, of several starts. Lines that look bad and
    mean nothing are known as such; a failure that nobody knows is said to be unknown, with its first traceback.

    Exit code 0: nothing wrong was found; 1: a fatal cause, a hang, or weights that were not loaded; 2: unreadable
    input; 3: it failed, and nobody knows why.
    """
    from seatrial.doctor import Watcher, judge
    from seatrial.errors import ExitCode, InputError

    if sum([log is not None, stdin, compose]) != 1:
        raise InputError("one log is wanted", where="doctor", advice="--log FILE, --stdin, or --compose.")
    watcher = Watcher()
    for lines in _blocks(log, compose=compose):
        watcher.feed_all(lines)
    found = judge(watcher, ended=True)
    if as_json:
        from seatrial.cli.output import print_json

        print_json(_document(found))
    else:
        _print(found)
    code = ExitCode.UNPROVEN if found.unknown else ExitCode.REFUTED if found.deadly else ExitCode.PROVEN
    raise typer.Exit(int(code))


def _blocks(log: Path | None, *, compose: bool) -> Iterator[list[bytes]]:
    """Read lines in blocks: memory stays bounded, whatever the log's length."""
    import sys

    from seatrial.errors import InputError

    if compose:
        from seatrial.cli.deploying import DEFAULT_STACK, deployment
        from seatrial.cli.output import TerminalDisplay

        project = deployment(DEFAULT_STACK, TerminalDisplay()).compose()
        containers = project.containers()
        if not containers:
            raise InputError("nothing of the stack is there", where=str(DEFAULT_STACK), advice="seatrial up")
        yield [line.rstrip(b"\n") for line in project.log_text(containers[0].id)]
        return
    if log is None or str(log) == "-":
        yield from _lines(sys.stdin.buffer)
        return
    try:
        with log.open("rb") as file:
            yield from _lines(file)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"the log can't be read ({reason})", where=str(log), advice="Check the name.") from None


def _lines(stream: BinaryIO) -> Iterator[list[bytes]]:
    rest = b""
    while block := stream.read(BLOCK_BYTES):
        *lines, rest = (rest + block).split(b"\n")
        yield lines
        rest = rest[-BLOCK_BYTES:]  # a line without an end is no log
    if rest:
        yield [rest]


def _document(found: Diagnosis) -> dict[str, Any]:
    cause = found.cause
    return {
        "cause": _named(cause) if cause else None,
        "unknown": found.unknown,
        "died": found.died,
        "ready": found.ready,
        "phase": found.phase,
        "others": [_named(other) for other in found.others],
        "slow": [_named(other) for other in found.slow],
        "traceback": found.traceback,
        "starts": found.starts,
        "lines": found.lines,
    }


def _named(named: Named) -> dict[str, Any]:
    return {
        "id": named.id,
        "level": named.level.value,
        "phase": named.phase,
        "cause": named.cause,
        "fix": named.fix,
        "line": named.line,
        "count": named.count,
        "ranks": list(named.ranks),
        "evidence": named.evidence,
        "sources": list(named.sources),
    }


def _print(found: Diagnosis) -> None:
    from rich.text import Text

    from seatrial.cli.output import console

    out = console()
    if found.cause is None:
        out.print(Text(f"nothing wrong was found in {found.lines:,} lines", style="green"))
    else:
        cause = found.cause
        style = "bold red" if found.deadly or found.unknown else "yellow"
        head = "unknown failure" if found.unknown else cause.level.value
        out.print(Text.assemble((head, style), f"  [{cause.id}] line {cause.line}"))
        out.print(Text(cause.cause))
        if cause.fix:
            out.print(Text.assemble(("Do: ", "bold"), cause.fix))
        for evidence in cause.evidence[:SHOWN_EVIDENCE]:
            out.print(Text(f"  {evidence.line}: {evidence.text}", style="dim"))
    for other in (*found.others[:SHOWN_OTHERS], *found.slow):
        out.print(Text(f"also {other.level.value} [{other.id}] line {other.line}: {other.cause}", style="dim"))
