"""Memory is bounded, and importing brings nothing heavy. Rates are in benchmarks/degeneration.py."""

from __future__ import annotations

import random
import subprocess
import sys

from seatrial.degeneration import StreamDetector
from seatrial.degeneration.window import KEEP, SLACK


def test_memory_does_not_grow_with_the_text() -> None:
    generator = random.Random(3)
    detector = StreamDetector()
    for _ in range(300):
        detector.feed(" ".join(f"w{generator.randrange(9_999)}" for _ in range(700)))
    assert detector.finish() is None
    assert len(detector._window.buf) <= KEEP + 2 * SLACK
    assert len(detector._drift.skeleton.buf) <= KEEP
    assert len(detector._drift.skeleton._marks) < 2_000


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
