"""Memory is bounded, time is linear, and importing costs next to nothing."""

from __future__ import annotations

import random
import subprocess
import sys
import time

from seatrial.degeneration import StreamDetector, scan
from seatrial.degeneration.window import KEEP, SLACK


def seconds(text: str) -> float:
    best = 1e9
    for _ in range(3):
        start = time.process_time()
        scan(text)
        best = min(best, time.process_time() - start)
    return best / len(text)


def test_memory_does_not_grow_with_the_text() -> None:
    generator = random.Random(3)
    detector = StreamDetector()
    for _ in range(300):
        detector.feed(" ".join(f"w{generator.randrange(9_999)}" for _ in range(700)))
    assert detector.finish() is None
    assert len(detector._window.buf) <= KEEP + 2 * SLACK
    assert len(detector._drift.skeleton.buf) <= KEEP
    assert len(detector._drift.skeleton._marks) < 2_000


def test_floods_and_odd_text_cost_at_most_three_times_the_ordinary_rate() -> None:
    generator = random.Random(4)
    syllables = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "el", "ir")]
    ordinary_text = " ".join("".join(generator.choices(syllables, k=generator.randrange(1, 5))) for _ in range(20_000))
    assert scan(ordinary_text) is None
    ordinary = seconds(ordinary_text)
    for text in (
        "!" * 100_000,
        "one line and no end " * 50_000,
        "".join(map(chr, generator.choices([*range(32, 0xD800), *range(0xE000, 0x30000)], k=100_000))),
        "".join(chr(generator.randrange(0xD800, 0xE000)) for _ in range(100_000)),
        ("a" * 150 + "b") * 700,
        "".join("a" * generator.randrange(9, 150) + "b" for _ in range(1_000)),
        "(" * 64 + "x" + ")" * 64 + ("\\" * 31 + "\n") * 3_000,
    ):  # fmt: skip
        assert seconds(text) <= 3 * ordinary, text[:40]


def test_importing_is_cheap() -> None:
    code = (
        "import re, enum, dataclasses, collections, time; start = time.process_time(); "
        "import seatrial.degeneration; print(time.process_time() - start)"
    )
    times = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout) for _ in range(4)
    ]
    assert min(times) < 0.04  # 6 ms with compiled bytecode; compiling it is left out of nothing here


def test_the_detectors_import_nothing_heavy() -> None:
    code = "import sys, seatrial.degeneration; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}; {code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "pydantic" not in done.stdout
    assert "numpy" not in done.stdout
