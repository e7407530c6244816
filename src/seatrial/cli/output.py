"""What a person sees: progress on stderr, results on stdout. Colour and bars on terminals only."""

from __future__ import annotations

import json
from collections import Counter
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from seatrial.trials.metrics import ToolMetrics, tool_metrics
from seatrial.verdicts import Verdict

if TYPE_CHECKING:
    from seatrial.verdicts import CheckResult, SuiteResult

COLOURS = {"proven": "green", "refuted": "bold red", "unproven": "yellow"}

SHOWN_PLACES = 3
"""Places that the terminal shows of one check; the report shows all."""

PIPED_WIDTH = 110
"""Columns where the output is no terminal."""


def console(*, stderr: bool = False) -> Console:
    """Make a console whose width does not depend on chance when it is piped."""
    made = Console(stderr=stderr, highlight=False)
    return made if made.is_terminal else Console(stderr=stderr, highlight=False, width=PIPED_WIDTH)


class TerminalDisplay:
    """Draws phases with a bar and the time left on a terminal; writes a line a phase elsewhere."""

    def __init__(self) -> None:
        self._console = console(stderr=True)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            TextColumn("[dim]{task.fields[detail]}"),
            console=self._console,
            transient=True,
        )
        self._drawing = self._console.is_terminal
        self._detail = ""

    def __enter__(self) -> Self:
        if self._drawing:
            self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def phase(self, text: str) -> None:
        """Begin a phase."""
        self._detail = ""
        if not self._drawing:
            self._console.print(f"{text} …")
            return
        for task in self._progress.task_ids:
            self._progress.remove_task(task)
        self._progress.add_task(text, total=None, detail="")

    def step(self, done: int, total: int, detail: str = "") -> None:
        """Move the bar."""
        if self._drawing and self._progress.task_ids:
            if total > 1_000_000:  # bytes: shown as mebibytes
                done, total = done >> 20, total >> 20
            self._progress.update(self._progress.task_ids[-1], completed=done, total=total, detail=detail)
        elif not self._drawing and detail and detail != self._detail:
            self._console.print(f"  {detail}")
        self._detail = detail


def print_json(document: Any) -> None:
    """Print one JSON object to stdout."""
    from seatrial.runs.folder import to_json

    print(json.dumps(to_json(document), ensure_ascii=False, indent=2))  # noqa: T201 - this is the output


def print_verdict(result: SuiteResult) -> None:
    """Print a row a trial, then each refuted or unproven check with its evidence."""
    out = console()
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("trial")
    table.add_column("verdict")
    table.add_column("checks")
    table.add_column("what was tried", overflow="fold")
    for trial in result.trials:
        counts = Counter(check.verdict.value for check in trial.checks)
        words = ", ".join(f"{counts[verdict]} {verdict}" for verdict in COLOURS if counts[verdict])
        table.add_row(Text(trial.trial), verdict_text(trial.verdict.value), Text(words), Text(trial.title))
    out.print(table)
    for verdict in (Verdict.REFUTED, Verdict.UNPROVEN):
        for trial, check in result.checks_with(verdict):
            infrastructure = " (infrastructure)" if check.infrastructure else ""
            out.print()
            line = Text.assemble(verdict_text(verdict.value), f" {trial.trial}/{check.check}{infrastructure}")
            out.print(Text.assemble(line, f": {check.detail}"))
            print_evidence(out, check)
    print_metrics(out, tool_metrics(result.trials))
    if any(trial.notes for trial in result.trials):
        out.print()
    for trial in result.trials:
        for note in trial.notes:
            out.print(Text(f"note {trial.trial}: {note}", style="dim"))


def print_metrics(out: Console, metrics: ToolMetrics | None) -> None:
    """Print the metrics of tool calling; nothing where no tool was offered."""
    if metrics is None:
        return
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for column in ("tool calling", "rate", "95% interval", "of"):
        table.add_column(column)
    for rate in metrics.rates:
        if rate.value is not None:
            interval = f"{rate.low_95:.0%} to {rate.high_95:.0%}"
            table.add_row(rate.name.replace("_", " "), f"{rate.value:.0%}", interval, f"{rate.total}  {rate.formula}")
    out.print()
    out.print(table)


def print_evidence(out: Console, check: CheckResult) -> None:
    """Print where to look: the prompt, and the place in the text."""
    if len(check.evidence) > SHOWN_PLACES:
        rest = len(check.evidence) - SHOWN_PLACES
        hidden = Text(f"    … and {rest} more places: in the report", style="dim")
    else:
        hidden = None
    for evidence in check.evidence[:SHOWN_PLACES]:
        if evidence.prompt:
            out.print(Text(f"    {evidence.exchange} asked: {evidence.prompt}"))
        if evidence.quote:
            place = f" ({evidence.span.field} from character {evidence.span.start})" if evidence.span else ""
            out.print(Text(f"    answer{place}: {evidence.quote}"))
    if hidden is not None:
        out.print(hidden)


def verdict_text(verdict: str) -> Text:
    """Colour a verdict."""
    return Text(verdict, style=COLOURS[verdict])
