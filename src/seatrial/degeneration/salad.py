"""Token salad: words that don't belong together. Honestly limited, see docs/degeneration.md.

Four signs can be shown without a model of language: scripts mixed inside words, several scripts in turn without
any separator, English grammar words in an order that English doesn't have, and tokens doubled or cut inside words.
Fluent nonsense, a wrong answer, or salad of one script in other languages can't be seen here: a known answer can.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise

from seatrial.degeneration.model import Kind, Severity
from seatrial.degeneration.patterns import lazily
from seatrial.degeneration.sighting import Sighting
from seatrial.degeneration.skeleton import Skeleton
from seatrial.degeneration.window import Window

STEP = 2_048
FIRST = 1_024
WINDOW = 1_200
"""Characters of wording that are judged together: about 200 words."""
MIN_WORDS = 60
DOUBLED_WARN, DOUBLED_FAIL = 0.06, 0.1
"""Share of words that begin and end with the same three letters (`riverriv`). Prose has under 1 %, Maori under 5 %."""
GRAMMAR_WARN, GRAMMAR_FAIL = 5, 8
"""Pairs that English doesn't have, per window; prose has at most 2."""
MIXED_WARN, MIXED_FAIL = 5, 9
"""Words that change between Latin and another alphabet inside; bilingual text has them joined by a hyphen."""
LEAK_WARN = 12
"""Single CJK words between lower-case Latin words without any sign between them."""
SWITCH_SHARE = 0.35
"""Share of neighbouring words of different scripts, with at least 3 (warn) or 4 (fail) scripts in the window."""

LOST_SHARE = 0.1
"""Share of U+FFFD that is a warning: tokens cut inside a character, or a file read in the wrong encoding."""

_IMPOSSIBLE = frozenset(
    (first, second)
    for first, seconds in {
        "the": "the of is was are were by than which when therefore because into have has from at or and their his",
        "of": "of is was by than therefore have has were be when into",
        "an": "the of an is by than which into of have their",
        "than": "of than is which into therefore have",
        "into": "of is was than therefore have into",
        "by": "of by than therefore is have was",
        "their": "the of their a is by",
        "is": "is was than have has",
        "was": "is was have has are than",
        "or": "or than of",
        "have": "of have is was has than",
        "has": "of has is was have than",
    }.items()
    for second in seconds.split()
)
_MIXED = lazily(r"[a-z]{3}[\u0400-\u052f\u0590-\u06ff\u0900-\u0dff\u10a0-\u10ff]|"
                    r"[\u0430-\u044f\u0590-\u06ff\u0900-\u0dff\u10a0-\u10ff][a-z]{3}|"
                    r"[a-z]{2}[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]{1,4}[a-z]{2}")  # fmt: skip
_LEAK = lazily(r"(?<=[a-z] )[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]{1,3}(?= [a-z])")
_STARTS = (0, 0x370, 0x400, 0x530, 0x590, 0x600, 0x750, 0x900, 0x980, 0xE00, 0xE80, 0x10A0, 0x1100, 0x1200, 0x1E00,
           0x2000, 0x3040, 0xAC00, 0xD7B0, 0xF900, 0x10000)  # fmt: skip
_NAMES = ("latin", "greek", "cyrillic", "armenian", "hebrew", "arabic", "", "devanagari", "indic", "thai", "",
          "georgian", "hangul", "", "latin", "", "han", "hangul", "", "", "")  # fmt: skip


_Sign = tuple[Severity, str, int]
"""Severity, claim, and the index of the first word that shows it."""


class TokenSalad:
    """Watches the newest words for the four signs."""

    __slots__ = ()

    def check(self, window: Window, position: int, skeleton: Skeleton) -> Sighting | None:
        """Look at the text up to `position`, whose skeleton is up to date."""
        text = skeleton.buf[-WINDOW:]
        words = text.split()[1:-1]
        if len(words) < MIN_WORDS:
            return None
        found: _Sign | None = None
        for sign in (_doubled(words), _grammar(words), _scripts(window, position, words, text)):
            if sign is not None and (found is None or found[0] is not Severity.FAIL):
                found = sign
        if found is None:
            return None
        severity, claim, first = found
        before = len(text) - len(text.lstrip().partition(" ")[2]) + len(" ".join(words[:first])) + (first > 0)
        start = skeleton.raw_position(skeleton.end - len(text) + before, window)
        return Sighting(
            severity=severity,
            kind=Kind.TOKEN_SALAD,
            start=start,
            end=skeleton.raw_end,
            period=None,
            needle=window.text(start, start + 200),
            claim=claim,
        )


def _doubled(words: list[str]) -> _Sign | None:
    kinds = {word for word in set(words) if word[:3] == word[-3:] and len(word) > 5 and len(set(word[:3])) > 1}
    if len(kinds) < 5:
        return None
    found = [word for word in words if word in kinds]
    share = len(found) / len(words)
    if share < DOUBLED_WARN:
        return None
    severity = Severity.FAIL if share >= DOUBLED_FAIL else Severity.WARN
    claim = f"{len(found)} of {len(words)} words are doubled or cut, such as {', '.join(found[:3])!r}"
    return severity, claim, words.index(found[0])


def _grammar(words: list[str]) -> _Sign | None:
    if _IMPOSSIBLE.isdisjoint(pairwise(words)):
        return None
    found = set(pairwise(words)) & _IMPOSSIBLE
    if len(found) < GRAMMAR_WARN:
        return None
    severity = Severity.FAIL if len(found) >= GRAMMAR_FAIL else Severity.WARN
    examples = ", ".join(sorted(" ".join(pair) for pair in found)[:3])
    claim = f"grammar words stand in an order that English doesn't have, such as {examples!r}"
    return severity, claim, next(index for index, pair in enumerate(pairwise(words)) if pair in found)


def _scripts(window: Window, position: int, words: list[str], text: str) -> _Sign | None:
    if text.isascii():
        return None
    lost = text.count("\ufffd")
    if lost >= LOST_SHARE * len(text):
        return Severity.WARN, f"{lost} replacement characters among {len(text)}: bytes that are no UTF-8", 0
    mixed = len(_MIXED().findall(text))
    if mixed >= MIXED_WARN:
        severity = Severity.FAIL if mixed >= MIXED_FAIL else Severity.WARN
        return severity, f"{mixed} words change from one script to another inside", 0
    raw = window.text(position - WINDOW, position)
    initials = {char: _NAMES[bisect_right(_STARTS, ord(char)) - 1] for char in {word[0] for word in words}}
    scripts = [name for word in words if (name := initials[word[0]])]
    switches = sum(a != b for a, b in pairwise(scripts))
    several = sum(scripts.count(name) >= 3 for name in set(scripts))
    plain = sum(map(raw.count, ",;:()[]|\n\"'«»“”、，。：（）=-/")) < 0.15 * len(words)
    if several >= 3 and switches >= SWITCH_SHARE * len(words) and plain:
        severity = Severity.FAIL if several >= 4 else Severity.WARN
        return severity, f"{several} scripts in turn, {switches} changes among {len(words)} words", 0
    leaks = len(_LEAK().findall(raw))
    if leaks >= LEAK_WARN:
        return Severity.WARN, f"{leaks} single CJK words stand between Latin words without any sign", 0
    return None
