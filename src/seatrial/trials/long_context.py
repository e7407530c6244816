"""Does the model see all of a long input? A code word at the head, the middle and the tail of ever longer texts."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

from seatrial.endpoint.exchange import Exchange
from seatrial.trials.interface import Asker, Case, Findings, evidence, failed
from seatrial.trials.over_long_input import declared_context
from seatrial.trials.responses import judge_exchange, merge
from seatrial.trials.tokens import Ruler, calibrate, filler
from seatrial.verdicts import CheckResult, Verdict

PLACES = {"head": 0.02, "middle": 0.5, "tail": 0.98}
"""Where in the text the code word stands, as a share of its words."""

SIZES_TOKENS = (512, 2_048, 8_192, 32_768, 131_072)
LARGEST_SHARE = 0.9
"""The largest size is this share of the context."""

UNKNOWN_CONTEXT_TOKENS = 8_192
"""Assumed where the server does not tell."""


@dataclass(frozen=True, slots=True)
class LongContext:
    """Asks for the code word at each place, size by size, while the budget lasts.

    A code word that is missed is asked for once more, in another text: twice missed is refuted.

    Attributes:
        budget_tokens: most tokens of input in all.
        budget_seconds: most time in all; a size that would take longer, at the server's pace so far, is left out.
    """

    budget_tokens: int
    budget_seconds: float
    name: str = "long_context"
    title: str = "A long input is seen whole: head, middle and tail"

    @property
    def planned_requests(self) -> int:
        """Each place at each size, two to calibrate."""
        planned = [size for size in SIZES_TOKENS if size * len(PLACES) * 2 <= self.budget_tokens]
        return 2 + len(PLACES) * len(planned)

    async def run(self, asker: Asker) -> Findings:
        """Ask, from short to long."""
        ruler = await calibrate(asker)
        if isinstance(ruler, Exchange):
            assert ruler.failure is not None
            return Findings((failed("needle_found", ruler, ruler.failure),))
        # A server that does not count: English words have about 1.3 tokens.
        ruler = ruler or Ruler(1.3, 40)
        known = asker.settings.context_tokens or await declared_context(asker)
        context = known or UNKNOWN_CONTEXT_TOKENS
        left, seconds_left, longest = self.budget_tokens, self.budget_seconds, 0
        pace, refused = ruler.seconds_per_token, ""
        results: list[tuple[str, CheckResult]] = []
        for size in sizes(context):
            if size * len(PLACES) > left or (longest and size * len(PLACES) * pace > seconds_left):
                break
            began = time.perf_counter()
            for place in PLACES:
                found = await self._needle(asker, ruler, size, place)
                if not found:
                    break
                results += [(f"{place} of {size} tokens", result) for result in found]
                left -= size
            if not found:
                refused = f"; {size} tokens are refused, though the context is said to hold them"
                break
            longest = size
            took = time.perf_counter() - began
            pace, seconds_left = max(pace, took / (size * len(PLACES))), seconds_left - took
            if any(result.infrastructure for _, result in results):
                break
        if not results:
            budget = f"a budget of {self.budget_tokens} tokens holds no text of this context ({context} tokens)"
            detail = refused.lstrip("; ") or budget
            return Findings((CheckResult("needle_found", Verdict.UNPROVEN, detail),))
        note = f"looked at up to {longest} of {context} tokens" + ("" if known else " (context assumed)") + refused
        figures: dict[str, float | str | None] = {"longest_input_tokens": longest, "context_tokens": context}
        return Findings(tuple(merge(results, several=True)), (note,), figures)

    async def _needle(self, asker: Asker, ruler: Ruler, size: int, place: str) -> list[CheckResult]:
        """Ask at one place; nothing is found where the server refuses so much: the effective limit is smaller."""
        found: list[CheckResult] = []
        for attempt in range(2):
            case, code = needle_case(ruler, size, place, attempt)
            exchange = await asker.ask(case)
            if exchange.failure is not None and not exchange.failure.is_infrastructure:
                return []
            found = judge_needle(exchange, code, place, size)
            if found[0].verdict is not Verdict.REFUTED:
                break
        return found


def sizes(context: int) -> list[int]:
    """List the sizes to try, from short to long."""
    largest = int(context * LARGEST_SHARE)
    return [*(size for size in SIZES_TOKENS if size < largest), largest]


def needle_case(ruler: Ruler, size: int, place: str, seed: int) -> tuple[Case, str]:
    """Make a text of about so many tokens with one code word in it, and the question for it."""
    words = filler(ruler.words_for(size), seed + 10).split()
    code = f"{3137 + 271 * seed + size % 1000}"
    at = int(len(words) * PLACES[place])
    words[at:at] = [f"\nThe secret code is {code}.\n"]
    content = f"{' '.join(words)}\n\nWhat is the secret code in the text above? Reply with the number only."
    return Case(f"{place}-{size}-{seed}", {"messages": [{"role": "user", "content": content}], "stream": True}), code


def judge_needle(exchange: Exchange, code: str, place: str, size: int) -> list[CheckResult]:
    """Look for the code word in the answer; the answer's own soundness is judged too."""
    if exchange.failure is not None:
        return [failed("needle_found", exchange, exchange.failure)]
    content = exchange.answer.content or "" if exchange.answer else ""
    if re.search(rf"\b{code}\b", content):
        found = CheckResult("needle_found", Verdict.PROVEN, f"the code word at the {place} of {size} tokens is found")
    else:
        detail = f"the code word at the {place} of about {size} tokens is not found, twice in two texts"
        found = CheckResult("needle_found", Verdict.REFUTED, detail, (evidence(exchange, content),))
    return [found, *judge_exchange(exchange, ())]
