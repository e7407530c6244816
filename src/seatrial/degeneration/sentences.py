"""A few sentences or lines in ever new order, so that no period shows.

The period of such a shuffle is one copy of each of its sentences. After a little more than three of them in a row a
person sees it too. Songs, dialogues and lists of equal answers keep bringing new lines in between.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from seatrial.degeneration.model import Kind, Severity
from seatrial.degeneration.patterns import lazily
from seatrial.degeneration.request import Request
from seatrial.degeneration.sighting import Sighting
from seatrial.degeneration.skeleton import skeleton_of
from seatrial.degeneration.structure import code_share
from seatrial.degeneration.window import Window

PROSE = 0.88
"""Share of a text that is wording; tables, code and markup have less."""
REACH = 4_096
"""Characters that the early look goes back."""
GLANCE, MANY = 1_200, 8
"""In so many characters one sentence must come twice; of 8 and more, each more than twice on average."""
FEW_SENTENCES = 12
"""At most so many different sentences make a shuffle of sentences."""
LEAST, LEAST_CHARS = 6, 272
"""Sentences and characters that a shuffle has; with a look every 128 characters it is seen before the 400th."""
FEWEST = 2
"""Different sentences of a shuffle, and times that each is said: one sentence alone is an exact loop."""
SINGLES = 4
"""Of so many different sentences one may have been said but once so far."""
LEAST_LINES, FEW_LINES = 10, 3
"""Of more different lines than this a shuffle needs each four times: catalogues of messages say some thrice."""
LETTERS = 10
"""A piece with fewer letters (`Day 7.`, `No!`) belongs to what follows it."""
LINE_LETTERS = 24
"""Mean letters of lines that count as sentences; the lines of lists, votes and verses are shorter."""
MEMORY = 12_288
"""Characters in which the slow look counts sentences."""
WINDOW = 32
KNOWN_SENTENCES, KNOWN_LINES = 25, 30
SEEN_OFTEN = 4
"""Of the last 32 sentences 25 were each said at least 4 times; of lines 30, for songs that pile up verses."""
SENTENCE_CHARS = 14
_PIECE = lazily(r"[.!?…]+['\"’”»)*_]*(?=\s|$)\s*|[。！？।؟]+['\"’”」』]*\s*|\n+")
_CLAUSE = lazily(r"[.!?;:…。！？；]+\s*|\n+")
_MARKER = lazily(r"\A\s*(?:[-*•#>]+\s+)*(?:\d+\s*[.)、]\s*)?")
_NUMBERED = lazily(r"\s*[^\W\d_]+\s*\d+\Z")
_FEW_SIGNS = ".!?。！？।؟…\n"


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence without its list marker, in lower case; where it begins; whether it ends a line."""

    wording: str
    start: int
    ends_line: bool


def is_prose(raw: str) -> bool:
    """Tell whether nearly all of the text is words with single blanks between them."""
    return len(skeleton_of(raw)) >= PROSE * len(raw) and code_share(raw) < 0.06


def sentences_of(text: str) -> list[Sentence]:
    """Split a text into sentences, the last of which is whole. A short piece is joined to what follows it."""
    found: list[Sentence] = []
    at = 0
    for match in _PIECE().finditer(text):
        piece = text[at : match.start()]
        if sum(map(str.isalpha, piece)) < LETTERS:
            if "\n" in match[0]:
                at = match.end()
            continue
        marker = _MARKER().match(piece)
        skipped = marker.end() if marker else 0
        found.append(Sentence(" ".join(piece[skipped:].lower().split()), at, "\n" in match[0]))
        at = match.end()
    return found


