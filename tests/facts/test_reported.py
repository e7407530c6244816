"""The reported list: data that can be read, with a source for everything."""

from __future__ import annotations

import re

import pytest

from seatrial.facts.reported import on_record, reported_about, reported_checkpoints, reported_in_family


@pytest.mark.parametrize(
    ("repo", "verdict"),
    [
        ("QuantTrio/Qwen3.6-35B-A3B-AWQ", "clean"),
        ("cyankiwi/Qwen3.6-27B-AWQ-INT4", "clean"),
        ("QuantTrio/Qwen3.6-27B-AWQ", "broken"),
        ("cyankiwi/Qwen3.6-35B-A3B-AWQ-4bit", "broken"),
        ("Qwen/Qwen3.6-35B-A3B-FP8", "mixed"),
        ("Intel/Qwen3.6-35B-A3B-int4-mixed-AutoRound", "mixed"),
        ("RedHatAI/Qwen3.6-35B-A3B-FP8-dynamic", "untested"),
        ("palmfuture/Qwen3.6-35B-A3B-GPTQ-Int4", "untested"),
    ],
)
def test_every_checkpoint_of_the_deployment_notes_is_on_record(repo: str, verdict: str) -> None:
    found = on_record(repo)
    assert found is not None
    assert found.verdict == verdict


def test_every_report_has_a_source_and_its_date_is_one() -> None:
    for found in reported_checkpoints():
        assert found.family
        assert found.reports or (found.verdict == "untested" and found.note)
        for report in found.reports:
            assert report.source
            assert report.date is None or re.fullmatch(r"20\d\d-\d\d-\d\d", report.date)
            assert report.symptom or report.verdict == "clean"
            assert ("https://" in report.source) <= (report.date is not None)


def test_a_checkpoint_is_found_by_any_of_its_names() -> None:
    for name in (
        "quanttrio/qwen3.6-27b-awq",
        "/root/.cache/huggingface/hub/models--QuantTrio--Qwen3.6-27B-AWQ/snapshots/abc",
    ):
        found = reported_about(name)
        assert found is not None
        assert found.repo == "QuantTrio/Qwen3.6-27B-AWQ"
    assert reported_about("owner/Qwen3.6-27B-AWQ-mine") is None


def test_a_candidate_that_nobody_tested_is_no_report() -> None:
    assert reported_about("RedHatAI/Qwen3.6-35B-A3B-FP8-dynamic") is None


def test_the_same_checkpoint_is_broken_on_one_engine_and_clean_on_another() -> None:
    found = reported_about("QuantTrio/Qwen3.6-27B-AWQ")
    assert found is not None
    assert found.engines == ("sglang 0.5.16", "sglang 0.5.14")
    assert found.clean_on == ("vllm 0.21",)


def test_the_sisters_of_a_family_are_found() -> None:
    assert {found.family for found in reported_in_family("qwen3.6")} == {"Qwen3.6"}
    assert len(reported_in_family("Qwen3.6")) > 8
