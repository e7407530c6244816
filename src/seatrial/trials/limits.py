"""The effective input limit: found by asking, not believed.

The declared context is not it: SGLang takes min(context, KV pool) − 6 tokens. A refusal often names the limit; that
number is tried first, just above and just below, and then the gap is halved while the budget lasts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from seatrial.endpoint.exchange import Exchange
from seatrial.trials.interface import Asker, Case
from seatrial.trials.tokens import Ruler, word_list

CLOSE_ENOUGH = 0.02
"""The search ends when the gap is this share of the limit: the estimate of tokens is no better."""

MARGIN = 0.01
"""How far below and above a named limit is tried."""

MOST_PROBES = 12


@dataclass(frozen=True, slots=True)
class Search:
    """What is known: `accepted` tokens were taken, `refused` were not; `budget` tokens and `seconds` are left."""

    accepted: int
    refused: int
    budget: int
    seconds: float

    @property
    def is_close(self) -> bool:
        """Whether the gap is small enough."""
        return self.refused - self.accepted <= max(16, self.refused * CLOSE_ENOUGH)

    def describe(self, declared: int | None) -> str:
        """Say what was found."""
        said = f"effective input limit: {self.accepted} tokens are taken, {self.refused} are refused"
        if not self.is_close:
            said += " (the budget ended the search)"
        elif declared and self.refused < declared * (1 - CLOSE_ENOUGH):
            said += f"; the declared {declared} can't be reached"
        return said


async def find_limit(asker: Asker, ruler: Ruler, search: Search, refusal: Exchange) -> Search:
    """Narrow the gap between what is taken and what is refused."""
    hints = named_limits(refusal, search)
    # Just above a named limit a refusal is expected, which costs the server nothing.
    free = set(hints[::2])
    for probe in range(MOST_PROBES):
        if search.is_close:
            break
        tokens = hints.pop(0) if hints else (search.accepted + search.refused) // 2
        if not search.accepted < tokens < search.refused:
            continue
        too_dear = tokens > search.budget or tokens * ruler.seconds_per_token > search.seconds
        if too_dear and tokens not in free:
            break
        exchange = await asker.ask(Case(f"limit-{probe}-{tokens}", word_list(ruler.words_for(tokens), seed=probe)))
        if exchange.failure is None:
            counted = exchange.answer.usage.prompt_tokens if exchange.answer and exchange.answer.usage else None
            left = search.seconds - exchange.timing.total
            search = replace(search, accepted=counted or tokens, budget=search.budget - tokens, seconds=left)
        elif not exchange.failure.is_infrastructure:
            search = replace(search, refused=tokens)
        else:
            break
    return search


def named_limits(refusal: Exchange, search: Search) -> list[int]:
    """Find numbers in a refusal's words that may be the limit, as sizes to try: just above, then just below each."""
    words = refusal.failure.message if refusal.failure else ""
    numbers = {int(match.replace(",", "")) for match in re.findall(r"\d[\d,]*\d", words)}
    sent = refusal.answer.usage.prompt_tokens if refusal.answer and refusal.answer.usage else None
    likely = sorted(n for n in numbers if search.accepted < n < search.refused and n != sent)
    return [size for limit in likely for size in (int(limit * (1 + MARGIN)) + 16, int(limit * (1 - MARGIN)))]
