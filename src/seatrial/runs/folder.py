"""The folder of one run: every request and answer, results, logs. What reports are made from.

    runs/2026-12-01T03-10-53Z/
      run.json         what ran, when, and how it ended ("running" with a dead process id: it was killed)
      requests.jsonl   every exchange, one line each, written as it happens
      verdict.json, bench.json, report.html
      seatrial.log, engine.log

Every JSON file appears whole or not at all; `requests.jsonl` grows by whole lines.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import logging
import math
import os
import tempfile
from asyncio import CancelledError
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from seatrial import __version__
from seatrial.endpoint.exchange import Exchange
from seatrial.errors import InputError, Interrupted, StorageError
from seatrial.runs.redaction import RedactingFormatter, Redactor

logger = logging.getLogger("seatrial")

DEEPEST = 64
"""Levels of a document that are written."""


class RunStatus(StrEnum):
    """How far a run got."""

    RUNNING = "running"
    FINISHED = "finished"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


class RunFolder:
    """One run's folder. Use as a context manager: it then says in `run.json` how the run ended."""

    def __init__(
        self,
        parent: Path,
        verb: str,
        redact: Redactor | None = None,
        *,
        arguments: Any = None,
        existing: Path | None = None,
    ) -> None:
        """Make a new folder in `parent`, or go on in an `existing` one (of a run that did not finish).

        Raises:
            InputError: the folder can't be made or written.
        """
        self.redact = redact or Redactor()
        self.path = _make_folder(parent) if existing is None else existing
        self.status = RunStatus.RUNNING
        self.recorded = 0 if existing is None else mend_lines(existing / "requests.jsonl")
        self._verb = verb
        self._arguments = arguments
        self._started = datetime.now(UTC)
        logging.raiseExceptions = False  # a log that can't be written must not print tracebacks
        with self._writing():
            self._requests = (self.path / "requests.jsonl").open("a", encoding="utf-8")
            self._handler = logging.FileHandler(self.path / "seatrial.log", encoding="utf-8")
        self._handler.setFormatter(RedactingFormatter(self.redact))

    def __enter__(self) -> Self:
        logger.addHandler(self._handler)
        logger.setLevel(logging.INFO)
        self._write_status()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.status = RunStatus.FINISHED
        elif isinstance(error, KeyboardInterrupt | Interrupted | CancelledError):
            self.status = RunStatus.INTERRUPTED
        else:
            self.status = RunStatus.FAILED
            logger.error("the run failed", exc_info=error)
        try:
            with self._writing():
                self._requests.close()
                self._write_status()
                self._handler.close()
        except StorageError:
            if error is None:
                raise  # else what ended the run is the better message
        finally:
            logger.removeHandler(self._handler)

    def record(self, exchange: Exchange) -> None:
        """Append one exchange to `requests.jsonl`."""
        line = json.dumps(self.redact.document(to_json(exchange)), ensure_ascii=False)
        with self._writing():
            self._requests.write(line + "\n")
            self._requests.flush()
        failure = f" {exchange.failure.kind}: {exchange.failure.message}" if exchange.failure else ""
        logger.info("%s %s %.2f s%s", exchange.id, exchange.label, exchange.timing.total, failure)

    def write_json(self, name: str, document: Any) -> Path:
        """Write a JSON file of the run."""
        text = json.dumps(self.redact.document(to_json(document)), ensure_ascii=False, indent=2)
        with self._writing():
            return write_atomically(self.path / name, text + "\n")

    def write_text(self, name: str, text: str) -> Path:
        """Write a text file of the run, without secrets."""
        with self._writing():
            return write_atomically(self.path / name, self.redact(text))

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StorageError(
                f"the run's folder can't be written ({error.strerror or error})",
                where=str(self.path),
                advice="Make room, or name another: --runs DIR.",
            ) from None

    def _write_status(self) -> None:
        ended = None if self.status is RunStatus.RUNNING else datetime.now(UTC)
        self.write_json(
            "run.json",
            {
                "verb": self._verb,
                "arguments": self._arguments,
                "status": self.status,
                "seatrial": __version__,
                "process": os.getpid(),
                "started": self._started,
                "ended": ended,
            },
        )


def to_json(value: Any, *, depth: int = 0) -> Any:
    """Turn results (frozen dataclasses, enums, times, tuples) into plain JSON values.

    What a server sent may be odd: lone surrogates become `?`, numbers that JSON has not (NaN) become strings, and
    what is nested deeper than `DEEPEST` becomes `…`.
    """
    if depth > DEEPEST:
        return "…"
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        pairs = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
        document = {name: to_json(part, depth=depth + 1) for name, part in pairs if not callable(part)}
        if (verdict := getattr(value, "verdict", None)) is not None:
            document = {"verdict": to_json(verdict), **document}
        return document
    if isinstance(value, str):
        return str(value).encode("utf-8", errors="replace").decode() if not value.isascii() else str(value)
    if isinstance(value, Mapping):
        return {str(to_json(key)): to_json(part, depth=depth + 1) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(part, depth=depth + 1) for part in value]
    if isinstance(value, datetime):
        return value.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    raise TypeError(f"{type(value).__name__} has no JSON form")


def write_atomically(path: Path, text: str) -> Path:
    """Write a text file so that a reader sees the old one or the new one, never a part."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o666 & ~_umask())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return path


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def mend_lines(path: Path) -> int:
    """Cut off a last line that a kill left half written; return the number of whole lines."""
    if not path.is_file():
        return 0
    with path.open("r+b") as file:
        content = file.read()
        whole = content.rfind(b"\n") + 1
        file.truncate(whole)
    return content.count(b"\n")


def _make_folder(parent: Path) -> Path:
    stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%SZ")
    try:
        parent.mkdir(parents=True, exist_ok=True)
        for number in range(1, 1000):
            folder = parent / (stamp if number == 1 else f"{stamp}-{number}")
            try:
                folder.mkdir()
            except FileExistsError:
                continue
            return folder
    except OSError as error:
        raise InputError(
            f"the run's folder can't be made ({error.strerror})", where=str(parent), advice="Name another: --runs DIR."
        ) from None
    raise InputError("there are a thousand runs of this second", where=str(parent))
