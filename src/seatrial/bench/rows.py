"""`bench_requests.jsonl`: one line a request, written as levels end, read back for comparisons and exports."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from seatrial.bench.result import RequestRow
from seatrial.errors import InputError

FILE_NAME = "bench_requests.jsonl"
_FIELDS = tuple(item.name for item in fields(RequestRow))


class RowWriter:
    """Appends rows to a run's file. Use as a context manager."""

    def __init__(self, folder: Path, redact: Callable[[str], str] = str) -> None:
        self._file = (folder / FILE_NAME).open("a", encoding="utf-8")
        self._redact = redact

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def write(self, row: RequestRow) -> None:
        """Append one row."""
        self._file.write(self._redact(json.dumps(document(row), ensure_ascii=False)) + "\n")


def document(row: RequestRow) -> dict[str, Any]:
    """Return a row as plain JSON values; clock readings to the microsecond's tenth."""
    values = ((name, getattr(row, name)) for name in _FIELDS)
    return {name: round(value, 7) if isinstance(value, float) else value for name, value in values}


def read_rows(folder: Path) -> Iterator[RequestRow]:
    """Yield the rows of a run; a last line that was cut by a kill is left out.

    Raises:
        InputError: there is no such file, or a line is no row.
    """
    path = folder / FILE_NAME
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if not line.endswith("\n"):
                    return
                try:
                    known = {name: value for name, value in json.loads(line).items() if name in _FIELDS}
                    known["gaps_us"] = tuple(known.get("gaps_us") or ())
                    yield RequestRow(**known)
                except (ValueError, TypeError, AttributeError):
                    raise InputError("the line is no row of a benchmark", where=f"{path}:{number}") from None
    except OSError as error:
        raise InputError(f"it can't be read ({(error.strerror or str(error)).lower()})", where=str(path)) from None
