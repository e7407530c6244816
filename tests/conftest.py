from __future__ import annotations

import asyncio
from pathlib import Path

import hypothesis
import pytest

from kit import CommandLine
from seatrial.store import demonstration

# A time limit for one example fails on a busy machine, and says nothing about the code.
hypothesis.settings.register_profile("unhurried", deadline=None)
hypothesis.settings.load_profile("unhurried")


@pytest.fixture(scope="session")
def small_model() -> Path:
    """The real small model, fetched once into the user's cache."""
    return asyncio.run(demonstration.fetch())


@pytest.fixture
def seatrial(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path)