def shuffle(window: Window, position: int, request: Request | None) -> Sighting | None:
    """Look for a shuffle of a few sentences that reaches `position`: the early look."""
    offset = max(position - REACH, window.base, 0)
    text = window.text(offset, position)
    recent = text[-2 * LEAST_CHARS :]
    if sum(map(recent.count, _FEW_SIGNS)) < 3 or not is_prose(recent.replace("\n\n", " ").replace("**", "")):
        return None
    newest = sentences_of(text[-GLANCE:])
    kinds = len({sentence.wording for sentence in newest})
    if kinds == len(newest) or (len(newest) >= MANY and len(newest) <= 2 * kinds):
        return None
    sentences = sentences_of(text)
    start = _start_of_shuffle(sentences, len(text))
    if start is None:
        return None
    said = sentences[start:]
    different = len({sentence.wording for sentence in said})
    if request is not None and not request.exceeded(len(said), said[-1].wording):
        return None
    begin = offset + said[0].start
    return _said_again(window, begin, position, count=len(said), different=different)


def _start_of_shuffle(sentences: list[Sentence], end: int) -> int | None:
    """Return the index of the first sentence of the longest shuffle that ends the list, or None."""
    seen: Counter[str] = Counter()
    lines = letters = 0
    best: int | None = None
    for index in range(len(sentences) - 1, -1, -1):
        sentence = sentences[index]
        seen[sentence.wording] += 1
        if len(seen) > FEW_SENTENCES:
            break
        count = len(sentences) - index
        lines += sentence.ends_line
        letters += len(sentence.wording)
        in_lines = lines >= 0.5 * count
        needed = max(LEAST, 3 * len(seen) + (len(seen) > FEWEST))
        if in_lines:
            needed = max(needed, LEAST_LINES, 4 * len(seen) if len(seen) > FEW_LINES else 0)
        if count < needed or end - sentence.start < LEAST_CHARS or len(seen) < FEWEST:
            continue
        if seen[sentence.wording] < FEWEST or SINGLES * sum(times == 1 for times in seen.values()) > len(seen):
            continue
        if not all(map(_is_wording, seen)):
            break
        if in_lines and letters < LINE_LETTERS * count:
            continue
        best = index
    return best


def _is_wording(sentence: str) -> bool:
    """Tell whether it has three words, or is written without blanks."""
    return sentence.count(" ") > 1 or not sentence.isascii()


def chorus(window: Window, position: int, request: Request | None) -> Sighting | None:
    """Look for text most of whose sentences have come many times: the slow look, for slow drift among them."""
    offset = max(position - MEMORY, window.base, 0)
    text = window.text(offset, position)
    recent = text[-1_000:]
    if sum(map(recent.count, ".!?\n。！？।:;")) < 6 or not is_prose(recent):
        return None
    sentences: list[tuple[str, int]] = []
    seen: Counter[str] = Counter()
    at = 0
    for match in _CLAUSE().finditer(text):
        if match.start() - at >= SENTENCE_CHARS:
            key = " ".join(text[at : match.start()].lower().split())
            seen[key] += 1
            sentences.append((key, at))
        elif _NUMBERED().match(text, at, match.start()):
            continue  # `Day 7:` belongs to what follows it
        at = match.end()
    often = {key for key, times in seen.items() if times >= SEEN_OFTEN and _is_wording(key)}
    known = [key in often for key, _ in sentences]
    lines = text.count("\n", sentences[-WINDOW][1]) if len(sentences) >= WINDOW else 0
    needed = KNOWN_LINES if lines >= WINDOW // 2 else KNOWN_SENTENCES
    if sum(known[-WINDOW:]) < needed:
        return None
    first = len(known) - WINDOW
    while first > 0 and sum(known[first - 1 : first + 7]) >= 7:
        first -= 1
    count = len(sentences) - first
    if request is not None and not request.exceeded(count, sentences[-1][0]):
        return None
    different = len({key for key, _ in sentences[first:]})
    start = offset + sentences[first][1]
    return _said_again(window, start, position, count=count, different=different)


def _said_again(window: Window, start: int, end: int, *, count: int, different: int) -> Sighting:
    """Make the sighting of sentences that are a few, in any order."""
    return Sighting(
        severity=Severity.FAIL,
        kind=Kind.LOW_NOVELTY,
        start=start,
        end=end,
        period=None,
        needle=window.text(start, start + 200),
        claim=f"nothing new: {count} sentences are {different}, said again and again",
    )
