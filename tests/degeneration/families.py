"""Loops without an exact period: what drifts in them, and how long an honest text of the same looks goes on.

Where an honest text looks the same for a while (a table with a column of ids, a plan of thirty days), nothing can tell
the loop from it before that. `honest` says for how many copies; from there on the loop is decidable.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from enum import StrEnum

from degeneration.prose import PROSE
from degeneration.specimens import broken

HEAD = PROSE["english"][:240] + "\n"


class Family(StrEnum):
    """What drifts; docs/degeneration.md says for each how soon it is seen."""

    WORDING = "same words, other case or punctuation"
    WORDS = "few words or characters, shuffled"
    SENTENCES = "few sentences, shuffled or in turn"
    PARAGRAPH = "paragraph around a counter"
    GROWTH = "runs that grow"
    CALLS = "same tool call, turn counts"
    SALAD = "token salad"
    SENTENCE = "sentence around a counter"
    MARKERS = "empty list markers"
    ASKED = "past the number that was asked for"
    ROWS = "rows around a counter or time stamp"
    COMPUTED = "sentence around computed numbers"
    BARE = "bare numbers or dates"


HONEST = {Family.SENTENCE: 20, Family.ROWS: 121, Family.COMPUTED: 112, Family.BARE: 512}
"""Copies of the longest honest text of the kind: sets of specimens, see counters.py."""
HONEST_LINES, HONEST_ENTRIES, HONEST_MARKER_LINES = 40, 8, 50


@dataclass(frozen=True)
class Drifting:
    """A degenerate text without an exact period.

    Attributes:
        onset: where its first copy begins.
        period: mean length of a copy in characters; of a shuffle, the length of one copy of each of its parts.
        honest: copies that an honest text of the same looks may have.
    """

    text: str
    onset: int
    period: int
    family: Family
    honest: int
    prompt: str | None = None

    @property
    def decidable(self) -> int:
        """Position from which on no honest text looks like this."""
        return self.onset + self.honest * self.period


def drifting(
    copies: list[str],
    family: Family,
    head: str = HEAD,
    *,
    prompt: str | None = None,
    honest: int | None = None,
) -> Drifting:
    """Make a specimen of copies that each are a copy of one template."""
    text = "".join(copies)
    if honest is None:
        honest = HONEST.get(family, 0)
    return Drifting(head + text, len(head), round(len(text) / len(copies)), family, honest, prompt)


def shuffled(parts: list[str], count: int, family: Family, seed: int, head: str = HEAD) -> Drifting:
    """Make a specimen of parts in random order."""
    generator = random.Random(seed)
    text = "".join(generator.choice(parts) for _ in range(count))
    return Drifting(head + text, len(head), sum(map(len, parts)), family, 0)


_OWN: dict[str, tuple[Family, int, int | None]] = {
    "counter in a sentence": (Family.SENTENCE, 50, HONEST_LINES),
    "steps without end": (Family.SENTENCE, 51, None),
    "time stamps": (Family.ROWS, 42, None),
    "subtitles": (Family.SENTENCE, 34, HONEST_LINES),
    "upper and lower case": (Family.WORDING, 12, None),
    "punctuation varies": (Family.WORDING, 15, None),
    "laughter that grows": (Family.GROWTH, 33, None),
    "digits that grow": (Family.GROWTH, 34, None),
    "empty list markers": (Family.MARKERS, 5, None),
    "empty markers on lines": (Family.MARKERS, 5, HONEST_MARKER_LINES),
    "template in reasoning": (Family.COMPUTED, 72, None),
    "counting without end": (Family.BARE, 6, None),
    "dates without end": (Family.BARE, 11, None),
    "paragraph with a counter": (Family.PARAGRAPH, 527, None),
    "rows with a counter": (Family.ROWS, 27, None),
    "same call, turn counts": (Family.CALLS, 64, None),
    "few words shuffled": (Family.WORDS, 71, None),
    "few sentences shuffled": (Family.SENTENCES, 200, None),
    "few Russian words shuffled": (Family.WORDS, 61, None),
    "few Korean words shuffled": (Family.WORDS, 31, None),
    "few Chinese words shuffled": (Family.WORDS, 11, None),
    "few Thai words shuffled": (Family.WORDS, 18, None),
    "script salad": (Family.WORDS, 70, None),
    "doubled tokens": (Family.SALAD, 0, None),
    "grammar words in disorder": (Family.WORDS, 85, None),
    "mixed alphabets in words": (Family.SALAD, 0, None),
}


def own_drifting() -> dict[str, Drifting]:
    """Return those of the own specimens that have no exact period."""
    return {
        name: Drifting(item.text, item.onset, period, family, HONEST.get(family, 0) if honest is None else honest)
        for name, item in broken().items()
        if item.period is None
        for family, period, honest in (_OWN[name],)
    }
