"""Kills a switch at random steps, and its recovery too, and counts how often a whole, proven stack serves afterwards.

    python benchmarks/switch_faults.py [RUNS]

The stage is the test suite's: a server that is a file, which outlives the program as a container does. Each run draws a
candidate (good, looping, one that does not start), kills the switch at a random step, kills the next command's recovery
up to twice, and then lets one command through. Promised: right in 100 of 100 runs.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent.parent
sys.path[:0] = [str(HERE / "tests" / "release"), str(HERE / "src")]


def main() -> int:
    """Make the runs, and print what came of them."""
    from test_switch import (  # type: ignore[import-not-found]  # after its folder is on the path
        OLD,
        PROVEN,
        STATE_FOLDER,
        DiskStage,
        check,
        killed_child,
        recover,
    )

    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    seed = int(time.time())
    print(f"seed {seed}")
    chance = random.Random(seed)
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as parent:
        for number in range(runs):
            folder = Path(parent) / str(number)
            folder.mkdir()
            OLD.put(folder)
            DiskStage(folder).start()
            OLD.save(folder / STATE_FOLDER / PROVEN)
            candidate = chance.choice(["good", "looping", "dead"])
            killed = killed_child(folder, candidate, chance.randint(1, 18)) != 0
            for _ in range(chance.randint(0, 2)):
                killed_child(folder, "recover", chance.randint(1, 9))
            recover(DiskStage(folder))
            try:
                check(DiskStage(folder), candidate)
                counts["right"] += 1
            except AssertionError as error:
                counts["WRONG"] += 1
                print(f"run {number}, {candidate}: {error}")
            counts["switches killed"] += killed
    print(f"{counts['right']} of {runs} runs right ({counts['switches killed']} of them killed in the switch itself)")
    return 1 if counts["WRONG"] else 0


if __name__ == "__main__":
    sys.exit(main())
