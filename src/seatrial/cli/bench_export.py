"""`seatrial bench export`: a benchmark in another tool's shape."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from seatrial.cli.bench_options import FormatName


def export_command(
    run: Annotated[Path, typer.Argument(help="The run's folder.", show_default=False)],
    form: Annotated[
        FormatName, typer.Option("--format", help="sglang-jsonl: SGLang's bench_serving. aiperf-csv: AIPerf.")
    ],
    output: Annotated[
        Path | None, typer.Option("--output", metavar="FILE", help="Write it there, instead of to standard output.")
    ] = None,
) -> None:
    """Write a benchmark in the shape of SGLang's bench_serving or of AIPerf, for the tools that people have."""
    write_export(run, form, output)


def write_export(run: Path, form: str, output: Path | None) -> None:
    """Write one benchmark to a file, or to standard output."""
    import sys

    from seatrial.bench.exports import aiperf_csv, sglang_jsonl
    from seatrial.bench.rows import read_rows
    from seatrial.bench.stored import read_bench
    from seatrial.text_files import write_whole

    result = read_bench(run)
    text = aiperf_csv(result, read_rows(run)) if form == "aiperf-csv" else sglang_jsonl(result, read_rows(run))
    if output is None:
        sys.stdout.write(text)
    else:
        write_whole(output, text)
