"""`seatrial doctor`: from a dead server's log to its cause and fix."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seatrial.cli.options import Json

if TYPE_CHECKING:
    from seatrial.doctor import Diagnosis, Watcher
    from seatrial.doctor.redacting import ReportRedactor

SHOWN_OTHERS = 8
SHOWN_EVIDENCE = 4
METRICS_SECONDS = 10.0
MOST_METRICS_BYTES = 32 * 1024 * 1024


def doctor(
    log: Annotated[
        Path | None, typer.Option("--log", metavar="FILE", help="The server's log, of any length; - is stdin.")
    ] = None,
    stdin: Annotated[bool, typer.Option("--stdin", help="Read the log from stdin.")] = False,
    compose: Annotated[
        bool,
        typer.Option("--compose", help="Read the log of the stack in stack.yaml, else of this folder."),
    ] = False,
    file: Annotated[
        Path | None, typer.Option("--file", metavar="FILE", help="Read `docker compose logs` of this file.")
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option("--plan", metavar="FILE", help="What `plan --json` printed, for exact fixes."),
    ] = None,
    metrics: Annotated[
        str | None,
        typer.Option("--metrics", metavar="FILE|URL", help="The server's /metrics: says why it is slow or waiting."),
    ] = None,
    silent_for: Annotated[
        float | None,
        typer.Option("--silent-for", metavar="SECONDS", min=0.0, help="How long the log has been silent."),
    ] = None,
    bundle: Annotated[
        Path | None,
        typer.Option("--bundle", metavar="FILE", help="Show a redacted bug report, ask, and write it (Markdown)."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Write the bundle without asking.")] = False,
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

    compose = compose or file is not None
    if sum([log is not None, stdin, compose]) != 1:
        raise InputError("one log is wanted", where="doctor", advice="--log FILE, --stdin, or --compose.")
    context = _plan(plan)
    watcher = Watcher(context={**context, **_flags(context)})
    watcher.feed_all(_lines(log, file=file, compose=compose))
    found = judge(
        watcher,
        metrics=None if metrics is None else _metrics(metrics),
        silence_seconds=silent_for,
        ended=silent_for is None,
    )
    redact = _redactor()
    if as_json:
        from seatrial.cli.output import print_json
        from seatrial.doctor.document import diagnosis_document

        where = str(log or ("compose" if compose else "stdin"))
        print_json(diagnosis_document(found, where=where, redact=redact))
    else:
        _print(found, redact)
    if bundle is not None:
        _write_bundle(bundle, found, watcher, context, redact, quiet=as_json, yes=yes)
    code = ExitCode.UNPROVEN if found.unknown else ExitCode.REFUTED if found.deadly else ExitCode.PROVEN
    raise typer.Exit(int(code))


def _lines(log: Path | None, *, file: Path | None, compose: bool) -> Iterator[bytes]:
    """Read lines in blocks: memory stays bounded, whatever the log's length."""
    import sys

    from seatrial.doctor.reading import blocks_to_lines
    from seatrial.errors import InputError

    if compose:
        yield from _compose_lines(file)
    elif log is None or str(log) == "-":
        yield from blocks_to_lines(sys.stdin.buffer)
    else:
        try:
            with log.open("rb") as stream:
                yield from blocks_to_lines(stream)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise InputError(f"the log can't be read ({reason})", where=str(log), advice="Check the name.") from None


def _compose_lines(file: Path | None) -> Iterator[bytes]:
    """Read the newest log of a stack: of a compose file, of stack.yaml, or of the compose file of this folder."""
    from seatrial.cli.deploying import DEFAULT_STACK

    if file is not None or not DEFAULT_STACK.exists():
        yield from _docker_compose_logs(file)
        return
    from seatrial.cli.deploying import deployment
    from seatrial.cli.output import TerminalDisplay
    from seatrial.errors import InputError

    found = deployment(DEFAULT_STACK, TerminalDisplay())
    instances = found.instances()
    if not instances:
        raise InputError("nothing of the stack is there", where=str(DEFAULT_STACK), advice="seatrial up")
    yield from (line.rstrip(b"\n") for line in found.project.launcher().log_text(instances[0].id))


def _docker_compose_logs(file: Path | None) -> Iterator[bytes]:
    import subprocess
    import tempfile

    from seatrial.doctor.reading import blocks_to_lines
    from seatrial.errors import InputError

    named = ["--file", str(file)] if file is not None else []
    where = str(file) if file is not None else "docker compose logs"
    with tempfile.TemporaryFile() as complaints:
        try:
            process = subprocess.Popen(
                ["docker", "compose", *named, "logs", "--no-color", "--timestamps"],  # noqa: S607 - as a shell finds it
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=complaints,
            )
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise InputError(
                f"docker can't be started ({reason})", where=where, advice="Is Docker installed?"
            ) from None
        assert process.stdout is not None
        with process:
            yield from blocks_to_lines(process.stdout)
        if process.returncode:
            complaints.seek(0)
            said = complaints.read(4_096).decode("utf-8", "replace").strip().splitlines()
            last = said[-1] if said else f"status {process.returncode}"
            raise InputError(f"docker compose gives no log ({last})", where=where, advice="Name the file with --file.")


