"""A plain question with one right answer, whole and streamed."""

from __future__ import annotations

import re

from seatrial.endpoint.exchange import Exchange
from seatrial.trials.declared import DeclaredTrial, whole_and_streamed
from seatrial.trials.interface import evidence
from seatrial.trials.responses import judge_exchange
from seatrial.verdicts import CheckResult, Verdict

REQUEST: dict[str, object] = {"messages": [{"role": "user", "content": "What is 2+2? Answer with the number."}]}
NUMBER = re.compile(r"\d+(?:\.\d+)?")
FOUR = re.compile(r"\bfour\b", re.IGNORECASE)
SHORT_WORDS = 12
"""In a longer text the word "four" may stand for anything."""


def judge(exchange: Exchange) -> list[CheckResult]:
    """Judge one answer."""
    return [*is_right(exchange), *judge_exchange(exchange, ())]


def is_right(exchange: Exchange) -> list[CheckResult]:
    """Hold that an answer that was read to its end gives the result."""
    content = exchange.answer.content or "" if exchange.answer else ""
    if exchange.stopped is not None:
        return []
    if says_four(content):
        return [CheckResult("is_right", Verdict.PROVEN, "2+2 is 4")]
    return [CheckResult("is_right", Verdict.REFUTED, "2+2 is not answered with 4", (evidence(exchange, content),))]


def says_four(content: str) -> bool:
    """Tell whether a text gives 4 as the sum of 2 and 2: as a number beside no other than 2, or as a word."""
    numbers = {float(number) for number in NUMBER.findall(content)}
    if numbers:
        return 4 in numbers and numbers <= {2, 4}
    return FOUR.search(content) is not None and len(content.split()) <= SHORT_WORDS


TRIAL = DeclaredTrial(
    name="plain_answer",
    title="A plain question gets its answer",
    cases=whole_and_streamed(REQUEST),
    judge=judge,
)
