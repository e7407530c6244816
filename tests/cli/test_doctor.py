"""`seatrial doctor` from the shell: the cause, the fix, and an exit code for scripts."""

from __future__ import annotations

import json
import subprocess

from kit import CommandLine

DEAD = """[2031-01-01 10:00:00 TP0] Load weight end. elapsed=41.2 s, type=X, dtype=torch.float16, avail mem=12.10 GB
RuntimeError: Index put requires the source and destination dtypes match, got BFloat16 for the destination and \
Half for the source.
[2031-01-01 10:00:01] Received sigquit from a child process. It usually means the child failed.
"""


def test_a_dead_server_gets_its_cause_and_its_fix(seatrial: CommandLine) -> None:
    (seatrial.folder / "log").write_text(DEAD, encoding="utf-8")
    done = seatrial("doctor", "--log", "log", expect=1)
    assert "SGLANG_MAMBA_CONV_DTYPE" in done.stdout
    document = json.loads(seatrial("doctor", "--log", "log", "--json", expect=1).stdout)
    assert document["cause"]["id"] == "conv-state-dtype-mismatch"


def test_a_healthy_log_is_fine_and_an_empty_one_too(seatrial: CommandLine) -> None:
    (seatrial.folder / "log").write_text("The server is fired up and ready to roll!\n", encoding="utf-8")
    (seatrial.folder / "empty").write_bytes(b"")
    seatrial("doctor", "--log", "log", expect=0)
    seatrial("doctor", "--log", "empty", expect=0)


def test_stdin_is_read_too(seatrial: CommandLine) -> None:
    done = subprocess.run(
        seatrial.command(["doctor", "--stdin", "--json"]), input=DEAD, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert json.loads(done.stdout)["cause"]["level"] == "fatal-at-first-request"


def test_wrong_usage_is_one_clear_line(seatrial: CommandLine) -> None:
    assert "one log is wanted" in seatrial("doctor", expect=2).stderr
    assert "can't be read" in seatrial("doctor", "--log", "missing", expect=2).stderr
