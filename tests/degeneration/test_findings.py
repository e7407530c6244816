"""What a finding says, and what structures and prompts excuse."""

from __future__ import annotations

import random

import pytest

from degeneration.prose import LATIN, PROSE
from seatrial.degeneration import Degeneration, Kind, Severity, StreamDetector, scan
from seatrial.degeneration.request import read_request

ENGLISH = PROSE["english"]


def failure(text: str, prompt: str | None = None) -> Degeneration:
    found = scan(text, prompt=prompt)
    assert found is not None
    assert found.severity is Severity.FAIL
    return found


def test_a_finding_says_where_and_what_exactly() -> None:
    head = ENGLISH + "Then:\n"
    found = failure(head + "no way out. " * 100 + LATIN)
    assert found.kind is Kind.EXACT_PERIOD
    assert (found.onset, found.period) == (len(head), 12)
    assert found.end == len(head) + 1_200
    assert found.coverage == pytest.approx(1_200 / (len(head) + 1_200 + len(LATIN)))
    assert found.needle == "no way out. "
    assert "100 copies" in found.why


def test_a_long_needle_is_shortened() -> None:
    needle = failure(LATIN * 8).needle
    assert len(needle) == 80
    assert needle.endswith("…")


def test_a_finding_can_be_moved_into_a_longer_text() -> None:
    found = failure("!" * 500)
    moved = found.shifted(1_000)
    assert (moved.onset, moved.end) == (found.onset + 1_000, found.end + 1_000)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("!" * 600, Kind.CHARACTER_RUN),
        ("\n" * 600, Kind.WHITESPACE_FLOOD),
        (ENGLISH + " \n\t" * 300, Kind.WHITESPACE_FLOOD),
        ("so " * 300, Kind.EXACT_PERIOD),
        ("".join(f"Try {i} again and see. " for i in range(300)), Kind.DRIFTING_PERIOD),
        ("".join(f"{i}. " for i in range(300)), Kind.EMPTY_ENUMERATION),
        ("".join(f"{'4' * i} " for i in range(3, 60)), Kind.GROWING_RUNS),
        (" ".join(map(str, range(4_000))), Kind.ENDLESS_COUNT),
        ("".join(f'{{"turn": {i}, "name": "ls", "arguments": "{{}}"}}\n' for i in range(50)), Kind.REPEATED_TOOL_CALL),
    ],
)
def test_kinds_are_told_apart(text: str, kind: Kind) -> None:
    assert failure(text).kind is kind


def test_a_lone_exclamation_mark_is_a_warning_and_other_short_answers_are_nothing() -> None:
    found = scan("!")
    assert found is not None
    assert (found.severity, found.kind) == (Severity.WARN, Kind.PLACEHOLDER_ONLY)
    for text in ("", " ", "4", "?", "Yes!", "👍", "-"):
        assert scan(text) is None


def test_a_structure_excuses_some_copies_but_not_any_number() -> None:
    assert scan("[" + "0, " * 900 + "0]") is None
    assert failure("[" + "0, " * 2_000 + "0]").onset <= 4
    assert scan("```asm\n" + "    nop\n" * 64 + "    ret\n```") is None
    assert failure("```asm\n" + "    nop\n" * 900 + "    ret\n```").period == 8
    assert scan("| a | b |\n|---|---|\n" + "".join(f"| {i} | ok |\n" for i in range(60))) is None
    assert failure("| a | b |\n|---|---|\n" + "| 1 | ok |\n" * 400).period == 11


def test_an_array_that_never_closes_excuses_less() -> None:
    assert scan('{"v": [' + "0.0, " * 150 + "0.0]}") is None
    assert failure('{"v": [' + "0.0, " * 150).kind is Kind.EXACT_PERIOD


def test_forty_honest_cases_pass_and_hundreds_of_the_same_do_not() -> None:
    lines = [f"For n = {n} the remainder is {n * n % 7}, so we go on.\n" for n in range(400)]
    assert scan("".join(lines[:40]) + "Thus none works.") is None
    assert failure("".join(lines)).kind is Kind.DRIFTING_PERIOD


def test_repetition_that_was_asked_for_passes_but_a_flood_far_past_it_fails() -> None:
    prompt = "Please write the word banana 200 times."
    assert scan("banana " * 200, prompt=prompt) is None
    assert failure("banana " * 400, prompt=prompt).kind is Kind.EXACT_PERIOD
    assert failure("banana " * 200, prompt="What is a banana?").kind is Kind.EXACT_PERIOD


@pytest.mark.parametrize(
    ("prompt", "count"),
    [
        ("Repeat 'ha' 100 times.", 100),
        ("count to 300", 300),
        ("Say it three hundred times", 300),
        ("list the numbers 1 to 500", 500),
        ("Wiederhole das Wort hundertmal", 100),
        ("Zähle bis 250", 250),
        ("Répète le mot 150 fois", 150),
        ("Repite la palabra cien veces", 100),
        ("повтори слово сто раз", 100),
        ("把这个字重复一百遍", 100),
        ("从1数到500", 500),
        ("この言葉を50回繰り返して", 50),
        ("이 단어를 200번 반복해", 200),
        ("كرر الكلمة 100 مرة", 100),
        ("इस शब्द को 100 बार लिखो", 100),
        ("repeat it 1,000 times", 1_000),
    ],
)
def test_the_number_of_times_is_read_in_many_languages(prompt: str, count: int) -> None:
    request = read_request(prompt)
    assert request is not None
    assert request.times == count


