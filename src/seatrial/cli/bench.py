"""`seatrial bench`: measure a server; `bench compare` and `bench export` work on what was measured."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seatrial.cli.bench_compare import compare_command
from seatrial.cli.bench_export import export_command
from seatrial.cli.bench_options import (
    Allowed,
    ArrivalsOption,
    Concurrency,
    Duration,
    Format,
    IgnoreEos,
    InputTokens,
    MaxTokens,
    Objectives,
    PrefixCacheOption,
    Prompts,
    RampOption,
    RampTo,
    Rate,
    Requests,
    Seed,
    WarmUp,
    WorkloadOption,
)
from seatrial.cli.options import ApiKeyFile, ConnectTimeout, Json, Model, RequestTimeout, Runs, Sampling, SilenceTimeout

if TYPE_CHECKING:
    from seatrial.bench.plan import LoadPlan
    from seatrial.bench.workload import Workload
    from seatrial.endpoint.address import Endpoint
    from seatrial.endpoint.client import Limits
    from seatrial.proof import Proof
    from seatrial.runs.folder import RunFolder

bench = typer.Typer(no_args_is_help=True)


@bench.callback(invoke_without_command=True)
def measure(
    context: typer.Context,
    url: Annotated[
        str | None, typer.Option("--url", help="The API's root, e.g. http://127.0.0.1:30000/v1.", metavar="URL")
    ] = None,
    model: Model = None,
    api_key_file: ApiKeyFile = None,
    workload: WorkloadOption = "chat",
    prompts: Prompts = None,
    concurrency: Concurrency = "1,2,4,8",
    rate: Rate = None,
    arrivals: ArrivalsOption = "poisson",
    ramp: RampOption = False,
    ramp_to: RampTo = 256,
    requests: Requests = 4,
    duration: Duration = None,
    max_tokens: MaxTokens = None,
    input_tokens: InputTokens = None,
    warm_up: WarmUp = None,
    seed: Seed = 0,
    prefix_cache: PrefixCacheOption = "avoid",
    ignore_eos: IgnoreEos = False,
    objective: Objectives = None,
    allowed_degenerate: Allowed = 0.05,
    sampling: Sampling = None,
    self_check: Annotated[
        bool, typer.Option("--self-check", help="Measure this client instead, against a local server of known timing.")
    ] = False,
    form: Format = None,
    connect_timeout: ConnectTimeout = 10,
    request_timeout: RequestTimeout = 300,
    silence_timeout: SilenceTimeout = 120,
    runs: Runs = Path("runs"),
    as_json: Json = False,
) -> None:
    """Measure throughput and latency of a server: any OpenAI-compatible one.

    A looping server is fast: answers whose text is broken are counted apart, and too many of them void the run. So does
    a client that was late itself. Exit code 0 when the numbers may be used, 3 when they may not.
    """
    if context.invoked_subcommand is not None:
        return
    if self_check:
        _check_self(as_json=as_json)
        return
    from seatrial.cli.bench_options import LoadChoice, WorkloadChoice, make_plan, make_workload
    from seatrial.cli.options import limits, parse_sampling
    from seatrial.cli.running import run
    from seatrial.endpoint.address import parse_base_url, read_api_key
    from seatrial.endpoint.preflight import find_endpoint
    from seatrial.errors import InputError

    if url is None:
        raise InputError("no server is named", where="--url", advice="E.g. --url http://127.0.0.1:30000/v1.")
    if as_json and form is not None:
        raise InputError("--json and --format both want the standard output", where="--format")
    base_url, key = parse_base_url(url), read_api_key(api_key_file)
    made = make_workload(
        WorkloadChoice(
            workload, prompts, max_tokens, input_tokens, parse_sampling(sampling), seed, prefix_cache, ignore_eos
        )
    )
    plan = make_plan(
        LoadChoice(
            concurrency, rate, arrivals, ramp, ramp_to, requests, duration, warm_up, objective or [], allowed_degenerate
        )
    )
    waits = limits(connect_timeout, request_timeout, silence_timeout)
    endpoint = run(find_endpoint(base_url, model, key, waits))
    proof, folder = _measure(endpoint, made, plan, waits, runs)
    _show(proof, folder, form, as_json=as_json)


def _measure(
    endpoint: Endpoint, workload: Workload, plan: LoadPlan, waits: Limits, runs: Path
) -> tuple[Proof, RunFolder]:
    import json

    from seatrial.cli.output import TerminalDisplay
    from seatrial.cli.running import run
    from seatrial.proof import Proof
    from seatrial.runs.folder import RunFolder
    from seatrial.runs.redaction import Redactor

    key = endpoint.api_key
    sampling = json.dumps(dict(workload.sampling)) if workload.sampling else "the server's defaults"
    facts = {"sampling": sampling, "workload": f"{workload.name}: {workload.description}"}
    facts["answers"] = f"up to {workload.output_tokens} tokens"
    proof = Proof(endpoint, facts)
    arguments = {"url": endpoint.base_url, "model": endpoint.model, "workload": workload.figures()}
    with (
        RunFolder(runs, "bench", Redactor([key] if key else []), arguments=arguments) as folder,
        TerminalDisplay() as display,
    ):

        async def job() -> None:
            try:
                await proof.measure(workload, plan, waits, folder, display)
            finally:
                proof.write_report(folder)

        run(job(), folder)
    return proof, folder


def _show(proof: Proof, folder: RunFolder, form: str | None, *, as_json: bool) -> None:
    from seatrial.cli.bench_export import write_export
    from seatrial.cli.bench_output import print_bench
    from seatrial.cli.output import console, print_json
    from seatrial.errors import ExitCode

    result, endpoint = proof.bench, proof.endpoint
    assert result is not None
    if form is not None:
        write_export(folder.path, form, None)
    elif as_json:
        print_json(
            {
                "void": result.void,
                "url": endpoint.base_url,
                "model": endpoint.model,
                "run": folder.path,
                "report": folder.path / "report.html",
                "bench": result,
            }
        )
    else:
        print_bench(result, formulas=True)
        out = console()
        out.print()
        typer.echo(f"Report: {folder.path / 'report.html'}")
    raise typer.Exit(ExitCode.UNPROVEN if result.void else ExitCode.PROVEN)


def _check_self(*, as_json: bool) -> None:
    from seatrial.bench.self_check import self_check
    from seatrial.cli.bench_output import print_self_check
    from seatrial.cli.output import TerminalDisplay, print_json
    from seatrial.cli.running import run
    from seatrial.errors import ExitCode

    with TerminalDisplay() as display:
        display.phase("Measuring this client")
        found = run(self_check(display.step))
    if as_json:
        print_json(found)
    else:
        print_self_check(found)
    raise typer.Exit(ExitCode.UNPROVEN if found.void else ExitCode.PROVEN)


bench.command("compare")(compare_command)
bench.command("export")(export_command)
