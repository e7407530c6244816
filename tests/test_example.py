"""The example deployment is what the program writes today."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_example_is_current() -> None:
    done = subprocess.run(
        [sys.executable, "scripts/example.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"python scripts/example.py writes it anew:\n{done.stdout}{done.stderr}"
