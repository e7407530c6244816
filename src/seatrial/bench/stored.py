"""Reads a benchmark back from its run's folder, with its types checked."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from seatrial.bench.result import FORMAT, BenchResult
from seatrial.errors import InputError

FILE_NAME = "bench.json"


def read_bench(path: Path) -> BenchResult:
    """Read the `bench.json` of a run's folder, or the file itself.

    Raises:
        InputError: there is none, or it can't be read as what it should be.
    """
    file = path / FILE_NAME if path.is_dir() else path
    try:
        data = file.read_bytes()
        written = json.loads(data)
    except FileNotFoundError:
        raise InputError("there is no benchmark there", where=str(path), advice="Name a run of `bench`.") from None
    except (OSError, ValueError):
        raise InputError("its bench.json can't be read", where=str(path)) from None
    if not isinstance(written, dict) or written.get("format") != FORMAT:
        raise InputError("it was written by another version of seatrial", where=str(file), advice="Measure again.")
    try:
        return TypeAdapter(BenchResult).validate_json(data)
    except ValidationError:
        raise InputError("its bench.json can't be read", where=str(path)) from None
