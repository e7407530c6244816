"""The catalogue's data is what an installed SGLang's own parser says. Needs an interpreter that has SGLang:

SEATRIAL_SGLANG_PYTHON=/path/to/python make test ARGS="tests/sglang"
"""

from __future__ import annotations

import json
import os
import subprocess
from importlib import resources
from pathlib import Path

import pytest

pytestmark = pytest.mark.sglang
PYTHON = os.environ.get("SEATRIAL_SGLANG_PYTHON")
ROOT = Path(__file__).parent.parent.parent


@pytest.mark.skipif(PYTHON is None, reason="no interpreter with SGLang: set SEATRIAL_SGLANG_PYTHON")
def test_the_data_is_what_the_installed_parser_says() -> None:
    assert PYTHON is not None
    done = subprocess.run(
        [PYTHON, "scripts/sglang_flags.py"], cwd=ROOT, capture_output=True, text=True, timeout=280, check=True
    )
    read = json.loads(done.stdout)
    file = resources.files("seatrial.engines.sglang") / "flags" / f"{read['version']}.json"
    assert read == json.loads(file.read_text(encoding="utf-8"))
