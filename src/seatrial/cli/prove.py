"""`seatrial prove`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from seatrial.cli.options import (
    ApiKeyFile,
    ConnectTimeout,
    Json,
    Model,
    RequestTimeout,
    Runs,
    Sampling,
    SilenceTimeout,
    Url,
)


def prove(
    url: Url,
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
    from seatrial.proof import Proof
    from seatrial.runs.folder import RunFolder
    from seatrial.runs.redaction import Redactor
    from seatrial.trials.interface import Settings
    from seatrial.trials.suites import SuiteName
    from seatrial.trials.suites import suite as suite_named

    base_url, key = parse_base_url(url), read_api_key(api_key_file)
    settings = Settings(parse_sampling(sampling), max_tokens, context)
    waits = limits(connect_timeout, request_timeout, silence_timeout)
    endpoint = run(find_endpoint(base_url, model, key, waits))
    proof = Proof(endpoint, {"sampling": sampling or "the server's defaults", "suite": suite})

    with RunFolder(runs, "prove", Redactor([key] if key else [])) as folder, TerminalDisplay() as display:

        async def job() -> None:
            try:
                await proof.prove(suite_named(SuiteName(suite)), settings, waits, folder, display)
            finally:
                proof.write_report(folder)

        run(job(), folder)
    assert proof.suite is not None
    verdict = proof.suite.verdict
    if as_json:
        print_json(
            {
                "verdict": verdict,
                "url": base_url,
                "model": endpoint.model,
                "run": folder.path,
                "report": folder.path / "report.html",
                "suite": proof.suite,
            }
        )
    else:
        print_verdict(proof.suite)
        out = console()
        out.print()
        out.print(f"{endpoint.model} at {base_url}:", verdict_text(verdict.value))
        typer.echo(f"Report: {folder.path / 'report.html'}")
    raise typer.Exit(verdict.exit_code)
