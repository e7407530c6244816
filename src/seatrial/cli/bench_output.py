"""What a person sees of a benchmark and of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from seatrial.bench.result import FORMULAS, LATENCIES, RATES
from seatrial.cli.output import COLOURS, console

if TYPE_CHECKING:
    from rich.console import Console

    from seatrial.bench.comparison import Comparison
    from seatrial.bench.result import BenchResult, Distribution, Interval, LevelResult
    from seatrial.bench.self_check import SelfCheck

ANSWER_COLOURS = {"faster": "green", "slower": "bold red", "can't tell": "dim"}
UNITS = {"request_throughput": "req/s", "goodput": "req/s"}


def print_bench(result: BenchResult, *, formulas: bool = False) -> None:
    """Print a benchmark: a row a level, each figure with its 95% interval, then what must be known about it."""
    out = console()
    out.print(_summary(result))
    if formulas:
        for level in result.levels:
            out.print()
            out.print(_figures(level))
    if result.knee is not None:
        out.print()
        out.print(Text(f"knee: {result.knee.concurrency} at once. {result.knee.why}."))
    _print_remarks(out, result)


def _summary(result: BenchResult) -> Table:
    table = _table()
    columns = ["load", "requests", "tokens/s", "clean tokens/s", "TTFT p50 / p90", "ms a token p50", "broken"]
    if result.objectives:
        columns.insert(4, "goodput/s")
    for column in columns:
        table.add_column(column, justify="right")
    for level in result.levels:
        first = level.distributions.get("time_to_first_token")
        token = level.distributions.get("time_per_output_token")
        row = [
            level.name,
            f"{level.completed}" + (f" (+{level.failed} failed)" if level.failed else ""),
            f"{level.output_token_throughput:.1f}",
            _with_interval(level.clean_output_token_throughput, level.intervals.get("clean_output_token_throughput")),
            f"{first.p50:.3f} / {first.p90:.3f} s" if first else "–",
            f"{token.p50 * 1000:.1f}" if token else "–",
            str(level.degenerate),
        ]
        if result.objectives:
            row.insert(4, "–" if level.goodput is None else f"{level.goodput:.2f}")
        table.add_row(*row)
    return table


def _figures(level: LevelResult) -> Table:
    """List every figure of a level with its formula."""
    table = _table()
    for column in (level.name, "p50, or value (95%)", "p90", "p99"):
        table.add_column(column, justify="left" if column == level.name else "right", no_wrap=True)
    table.add_column("formula", overflow="fold", style="dim")
    for name in LATENCIES:
        if (found := level.distributions.get(name)) is not None:
            p90, p99 = found.p90 * 1000, found.p99 * 1000
            table.add_row(f"{_words(name)}, ms", _median(found), f"{p90:.1f}", f"{p99:.1f}", _formula(name))
    for name in RATES:
        value = getattr(level, name)
        if value is not None:
            shown = _with_interval(value, level.intervals.get(name))
            table.add_row(f"{_words(name)}, {UNITS.get(name, 'tok/s')}", shown, "", "", _formula(name))
    if level.cache_hit_rate is not None:
        table.add_row("cache hit rate", f"{level.cache_hit_rate:.1%}", "", "", FORMULAS["cache_hit_rate"])
    return table


def _formula(name: str) -> str:
    """Say the formula without its unit: the table's own stands at the metric."""
    for unit in (", seconds", ", tokens per second", ", requests per second"):
        if FORMULAS[name].endswith(unit):
            return FORMULAS[name].removesuffix(unit)
    return FORMULAS[name].replace(", seconds;", ";")


def _words(name: str) -> str:
    return name.replace("_", " ").replace(" token throughput", " throughput")


def _print_remarks(out: Console, result: BenchResult) -> None:
    for level in result.levels:
        for message, count in level.errors.items():
            out.print(Text(f"{count} of the requests at {level.name} failed: {message}"))
    for note in result.notes:
        out.print(Text(f"note: {note}", style="dim"))
    told: set[str] = set()
    for level in result.levels:
        for note in level.notes:
            if note not in told:
                told.add(note)
                out.print(Text(f"note, {level.name}: {note}", style="dim"))
    if result.void:
        out.print(Text.assemble(("void ", COLOURS["unproven"]), result.void))


def print_comparison(found: Comparison) -> None:
    """Print a comparison: a row a metric and level."""
    out = console()
    out.print(Text.assemble("A  ", (found.a, "bold"), "\nB  ", (found.b, "bold")))
    table = _table()
    for column in ("load", "metric", "A", "B", "B / A", "95% interval", "B is"):
        table.add_column(column, justify="left" if column in {"load", "metric", "B is"} else "right")
    for row in found.rows:
        interval = "–" if row.interval is None else f"{row.interval[0]:.3f} … {row.interval[1]:.3f}"
        ratio = "–" if row.ratio is None else f"{row.ratio:.3f}"
        answer = Text(row.answer.value, style=ANSWER_COLOURS[row.answer.value])
        table.add_row(
            row.level,
            row.metric.replace("_", " "),
            _value(row.metric, row.a),
            _value(row.metric, row.b),
            ratio,
            interval,
            answer,
        )
    out.print(table)
    for note in found.notes:
        out.print(Text(f"note: {note}", style="dim"))
    for finding in found.findings:
        out.print(Text(f"{finding.level.value}: {finding.message}. {finding.advice}", style="bold red"))
    if found.void:
        out.print(Text.assemble(("void ", COLOURS["unproven"]), found.void))


def print_self_check(found: SelfCheck) -> None:
    """Print how exact the client is on this machine."""
    out = console()
    table = _table()
    for column in ("error of", "median", "p99", "largest", "of"):
        table.add_column(column, justify="left" if column in {"error of", "of"} else "right")
    for name, error in found.errors.items():
        cells = (_microseconds(error.median), _microseconds(error.p99), _microseconds(error.largest))
        table.add_row(name.replace("_", " "), *cells, f"{error.count} values")
    out.print(table)
    out.print(
        Text(
            f"{found.streams} streams of {found.tokens_per_second:g} tokens/s each; the fake server itself was "
            f"{_microseconds(found.server_lateness_median)} late (median), which is not counted as the client's error."
        )
    )
    if found.highest_chunk_rate is not None:
        out.print(Text(f"It reads at least {found.highest_chunk_rate:,.0f} chunks/s before it lags."))
    if found.void:
        out.print(Text.assemble(("void ", COLOURS["unproven"]), found.void))


def _table() -> Table:
    return Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))


def _median(found: Distribution) -> str:
    interval = found.intervals.get("p50")
    if interval is None:
        return f"{found.p50 * 1000:.2f}"
    return f"{found.p50 * 1000:.2f} ({interval[0] * 1000:.2f}–{interval[1] * 1000:.2f})"


def _with_interval(value: float, interval: Interval | None) -> str:
    return f"{value:.1f}" if interval is None else f"{value:.1f} ({interval[0]:.1f}–{interval[1]:.1f})"


def _value(metric: str, value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.2f}" if metric.split(":", maxsplit=1)[0] in RATES else f"{value * 1000:.2f} ms"


def _microseconds(seconds: float) -> str:
    return f"{seconds * 1e6:.0f} µs" if seconds < 0.001 else f"{seconds * 1e3:.2f} ms"
