"""Starts, finds and ends one engine as a process of this machine. Decides nothing."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from seatrial.errors import InputError, StartError
from seatrial.runtimes.instance import Instance
from seatrial.runtimes.process import child
from seatrial.runtimes.process.command import Command

RECORD = "process.json"
LOG = "engine.log"
PREVIOUS_LOG = "engine-previous.log"

RECORD_SECONDS = 20.0
"""From the start of a process until it says which one it is: an interpreter's start on a busy machine."""
STOP_SECONDS = 120.0
"""As long as the container gets: running answers are finished first."""
KILL_SECONDS = 10.0
"""What is still there is killed; the kernel then needs a moment to free a GPU's memory."""
LOOK_SECONDS = 0.1


class GrowingFile:
    """A file that another process writes, line by line.

    It is looked at again and again: on some file systems (containers, networks) the kernel tells nobody of a change.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._closed = threading.Event()

    def __iter__(self) -> Iterator[bytes]:
        part = b""
        with self._path.open("rb") as file:
            while not self._closed.is_set():
                part += file.readline()
                if part.endswith(b"\n"):
                    yield part
                    part = b""
                else:
                    self._closed.wait(LOOK_SECONDS)

    def close(self) -> None:
        """Look no more."""
        self._closed.set()


class LocalProcess:
    """The engine of one stack, outside any container.

    It lives on when we end, in a session of its own. Its record says which process it is and what it was started from.

    Args:
        folder: holds the record and the log.
        start: makes what is to be started: the command, and what goes into the record; None where nothing is to be.
    """

    kind = "process"

    def __init__(self, folder: Path, start: Callable[[], tuple[Command, dict[str, Any]]] | None = None) -> None:
        self.folder = folder
        self._start = start
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def where(self) -> str:
        """The engine's log."""
        return str(self.folder / LOG)

    def up(self) -> None:
        """Start the engine where it does not run.

        Raises:
            StartError: its interpreter can't be started.
        """
        if any(one.is_running for one in self.instances()):
            return
        assert self._start is not None, "a launcher without a plan only finds and ends"
        command, facts = self._start()
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / RECORD).unlink(missing_ok=True)
        log = self.folder / LOG
        if log.exists():
            log.replace(self.folder / PREVIOUS_LOG)
        facts["started_at"] = datetime.now(UTC).isoformat()
        with open(log, "ab", opener=_private) as output:
            self._child = subprocess.Popen(
                [sys.executable, "-I", child.__file__, str(self.folder / RECORD), *command.words],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=dict(command.variables),
                cwd=self.folder,
                start_new_session=True,
            )
        assert self._child.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._child.stdin.write(json.dumps(facts).encode() + b"\n")
            self._child.stdin.close()
        until = time.monotonic() + RECORD_SECONDS
        while not (self.folder / RECORD).is_file():
            if self._child.poll() is not None or time.monotonic() > until:
                self._child.kill()
                raise StartError("the engine's interpreter could not be started", where=self.where)
            time.sleep(LOOK_SECONDS)

    def instances(self) -> list[Instance]:
        """Name the process that was started last, alive or not; nothing where none ever was."""
        record = self._record()
        if record is None:
            return []
        process_id = int(record["process_id"])
        alive = is_alive(process_id, int(record["start_ticks"]))
        code = None
        if self._child is not None and self._child.pid == process_id:
            code = self._child.poll()
            alive = code is None
        return [
            Instance(
                id=str(process_id),
                name=str(record["name"]),
                state="running" if alive else "exited",
                exit_code=code,
                started_at=str(record["started_at"]),
                image=str(record["environment"]),
                labels=dict(record["labels"]),
                ports={str(record["port"]): [f"{record['host']}:{record['port']}"]} if alive else {},
            )
        ]

    def stop(self) -> None:
        """End the engine, and whatever it has started: first asked, then killed.

        Raises:
            StartError: the kernel does not end it.
        """
        record = self._record()
        if record is None:
            return
        process_id = int(record["process_id"])
        if is_alive(process_id, int(record["start_ticks"])):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process_id, signal.SIGTERM)
            self._wait(process_id, STOP_SECONDS)
        for one in session_of(process_id):
            with contextlib.suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)
        if not self._wait(process_id, KILL_SECONDS):
            raise StartError(
                f"processes of the engine do not end: {', '.join(map(str, session_of(process_id)))}",
                where=self.where,
                advice="A process that waits for the GPU's driver can't be killed: `dmesg` may say why.",
            )
        (self.folder / RECORD).unlink(missing_ok=True)

    def log_lines(self, instance: str, *, since: str | None = None) -> GrowingFile:
        """Follow the log from its beginning, which is the start; the caller closes it."""
        del instance, since
        return GrowingFile(Path(self.where))

    def log_text(self, instance: str, *, tail: int | None = None, since: str | None = None) -> Iterator[bytes]:
        """Read the log as it is now, line by line.

        Raises:
            InputError: lines since some time are asked for; a plain file does not know when its lines came.
        """
        del instance
        if since is not None:
            raise InputError("a process's log has no times of its own", where="--since", advice="Use --tail or --grep.")
        try:
            with Path(self.where).open("rb") as file:
                yield from file if tail is None else deque(file, maxlen=tail)
        except FileNotFoundError:
            return

    def _record(self) -> dict[str, Any] | None:
        try:
            record = json.loads((self.folder / RECORD).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except ValueError:
            raise InputError(
                "it can't be understood", where=str(self.folder / RECORD), advice="Look for the engine with `ps`."
            ) from None
        assert isinstance(record, dict)
        return record

    def _wait(self, session: int, seconds: float) -> bool:
        """Wait until nothing of the session is left; tell whether that came true."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if self._child is not None:
                self._child.poll()  # else it stays a zombie
            if not session_of(session):
                return True
            time.sleep(LOOK_SECONDS)
        return False


def is_alive(process_id: int, ticks: int) -> bool:
    """Tell whether that very process runs: the kernel gives numbers to others again."""
    try:
        return child.start_ticks(process_id) == ticks and not _is_zombie(process_id)
    except (OSError, ValueError, IndexError):
        return False


def session_of(leader: int) -> list[int]:
    """Find every living process of a session: the engine, its schedulers, its compilers."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            if os.getsid(int(entry.name)) == leader and not _is_zombie(int(entry.name)):
                found.append(int(entry.name))
    return found


def _is_zombie(process_id: int) -> bool:
    text = Path(f"/proc/{process_id}/stat").read_text(encoding="utf-8", errors="replace")
    return text.rpartition(")")[2].split()[0] in ("Z", "X")


def _private(path: str, flags: int) -> int:
    """Open a log that others can't read: the engine prints its key in its first line."""
    return os.open(path, flags, 0o600)
