"""Loss of novelty: a few words, characters or sentences in ever new order, so that no period shows.

Ordered repetition (tables, refrains, templates) also has few words, but few pairs of neighbours too. A shuffle has
few words and many pairs. That, and the absence of rows, tells one from the other.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from itertools import pairwise

from seatrial.degeneration.model import Kind, Severity
from seatrial.degeneration.request import Request
from seatrial.degeneration.sighting import Sighting
from seatrial.degeneration.skeleton import Skeleton
from seatrial.degeneration.structure import code_share
from seatrial.degeneration.window import Window

STEP = 512
WORDS = 150
"""Words of the window. Of 150 words in a row prose has 75 to 120 different ones, a nursery rhyme about 40."""
FEW_WORDS = 32
"""At most so many different words among them are a failure, if they are shuffled."""
SHUFFLED = 1.8
"""Different pairs of neighbours for each different word from which on the order is a shuffle."""
CHARACTERS = 480
FEW_TRIPLES = 0.18
FEW_CHARACTERS = 12
"""For scripts without blanks: different triples of characters as a share, and different characters."""
SENTENCES = 40
SENTENCE_CHARS = 14
KNOWN_SENTENCES = 36
SEEN_OFTEN = 4
"""Of the last 40 sentences 36 were each said at least 4 times."""
SENTENCE_STEP = 1_024
MEMORY = 2_048
_SENTENCE = re.compile(r"[.!?;:…。！？；]+\s*|\n+")
_WORD = re.compile(r"\S+")
_DIGITS = re.compile(r"\d+")


class Novelty:
    """Watches how much of the newest text is new."""

    __slots__ = ("_done", "_known", "_recent", "_request", "_seen")

    def __init__(self, request: Request | None) -> None:
        self._request = request
        self._seen: Counter[str] = Counter()
        self._recent: deque[tuple[str, int, bool]] = deque(maxlen=SENTENCES)
        self._known = 0
        self._done = 0

    def check(self, window: Window, position: int, skeleton: Skeleton, *, last: bool = False) -> Sighting | None:
        """Look at the text up to `position`, whose skeleton is up to date."""
        return self._vocabulary(window, skeleton) or self._sentences(window, position, last=last)

    def _vocabulary(self, window: Window, skeleton: Skeleton) -> Sighting | None:
        words = skeleton.buf[-1_300:].split()[-WORDS - 1 : -1]
        if len(words) < WORDS or sum(map(len, words[:20])) > 300:
            return self._characters(window, skeleton)
        different = len(set(words))
        if different > FEW_WORDS:
            return None
        long_words = sum(len(word) > 1 for word in words)
        pairs = len(set(pairwise(words)))
        if pairs < SHUFFLED * different or long_words < 0.7 * len(words) or different < 3:
            return None
        raw = window.text(skeleton.raw_position(skeleton.end - len(" ".join(words)), window), skeleton.raw_end)
        if _in_rows(raw) or not _is_prose(raw):
            return None
        start = skeleton.raw_position(_first_of_few(skeleton, set(words)), window)
        return self._few(window, skeleton, start, f"{different} different words among {len(words)}, shuffled")

    def _characters(self, window: Window, skeleton: Skeleton) -> Sighting | None:
        tail = skeleton.buf[-CHARACTERS - 60 :].replace(" ", "")[-CHARACTERS:]
        if len(tail) < CHARACTERS or tail.isascii():
            return None
        foreign = sum(char > "\u0590" for char in tail)
        if foreign < 0.8 * len(tail):
            return None
        different = len(set(tail))
        triples = len(set(zip(tail, tail[1:], tail[2:], strict=False)))
        pairs = len(set(pairwise(tail)))
        few = different <= FEW_CHARACTERS or triples < FEW_TRIPLES * len(tail)
        if not few or pairs < 1.15 * different or triples < 1.2 * pairs:
            return None
        start = skeleton.raw_position(skeleton.end - CHARACTERS, window)
        raw = window.text(start, skeleton.raw_end)
        if _in_rows(raw):
            return None
        return self._few(window, skeleton, start, f"{different} different characters among {len(tail)}, shuffled")

    def _few(self, window: Window, skeleton: Skeleton, start: int, what: str) -> Sighting | None:
        if self._request is not None and not self._request.exceeded(WORDS):
            return None
        raw = window.text(start, skeleton.raw_end)
        return Sighting(
            severity=Severity.FAIL,
            kind=Kind.LOW_NOVELTY,
            start=start,
            end=skeleton.raw_end,
            period=None,
            needle=raw[:200],
            claim=f"nothing new: {what}",
        )

    def _sentences(self, window: Window, position: int, *, last: bool) -> Sighting | None:
        if position - self._done < SENTENCE_STEP and not last:
            return None
        piece = window.text(self._done, position)
        parts = _SENTENCE.split(piece)
        if not last and len(piece) < 4 * SENTENCE_STEP:
            piece = piece[: len(piece) - len(parts[-1])]
            parts = parts[:-1]
        at = self._done
        self._done += len(piece)
        recent, seen = self._recent, self._seen
        for part in parts:
            if len(part) >= SENTENCE_CHARS:
                key = _DIGITS.sub("0", part.lower())
                seen[key] += 1
                known = seen[key] >= SEEN_OFTEN
                self._known += known - (len(recent) == SENTENCES and recent[0][2])
                recent.append((key, at, known))
        if len(self._seen) > MEMORY:
            self._seen = Counter({key: n for key, n in self._seen.items() if n > 1 and len(key) < 400})
            if len(self._seen) > MEMORY // 2:
                self._seen.clear()
        return self._judge_sentences(window, position)

    def _judge_sentences(self, window: Window, position: int) -> Sighting | None:
        if self._known < KNOWN_SENTENCES:
            return None
        start = self._recent[0][1]
        raw = window.text(start, position)
        if not _is_prose(raw):
            return None
        different = len({key for key, _, _ in self._recent})
        if self._request is not None and not self._request.exceeded(SENTENCES):
            return None
        return Sighting(
            severity=Severity.FAIL,
            kind=Kind.LOW_NOVELTY,
            start=start,
            end=position,
            period=None,
            needle=raw[:200],
            claim=f"nothing new: the last {SENTENCES} sentences are {different}, said again and again",
        )


def _first_of_few(skeleton: Skeleton, known: set[str]) -> int:
    """Return the position in the skeleton from which on nearly all words belong to the few."""
    text = skeleton.buf[-8_000:]
    start = len(text)
    strange: list[int] = []
    for count, word in enumerate(reversed(list(_WORD.finditer(text)))):
        if word[0] not in known:
            strange.append(count)
            if len(strange) > 2 and count - strange[-3] < 8:
                break
            known.add(word[0])
        else:
            start = word.start()
    return skeleton.end - len(text) + start


def _is_prose(raw: str) -> bool:
    letters = sum(map(str.isalpha, raw)) + raw.count(" ")
    return letters >= 0.8 * len(raw) and code_share(raw) < 0.06


def _in_rows(raw: str) -> bool:
    """Tell whether the text is laid out in rows: many lines, or cells between equal signs."""
    lines = raw.count("\n")
    if lines >= 8 and len(raw) / (lines + 1) < 100:
        return True
    return max(raw.count("|"), raw.count("\t"), raw.count('"') // 2) >= len(raw) // 40
