"""Entries as one JSON document that another team can take in, as reported. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from seatrial.errors import InputError
from seatrial.ledger.entry import COMBINATION_FIELDS, Combination, Entry, Kind

FORMAT = "seatrial-ledger-1"


def export_document(entries: Iterable[Entry]) -> dict[str, Any]:
    """Make the document: what was served and what was found; folders of this host are left out."""
    return {
        "format": FORMAT,
        "entries": [
            {
                "kind": entry.kind.value,
                "at": entry.at,
                "combination": asdict(entry.combination),
                "verdict": entry.verdict,
                "figures": dict(entry.figures),
                "note": entry.note,
                "origin": entry.origin,
            }
            for entry in entries
        ],
    }


def import_document(text: str, *, origin: str, where: str) -> list[Entry]:
    """Read a document as reported entries; what that ledger had only from others is left out.

    Raises:
        InputError: it is no such document.
    """
    try:
        document = json.loads(text)
        if document["format"] != FORMAT:
            raise ValueError(document["format"])  # noqa: TRY301 - the same answer as for any other document
        return [_entry(row, origin) for row in document["entries"] if not row.get("origin")]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise InputError(
            f"this is no exported ledger ({type(error).__name__})",
            where=where,
            advice="`seatrial ledger export` writes one.",
        ) from None


def _entry(row: dict[str, Any], origin: str) -> Entry:
    verdict = row["verdict"]
    if verdict not in (None, "proven", "refuted", "unproven"):
        raise ValueError(verdict)
    combination = {name: value for name, value in row["combination"].items() if name in COMBINATION_FIELDS}
    note = f"{row['kind']}: {row['note']}" if row["note"] else str(row["kind"])
    return Entry(
        Kind.REPORTED,
        str(row["at"]),
        Combination(**combination),
        verdict,
        figures=dict(row["figures"]),
        note=note,
        origin=origin,
    )