def _plan(path: Path | None) -> dict[str, Any]:
    """Read the plan's document."""
    import json

    from seatrial.errors import InputError

    if path is None:
        return {}
    document = None
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"the plan can't be read ({reason})", where=str(path), advice="Check the name.") from None
    except (ValueError, RecursionError):
        pass
    if not isinstance(document, dict):
        raise InputError("this is no plan", where=str(path), advice="Write one: seatrial plan --json > plan.json")
    return document


def _flags(context: dict[str, Any]) -> dict[str, Any]:
    """Name the engine's flags, of the plan's version or of the newest that is known, to correct a misspelt one."""
    from seatrial.doctor.figures import context_figures, versions_in
    from seatrial.engines.sglang.catalogue import load

    catalogue = load(versions_in(context_figures(context)) or "")
    return {"known_flags": tuple(name for name in catalogue.names() if name.startswith("--"))}


def _metrics(source: str) -> str:
    """Read the text of /metrics from a file or a server."""
    import urllib.request

    from seatrial.errors import InputError

    try:
        if source.startswith(("http://", "https://")):
            address = source if source.rstrip("/").endswith("/metrics") else f"{source.rstrip('/')}/metrics"
            with urllib.request.urlopen(address, timeout=METRICS_SECONDS) as answer:  # noqa: S310 - http only, see above
                raw: bytes = answer.read(MOST_METRICS_BYTES)
        else:
            with Path(source).open("rb") as stream:
                raw = stream.read(MOST_METRICS_BYTES)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or getattr(error, "reason", None) or error
        advice = "Was the server started with --enable-metrics?"
        raise InputError(f"the metrics can't be read ({reason})", where=source, advice=advice) from None
    return raw.decode("utf-8", "replace")


def _redactor() -> ReportRedactor:
    """Make a redactor that knows this machine's names, and the secrets in its environment."""
    import getpass
    import os
    import re
    import socket

    from seatrial.doctor.redacting import ReportRedactor

    secret = re.compile(r"(?i)token|key|secret|passw|credential|auth")
    values = [value for name, value in os.environ.items() if secret.search(name)]
    host = socket.gethostname()
    try:
        users = [getpass.getuser()]
    except (OSError, KeyError):
        users = []
    secrets = (value for value in values if len(value) >= 8 and not value.startswith("/"))
    return ReportRedactor(secrets, hosts={host, host.split(".")[0]}, users=users)


def _write_bundle(
    path: Path,
    found: Diagnosis,
    watcher: Watcher,
    context: dict[str, Any],
    redact: ReportRedactor,
    *,
    quiet: bool,
    yes: bool,
) -> None:
    """Show the report, ask, and write it."""
    import platform
    import sys

    from seatrial import __version__
    from seatrial.doctor.bundle import make_bundle
    from seatrial.errors import InputError
    from seatrial.text_files import write_whole

    versions = {"seatrial": __version__, "Python": platform.python_version(), "system": platform.platform(terse=True)}
    text = make_bundle(found, watcher, redact=redact, versions=versions, plan=context)
    if not quiet:
        typer.echo(f"\n{text}")
    if not yes:
        if quiet or not sys.stdin.isatty():
            raise InputError("nobody can be asked whether it may be written", where="--bundle", advice="Add --yes.")
        typer.confirm(f"Write this to {path}?", abort=True)
    write_whole(path, text)
    typer.echo(f"written: {path}", err=True)


def _print(found: Diagnosis, redact: ReportRedactor) -> None:
    from rich.text import Text

    from seatrial.cli.output import console

    out = console()
    cause = found.cause
    others = found.others
    if cause is None or not (found.deadly or found.unknown):
        out.print(Text(f"nothing wrong was found in {found.lines:,} lines", style="green"))
        others = (*((cause,) if cause else ()), *others)
    else:
        head = "unknown failure" if found.unknown else cause.level.value
        place = f", {cause.count}x" if cause.count > 1 else ""
        workers = f", {', '.join(cause.ranks)}" if cause.ranks else ""
        out.print(Text.assemble((head, "bold red"), f"  [{cause.id}] line {cause.line}{place}{workers}"))
        out.print(Text(redact.secrets_only(cause.cause)))
        if cause.fix:
            out.print(Text.assemble(("Do: ", "bold"), redact.secrets_only(cause.fix)))
        for evidence in cause.evidence[:SHOWN_EVIDENCE]:
            out.print(Text(f"  {evidence.line}: {redact.secrets_only(evidence.text)}", style="dim"))
        if found.ready:
            out.print(Text("The server is ready all the same, or was started again since.", style="dim"))
    for other in others[:SHOWN_OTHERS]:
        said = redact.secrets_only(other.cause)
        out.print(Text(f"also {other.level.value} [{other.id}] line {other.line}: {said}", style="dim"))
    for reason in found.slow:
        out.print(Text.assemble(("slow ", "yellow"), redact.secrets_only(f"{reason.cause} {reason.fix}")))
