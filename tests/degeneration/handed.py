"""The handed cases, drawn from public reports: their structure is real, their texts are made up."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent / "data" / "handed.jsonl.gz"


def handed_cases() -> list[dict[str, Any]]:
    """Return all rows: id, kind, field, text, expect, and for degenerate ones onset_char and period_chars."""
    with gzip.open(FILE, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
