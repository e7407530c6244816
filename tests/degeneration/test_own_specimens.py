"""Own texts of many kinds: repetition that means something passes, repetition that is all there is does not."""

from __future__ import annotations

import pytest

from degeneration.specimens import Broken, Sound, broken, sound
from degeneration.specimens_held_out import FALSELY_CALLED, MISSED, held_out_broken, held_out_sound
from degeneration.specimens_more import more_broken, more_sound
from seatrial.degeneration import Severity, StreamDetector, scan

EXCUSED_LONGER = {"null without end", "zeros without end"}
"""Arrays of constants are excused up to 4,096 characters while they stream."""


@pytest.mark.parametrize(("name", "item"), list(broken().items()))
def test_broken_text_fails_at_its_onset(name: str, item: Broken) -> None:
    found = scan(item.text)
    assert found is not None, name
    assert found.severity is Severity.FAIL
    if name != "loop after 5,000 characters":  # there the text before is one that repeats too
        assert item.onset - 100 <= found.onset <= item.onset + (item.period or 0) + 100


@pytest.mark.parametrize(
    ("name", "item"), [(name, item) for name, item in broken().items() if item.period and name not in EXCUSED_LONGER]
)
def test_an_exact_loop_is_seen_in_time(name: str, item: Broken) -> None:
    assert item.period is not None
    detector = StreamDetector()
    for at in range(0, len(item.text), 4):
        if detector.feed(item.text[at : at + 4]):
            assert at + 4 - item.onset <= max(400, 4 * item.period), name
            return
    pytest.fail(f"{name}: never aborted")


@pytest.mark.parametrize(("name", "item"), list(sound().items()))
def test_text_in_order_is_no_failure(name: str, item: Sound) -> None:
    found = scan(item.text, prompt=item.prompt)
    assert found is None or found.severity is Severity.WARN, name


@pytest.mark.parametrize(("name", "text"), list(more_broken().items()))
def test_more_broken_text_fails(name: str, text: str) -> None:
    found = scan(text)
    assert found is not None, name
    assert found.severity is Severity.FAIL


@pytest.mark.parametrize(("name", "text"), list(more_sound().items()))
def test_more_text_in_order_is_no_failure(name: str, text: str) -> None:
    found = scan(text)
    assert found is None or found.severity is Severity.WARN, name


def test_the_held_out_set_gives_what_the_documentation_says() -> None:
    failed = {
        name
        for name, text in (held_out_broken() | held_out_sound()).items()
        if (found := scan(text)) is not None and found.severity is Severity.FAIL
    }
    assert set(held_out_broken()) - failed == MISSED
    assert failed & set(held_out_sound()) == FALSELY_CALLED
