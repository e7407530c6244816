"""`seatrial bench`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

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


def bench(
    url: Url,
    model: Model = None,
    api_key_file: ApiKeyFile = None,
    concurrency: Annotated[
        str, typer.Option("--concurrency", help="Requests at once: levels, separated by commas.", metavar="N,N…")
    ] = "1,2,4,8",
    requests: Annotated[
        int, typer.Option("--requests", min=1, help="Requests of each level for each one at once.")
    ] = 4,
    max_tokens: Annotated[int, typer.Option("--max-tokens", min=2, help="Most tokens of one answer.")] = 256,
    sampling: Sampling = None,
    connect_timeout: ConnectTimeout = 10,
    request_timeout: RequestTimeout = 300,
    silence_timeout: SilenceTimeout = 120,
    runs: Runs = Path("runs"),
    as_json: Json = False,
) -> None:
    """Measure throughput and latency of a server: any OpenAI-compatible one.

    A looping server is fast: answers whose text is broken are counted apart, and too many of them void the run.
    Exit code 0 when the numbers may be used, 3 when they may not.
    """
    from seatrial.bench.load import LoadPlan
    from seatrial.bench.workload import Workload
    from seatrial.cli.options import limits, parse_sampling
    from seatrial.cli.output import TerminalDisplay, console, print_bench, print_json
    from seatrial.cli.running import run
    from seatrial.endpoint.address import parse_base_url, read_api_key
    from seatrial.endpoint.preflight import find_endpoint
    from seatrial.errors import ExitCode
    from seatrial.proof import Proof
    from seatrial.runs.folder import RunFolder
    from seatrial.runs.redaction import Redactor

    base_url, key = parse_base_url(url), read_api_key(api_key_file)
    workload = Workload(max_tokens, parse_sampling(sampling))
    plan = LoadPlan(parse_levels(concurrency), lambda level: requests * level)
    waits = limits(connect_timeout, request_timeout, silence_timeout)
    endpoint = run(find_endpoint(base_url, model, key, waits))
    proof = Proof(endpoint, {"sampling": sampling or "the server's defaults", "workload": f"up to {max_tokens} tokens"})

    with RunFolder(runs, "bench", Redactor([key] if key else [])) as folder, TerminalDisplay() as display:

        async def job() -> None:
            try:
                await proof.measure(workload, plan, waits, folder, display)
            finally:
                proof.write_report(folder)

        run(job(), folder)
    result = proof.bench
    assert result is not None
    if as_json:
        print_json(
            {
                "void": result.void,
                "url": base_url,
                "model": endpoint.model,
                "run": folder.path,
                "report": folder.path / "report.html",
                "bench": result,
            }
        )
    else:
        print_bench(result)
        out = console()
        out.print()
        typer.echo(f"Report: {folder.path / 'report.html'}")
    raise typer.Exit(ExitCode.UNPROVEN if result.void else ExitCode.PROVEN)


def parse_levels(text: str) -> tuple[int, ...]:
    """Read `--concurrency`.

    Raises:
        InputError: it is not a list of positive numbers.
    """
    from seatrial.errors import InputError

    try:
        levels = tuple(int(part) for part in text.split(",") if part.strip())
    except ValueError:
        levels = ()
    if not levels or min(levels) < 1:
        raise InputError(
            "it is not a list of positive numbers", where=f"--concurrency {text!r}", advice="E.g. 1,2,4,8."
        )
    return levels
