"""Reasoning, where the server gives it: kept apart from the answer, clean, and followed by an answer.

A model that has no reasoning has no duty here: then only leaking marks are checked, and a note says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from seatrial.endpoint.exchange import Exchange
from seatrial.trials.interface import Case, Check, DeclaredTrial
from seatrial.trials.responses import judge_answers

REQUEST = {
    "messages": [
        {"role": "user", "content": "A train leaves at 9:40 and arrives at 11:05. How many minutes does it travel?"}
    ],
    "stream": True,
    "stream_options": {"include_usage": True},
}


def notes(exchanges: Mapping[str, Exchange]) -> Iterable[str]:
    """Say when there was no reasoning to look at."""
    answer = exchanges["puzzle"].answer
    if answer is not None and not (answer.reasoning or "").strip():
        yield "the server gave no reasoning_content; if the model thinks, it needs a reasoning parser"


TRIAL = DeclaredTrial(
    name="reasoning",
    title="Reasoning is kept apart from the answer, and is clean",
    cases=(Case("puzzle", REQUEST),),
    checks=(Check("reasoning_is_sound", ("puzzle",), judge_answers),),
    notes=notes,
)
