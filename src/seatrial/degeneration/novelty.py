"""Loss of novelty: a few words, characters or sentences in ever new order, so that no period shows.

Ordered repetition (tables, refrains, templates) also has few words, but few pairs of neighbours too. A shuffle has
few words and many pairs. That, and the absence of rows, tells one from the other.
"""

from __future__ import annotations

from itertools import pairwise

from seatrial.degeneration.model import Kind, Severity
from seatrial.degeneration.patterns import lazily
from seatrial.degeneration.request import Request
from seatrial.degeneration.sentences import chorus, is_prose, shuffle
from seatrial.degeneration.sighting import Sighting
from seatrial.degeneration.skeleton import Skeleton
from seatrial.degeneration.window import Window

STEP = 384
WORDS = 100
"""Words of the window. Of 100 words in a row prose has 55 to 85 different ones, a children's rhyme about 35."""
FEW_WORDS = 29
"""At most so many different words among them are a failure, if they are shuffled."""
SHUFFLED = 1.8
"""Different pairs of neighbours for each different word from which on the order is a shuffle."""
SOON_WORDS, SOON_LEAST, SOON_CHARS = 44, 20, 320
"""The early look, every 128 characters, takes the last 44 words, or those of 320 characters if they are fewer."""
SOON_FEW, FRESH_PAIRS = 0.4, 0.88
"""At most so many of them are different, and the pairs of neighbours are so many as a shuffle of so many words has."""
WIDER = ((44, 22), (60, 27), (72, 31))
NEAR, WIDER_CHARS, WIDER_FRESH_PAIRS = 27, 800, 0.96
"""Where up to 27 of the 44 are different: at most so many of the last 44, 60 or 72, and nearly all the pairs that a
shuffle has. Of 464,932 windows of real files (78 MB) those of one style sheet and one comment are like that; ordered
text with so few words has up to 0.93 of the pairs."""
CHARACTERS, SOON_CHARACTERS = 480, 160
FEW_TRIPLES = 0.18
FEW_CHARACTERS, FEW_DENSE = 12, 18
"""For alphabets beyond Greek and Cyrillic: different triples of characters as a share, and different characters.
Scripts that put no blanks between words have more: of 160 the poorest message catalogue has 25."""
GATE = 1_200
_DNA = frozenset("acgtun")
_LAST_OF_ALPHABETS = "\u0590"
"""After it come the scripts without capital letters, many of which write without blanks."""
_PROBES = (0, 90, 170, 250)
"""Pieces of the newest wording, so many characters back, of which 3 in 4 must have stood in the 1,200 before."""
PROBE, REACH, FAMILIAR = 16, 4_096, 3
"""Before that, the newest 16 characters of wording must have stood in the 4,096 before, at 3 looks more than not."""
SOON_REACH = 2_048
"""For the early look at sentences the newest 16 characters (8 of Chinese) must have come before in so many."""
_WORD = lazily(r"\S+")
FEWEST = 3
PROSE_LETTERS = 100
"""Letters and blanks among 128 characters from which on they may be prose."""


