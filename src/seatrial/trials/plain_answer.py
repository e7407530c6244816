"""A plain question with one right answer, whole and streamed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from seatrial.endpoint.exchange import Exchange
from seatrial.trials.interface import Case, Check, DeclaredTrial, evidence
from seatrial.trials.responses import judge_answers
from seatrial.verdicts import CheckResult, Verdict

REQUEST = {"messages": [{"role": "user", "content": "What is 2+2? Answer with the number."}]}
NUMBER = re.compile(r"\d+(?:\.\d+)?")
FOUR = re.compile(r"\bfour\b", re.IGNORECASE)
SHORT_WORDS = 12
"""In a longer text the word "four" may stand for anything."""
BOTH = ("whole", "streamed")


def is_right(exchanges: Sequence[Exchange]) -> Iterable[CheckResult]:
    """Hold that each answer that was read to its end contains the result."""
    for exchange in exchanges:
        content = exchange.answer.content or "" if exchange.answer else ""
        if exchange.stopped is None and not says_four(content):
            yield CheckResult("is_right", Verdict.REFUTED, "2+2 is not answered with 4", (evidence(exchange, content),))
            return
    yield CheckResult("is_right", Verdict.PROVEN, "2+2 is 4, whole and streamed")


def says_four(content: str) -> bool:
    """Tell whether a text gives 4 as the sum of 2 and 2: as a number beside no other than 2, or as a word."""
    numbers = {float(number) for number in NUMBER.findall(content)}
    if numbers:
        return 4 in numbers and numbers <= {2, 4}
    return FOUR.search(content) is not None and len(content.split()) <= SHORT_WORDS


TRIAL = DeclaredTrial(
    name="plain_answer",
    title="A plain question gets its answer",
    cases=(
        Case("whole", REQUEST),
        Case("streamed", {**REQUEST, "stream": True, "stream_options": {"include_usage": True}}),
    ),
    checks=(Check("is_right", BOTH, is_right), Check("answer_is_sound", BOTH, judge_answers)),
)
