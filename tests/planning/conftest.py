"""What the planning tests share."""

from __future__ import annotations

import pytest

from linting import Linter


@pytest.fixture
def linter() -> Linter:
    return Linter()
