"""A candidate that is slower than the last promoted stack is a finding in `switch`."""

from __future__ import annotations

import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from seatrial.bench.against_last import kept_figures
from seatrial.bench.metrics import Offered, summarise
from seatrial.bench.result import BenchResult, LoadFigures, RequestRow
from seatrial.bench.workload import builtin
from seatrial.ledger.database import Ledger
from seatrial.ledger.entry import Combination, Entry, Kind
from seatrial.progress import Silent
from seatrial.release.deployment import Deployment
from seatrial.runs.folder import to_json


def measured(token_seconds: float) -> BenchResult:
    pick = random.Random(token_seconds)
    rows = []
    for number in range(100):
        total = 0.2 + 100 * token_seconds * pick.uniform(0.97, 1.03)
        sent = number / 10
        rows.append(
            RequestRow(
                f"b{number}", 0, "measured", sent, sent, sent=sent, first_token=sent + 0.2, ended=sent + total,
                chunks=101, output_tokens=101, tokens_counted_by_server=True,
            )
        )  # fmt: skip
    window = sum(row.ended - (row.sent or 0.0) for row in rows) / 8
    level = summarise(rows, Offered("8 at once", 8), window_seconds=window)
    figures = builtin("chat").figures()
    return BenchResult((level,), 256, {}, {}, figures, LoadFigures("closed", None, 1), began_at=0.0)


@pytest.fixture
def plan() -> Any:
    return SimpleNamespace(stack=SimpleNamespace(name="review", ledger="ledger"))


def deployment(folder: Path, told: list[str]) -> Deployment:
    project: Any = SimpleNamespace(folder=folder, is_written=False)
    return Deployment(project, lambda _path: pytest.fail("nothing is planned here"), Silent(), told.append)


def promote(folder: Path, bench: BenchResult) -> None:
    ledger = Ledger(folder / "ledger")
    figures = {"bench": to_json(kept_figures(bench))}
    combination = Combination("owner/model", "sglang")
    ledger.append(Entry(Kind.PROMOTION, "2026-12-01T00:00:00+00:00", combination, stack="review", figures=figures))
    ledger.close()


def test_a_candidate_that_is_surely_slower_is_a_finding(tmp_path: Path, plan: Any) -> None:
    promote(tmp_path, measured(0.02))
    told: list[str] = []
    found = deployment(tmp_path, told)
    found.bench = measured(0.03)
    found._compare_bench(plan)
    assert {finding.id for finding in found.findings} == {"slower-than-before"}
    assert any("slower" in line and "8 at once" in line for line in told)
    assert found._figures()["bench"]["8 at once"]["clean_output_token_throughput"]["interval"] is not None


def test_the_margin_is_the_deployments(tmp_path: Path, plan: Any) -> None:
    promote(tmp_path, measured(0.02))
    found = deployment(tmp_path, [])
    found.bench, found.regression_margin = measured(0.03), 0.6
    found._compare_bench(plan)
    assert found.findings == ()


def test_an_equal_candidate_and_a_first_one_are_none(tmp_path: Path, plan: Any) -> None:
    first = deployment(tmp_path, [])
    first.bench = measured(0.02)
    first._compare_bench(plan)
    promote(tmp_path, measured(0.02))
    again = deployment(tmp_path, [])
    again.bench = measured(0.0201)
    again._compare_bench(plan)
    assert first.findings == again.findings == ()
