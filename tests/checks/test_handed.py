"""The cases that came with the project's task: each judged right, for the right reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from seatrial.checks import judge_row
from seatrial.verdicts import Verdict

ROWS = [json.loads(line) for line in (Path(__file__).parent / "data" / "handed.jsonl").read_text("utf-8").splitlines()]

REASONS: dict[str, list[tuple[str, str]]] = {
    "B-06": [("arguments_parse", "call 2"), ("arguments_parse", "back to back"), ("call_names_known", "call 2 has no")],
    "B-07": [("call_names_known", "call 2 has no name"), ("arguments_parse", "call 1 ('get_weather') are empty"),
             ("stream_rebuilds", "spread over two indexes")],
    "B-09": [("finish_reason_agrees", "the expected call is missing"), ("answer_present", "60 tokens")],
    "B-12": [("arguments_as_expected", "'ids' should be [4, 8, 15, 16], got [4]")],
    "B-14": [("arguments_match_schema", "required 'command' missing")],
    "B-15b": [("answer_present", "yet 48 tokens were generated")],
    "B-16": [("call_made", "tool_choice is 'required', but tool_calls is empty")],
    "B-17": [("finish_reason_agrees", "finish_reason is 'stop'")],
    "B-19": [("no_markup_in_content", "inside a code fence")],
    "B-20": [("arguments_match_schema", "required 'command' missing")],
    "B-20b": [("no_markup_in_content", "a tool's name on a line of its own")],
    "B-21": [("no_arguments_in_content", "the content equals the text of a value")],
    "B-23": [("call_names_known", "is no offered tool"), ("call_names_known", "call 2 has no name")],
    "B-25": [("request_accepted", "HTTP 400"), ("request_accepted", "root cause: an earlier turn's call with")],
    "B-29": [("not_degenerate", "'command' of call 1")],
    "B-30": [("arguments_parse", "mostly white space"), ("finish_reason_agrees", "'length'"),
             ("not_degenerate", "white space")],
    "B-31": [("no_markup_in_content", "tool_calls is empty")],
    "B-34": [("no_markup_in_content", "tool tokens")],
    "B-35": [("arguments_as_expected", "'content' should be")],
    "B-36": [("arguments_as_expected", "'city' should be 'Turku', got 'Turk'")],
}  # fmt: skip


def without_verdict(row: dict[str, Any]) -> dict[str, Any]:
    return {key: row[key] for key in ("id", "request", "response", "sse", "expected_arguments") if key in row}


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_every_handed_case_is_judged_right(row: dict[str, Any]) -> None:
    judgement = judge_row(without_verdict(row))

    assert judgement.verdict is (Verdict.REFUTED if row["expect"] == "fail" else Verdict.PROVEN)
    refuted = {result.check: result.detail for result in judgement.checks if result.verdict is Verdict.REFUTED}
    for check, words in REASONS.get(row["id"], []):
        assert words in refuted[check]


def test_what_a_row_says_about_its_own_verdict_changes_nothing() -> None:
    for row in ROWS:
        lying = {**row, "expect": "ok", "failure": "none", "note": "", "checker_should_say": "ok"}

        assert judge_row(lying) == judge_row(without_verdict(row))


def test_every_failing_case_has_its_reason_here() -> None:
    assert {row["id"] for row in ROWS if row["expect"] == "fail"} == set(REASONS)


@pytest.mark.parametrize("identity", ["B-12", "B-35", "B-36"])
def test_a_wrong_value_is_found_without_the_expected_ones_where_the_prompt_dictates_it(identity: str) -> None:
    row = without_verdict(next(row for row in ROWS if row["id"] == identity))
    del row["expected_arguments"]

    judgement = judge_row(row)

    assert [result.check for result in judgement.checks if result.verdict is Verdict.REFUTED] == [
        "arguments_as_dictated"
    ]
