"""The environment that has real SGLang: `scripts/sglang_environment.py` builds it, and `make test-sglang` uses it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="session")
def sglang_environment() -> Path:
    """The folder of the environment; tests skip where it was never built, unless they must run."""
    where = [sys.executable, str(ROOT / "scripts" / "sglang_environment.py"), "--where"]
    folder = Path(subprocess.run(where, capture_output=True, text=True, check=True).stdout.strip())
    if not (folder / "ready.json").is_file():
        message = "SGLang's environment is not built: python3 scripts/sglang_environment.py (several GB)"
        if os.environ.get("SEATRIAL_TESTS_NEED_SGLANG"):
            pytest.fail(message)
        pytest.skip(message)
    return folder


@pytest.fixture(scope="session")
def sglang_python(sglang_environment: Path) -> str:
    """The interpreter that has SGLang."""
    return str(sglang_environment / "venv" / "bin" / "python")
