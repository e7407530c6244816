"""`seatrial scan`: judge texts in files or from stdin, without any server."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from seatrial.degeneration import Degeneration
    from seatrial.errors import InputError

BLOCK_BYTES = 65_536
"""Bytes that are read at once from plain text."""
SNIFF_BYTES = 1_048_576
"""A first line up to this length decides whether input is JSON lines."""
SHOWN_ERRORS = 20
STDIN = "-"


class TextFormat(enum.StrEnum):
    """How a file is read."""

    AUTO = "auto"
    TEXT = "text"
    JSONL = "jsonl"


def scan(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE]...",
            help='Plain text, or JSON lines of {"id", "field", "text", "prompt"?}. "-" or nothing: stdin.',
            show_default=False,
        ),
    ] = None,
    text_format: Annotated[
        TextFormat,
        typer.Option("--format", help="How to read the files; auto looks at the name and the first line."),
    ] = TextFormat.AUTO,
    field: Annotated[
        str, typer.Option(help="Name of the field for plain text, and for rows that have none.")
    ] = "content",
    prompt: Annotated[
        str | None,
        typer.Option(help="What was asked, for rows that have no prompt: repetition that was asked for is excused."),
    ] = None,
) -> None:
    """Judge whether texts are degenerate: loops, floods, shuffles, salad.

    Prints one JSON line a text: id, degenerate, severity (fail or warn), kind, onset (character), period, needle,
    field and why. Exit code 0: none fails; 1: at least one fails; 2: something could not be read (the rest is
    judged all the same). Invalid UTF-8 is replaced.
    """
    scanner = _Scanner(text_format, field, prompt)
    for name in files or [STDIN]:
        scanner.scan_file(name)
    raise typer.Exit(scanner.exit_code())


class _Scanner:
    """Judges file after file, prints as it goes, and remembers the worst that it saw."""

    def __init__(self, text_format: TextFormat, field: str, prompt: str | None) -> None:
        self._format = text_format
        self._field = field
        self._prompt = prompt
        self._failures = 0
        self._errors = 0

    def exit_code(self) -> int:
        """Say how it went; unreadable input weighs most, for then nobody knows."""
        from seatrial.errors import ExitCode

        if self._errors > SHOWN_ERRORS:
            typer.echo(f"seatrial scan: {self._errors - SHOWN_ERRORS} more errors like these.", err=True)
        if self._errors:
            return int(ExitCode.USAGE)
        return int(ExitCode.REFUTED if self._failures else ExitCode.PROVEN)

    def scan_file(self, name: str) -> None:
        """Judge one file, or stdin for "-"."""
        import sys

        from seatrial.errors import InputError

        try:
            if name == STDIN:
                self._scan_stream(sys.stdin.buffer, "stdin")
            else:
                with open(name, "rb") as stream:  # noqa: PTH123 - a name may be anything that the shell can give
                    self._scan_stream(stream, name)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            self._complain(
                InputError(f"can't be read ({reason})", where=name, advice="Check the name and the permissions.")
            )

    def _scan_stream(self, stream: BinaryIO, name: str) -> None:
        head = stream.readline(SNIFF_BYTES)
        if self._is_json_lines(head, name):
            self._scan_rows(head, stream, name)
        else:
            self._print(name, self._scan_text(head, stream), self._field)

    def _is_json_lines(self, head: bytes, name: str) -> bool:
        if self._format is not TextFormat.AUTO:
            return self._format is TextFormat.JSONL
        if name.endswith((".jsonl", ".ndjson")):
            return True
        row = _parse(head)
        return isinstance(row, dict) and isinstance(row.get("text"), str)

    def _scan_text(self, head: bytes, stream: BinaryIO) -> Degeneration | None:
        """Feed plain text block by block: a file of any size needs little memory."""
        import codecs

        from seatrial.degeneration import StreamDetector

        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        detector = StreamDetector(field=self._field, prompt=self._prompt)
        block = head
        while block:
            detector.feed(decode(block))
            block = stream.read(BLOCK_BYTES)
        detector.feed(decode(b"", final=True))
        return detector.finish()

    def _scan_rows(self, head: bytes, stream: BinaryIO, name: str) -> None:
        from seatrial import degeneration
        from seatrial.errors import InputError

        for number, line in _numbered(head, stream):
            row = _parse(line)
            if not isinstance(row, dict) or not isinstance(row.get("text"), str):
                problem = 'no JSON object with a "text" string'
                advice = "Mend or remove the line; all other lines are judged."
                self._complain(InputError(problem, where=f"{name}:{number}", advice=advice))
                continue
            field, prompt = row.get("field"), row.get("prompt")
            field = field if isinstance(field, str) else self._field
            prompt = prompt if isinstance(prompt, str) else self._prompt
            self._print(
                row.get("id", f"{name}:{number}"), degeneration.scan(row["text"], field=field, prompt=prompt), field
            )

    def _print(self, identity: object, finding: Degeneration | None, field: str) -> None:
        import json

        self._failures += finding is not None and finding.severity == "fail"
        result = {
            "id": identity,
            "degenerate": finding is not None,
            "severity": finding and finding.severity,
            "kind": finding and finding.kind,
            "onset": finding and finding.onset,
            "period": finding and finding.period,
            "needle": finding and finding.needle,
            "field": field,
            "why": finding and finding.why,
        }
        # A lone surrogate can't be encoded; its backslash form is what JSON writes for it anyway.
        typer.echo(json.dumps(result, ensure_ascii=False).encode("utf-8", "backslashreplace"))

    def _complain(self, error: InputError) -> None:
        self._errors += 1
        if self._errors <= SHOWN_ERRORS:
            typer.echo(f"seatrial scan: {error}", err=True)


def _numbered(head: bytes, stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank, counted from 1; `head` is the beginning of the first."""
    import itertools

    first = head if head.endswith(b"\n") else head + stream.readline()
    for number, line in enumerate(itertools.chain((first,), stream), 1):
        if line.strip():
            yield number, line


def _parse(line: bytes) -> object:
    """Return the JSON value of a line, or None where it has none."""
    import json

    try:
        return json.loads(line.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return None
