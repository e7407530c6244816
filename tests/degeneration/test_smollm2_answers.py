"""Real answers of a small real model at temperature 0, labelled by reading: what the detectors make of them.

`pytest -s -k figures tests/degeneration/test_smollm2_answers.py` prints the numbers of docs/degeneration-smollm2.md.
"""

from __future__ import annotations

import functools
import json
from collections import Counter
from pathlib import Path
from typing import Any

from seatrial.degeneration import Degeneration, Severity, scan
from seatrial.trials.statistics import wilson_interval

FILE = Path(__file__).parent / "data" / "smollm2_greedy.jsonl"

KNOWN_FALSE_ALARMS: frozenset[str] = frozenset()
KNOWN_MISSES = frozenset(
    {
        "fact-12",
        "review-09",
        "tool-01",
        "tool-02",
        "tool-06",
        "tool-09",
        "tool-10",
        "prose-01",
        "prose-02",
        "prose-09",
        "prose-11",
        "list-01",
        "list-08",
        "table-07",
        "table-08",
        "code-03",
        "language-05",
        "language-08",
        "language-09",
        "language-10",
        "language-13",
    }
)
"""Degenerate answers that don't fail (docs/degeneration-smollm2.md says why). Take off what is caught from now on."""

PRECISION_FLOOR, RECALL_FLOOR = 1.0, 23 / 44
"""What was measured when the set was made; nothing may make it worse."""


@functools.cache
def answers() -> tuple[dict[str, Any], ...]:
    return tuple(json.loads(line) for line in FILE.read_text("utf-8").splitlines())


@functools.cache
def findings() -> dict[str, Degeneration]:
    """What fails, by id; a warning is no failure."""
    found = {answer["id"]: scan(answer["text"], field=answer["field"], prompt=answer["prompt"]) for answer in answers()}
    return {name: one for name, one in found.items() if one is not None and one.severity is Severity.FAIL}


def labelled(label: bool | str) -> set[str]:
    return {answer["id"] for answer in answers() if answer["degenerate"] == label}


def test_the_set_is_whole() -> None:
    assert len({answer["id"] for answer in answers()}) == len({answer["prompt"] for answer in answers()}) == 100
    assert Counter(str(answer["degenerate"]) for answer in answers()) == {"True": 44, "False": 45, "borderline": 11}
    for answer in answers():
        assert (answer["onset"] is not None) == (answer["degenerate"] is True), answer["id"]
        assert answer["onset"] is None or 0 <= answer["onset"] < len(answer["text"]), answer["id"]
        assert answer["note"] or answer["degenerate"] is False, answer["id"]


def test_no_sound_answer_fails() -> None:
    assert labelled(label=False) & findings().keys() <= KNOWN_FALSE_ALARMS


def test_only_known_degenerate_answers_are_missed() -> None:
    assert labelled(label=True) - findings().keys() <= KNOWN_MISSES


def test_the_onset_is_where_a_reader_sees_it() -> None:
    for answer in answers():
        found = findings().get(answer["id"])
        if found is not None and answer["degenerate"] is True:
            assert abs(found.onset - answer["onset"]) <= (found.period or 0) + 64, answer["id"]


def test_figures_hold_their_floors() -> None:
    degenerate, sound, failed = labelled(label=True), labelled(label=False), findings().keys()
    caught, false = len(degenerate & failed), len(sound & failed)
    precision, recall = caught / (caught + false), caught / len(degenerate)
    print(f"\nprecision {caught}/{caught + false} = {precision:.3f}, {interval(caught, caught + false)}")
    print(f"recall {caught}/{len(degenerate)} = {recall:.3f}, {interval(caught, len(degenerate))}")
    print(f"false alarms {false}/{len(sound)}, {interval(false, len(sound))}: {sorted(sound & failed)}")
    print(f"missed: {sorted(degenerate - failed)}")
    print(f"known as missed, now caught: {sorted(KNOWN_MISSES & failed)}")
    print(f"borderline that fail: {sorted(labelled('borderline') & failed)}")
    assert precision >= PRECISION_FLOOR
    assert recall >= RECALL_FLOOR


def interval(count: int, of: int) -> str:
    low, high = wilson_interval(count, of)
    return f"95% interval {low:.3f} to {high:.3f}"
