"""Becomes the engine: writes down which process this is, then replaces itself by the engine's interpreter.

    python -I child.py RECORD WORD…          (a line of JSON on its standard input goes into the record)

Whoever started it may be killed at any moment; since the record is written by the process itself, there is never an
engine that nobody knows of. Standard library only, and no part of the package: it runs in the engine's environment.
"""

import json
import os
import sys
from pathlib import Path


def main() -> None:
    """Write the record, and become the engine."""
    record, words = Path(sys.argv[1]), sys.argv[2:]
    facts = json.loads(sys.stdin.readline())
    facts |= {"process_id": os.getpid(), "start_ticks": start_ticks("self")}
    part = record.with_name(f".{record.name}.part")
    part.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    part.replace(record)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.execv(words[0], words)  # noqa: S606 - a list of arguments, no shell


def start_ticks(process: "int | str") -> int:
    """Read when a process started, in clock ticks since boot: with its number, that names it for good.

    Field 22 of /proc/PID/stat (proc(5)); the name before it may hold anything, brackets too.
    """
    text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    return int(text.rpartition(")")[2].split()[19])


if __name__ == "__main__":
    main()
