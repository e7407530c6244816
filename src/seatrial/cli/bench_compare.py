"""`seatrial bench compare`: two runs, two endpoints, or a run and the last one that was promoted."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seatrial.cli.bench_options import Concurrency, InputTokens, MaxTokens, Requests, Seed, WorkloadOption
from seatrial.cli.options import ApiKeyFile, Json, Runs, Sampling

if TYPE_CHECKING:
    from seatrial.bench.comparison import Comparison
    from seatrial.bench.plan import Level
    from seatrial.bench.workload import Workload


def compare_command(
    a: Annotated[str, typer.Argument(help="A run's folder, or a server's URL.", show_default=False)],
    b: Annotated[
        str | None, typer.Argument(help="Another one. Without it: A against the last promoted one.", show_default=False)
    ] = None,
    ledger: Annotated[
        Path | None,
        typer.Option("--ledger", metavar="FOLDER", help="Where the last promoted one is looked up."),
    ] = None,
    stack: Annotated[str | None, typer.Option("--stack", help="The stack's name in that ledger.")] = None,
    margin: Annotated[
        float | None,
        typer.Option("--margin", min=0, max=0.99, help="How much slower B may be: more, and surely, ends with 1."),
    ] = None,
    model_a: Annotated[str | None, typer.Option("--model-a", help="Of two servers: A's model.")] = None,
    model_b: Annotated[str | None, typer.Option("--model-b", help="Of two servers: B's model.")] = None,
    api_key_file: ApiKeyFile = None,
    api_key_file_b: Annotated[
        Path | None, typer.Option("--api-key-file-b", help="B's key, where it has another one than A.")
    ] = None,
    workload: WorkloadOption = "chat",
    concurrency: Concurrency = "1,8",
    requests: Requests = 2,
    blocks: Annotated[int, typer.Option("--blocks", min=2, help="Of two servers: turns of each.")] = 6,
    max_tokens: MaxTokens = None,
    input_tokens: InputTokens = None,
    seed: Seed = 0,
    sampling: Sampling = None,
    runs: Runs = Path("runs"),
    as_json: Json = False,
) -> None:
    """Compare two benchmarks: the ratio of each metric with its interval, and faster, slower or can't tell.

    Two runs are compared as they were measured. Two servers that are both up are measured in turns, which is the fairer
    way: what drifts touches both alike. Exit code 0; 1 where B is slower than --margin allows; 3 where it can't be
    told.
    """
    from seatrial.bench.comparison import REGRESSION_MARGIN
    from seatrial.cli.bench_options import WorkloadChoice, make_workload, parse_levels
    from seatrial.cli.bench_output import print_comparison
    from seatrial.cli.options import parse_sampling
    from seatrial.cli.output import print_json
    from seatrial.errors import ExitCode, InputError

    allowed = REGRESSION_MARGIN if margin is None else margin
    if b is not None and _is_url(a) != _is_url(b):
        raise InputError("one is a server and the other a run", where=f"{a} {b}", advice="Name two of one kind.")
    if b is None:
        if _is_url(a):
            raise InputError("the last promoted one is compared with a run", where=a, advice="Measure it first.")
        found = _against_last(Path(a), ledger, stack, allowed)
    elif _is_url(a):
        from seatrial.bench.plan import Level

        made = make_workload(
            WorkloadChoice(
                workload, None, max_tokens, input_tokens, parse_sampling(sampling), seed, "avoid", ignore_eos=False
            )
        )
        levels = tuple(Level(level, requests=requests * level) for level in parse_levels(concurrency))
        servers = _Servers(a, b, model_a, model_b, api_key_file, api_key_file_b, runs)
        found = _servers(servers, made, levels, blocks, allowed)
    else:
        found = _runs(Path(a), Path(b), allowed)
    if as_json:
        print_json(found)
    else:
        print_comparison(found)
    if found.void:
        raise typer.Exit(ExitCode.UNPROVEN)
    raise typer.Exit(ExitCode.REFUTED if margin is not None and found.findings else ExitCode.PROVEN)


@dataclass(frozen=True, slots=True)
class _Servers:
    a: str
    b: str
    model_a: str | None
    model_b: str | None
    api_key_file: Path | None
    api_key_file_b: Path | None
    runs: Path


def _is_url(text: str) -> bool:
    return text.startswith(("http://", "https://"))


def _runs(a: Path, b: Path, margin: float) -> Comparison:
    from seatrial.bench.comparison import compare
    from seatrial.bench.stored import read_bench

    return compare(read_bench(a), read_bench(b), (str(a), str(b)), margin=margin)


def _against_last(run: Path, ledger: Path | None, stack: str | None, margin: float) -> Comparison:
    """Compare a run with the last promoted one: B is the run."""
    from seatrial.bench.against_last import last_promoted
    from seatrial.bench.stored import read_bench
    from seatrial.errors import InputError

    if ledger is None or stack is None:
        raise InputError(
            "the last promoted one is in a ledger",
            where="bench compare",
            advice="Name it: --ledger FOLDER --stack NAME. Or name a second run.",
        )
    return last_promoted(ledger, stack).compared_with(read_bench(run), str(run), margin=margin)


def _servers(
    servers: _Servers, workload: Workload, levels: tuple[Level, ...], blocks: int, margin: float
) -> Comparison:
    from seatrial.bench.interleaved import Interleaved
    from seatrial.cli.output import TerminalDisplay
    from seatrial.cli.running import run
    from seatrial.endpoint.address import parse_base_url, read_api_key
    from seatrial.endpoint.client import Limits
    from seatrial.endpoint.preflight import find_endpoint
    from seatrial.runs.folder import RunFolder
    from seatrial.runs.redaction import Redactor

    key, waits = read_api_key(servers.api_key_file), Limits()
    key_b = key if servers.api_key_file_b is None else read_api_key(servers.api_key_file_b)
    a = run(find_endpoint(parse_base_url(servers.a), servers.model_a, key, waits))
    b = run(find_endpoint(parse_base_url(servers.b), servers.model_b, key_b, waits))
    redact = Redactor([one for one in (key, key_b) if one is not None])
    arguments = {"a": a.base_url, "b": b.base_url, "workload": workload.figures(), "blocks": blocks}
    with RunFolder(servers.runs, "bench compare", redact, arguments=arguments) as folder, TerminalDisplay() as display:
        display.phase("Measuring both in turns")
        both = Interleaved(a, b, waits, workload, levels, blocks, on_block=display.step, margin=margin)
        try:
            run(both.measure(), folder)
        finally:
            folder.write_json("comparison.json", both.comparison())
    return both.comparison()
