"""How quickly the doctor reads a big log, and in how much memory: `python benchmarks/doctor.py [MB]`.

Five kinds of logs: of a serving server, one error over and over, tracebacks, lines that are all different, and random
words of error messages (nothing real is like that: it is the worst that a log can be).
"""

from __future__ import annotations

import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from seatrial.doctor import Watcher, judge
from seatrial.doctor.reading import blocks_to_lines

WORDS = (
    *("the", "scheduler", "request", "cache", "token", "model", "weight", "error", "memory", "failed", "warning"),
    *("not", "found", "server", "gpu", "cuda", "kernel", "attention", "queue", "running", "mamba", "page", "load"),
)


def serving(number: int) -> str:
    """Make a line of a server that serves."""
    if number % 4:
        return (
            f"Decode batch, #running-req: {number % 30}, #full token: {number % 90000}, full token usage: 0.31, "
            f"mamba usage: 0.31, cuda graph: True, gen throughput (token/s): {number % 3000}.12, #queue-req: 0"
        )
    return f'INFO:     10.0.{number % 255}.7:{number % 60000} - "POST /v1/chat/completions HTTP/1.1" 200 OK'


def one_error(_number: int) -> str:
    """Make the same error again."""
    return "RuntimeError: CUDA error: an illegal memory access was encountered"


def traceback(number: int) -> str:
    """Make a whole traceback."""
    frames = "".join(f'  File "/x/y{frame}.py", line {number}, in f{frame}\n    call(a, b)\n' for frame in range(12))
    return f"Traceback (most recent call last):\n{frames}ValueError: thing {number}"


def all_different(number: int) -> str:
    """Make a line like no other."""
    return f"{random.getrandbits(128):032x} {random.getrandbits(128):032x} finished in {number} ms"


def error_words(_number: int) -> str:
    """Make a line of words that error messages are made of."""
    return " ".join(random.choices(WORDS, k=18))


KINDS: tuple[Callable[[int], str], ...] = (serving, one_error, traceback, all_different, error_words)


def write(path: Path, kind: Callable[[int], str], megabytes: int) -> None:
    """Write a log of a size."""
    random.seed(1)
    size = number = 0
    with path.open("w", encoding="utf-8") as file:
        while size < megabytes * 1_000_000:
            number += 1
            stamp = f"{number // 3600 % 24:02d}:{number // 60 % 60:02d}:{number % 60:02d}"
            size += file.write(f"[2031-02-03 {stamp} TP{number % 2}] {kind(number)}\n")


def read(path: Path) -> None:
    """Read a log, and print how that went."""
    watcher = Watcher()
    began = time.perf_counter()
    with path.open("rb") as stream:
        watcher.feed_all(blocks_to_lines(stream))
    judge(watcher, ended=True)
    seconds = time.perf_counter() - began
    megabytes = path.stat().st_size / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{path.stem:<14} {megabytes:6.0f} MB {watcher.lines:>10,} lines {seconds:7.2f} s "
        f"{megabytes / seconds:7.0f} MB/s  peak {peak:.0f} MiB",
        flush=True,
    )


def main() -> None:
    """Measure each kind in a process of its own: memory is that kind's alone."""
    if len(sys.argv) > 2:
        read(Path(sys.argv[2]))
        return
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            path = Path(folder) / f"{kind.__name__}.log"
            write(path, kind, megabytes)
            subprocess.run([sys.executable, __file__, "read", str(path)], check=True)
            path.unlink()


if __name__ == "__main__":
    main()