@pytest.mark.parametrize(
    "prompt",
    [
        None,
        "",
        "What is the capital of France?",
        "Who won in 1998?",
        "Repeat after me.",
        "Write a 500-word essay about whales.",
        "Summarise this in 200 words.",
        "Give me 3 reasons.",
    ],
)
def test_other_prompts_ask_for_no_repetition(prompt: str | None) -> None:
    request = read_request(prompt)
    assert request is None or not request.times | request.things | request.days


@pytest.mark.parametrize(
    ("prompt", "wanted"),
    [
        ("Give me 3 reasons.", 3),
        ("Write a JSON array of six users with id, name and email.", 6),
        ("List fifteen animals that live in the desert.", 15),
        ("Nenne fünf Gründe für das Radfahren.", 5),
        ("Haz una tabla con 5 frutas y sus colores.", 5),
        ("请列出三个城市", 3),
        ("Write unit tests for these 2 functions.", 0),
        ("Make a table of the three shifts for each day of the month.", 0),
        ("Write a function that sorts 3 numbers.", 0),
        ("Write 3 sentences about the sea.", 0),
        ("Write three examples, and explain. " + "The log of the server follows. " * 20, 0),
        ("What happened in 1998?", 0),
    ],
)
def test_the_few_things_that_a_short_prompt_wants_are_read(prompt: str, wanted: int) -> None:
    request = read_request(prompt)
    assert (request.wanted if request else 0) == wanted


def test_far_more_copies_than_were_wanted_fail_and_up_to_twice_as_many_do_not() -> None:
    rows = [f"{i}. Lions\n" for i in range(1, 60)]
    prompt = "List fifteen animals that live in the desert."
    few = scan("".join(rows[:30]), prompt=prompt)
    assert few is None or few.severity is Severity.WARN
    assert "15 were asked for" in failure("".join(rows[:40]), prompt).why
    cut = scan("".join(rows[:40]), prompt="List animals that live in the desert.")
    assert cut is None or cut.severity is Severity.WARN


def test_statements_of_a_program_are_not_the_things_that_were_wanted() -> None:
    rows = "".join(f"INSERT INTO users (id, name) VALUES ({i}, 'user{i}');\n" for i in range(1, 41))
    assert scan(rows, prompt="Create 3 tables with sample data.") is None


def test_a_warning_comes_before_the_failure_and_is_no_reason_to_abort() -> None:
    detector = StreamDetector()
    warned = 0
    for i in range(1, 60):
        if detector.feed(f"I counted {i} sheep and I still could not sleep. "):
            break
        warned = warned or i * (detector.warning is not None)
    assert 0 < warned <= 8
    assert 20 < i <= 27
    assert detector.warning is None
    found = detector.finish()
    assert found is not None
    assert found.severity is Severity.FAIL


def test_progress_that_names_its_total_is_no_loop_before_it() -> None:
    assert scan("".join(f"Uploading part {i} of 80 ... done.\n" for i in range(1, 81))) is None
    assert scan("".join(f"[{i}/100] Compiling module {i}.\n" for i in range(1, 101))) is None


def test_months_of_one_year_count_as_a_counter() -> None:
    months = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October")
    report = "".join(f"{month} 2024: no incidents, and all systems were up.\n" for month in months)
    assert scan(report) is None


def test_a_loop_that_breaks_off_inside_a_word_needs_no_finish_reason() -> None:
    loop = "It is lit again and again, " * 8
    assert failure("The lamp is lit. " + loop + "It is lit aga").onset == pytest.approx(17, abs=27)
    for whole in (loop + "It is lit again.", "Om mani padme hum. " * 9):
        found = scan(whole)
        assert found is None or found.severity is Severity.WARN


def test_a_shuffle_of_sentences_is_seen_after_a_little_more_than_three_of_each() -> None:
    generator = random.Random(4)
    sentences = ["The pump is on again. ", "Nobody has touched the valve. ", "I will look at the gauge. "]
    text = "".join(generator.choice(sentences) for _ in range(60))
    found = failure(ENGLISH + text)
    assert found.kind is Kind.LOW_NOVELTY
    assert abs(found.onset - len(ENGLISH)) <= 100
    assert scan(ENGLISH + "".join(generator.sample(sentences, 3) * 2)) is None


def test_a_number_of_things_excuses_lines_that_count_but_no_stuck_sentence() -> None:
    prompt = "Write a table with 500 rows, and a short text of 300 words about each pump."
    assert scan("".join(f"| {i} | open |\n" for i in range(1, 501)), prompt=prompt) is None
    assert failure("I am not sure. " * 300, prompt=prompt).kind is Kind.EXACT_PERIOD
