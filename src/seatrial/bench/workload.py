"""What a benchmark asks. Each prompt begins differently, so that no prefix cache answers for the engine."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

SUBJECTS = (
    "a lighthouse",
    "a bicycle repair shop",
    "a mountain hut",
    "a public library",
    "a railway station",
    "a weather balloon",
    "a fishing harbour",
    "a bakery at dawn",
    "a botanical garden",
    "a night bus",
    "a paper mill",
    "a chess club",
)


@dataclass(frozen=True, slots=True)
class Workload:
    """Chat-like requests: a short question in, prose out.

    Attributes:
        output_tokens: `max_tokens` of each request; the model may stop earlier (no `ignore_eos`).
        sampling: parameters added to each request.
        seed: the same seed asks the same questions in the same order.
    """

    output_tokens: int
    sampling: Mapping[str, Any]
    seed: int = 0

    def requests(self) -> Iterator[dict[str, Any]]:
        """Yield request bodies without end."""
        pick = random.Random(self.seed)  # noqa: S311 - reproducible, not secret
        number = 0
        while True:
            number += 1
            subject = SUBJECTS[(number - 1 + self.seed) % len(SUBJECTS)]
            text = f"Note {pick.randrange(10**6):06d}. Describe {subject} to somebody who has never seen one."
            yield {
                "messages": [{"role": "user", "content": text}],
                "stream": True,
                "stream_options": {"include_usage": True},
                "max_tokens": self.output_tokens,
                **self.sampling,
            }
