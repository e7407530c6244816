"""An answer that its token budget cut in the middle of a loop."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from degeneration.specimens import sound
from degeneration.specimens_held_out import held_out_sound
from degeneration.specimens_more import more_sound
from seatrial.degeneration import Degeneration, Severity, scan_answer
from seatrial.degeneration.ending import cut_in_loop


def answer(content: str, finish_reason: str, prompt: str | None = None) -> tuple[Degeneration, ...]:
    return scan_answer(content=content, reasoning=None, tool_arguments=[], finish_reason=finish_reason, prompt=prompt)


LOOP = "The lamp is lit. " + "It is lit again and again, " * 8


def test_eight_copies_are_enough_where_the_budget_cut_the_answer() -> None:
    (found,) = answer(LOOP, "length")
    assert found.severity is Severity.FAIL
    assert abs(found.onset - LOOP.index("It is")) <= 27
    assert found.period == 27


def test_an_answer_that_ended_by_itself_gets_the_benefit_of_the_doubt() -> None:
    assert all(found.severity is Severity.WARN for found in answer(LOOP, "stop"))


def test_repetition_that_was_asked_for_is_excused() -> None:
    prompt = 'Write "It is lit again and again" 20 times.'
    assert all(found.severity is Severity.WARN for found in answer(LOOP, "length", prompt))


def test_a_loop_in_a_script_of_few_characters_is_measured_in_bytes() -> None:
    (found,) = answer("それで" + "はく" * 30, "length")
    assert found.severity is Severity.FAIL


@pytest.mark.parametrize("unit", ["0, ", "null, ", "| | |\n", "AA", "------", "nop\n", "x = 1;\n"])
def test_data_and_code_may_repeat_where_they_are_cut(unit: str) -> None:
    assert cut_in_loop("```\n" + unit * 40, "content", None) is None or unit == "nop\n"


CAUGHT = 33
"""Of the 44 degenerate answers, as measured."""
SONGS = {"outro", "drum", "villanelle"}
"""Refrains of the same few words, and a poem of six equal stanzas: cut in the middle, they look like any loop."""


def test_texts_in_order_stay_so_wherever_they_are_cut() -> None:
    texts = {name: specimen.text for name, specimen in sound().items() if not specimen.prompt}
    texts |= more_sound() | held_out_sound()
    flagged = {
        name
        for name, text in texts.items()
        for cut in range(200, len(text) + 1, 61)
        if cut_in_loop(text[:cut], "content", None) is not None
    }
    assert flagged <= SONGS


def test_more_of_the_real_answers_are_caught_and_none_that_is_sound() -> None:
    lines = (Path(__file__).parent / "data" / "smollm2_greedy.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    failed = {
        row["id"]
        for row in rows
        if any(found.severity is Severity.FAIL for found in answer(row["text"], row["finish_reason"], row["prompt"]))
    }
    degenerate = {row["id"] for row in rows if row["degenerate"] is True}
    sound_ones = {row["id"] for row in rows if row["degenerate"] is False}
    assert not failed & sound_ones
    assert len(failed & degenerate) >= CAUGHT
