"""Invented answers of every kind of failure, each refuted by the check that names it, and right answers beside them.

`data/wrong.jsonl`, `right.jsonl` and `unknown.jsonl` hold rows as `seatrial judge` takes them, with the name of the
check in `refuted` or `unproven`. Tools stand there by their names; a row without tools offers all of `tools.json`.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from seatrial.checks import judge_row
from seatrial.verdicts import Verdict

DATA = Path(__file__).parent / "data"
TOOLS = {tool["function"]["name"]: tool for tool in json.loads((DATA / "tools.json").read_text("utf-8"))}


def rows(name: str) -> list[Any]:
    found = []
    for line in (DATA / name).read_text("utf-8").splitlines():
        row = json.loads(line)
        offered = row["request"].get("tools", list(TOOLS))
        row["request"]["tools"] = [TOOLS[tool] if isinstance(tool, str) else tool for tool in offered]
        row["request"].setdefault("tool_choice", "auto")
        found.append(pytest.param(row, id=row["id"]))
    return found


@pytest.mark.parametrize("row", rows("wrong.jsonl"))
def test_a_wrong_answer_is_refuted_by_the_check_that_names_what_is_wrong(row: dict[str, Any]) -> None:
    judgement = judge_row(row)

    assert judgement.verdict is Verdict.REFUTED
    assert row["refuted"] in {result.check for result in judgement.checks if result.verdict is Verdict.REFUTED}


@pytest.mark.parametrize("row", rows("right.jsonl"))
def test_a_right_answer_is_proven(row: dict[str, Any]) -> None:
    judgement = judge_row(row)

    assert [result for result in judgement.checks if result.verdict is not Verdict.PROVEN] == []
    assert judgement.verdict is Verdict.PROVEN


@pytest.mark.parametrize("row", rows("unknown.jsonl"))
def test_what_can_not_be_told_is_unproven_with_the_reason(row: dict[str, Any]) -> None:
    judgement = judge_row(row)

    assert judgement.verdict is Verdict.UNPROVEN
    assert row["unproven"] in {result.check for result in judgement.checks if result.verdict is Verdict.UNPROVEN}


@pytest.mark.parametrize("row", rows("wrong.jsonl"))
def test_every_refutation_says_why_and_shows_where(row: dict[str, Any]) -> None:
    for result in judge_row(row).checks:
        assert result.detail
        assert "\n" not in result.detail
        assert len(result.detail) < 1200
        if result.verdict is Verdict.REFUTED:
            assert result.evidence
            assert all(evidence.exchange == row["id"] for evidence in result.evidence)


def test_each_check_has_cases_that_refute_it_and_only_known_checks_have() -> None:
    counted = Counter(param.values[0]["refuted"] for param in rows("wrong.jsonl"))
    page = (DATA.parents[2] / "docs" / "tool-calls.md").read_text("utf-8")

    assert min(counted.values()) >= 3
    assert [check for check in counted if f"`{check}`" not in page] == []
