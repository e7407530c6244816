"""The plans of the two models of the deployment notes on five kinds of machine, as a person has read them."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

SPEC = importlib.util.spec_from_file_location("golden", Path(__file__).with_name("golden.py"))
assert SPEC is not None
assert SPEC.loader is not None
golden = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(golden)


@pytest.mark.parametrize("name", golden.CASES)
def test_a_plan_is_as_it_was_read(name: str) -> None:
    written = (golden.FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    assert golden.golden(*golden.CASES[name]) == written, (
        "python tests/planning/golden.py writes it anew; read the difference"
    )
