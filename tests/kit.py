"""What several tests use."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

Completed = subprocess.CompletedProcess[str]


def hear_ctrl_c() -> None:
    """In a child: take SIGINT as on a terminal. Shells without job control start their background jobs deaf to it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class CommandLine:
    """Runs the real program in a child process, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {key: value for key, value in os.environ.items() if key != "SEATRIAL_API_KEY"}

    def command(self, arguments: Sequence[str | Path]) -> list[str]:
        return [sys.executable, "-m", "seatrial", *map(str, arguments)]

    def __call__(self, *arguments: str | Path, expect: int | None = None, **environment: str) -> Completed:
        done = subprocess.run(
            self.command(arguments),
            cwd=self.folder,
            env=self.environment | environment,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert "Traceback" not in done.stderr + done.stdout
        if expect is not None:
            assert done.returncode == expect, done.stderr + done.stdout
        return done

    def start(self, *arguments: str | Path, **environment: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.command(arguments),
            cwd=self.folder,
            env=self.environment | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=hear_ctrl_c,
        )

    @property
    def run_folder(self) -> Path:
        """The folder of the only run so far."""
        (folder,) = (self.folder / "runs").iterdir()
        return folder