class Novelty:
    """Watches how much of the newest text is new."""

    __slots__ = ("_familiar", "_known", "_request")

    def __init__(self, request: Request | None) -> None:
        self._request = request
        self._familiar = 0
        self._known = 0

    def check(self, window: Window, position: int, skeleton: Skeleton, *, gated: bool = True) -> Sighting | None:
        """Look at the text up to `position`, whose skeleton is up to date.

        With `gated` a few probes first rule out text whose newest words are new, which is nearly all text.
        """
        buf = skeleton.buf
        end = len(buf)
        if gated:
            misses = 0
            size = 3 if buf[-1:] > "\u2e80" or buf[-2:-1] > "\u2e80" else 5
            low = max(end - GATE, 0)
            for back in _PROBES:
                if buf.find(buf[end - back - size : end - back], low, end - back - 1) < 0:
                    misses += 1
                    if misses > 1:
                        self._familiar = 0
                        return None
        known = buf.find(buf[-PROBE:], max(end - REACH, 0), end - 1) >= 0
        self._familiar = self._familiar + 1 if known else max(self._familiar - 1, 0)
        found = self._vocabulary(window, skeleton)
        if found is None and self._familiar >= FAMILIAR and (self._familiar % 2 == 0 or not gated):
            found = chorus(window, position, self._request)
        return found

    def check_soon(self, window: Window, position: int, skeleton: Skeleton, letters: int) -> Sighting | None:
        """Look at the newest 44 words, or 160 characters, alone: for shuffles of so few that no more need be seen.

        `letters` says how much wording the newest 128 characters have: sentences are looked for in prose only.
        """
        buf = skeleton.buf
        text = buf[-SOON_CHARS:]
        words = text.split()[-SOON_WORDS - 1 : -1]
        found: Sighting | None = None
        if len(words) == SOON_WORDS or (len(words) >= SOON_LEAST and len(text) == SOON_CHARS):
            different = len(set(words))
            if different <= SOON_FEW * len(words):
                found = self._shuffled(window, skeleton, words, FRESH_PAIRS)
            if found is None and different <= NEAR and len(words) == SOON_WORDS:
                newest = buf[-WIDER_CHARS:].split()[:-1]
                for count, few in WIDER:
                    if found is None and len(newest) > count and len(set(newest[-count:])) <= few:
                        found = self._shuffled(window, skeleton, newest[-count:], WIDER_FRESH_PAIRS)
        if found is None and letters >= PROSE_LETTERS:
            probe = PROBE // 2 if buf[-1:] > "\u2e80" or buf[-2:-1] > "\u2e80" else PROBE
            times = buf.count(buf[-probe:], max(len(buf) - SOON_REACH, 0))
            self._known = min(self._known + times - 1, FAMILIAR) if times > 1 else max(self._known - 1, 0)
            if self._known:
                found = shuffle(window, position, self._request)
        return found or self._few_characters_soon(window, skeleton, text)

    def _shuffled(self, window: Window, skeleton: Skeleton, words: list[str], share: float) -> Sighting | None:
        """Judge words of which few are different: is their order that of a shuffle, and are they prose?"""
        count, different = len(words), len(set(words))
        if different < FEWEST or len(set(pairwise(words))) < share * fresh_pairs(different, count):
            return None
        if sum(len(word) > 1 for word in words) < 0.7 * count or set("".join(words)) <= _DNA:
            return None
        raw = window.text(skeleton.raw_position(skeleton.end - len(" ".join(words)), window), skeleton.raw_end)
        if _in_rows(raw) or not is_prose(raw) or "\ufffd" in raw:
            return None
        start = skeleton.raw_position(_first_of_few(skeleton, set(words)), window)
        return self._few(window, skeleton, start, f"{different} different words among {count}, shuffled")

    def _few_characters_soon(self, window: Window, skeleton: Skeleton, text: str) -> Sighting | None:
        if text[-1:] <= _LAST_OF_ALPHABETS and text[-2:-1] <= _LAST_OF_ALPHABETS:
            return None
        if len(set(text[-SOON_CHARACTERS:])) > FEW_DENSE + 1:  # and a blank
            return None
        return self._characters(window, skeleton, SOON_CHARACTERS, 0.0)

    def _vocabulary(self, window: Window, skeleton: Skeleton) -> Sighting | None:
        text = skeleton.buf[-1_100:]
        if not text.isascii():
            found = self._characters(window, skeleton)
            if found is not None:
                return found
        words = text.split()[-WORDS - 1 : -1]
        if len(words) < WORDS:
            return None
        different = len(set(words))
        if different > FEW_WORDS:
            return None
        long_words = sum(len(word) > 1 for word in words)
        pairs = len(set(pairwise(words)))
        if pairs < SHUFFLED * different or long_words < 0.7 * len(words) or different < 3 or text.count("\ufffd") > 50:
            return None
        if set("".join(words)) <= _DNA:
            return None
        raw = window.text(skeleton.raw_position(skeleton.end - len(" ".join(words)), window), skeleton.raw_end)
        if _in_rows(raw) or not is_prose(raw):
            return None
        start = skeleton.raw_position(_first_of_few(skeleton, set(words)), window)
        return self._few(window, skeleton, start, f"{different} different words among {len(words)}, shuffled")

    def _characters(
        self, window: Window, skeleton: Skeleton, length: int = CHARACTERS, few_triples: float = FEW_TRIPLES
    ) -> Sighting | None:
        tail = skeleton.buf[-2 * length :].replace(" ", "")[-length:]
        if len(tail) < length or tail.isascii():
            return None
        foreign = sum(char > "\u0590" for char in tail)
        if foreign < 0.8 * len(tail) or tail.count("\ufffd") > 50:
            return None
        different = len(set(tail))
        triples = len(set(zip(tail, tail[1:], tail[2:], strict=False)))
        pairs = len(set(pairwise(tail)))
        dense = sum(map(_is_dense, tail)) >= 0.8 * len(tail)
        few = different <= (FEW_DENSE if dense else FEW_CHARACTERS) or triples < few_triples * len(tail)
        if not few or pairs < 1.15 * different or triples < 1.2 * pairs:
            return None
        start = skeleton.raw_position(skeleton.end - length, window)
        if _in_rows(window.text(start, skeleton.raw_end)):
            return None
        start = skeleton.raw_position(_first_of_alphabet(skeleton, set(tail)), window)
        return self._few(window, skeleton, start, f"{different} different characters among {len(tail)}, shuffled")

    def _few(self, window: Window, skeleton: Skeleton, start: int, what: str) -> Sighting | None:
        if self._request is not None and not self._request.exceeded(WORDS, what):
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


