"""The cases from public reports: what must be caught is caught, what must pass passes, and in time."""

from __future__ import annotations

from typing import Any

import pytest

from degeneration.handed import handed_cases
from seatrial.degeneration import Kind, Severity, StreamDetector, scan

CASES = handed_cases()
BROKEN = [case for case in CASES if case["expect"] == "degenerate"]
SOUND = [case for case in CASES if case["expect"] == "ok"]
NEEDS_A_KNOWN_ANSWER = {"A-D48"}
"""One character, `!`: nothing in the text shows that it is wrong, so it is a warning."""
SALAD = {"A-D51"}
"""Doubled and cut tokens: seen when the text ends, or after 1,024 characters."""


def named(cases: list[dict[str, Any]]) -> list[Any]:
    return [pytest.param(case, id=f"{case['id']}-{case['kind']}") for case in cases]


@pytest.mark.parametrize("case", named(BROKEN))
def test_a_degenerate_answer_is_caught_at_its_onset(case: dict[str, Any]) -> None:
    found = scan(case["text"], field=case["field"])
    assert found is not None
    expected = Severity.WARN if case["id"] in NEEDS_A_KNOWN_ANSWER else Severity.FAIL
    assert found.severity is expected
    # One period and the window: what has no period is seen in 44 words.
    window = 300 if found.kind is Kind.LOW_NOVELTY else 64
    allowed = (case["period_chars"] or 0) + window
    assert abs(found.onset - case["onset_char"]) <= allowed
    assert found.field == case["field"]


@pytest.mark.parametrize("case", named(SOUND))
def test_an_answer_in_order_is_no_failure(case: dict[str, Any]) -> None:
    found = scan(case["text"], field=case["field"])
    assert found is None or found.severity is Severity.WARN


@pytest.mark.parametrize("case", named(BROKEN))
def test_the_stream_is_aborted_within_four_periods_or_400_characters(case: dict[str, Any]) -> None:
    text, detector = case["text"], StreamDetector()
    if len(text) - case["onset_char"] < 400 or case["id"] in SALAD:
        pytest.skip("too short, or looked at after 1,024 characters only")
    for at in range(0, len(text), 3):
        if detector.feed(text[at : at + 3]):
            assert at + 3 - case["onset_char"] <= max(400, 4 * (case["period_chars"] or 0))
            return
    pytest.fail("never aborted")
