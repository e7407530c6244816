"""Reads results back from a run's folder, with their types checked."""

from __future__ import annotations

from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from seatrial.errors import InputError
from seatrial.verdicts import SuiteResult


def read_suite(folder: Path, where: str) -> SuiteResult | None:
    """Read a run's `verdict.json`; None when it has none yet.

    Raises:
        InputError: it can't be read as what it should be; `where` says for which option.
    """
    try:
        return TypeAdapter(SuiteResult).validate_json((folder / "verdict.json").read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError):
        raise InputError("its verdict.json can't be read", where=where) from None