def fresh_pairs(different: int, count: int) -> float:
    """Return how many different pairs of neighbours to expect among `count` words drawn from `different` ones."""
    pairs = different * different
    return pairs * (1 - (1 - 1 / pairs) ** (count - 1))


def _first_of_few(skeleton: Skeleton, known: set[str]) -> int:
    """Return the position in the skeleton from which on nearly all words belong to the few."""
    text = skeleton.buf[-8_000:]
    start = len(text)
    strange: list[int] = []
    for count, word in enumerate(reversed(list(_WORD().finditer(text)))):
        if word[0] not in known:
            strange.append(count)
            if len(strange) > 2 and count - strange[-3] < 8:
                break
            known.add(word[0])
        else:
            start = word.start()
    return skeleton.end - len(text) + start


def _is_dense(char: str) -> bool:
    """Tell whether a character is Chinese, Japanese, Korean or Thai."""
    return "\u3040" <= char <= "\u9fff" or "\uac00" <= char <= "\ud7af" or "\u0e00" <= char <= "\u0e7f"


def _first_of_alphabet(skeleton: Skeleton, known: set[str]) -> int:
    """Return the position in the skeleton from which on nearly all characters belong to the few."""
    text = skeleton.buf[-8_000:]
    start = at = len(text)
    strange: list[int] = []
    while at > 0:
        at -= 1
        if text[at] != " " and text[at] not in known:
            strange.append(at)
            if len(strange) > 1 and strange[-2] - at < 12:
                break
        elif text[at] != " ":
            start = at
    return skeleton.end - len(text) + max(start, (strange[-2] + 1) if len(strange) > 1 else start)


def _in_rows(raw: str) -> bool:
    """Tell whether the text is laid out in rows: many lines, or cells between equal signs."""
    lines = raw.count("\n")
    if lines >= 8 and len(raw) / (lines + 1) < 100:
        return True
    return max(raw.count("|"), raw.count("\t"), raw.count('"') // 2) >= len(raw) // 40
