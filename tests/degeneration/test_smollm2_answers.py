"""Real answers of a small real model at temperature 0, labelled by reading: what the detectors make of them.

`pytest -s -k figures tests/degeneration/test_smollm2_answers.py` prints the numbers of docs/degeneration-smollm2.md.
"""

from __future__ import annotations

import functools
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from seatrial.degeneration import Degeneration, Kind, Severity, scan
from seatrial.trials.statistics import wilson_interval

DATA = Path(__file__).parent / "data"
SHUFFLE_CHARS = 350
"""The onset of a shuffle is the first of its sentences that is said again, and a reader may put it elsewhere."""


@dataclass(frozen=True)
class Labelled:
    """A labelled set, what is known to be missed in it, and the recall that nothing may make worse.

    Attributes:
        labels: how many answers are degenerate, not degenerate, borderline.
        missed: degenerate answers that don't fail (docs/degeneration-smollm2.md says why). Take off what is caught.
        caught: degenerate answers that fail, as measured.
    """

    file: str
    labels: tuple[int, int, int]
    missed: frozenset[str]
    caught: int

    @functools.cached_property
    def answers(self) -> tuple[dict[str, Any], ...]:
        return tuple(json.loads(line) for line in (DATA / self.file).read_text("utf-8").splitlines())

    @functools.cached_property
    def failures(self) -> dict[str, Degeneration]:
        """What fails, by id; a warning is no failure."""
        found = {row["id"]: scan(row["text"], field=row["field"], prompt=row["prompt"]) for row in self.answers}
        return {name: one for name, one in found.items() if one is not None and one.severity is Severity.FAIL}

    def labelled(self, label: bool | str) -> set[str]:
        return {row["id"] for row in self.answers if row["degenerate"] == label}


FIRST = Labelled(
    "smollm2_greedy.jsonl",
    (44, 45, 11),
    frozenset(
        {
            "fact-12",
            "tool-01",
            "tool-02",
            "tool-06",
            "tool-09",
            "prose-01",
            "prose-02",
            "prose-11",
            "table-07",
            "code-03",
            "language-05",
            "language-10",
        }
    ),
    32,
)
SECOND = Labelled(
    "smollm2_greedy_second.jsonl",
    (40, 30, 10),
    frozenset(f"second-{number:02}" for number in (4, 12, 17, 25, 37, 52, 63, 64, 66, 72)),
    30,
)
each_set = pytest.mark.parametrize("answers", [pytest.param(FIRST, id="first"), pytest.param(SECOND, id="second")])


@each_set
def test_the_set_is_whole(answers: Labelled) -> None:
    rows = answers.answers
    counts = Counter(str(row["degenerate"]) for row in rows)
    assert (counts["True"], counts["False"], counts["borderline"]) == answers.labels
    assert len({row["id"] for row in rows}) == len({row["prompt"] for row in rows}) == sum(answers.labels)
    for row in rows:
        assert (row["onset"] is not None) == (row["degenerate"] is True), row["id"]
        assert row["onset"] is None or 0 <= row["onset"] < len(row["text"]), row["id"]
        assert row["note"] or row["degenerate"] is False, row["id"]


def test_no_question_stands_in_both_sets() -> None:
    assert {row["prompt"] for row in FIRST.answers}.isdisjoint(row["prompt"] for row in SECOND.answers)


@each_set
def test_no_sound_answer_fails(answers: Labelled) -> None:
    assert not answers.labelled(label=False) & answers.failures.keys()


@each_set
def test_only_known_degenerate_answers_are_missed(answers: Labelled) -> None:
    assert answers.labelled(label=True) - answers.failures.keys() <= answers.missed


@each_set
def test_the_onset_is_where_a_reader_sees_it(answers: Labelled) -> None:
    for row in answers.answers:
        found = answers.failures.get(row["id"])
        if found is not None and row["degenerate"] is True:
            allowed = SHUFFLE_CHARS if found.kind is Kind.LOW_NOVELTY else (found.period or 0) + 64
            assert abs(found.onset - row["onset"]) <= allowed, row["id"]


@each_set
def test_figures_hold_their_floors(answers: Labelled) -> None:
    degenerate, sound, failed = answers.labelled(label=True), answers.labelled(label=False), answers.failures.keys()
    caught, false = len(degenerate & failed), len(sound & failed)
    print(f"\n{answers.file}: precision {caught}/{caught + false}, {interval(caught, caught + false)}")
    print(f"recall {caught}/{len(degenerate)} = {caught / len(degenerate):.3f}, {interval(caught, len(degenerate))}")
    print(f"false alarms {false}/{len(sound)}, {interval(false, len(sound))}: {sorted(sound & failed)}")
    print(f"missed: {sorted(degenerate - failed)}")
    print(f"known as missed, now caught: {sorted(answers.missed & failed)}")
    print(f"borderline that fail: {sorted(answers.labelled('borderline') & failed)}")
    assert false == 0
    assert caught >= answers.caught


def interval(count: int, of: int) -> str:
    low, high = wilson_interval(count, of)
    return f"95% interval {low:.3f} to {high:.3f}"
