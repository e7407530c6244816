"""`seatrial judge`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import BinaryIO

    from seatrial.checks import Judgement

STDIN = Path("-")


def judge(
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE.jsonl", help="Recorded cases, one JSON object a line; - or none: stdin."),
    ] = None,
) -> None:
    """Judge recorded answers: is each tool call there, whole and right, and nothing else?

    A row is {"id", "request", "response" or "sse", "expected_arguments"?}: `request` in full or as {"user", "tools",
    "tool_choice", "stream"}, `response` the body of an answer, `sse` the lines of a stream. For each row one JSON line
    is printed: {"id", "verdict", "checks": [{"check", "ok", "detail"}]}; `ok` is null for what could not be checked.
    """
    import json
    import os
    import sys

    from seatrial.checks import judge_row
    from seatrial.errors import ExitCode, InputError
    from seatrial.verdicts import Verdict

    verdicts = []
    unreadable = 0
    # ASCII only, so that any terminal, pipe and lone surrogate in an answer will do.
    try:
        for file in files or [STDIN]:
            for row in _rows(file):
                if isinstance(row, InputError):
                    unreadable += 1
                    typer.echo(str(row), err=True)
                    continue
                judgement = judge_row(row)
                verdicts.append(judgement.verdict)
                typer.echo(json.dumps(to_line(judgement)))
    except BrokenPipeError:  # the reader had enough, as `head` has
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if unreadable:
        raise typer.Exit(ExitCode.USAGE)
    raise typer.Exit(Verdict.of(verdicts).exit_code if verdicts else ExitCode.PROVEN)


def to_line(judgement: Judgement) -> dict[str, Any]:
    """Shape one judgement for output."""
    oks = {"proven": True, "refuted": False, "unproven": None}
    return {
        "id": judgement.id,
        "verdict": judgement.verdict.value,
        "checks": [
            {"check": result.check, "ok": oks[result.verdict.value], "detail": result.detail}
            for result in judgement.checks
        ],
    }


def _rows(file: Path) -> Iterator[Any]:
    """Yield the rows of a file; in place of one that can't be read, the error that says why."""
    import sys

    from seatrial.errors import InputError

    name = "stdin" if file == STDIN else str(file)
    try:
        if file == STDIN:
            yield from _rows_of(sys.stdin.buffer, name)
        else:
            with file.open("rb") as lines:
                yield from _rows_of(lines, name)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        yield InputError(
            f"the file can't be read ({error.strerror or error})", where=name, advice="Give a JSON Lines file, or -."
        )


def _rows_of(lines: BinaryIO | Iterable[bytes], name: str) -> Iterator[Any]:
    import json

    from seatrial.checks import row_problem
    from seatrial.errors import InputError

    found = 0
    for number, line in enumerate(lines, start=1):
        where = f"{name}:{number}"
        text = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
        if not text.strip():
            continue
        found += 1
        try:
            row = json.loads(text.decode("utf-8"))
        except UnicodeDecodeError:
            yield InputError("the line is not UTF-8", where=where, advice="Save the file as UTF-8.")
        except json.JSONDecodeError as error:
            problem = f"the line is not JSON ({error.msg} at column {error.colno})"
            yield InputError(problem, where=where, advice="Write each row as one JSON object on one line.")
        except (ValueError, RecursionError) as error:
            yield InputError(f"the line can't be read ({type(error).__name__})", where=where, advice="Leave it out.")
        else:
            problem = row_problem(row) or ""
            advice = 'A row is {"id", "request", "response" or "sse", "expected_arguments"?}.'
            yield InputError(problem, where=where, advice=advice) if problem else row
    if not found:
        yield InputError("there is no row in it", where=name, advice="Give JSON Lines: one JSON object on each line.")
