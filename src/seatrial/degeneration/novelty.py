"""Loss of novelty: a few words, characters or sentences in ever new order, so that no period shows.

Ordered repetition (tables, refrains, templates) also has few words, but few pairs of neighbours too. A shuffle has
few words and many pairs. That, and the absence of rows, tells one from the other.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from seatrial.degeneration.model import Kind, Severity
from seatrial.degeneration.patterns import lazily
from seatrial.degeneration.request import Request
from seatrial.degeneration.sighting import Sighting
from seatrial.degeneration.skeleton import Skeleton, skeleton_of
from seatrial.degeneration.structure import code_share
from seatrial.degeneration.window import Window

STEP = 384
WORDS = 100
"""Words of the window. Of 100 words in a row prose has 55 to 85 different ones, a children's rhyme about 35."""
FEW_WORDS = 29
"""At most so many different words among them are a failure, if they are shuffled."""
SHUFFLED = 1.8
"""Different pairs of neighbours for each different word from which on the order is a shuffle."""
SOON_WORDS, SOON_FEW, SOON_SHUFFLED = 44, 21, 0.85
"""The early look, every 128 characters: of 44 words in a row at most 21 are different, and 85 % of the pairs of
neighbours are. Of 364,935 windows of real files (manuals, READMEs, code; 44 MB) one is like that: a block of imports.
"""
PROSE = 0.88
"""Share of a text that is wording; tables, code and markup have less."""
CHARACTERS, SOON_CHARACTERS = 480, 160
FEW_TRIPLES = 0.18
FEW_CHARACTERS = 12
"""For scripts without blanks: different triples of characters as a share, and different characters."""
SENTENCES = 32
SENTENCE_CHARS = 14
KNOWN_SENTENCES, KNOWN_LINES = 25, 30
SEEN_OFTEN = 4
"""Of the last 32 sentences 25 were each said at least 4 times; of lines 30, for songs that pile up verses."""
GATE = 1_200
_DNA = frozenset("acgtun")
_LAST_OF_ALPHABETS = "\u0590"
"""After it come the scripts without capital letters, many of which write without blanks."""
_PROBES = (0, 90, 170, 250)
"""Pieces of the newest wording, so many characters back, of which 3 in 4 must have stood in the 1,200 before."""
MEMORY = 12_288
"""Characters in which sentences are counted."""
PROBE, REACH, FAMILIAR = 16, 4_096, 3
"""Before that, the newest 16 characters of wording must have stood in the 4,096 before, at 3 looks more than not."""
_SENTENCE = lazily(r"[.!?;:…。！？；]+\s*|\n+")
_WORD = lazily(r"\S+")


class Novelty:
    """Watches how much of the newest text is new."""

    __slots__ = ("_familiar", "_request")

    def __init__(self, request: Request | None) -> None:
        self._request = request
        self._familiar = 0

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
            found = self._sentences(window, position)
        return found

    def check_soon(self, window: Window, skeleton: Skeleton) -> Sighting | None:
        """Look at the newest 44 words, or 160 characters, alone: for shuffles of so few that no more need be seen."""
        text = skeleton.buf[-420:]
        words = text.split()[-SOON_WORDS - 1 : -1]
        if len(words) == SOON_WORDS:
            different = len(set(words))
            if not 3 <= different <= SOON_FEW or len(set(pairwise(words))) < SOON_SHUFFLED * (SOON_WORDS - 1):
                return self._few_characters_soon(window, skeleton, text)
            if sum(len(word) > 1 for word in words) < 0.7 * len(words) or set("".join(words)) <= _DNA:
                return None
            raw = window.text(skeleton.raw_position(skeleton.end - len(" ".join(words)), window), skeleton.raw_end)
            if _in_rows(raw) or not _is_prose(raw):
                return None
            start = skeleton.raw_position(_first_of_few(skeleton, set(words)), window)
            return self._few(window, skeleton, start, f"{different} different words among {len(words)}, shuffled")
        return self._few_characters_soon(window, skeleton, text)

    def _few_characters_soon(self, window: Window, skeleton: Skeleton, text: str) -> Sighting | None:
        if text[-1:] <= _LAST_OF_ALPHABETS and text[-2:-1] <= _LAST_OF_ALPHABETS:
            return None
        if len(set(text[-SOON_CHARACTERS:])) > FEW_CHARACTERS + 1:  # and a blank
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
        if _in_rows(raw) or not _is_prose(raw):
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
        few = different <= FEW_CHARACTERS or triples < few_triples * len(tail)
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

    def _sentences(self, window: Window, position: int) -> Sighting | None:
        offset = max(position - MEMORY, window.base, 0)
        text = window.text(offset, position)
        recent = text[-1_000:]
        if sum(map(recent.count, ".!?\n。！？।:;")) < 6 or not _is_prose(recent):
            return None
        sentences: list[tuple[str, int]] = []
        seen: Counter[str] = Counter()
        at = 0
        for match in _SENTENCE().finditer(text):
            if match.start() - at >= SENTENCE_CHARS:
                key = text[at : match.start()].lower()
                seen[key] += 1
                sentences.append((key, at))
            at = match.end()
        known = [seen[key] >= SEEN_OFTEN for key, _ in sentences]
        lines = text.count("\n", sentences[-SENTENCES][1]) if len(sentences) >= SENTENCES else 0
        needed = KNOWN_LINES if lines >= SENTENCES // 2 else KNOWN_SENTENCES
        if sum(known[-SENTENCES:]) < needed:
            return None
        first = len(known) - SENTENCES
        while first > 0 and sum(known[first - 1 : first + 7]) >= 7:
            first -= 1
        count = len(sentences) - first
        if self._request is not None and not self._request.exceeded(count, sentences[-1][0]):
            return None
        different = len({key for key, _ in sentences[first:]})
        start = offset + sentences[first][1]
        return Sighting(
            severity=Severity.FAIL,
            kind=Kind.LOW_NOVELTY,
            start=start,
            end=position,
            period=None,
            needle=window.text(start, start + 200),
            claim=f"nothing new: {count} sentences are {different}, said again and again",
        )


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


def _is_prose(raw: str) -> bool:
    """Tell whether nearly all of the text is words with single blanks between them."""
    return len(skeleton_of(raw)) >= PROSE * len(raw) and code_share(raw) < 0.06


def _in_rows(raw: str) -> bool:
    """Tell whether the text is laid out in rows: many lines, or cells between equal signs."""
    lines = raw.count("\n")
    if lines >= 8 and len(raw) / (lines + 1) < 100:
        return True
    return max(raw.count("|"), raw.count("\t"), raw.count('"') // 2) >= len(raw) // 40
