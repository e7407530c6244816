"""How long the planning verbs take from the shell, against the same interpreter doing nothing.

    python benchmarks/planning_speed.py [RUNS]

Prints the median and the best of RUNS (default 15) starts of each verb, in seconds and as a multiple of
`python -c pass`: machines are noisy, ratios less so. Promised on two old cores: `plan` under 0.5 s,
`--help` and `explain` under 0.3 s; with a stack, `explain` makes its plan too.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SEATRIAL = [sys.executable, "-m", "seatrial"]
HERE = Path(__file__).parent.parent
COMPOSE = HERE / "tests" / "planning" / "data" / "compose-35b.yaml"
PROMISED = {"--help": 0.3, "explain": 0.3, "plan": 0.5}


def main() -> int:
    """Time every verb, and print the table."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    with tempfile.TemporaryDirectory() as folder:
        stack = Path(folder) / "plans" / "stack.yaml"  # elsewhere, so that `explain` alone makes no plan
        subprocess.run([*SEATRIAL, "init", "--example", "two-4090", "-o", str(stack)], check=True, capture_output=True)
        verbs = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "--help": [*SEATRIAL, "--help"],
            "explain": [*SEATRIAL, "explain", "--dtype"],
            "explain --stack": [*SEATRIAL, "explain", "--dtype", "--stack", str(stack), "--gpus", "2x RTX 4090"],
            "plan": [*SEATRIAL, "plan", str(stack), "--gpus", "2x RTX 4090", "--json"],
            "plan --why": [*SEATRIAL, "plan", str(stack), "--gpus", "2x RTX 4090", "--why"],
            "lint": [*SEATRIAL, "lint", str(COMPOSE), "--gpus", "2x RTX 4090", "--json"],
            "upgrade": [*SEATRIAL, "upgrade", "0.5.23", "--stack", str(stack), "--gpus", "2x RTX 4090"],
        }
        times = {name: [seconds(command, folder) for _ in range(runs)] for name, command in verbs.items()}
    base = statistics.median(times["python -c pass"])
    print(f"{'verb':<16}{'median s':>10}{'best s':>10}{'x python':>10}   promised")
    for name, taken in times.items():
        promised = f"{PROMISED[name]:.1f} s" if name in PROMISED else ""
        median = statistics.median(taken)
        print(f"{name:<16}{median:>10.3f}{min(taken):>10.3f}{median / base:>10.1f}   {promised}")
    return 0


def seconds(command: list[str], folder: str) -> float:
    """Run a command for how long it takes."""
    began = time.perf_counter()
    subprocess.run(command, cwd=folder, capture_output=True, check=False)
    return time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(main())
