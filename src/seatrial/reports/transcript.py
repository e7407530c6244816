"""Reads `requests.jsonl` back, as what a report shows of each exchange."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Text:
    """One text field of an answer."""

    field: str
    text: str


@dataclass(frozen=True, slots=True)
class Transcript:
    """One exchange, for reading."""

    id: str
    label: str
    prompt: str
    texts: tuple[Text, ...]
    outcome: str
    seconds: float
    output_tokens: int | None


def read_transcripts(requests: Path) -> Iterator[Transcript]:
    """Yield the exchanges of a run in order; a last line that was cut by a kill is left out."""
    if not requests.is_file():
        return
    with requests.open(encoding="utf-8") as lines:
        for line in lines:
            try:
                row = json.loads(line)
            except ValueError:
                continue
            yield transcript(row)


def transcript(row: Mapping[str, Any]) -> Transcript:
    """Read one line's object."""
    answer = row.get("answer") or {}
    failure = row.get("failure")
    calls = answer.get("tool_calls") or []
    texts = [Text("reasoning_content", answer.get("reasoning") or ""), Text("content", answer.get("content") or "")]
    texts += [Text("tool_calls.function.arguments", f"{call['arguments']}") for call in calls]
    names = ", ".join(str(call.get("name")) for call in calls)
    if failure:
        outcome = f"{failure['kind']}: {failure['message']}"
    elif row.get("stopped"):
        outcome = f"stopped by seatrial: {row['stopped']}"
    else:
        outcome = f"finish_reason {answer.get('finish_reason')}" + (f", calls {names}" if names else "")
    return Transcript(
        row["id"],
        row["label"],
        _prompt(row.get("request") or {}),
        tuple(text for text in texts if text.text),
        outcome,
        row["timing"]["total"],
        (answer.get("usage") or {}).get("completion_tokens"),
    )


def _prompt(request: Mapping[str, Any]) -> str:
    turns = request.get("messages") or []
    return "\n\n".join(f"{turn.get('role')}: {turn.get('content') or turn.get('tool_calls') or ''}" for turn in turns)
