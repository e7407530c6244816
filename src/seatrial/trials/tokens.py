"""Texts of a known number of tokens: counted by the server where it can, else by a calibrated estimate that says so."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from seatrial.endpoint.exchange import Exchange
from seatrial.trials.interface import Asker, Case

WORDS = (
    *("anchor", "basin", "cable", "derrick", "engine", "ferry", "gauge", "harbour", "island", "jetty"),
    *("keel", "lantern", "mooring", "net", "oar", "pilot", "quay", "rudder", "sail", "tide"),
    *("umbrella", "vessel", "wharf", "yard", "zenith", "beacon", "cargo", "deck", "estuary", "fleet"),
)

CALIBRATION_WORDS = (100, 200)

MOST_WORDS = 4_000_000
"""More is never sent, whatever a server says of itself: 25 MB of text, beyond every context that is served today."""


@dataclass(frozen=True, slots=True)
class Ruler:
    """How many tokens a text of so many words has on this server.

    Attributes:
        per_word: tokens a word of filler.
        overhead: tokens of the rest of the prompt, the chat template's included.
        seconds_per_token: how long the server took to read one, with a short answer; longer prompts are slower still.
    """

    per_word: float
    overhead: float
    seconds_per_token: float = 0.0

    def words_for(self, tokens: int) -> int:
        """Return how many words of filler make a prompt of about so many tokens, at most `MOST_WORDS`."""
        return min(MOST_WORDS, max(1, round((tokens - self.overhead) / self.per_word)))

    def tokens_for(self, words: int) -> int:
        """Return about how many tokens a prompt with so many words of filler has."""
        return round(words * self.per_word + self.overhead)


def filler(words: int, seed: int = 0) -> str:
    """Return so many words in an order that never repeats; another seed gives another order from the first word on."""
    pick = random.Random(f"{words} {seed}")  # noqa: S311 - a fixed text, not a secret
    return " ".join(pick.choice(WORDS) for _ in range(words))


def word_list(words: int, *, head: str = "", tail: str = "", seed: int = 0) -> dict[str, Any]:
    """Make a request with a long list of words, something of one's own before and after it, and a short answer."""
    content = f"{head}Here is a list of words.\n{filler(words, seed)}\n{tail or 'Reply with the first word only.'}"
    return {"messages": [{"role": "user", "content": content}], "max_tokens": 8}


async def calibrate(asker: Asker) -> Ruler | Exchange | None:
    """Measure tokens a word from two small prompts, by the server's own `usage.prompt_tokens`.

    Returns the failed exchange when one can't be asked, and None when the server does not count.
    """
    counts = []
    seconds = 0.0
    for words in CALIBRATION_WORDS:
        exchange = await asker.ask(Case(f"calibrate-{words}", word_list(words)))
        if exchange.failure is not None:
            return exchange
        seconds = exchange.timing.total
        counts.append(exchange.answer.usage.prompt_tokens if exchange.answer and exchange.answer.usage else None)
    small, large = counts
    if small is None or large is None or large <= small:
        return None
    per_word = (large - small) / (CALIBRATION_WORDS[1] - CALIBRATION_WORDS[0])
    return Ruler(per_word, large - per_word * CALIBRATION_WORDS[1], seconds / large)


async def count_tokens(asker: Asker, request: Mapping[str, Any]) -> int | None:
    """Ask the server how many tokens a request's prompt has, with its own chat template; None where it can't tell.

    SGLang and vLLM count `messages` at `/tokenize`. llama.cpp's `/tokenize` knows plain text only, without the
    template: not asked.
    """
    body = {"model": asker.endpoint.model, "messages": request["messages"]}
    answer = await asker.post_json("/tokenize", body, at_origin=True)
    count = answer.get("count") if isinstance(answer, Mapping) else None
    return count if isinstance(count, int) and count > 0 else None
