"""Reads the Prometheus text of a server's `/metrics`, as far as the doctor asks. Pure; the rest is left out."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

SAMPLE = re.compile(r"(?:sglang:)?(?P<name>[A-Za-z_:][\w:]*)(?:\{(?P<labels>[^}]*)\})?\s+(?P<value>\S+)")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
MOST_SAMPLES = 200_000


@dataclass(frozen=True, slots=True)
class Metrics:
    """Samples by name, each with its labels."""

    samples: Mapping[str, tuple[tuple[Mapping[str, str], float], ...]]

    def total(self, *names: str) -> float | None:
        """Add up a metric over its labels; the first of the names that is there. None where none is."""
        rows = self._rows(names)
        return sum(value for _, value in rows) if rows else None

    def largest(self, *names: str) -> float | None:
        """Return the largest value over the labels."""
        rows = self._rows(names)
        return max(value for _, value in rows) if rows else None

    def by_label(self, name: str, label: str) -> dict[str, float]:
        """Add up a metric for each value of one label."""
        found: dict[str, float] = {}
        for labels, value in self.samples.get(name, ()):
            found[labels.get(label, "")] = found.get(labels.get(label, ""), 0.0) + value
        return found

    def mean(self, histogram: str) -> float | None:
        """Return a histogram's mean: sum / count."""
        count, total = self.total(f"{histogram}_count"), self.total(f"{histogram}_sum")
        return total / count if count and total is not None else None

    def _rows(self, names: tuple[str, ...]) -> tuple[tuple[Mapping[str, str], float], ...]:
        return next((self.samples[name] for name in names if name in self.samples), ())


def read_metrics(text: str) -> Metrics:
    """Read the text; names lose the prefix `sglang:`."""
    samples: dict[str, list[tuple[Mapping[str, str], float]]] = {}
    for line in text.splitlines()[:MOST_SAMPLES]:
        if line.startswith("#") or not (match := SAMPLE.match(line)):
            continue
        try:
            value = float(match["value"])
        except ValueError:
            continue
        if math.isfinite(value):
            samples.setdefault(match["name"], []).append((dict(LABEL.findall(match["labels"] or "")), value))
    return Metrics({name: tuple(rows) for name, rows in samples.items()})
