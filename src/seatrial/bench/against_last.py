"""A benchmark beside that of the last promoted stack, as the ledger knows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seatrial.bench.comparison import (
    REGRESSION_MARGIN,
    ComparedMetric,
    Comparison,
    Figure,
    answer_for,
    compare,
    figures,
    ratio_of,
    regressions,
)
from seatrial.bench.result import BenchResult
from seatrial.bench.stored import read_bench
from seatrial.errors import InputError
from seatrial.ledger.database import FILE_NAME, Ledger
from seatrial.ledger.entry import Entry

KEPT = ("clean_output_token_throughput", "time_to_first_token:p50", "time_per_output_token:p50")
"""Metrics that an entry of the ledger keeps of each level, with their intervals."""


@dataclass(frozen=True, slots=True)
class LastPromoted:
    """What the ledger says about the last promoted stack's speed.

    Attributes:
        entry: of its promotion.
        bench: all of its benchmark, where its run's folder is still there.
    """

    entry: Entry
    bench: BenchResult | None

    @property
    def name(self) -> str:
        """Name it for people."""
        return f"the last promoted stack's ({self.entry.combination.model}, {self.entry.at[:10]})"

    def compared_with(self, result: BenchResult, name: str, *, margin: float = REGRESSION_MARGIN) -> Comparison:
        """Compare a newer benchmark with it: the ledger's is A, the newer one is B."""
        if self.bench is not None:
            return compare(self.bench, result, (self.name, name), margin=margin)
        rows = []
        kept = _kept(self.entry.figures)
        for level in result.levels:
            before, after = kept.get(level.name, {}), figures(level)
            for metric in before.keys() & after.keys():
                a, b = before[metric], after[metric]
                ratio, interval = ratio_of(a, b)
                answer = answer_for(metric, interval)
                rows.append(ComparedMetric(level.name, metric, a.value, b.value, ratio, interval, answer))
        rows.sort(key=lambda row: (row.level, KEPT.index(row.metric)))
        void = result.void or (None if rows else "the ledger has no figures of these levels")
        findings = () if void else regressions(rows, margin, than=self.name)
        notes = ("its run's folder is gone: these are the figures that the ledger kept",)
        return Comparison(self.name, name, tuple(rows), margin=margin, findings=findings, notes=notes, void=void)


def last_promoted(folder: Path, stack: str) -> LastPromoted:
    """Find the last promoted stack in a ledger.

    Raises:
        InputError: there is no ledger, or nothing was promoted under that name.
    """
    if not (folder / FILE_NAME).is_file():
        raise InputError("there is no ledger there", where=str(folder))
    ledger = Ledger(folder)
    try:
        entry = ledger.last_promoted(stack)
    finally:
        ledger.close()
    if entry is None:
        raise InputError(f"nothing was promoted under the name {stack!r}", where=str(folder))
    return of_entry(entry, folder)


def of_entry(entry: Entry, folder: Path) -> LastPromoted:
    """Take an entry of a promotion, with its run's benchmark where that can still be read."""
    bench = None
    if entry.run:
        try:
            bench = read_bench(folder / entry.run)
        except InputError:
            bench = None
    return LastPromoted(entry, bench)


def kept_figures(result: BenchResult) -> dict[str, Any]:
    """Return what an entry of the ledger keeps of a benchmark, as plain JSON values."""
    return {
        level.name: {
            name: {"value": figure.value, "interval": figure.interval, "count": figure.count}
            for name, figure in figures(level).items()
            if name in KEPT
        }
        for level in result.levels
    }


def _kept(written: Mapping[str, Any]) -> dict[str, dict[str, Figure]]:
    """Read what an entry kept; an older one has the clean throughput alone, without an interval."""
    found: dict[str, dict[str, Figure]] = {}
    for level, metrics in (written.get("bench") or {}).items():
        found[level] = {
            name: Figure(one["value"], tuple(one["interval"]) if one.get("interval") else None, one["count"])
            for name, one in metrics.items()
            if name in KEPT
        }
    for concurrency, value in (written.get("output_token_throughput") or {}).items():
        found.setdefault(f"{concurrency} at once", {KEPT[0]: Figure(value, None, 0)})
    return found
