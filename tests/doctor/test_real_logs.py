"""Real failures, provoked on a real SGLang and a real Docker: the right cause first, however the log reaches us."""

from __future__ import annotations

from typing import Any

import pytest

from doctor.logs import WRAPPINGS, rows
from seatrial.doctor import diagnose

SGLANG = rows("real_sglang_cpu.jsonl")
DOCKER = rows("real_docker.jsonl")


@pytest.mark.parametrize("row", SGLANG, ids=lambda row: row["name"])
def test_a_real_failure_of_sglang_gets_its_cause_and_level(row: dict[str, Any]) -> None:
    found = diagnose(row["lines"])
    assert found.cause is not None
    assert (found.cause.id, found.cause.level.value) == (row["cause"], row["level"])
    assert found.unknown == (row["cause"] == "unknown-failure")


@pytest.mark.parametrize("row", DOCKER, ids=lambda row: row["name"])
def test_a_real_refusal_of_docker_gets_its_cause(row: dict[str, Any]) -> None:
    found = diagnose(row["lines"])
    assert found.cause is not None
    assert (found.cause.id, found.cause.level.value) == (row["cause"], "fatal")


@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_what_stands_around_the_lines_changes_nothing(wrapping: str) -> None:
    for row in SGLANG:
        found = diagnose(WRAPPINGS[wrapping](row["lines"]))
        assert found.cause is not None
        assert found.cause.id == row["cause"], (wrapping, row["name"], found.cause)


def test_a_misspelt_flag_is_corrected_from_the_usage_text_in_the_log() -> None:
    for name, right in (("bad-flag", "--mem-fraction-static"), ("bad-tool-parser", "qwen25")):
        found = diagnose(next(row for row in SGLANG if row["name"] == name)["lines"])
        assert found.cause is not None
        assert right in found.cause.fix


def test_a_healthy_start_alarms_nobody_and_shows_its_phases() -> None:
    found = diagnose(next(row for row in SGLANG if row["name"] == "ok")["lines"])
    assert not found.deadly
    assert not found.unknown
    assert [phase.phase for phase in found.phases] == [
        *("launch", "distributed init", "model set-up", "weight load", "memory pool", "pools allocated"),
        *("warm-up", "ready"),
    ]


def test_every_real_cause_comes_with_a_fix() -> None:
    for row in (*SGLANG, *DOCKER):
        found = diagnose(row["lines"])
        assert found.cause is not None
        assert found.cause.fix
        assert "{" not in found.cause.cause + found.cause.fix
