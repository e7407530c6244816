"""Reasoning, where the server gives it: kept apart from the answer, clean, and followed by an answer.

A model that has no reasoning has no duty here: then only leaking marks are checked, and a note says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from seatrial.endpoint.exchange import Exchange
from seatrial.trials.declared import DeclaredTrial, streamed
from seatrial.trials.interface import Case
from seatrial.trials.responses import judge_exchange
from seatrial.verdicts import CheckResult

PUZZLE = "A train leaves at 9:40 and arrives at 11:05. How many minutes does it travel?"


def judge(exchange: Exchange) -> list[CheckResult]:
    """Judge one answer; whether its result is right is not asked here."""
    return judge_exchange(exchange, ())


def notes(exchanges: Sequence[Exchange]) -> Iterable[str]:
    """Say when there was no reasoning to look at."""
    answer = exchanges[0].answer
    if answer is not None and not (answer.reasoning or "").strip():
        yield "the server gave no reasoning_content; if the model thinks, it needs a reasoning parser"


TRIAL = DeclaredTrial(
    name="reasoning",
    title="Reasoning is kept apart from the answer, and is clean",
    cases=(Case("puzzle", streamed({"messages": [{"role": "user", "content": PUZZLE}]})),),
    judge=judge,
    notes=notes,
)
