"""Make a virtual environment from a lock file, once, and again only when the lock changes.

Standard library only: this runs before anything is installed.

    python3 scripts/environment.py .venv requirements/runtime.txt

Safe to kill at any moment: an environment counts as made only when its stamp is written, last of all;
without a stamp the next run starts afresh. Two runs at once wait for each other.
"""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

OLDEST_PYTHON = (3, 11)
PR_SET_PDEATHSIG = 1


def main() -> int:
    """Make the environment that the arguments name; print nothing when it is already there."""
    if len(sys.argv) != 3:
        return fail("usage: environment.py FOLDER LOCKFILE")
    if sys.version_info < OLDEST_PYTHON:
        return fail(
            f"Python {sys.version.split()[0]} at {sys.executable} is too old: seatrial needs 3.11 or newer. "
            "Name another one: make PYTHON=/path/to/python3.12 …"
        )
    end_with_parent(os.environ.get("SEATRIAL_END_WITH_PARENT", ""))
    environment, lock = Path(sys.argv[1]).absolute(), Path(sys.argv[2]).absolute()
    with lock.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        wanted = fingerprint(lock, environment)
        stamp = environment / "seatrial-ready"
        if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
            return 0
        return build(environment, lock, stamp, wanted)


def build(environment: Path, lock: Path, stamp: Path, wanted: str) -> int:
    """Install the locked packages and the project itself (editable) into a fresh environment."""
    print(f"Setting up {environment.name} with Python {sys.version.split()[0]} (once, about a minute) …", flush=True)
    shutil.rmtree(environment, ignore_errors=True)
    made = run([sys.executable, "-m", "venv", str(environment)])
    if made.returncode:
        return fail(
            f"{sys.executable} could not make a virtual environment. On Debian and Ubuntu: apt install python3-venv. "
            f"It said: {last_line(made.stdout)}"
        )
    pip = [str(environment / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    for arguments in (
        ["--require-hashes", "--only-binary", ":all:", "-r", str(lock)],
        ["--no-deps", "--no-build-isolation", "-e", str(lock.parent.parent)],
    ):
        installed = run([*pip, *arguments])
        if installed.returncode:
            return fail(
                "pip could not install the locked packages. The first set-up needs the package index; "
                f"run the command again once it can be reached. pip said: {last_line(installed.stdout)} "
                f"(all of it: {keep(installed.stdout, environment)})"
            )
    if "\nsetuptools==" not in lock.read_text(encoding="utf-8"):
        # Python 3.11's venv brings it (10 MB), 3.12's does not, and nothing here asks for it.
        run([str(environment / "bin" / "python"), "-m", "pip", "uninstall", "--quiet", "--yes", "setuptools"])
    temporary = stamp.with_suffix(".part")
    temporary.write_text(wanted, encoding="utf-8")
    temporary.replace(stamp)
    return 0


def fingerprint(lock: Path, environment: Path) -> str:
    """Say what an environment must have been made from to be used again."""
    import tomllib

    project = tomllib.loads((lock.parent.parent / "pyproject.toml").read_text(encoding="utf-8"))
    installed = [project["build-system"], project["project"], project["tool"]["hatch"]]  # not the linters' settings
    digest = hashlib.sha256()
    for part in (
        lock.read_bytes(),
        json.dumps(installed, sort_keys=True).encode(),
        sys.version.encode(),
        os.fsencode(environment),
    ):
        digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a command that ends with this script, its output kept for an error message."""
    us = str(os.getpid())
    return subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        preexec_fn=lambda: end_with_parent(us),
    )


def end_with_parent(parent: str) -> None:
    """End this process when its parent ends (Linux), so that a killed make leaves nothing.

    `parent` is the process id that the parent has, as text, or empty: when it is gone already, end at once.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if parent.isdigit() and os.getppid() != int(parent):
        os._exit(1)


def last_line(output: str) -> str:
    """Return the line of a tool's output that says most: its last error, else its last line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")]
    return (errors or lines or ["nothing"])[-1]


def keep(output: str, environment: Path) -> Path:
    """Write a tool's whole output beside the packages, for whoever wants to read it."""
    log = environment / "setup.log"
    log.write_text(output, encoding="utf-8")
    return log


def fail(message: str) -> int:
    """Say what is wrong, and return the exit code for it."""
    print(f"set-up: {message}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
