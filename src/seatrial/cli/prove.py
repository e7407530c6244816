"""`seatrial prove`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from seatrial.cli.options import (
    ApiKeyFile,
    ConnectTimeout,
    Json,
    Model,
    OverLong,
    RequestTimeout,
    Runs,
    Sampling,
    SilenceTimeout,
)

if TYPE_CHECKING:
    from seatrial.verdicts import SuiteResult


def prove(
    url: Annotated[
        str | None, typer.Option("--url", help="The API's root, e.g. http://127.0.0.1:30000/v1.", metavar="URL")
    ] = None,
    model: Model = None,
    suite: Annotated[
        Literal["quick", "standard", "deep"], typer.Option("--suite", help="How much is tried.")
    ] = "quick",
    api_key_file: ApiKeyFile = None,
    sampling: Sampling = None,
    max_tokens: Annotated[
        int, typer.Option("--max-tokens", min=16, help="Most tokens of one answer, reasoning included.")
    ] = 2048,
    context: Annotated[
        int | None, typer.Option("--context", min=64, help="Context length in tokens, where the server does not tell.")
    ] = None,
    over_long: OverLong = "reject",
    fail_fast: Annotated[
        bool, typer.Option("--fail-fast", help="Ask nothing more once a trial is refuted: for a quick no.")
    ] = False,
    early_abort: Annotated[
        bool,
        typer.Option("--early-abort/--no-early-abort", help="Stop reading an answer that is surely broken already."),
    ] = True,
    resume: Annotated[
        Path | None,
        typer.Option("--resume", help="Go on with an interrupted run: its folder. URL and options are its own."),
    ] = None,
    reference: Annotated[
        list[Path] | None,
        typer.Option(
            "--reference", help="A run of the same suite on a server that is trusted: its folder. Repeatable."
        ),
    ] = None,
    connect_timeout: ConnectTimeout = 10,
    request_timeout: RequestTimeout = 300,
    silence_timeout: SilenceTimeout = 120,
    runs: Runs = Path("runs"),
    as_json: Json = False,
) -> None:
    """Prove that a server answers correctly: any OpenAI-compatible one. The exit code is the verdict.

    0 proven, 1 refuted, 3 unproven (it could not be checked), 2 wrong usage. Every request and answer, the verdict and
    a report are left in the run's folder.
    """
    from seatrial.cli.options import limits, parse_sampling
    from seatrial.cli.output import TerminalDisplay, console, print_json, print_verdict, verdict_text
    from seatrial.cli.running import run
    from seatrial.endpoint.address import parse_base_url, read_api_key
    from seatrial.endpoint.preflight import find_endpoint
    from seatrial.errors import InputError
    from seatrial.proof import Proof
    from seatrial.runs.folder import RunFolder
    from seatrial.runs.redaction import Redactor
    from seatrial.runs.unfinished import ProveArguments, read_unfinished
    from seatrial.trials.interface import OverLongPolicy, Settings
    from seatrial.trials.metrics import tool_metrics
    from seatrial.trials.suites import SuiteName
    from seatrial.trials.suites import suite as suite_named

    key = read_api_key(api_key_file)
    waits = limits(connect_timeout, request_timeout, silence_timeout)
    references = [read_reference(folder) for folder in reference or ()]
    unfinished = read_unfinished(resume) if resume is not None else None
    if unfinished is not None:
        asked = unfinished.arguments
    elif url is None:
        raise InputError("no server is named", where="--url", advice="E.g. --url http://127.0.0.1:30000/v1.")
    else:
        settings = Settings(
            parse_sampling(sampling), max_tokens, context, OverLongPolicy(over_long), early_abort, fail_fast
        )
        asked = ProveArguments(parse_base_url(url), model or "", SuiteName(suite), settings)
    endpoint = run(find_endpoint(asked.url, asked.model or None, key, waits))
    asked = replace(asked, model=endpoint.model)
    chosen = ", ".join(f"{name} {value}" for name, value in asked.settings.sampling.items())
    proof = Proof(endpoint, {"suite": asked.suite, "sampling": chosen or "the server's defaults"})
    folder = RunFolder(
        runs,
        "prove",
        Redactor([key] if key else []),
        arguments=asked,
        existing=unfinished.path if unfinished else None,
    )
    with folder, TerminalDisplay() as display:

        async def job() -> None:
            earlier = unfinished.done if unfinished else ()
            try:
                await proof.prove(
                    suite_named(asked.suite),
                    asked.settings,
                    waits,
                    folder,
                    display,
                    earlier=earlier,
                    references=references,
                )
            finally:
                proof.write_report(folder)

        run(job(), folder)
    assert proof.suite is not None
    verdict = proof.suite.verdict
    if as_json:
        print_json(
            {
                "verdict": verdict,
                "url": asked.url,
                "model": endpoint.model,
                "run": folder.path,
                "report": folder.path / "report.html",
                "suite": proof.suite,
                "tool_metrics": tool_metrics(proof.suite.trials),
            }
        )
    else:
        print_verdict(proof.suite)
        out = console()
        out.print()
        out.print(f"{endpoint.model} at {asked.url}:", verdict_text(verdict.value))
        typer.echo(f"Report: {folder.path / 'report.html'}")
    raise typer.Exit(verdict.exit_code)


def read_reference(folder: Path) -> SuiteResult:
    """Read the result of a reference run.

    Raises:
        InputError: there is none, or it was interrupted.
    """
    from seatrial.errors import InputError
    from seatrial.runs.results import read_suite

    where = f"--reference {folder}"
    result = read_suite(folder, where)
    if result is None or not result.complete:
        raise InputError("there is no finished run of `prove` there", where=where)
    return result
