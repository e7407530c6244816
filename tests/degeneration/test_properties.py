"""What holds for every text, however odd."""

from __future__ import annotations

import math
import random

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from degeneration.prose import PROSE
from degeneration.specimens import broken, sound
from degeneration.specimens_counting import counting_broken, counting_sound
from seatrial.degeneration import Severity, StreamDetector, scan
from seatrial.degeneration.exact import LONG_CHARS

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=400)
COMMON = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
POOL = [item.text for items in (broken(), sound(), counting_broken(), counting_sound()) for item in items.values()]


def in_pieces(text: str, cuts: list[int]) -> StreamDetector:
    detector = StreamDetector()
    at = 0
    for cut in [*cuts, len(text)]:
        detector.feed(text[at : at + cut])
        at += cut
    detector.feed(text[at:])
    return detector


@COMMON
@given(ANY_TEXT)
@example("\ud800\udfff" * 300)
@example("\x00" * 1000)
@example("İ" * 900)
@example("```" * 300)
@example("𝔘" * 500 + "\ud83d" * 500)
def test_no_text_raises(text: str) -> None:
    scan(text * 7)


@COMMON
@given(st.text(min_size=1, max_size=200), st.sampled_from(list(PROSE.values())))
@example("0, ", "[")
@example("#..#\n", "```\n")
@example("A", "```UklGRiQC")
@example("x\n", "```python\n")
@example("<br>\n", "")
def test_any_text_is_caught_from_nine_copies_and_the_longest_excuse_on(unit: str, head: str) -> None:
    copies = max(10, math.ceil((LONG_CHARS + 2 * 64) / len(unit)) + 1)
    found = scan(head + unit * copies)
    assert found is not None
    assert found.severity is Severity.FAIL


@COMMON
@given(st.sampled_from(sorted(PROSE)), st.integers(1, 280), st.integers(0, 90))
def test_prose_is_caught_from_four_copies_or_400_characters_on(language: str, length: int, start: int) -> None:
    unit = PROSE[language][start : start + length]
    copies = max(4, math.ceil(400 / len(unit)) + 1)
    found = scan(PROSE["english"] + unit * copies)
    assert found is not None
    assert found.severity is Severity.FAIL


@COMMON
@given(
    st.sampled_from(sorted(PROSE)),
    st.integers(40, 200),
    st.integers(1, 2_000),
    st.sampled_from([("{} ", " "), ("({}) ", " "), ("", " {} ")]),
)
def test_a_sentence_around_a_counter_is_caught_from_27_copies_on(
    language: str, length: int, first: int, around: tuple[str, str]
) -> None:
    sentence = PROSE[language][:length].replace(".", ",").replace("。", "，").rstrip(" ,，:：") + "."
    copies = max(27, math.ceil(400 / length) + 3)
    text = "".join(around[0].format(i) + sentence + around[1].format(i) for i in range(first, first + copies))
    found = scan(PROSE["english"] + text)
    assert found is not None
    assert found.severity is Severity.FAIL


@COMMON
@given(st.integers(0, len(POOL) - 1), st.lists(st.integers(0, 3_000), max_size=30))
def test_the_borders_of_the_pieces_never_change_the_result(index: int, cuts: list[int]) -> None:
    text = POOL[index]
    assert in_pieces(text, cuts).finish() == scan(text)


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 2**32), st.lists(st.integers(1, 9), min_size=1, max_size=9))
def test_small_pieces_of_a_long_text_change_nothing(seed: int, sizes: list[int]) -> None:
    generator = random.Random(seed)
    text = "".join(generator.choice(POOL)[:9_000] for _ in range(6))
    detector = StreamDetector()
    at = turn = 0
    while at < len(text):
        size = sizes[turn % len(sizes)]
        detector.feed(text[at : at + size])
        at, turn = at + size, turn + 1
    assert detector.finish() == scan(text)


@COMMON
@given(st.integers(0, len(POOL) - 1), st.integers(0, 2**32))
def test_positions_and_coverage_are_within_the_text(index: int, seed: int) -> None:
    text = POOL[index][: random.Random(seed).randrange(1, 6_000)]
    found = scan(text)
    if found is not None:
        assert 0 <= found.onset < found.end <= len(text)
        assert 0 < found.coverage <= 1
        assert found.coverage == (found.end - found.onset) / len(text)
        assert len(found.needle) <= 80


@COMMON
@given(st.integers(0, len(POOL) - 1))
def test_a_stream_is_called_broken_exactly_when_the_whole_text_is(index: int) -> None:
    text = POOL[index]
    detector = StreamDetector()
    early = [found for at in range(0, len(text), 50) if (found := detector.feed(text[at : at + 50]))]
    final = detector.finish()
    if early:
        assert final is not None
        assert final.severity is Severity.FAIL
        assert (final.kind, final.onset) == (early[0].kind, early[0].onset)
