"""What repetition the user asked for, read from the prompt in several languages."""

from __future__ import annotations

import re
from dataclasses import dataclass

_WORDS = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
    "hundred": 100, "thousand": 1000, "hundert": 100, "tausend": 1000, "fünfzig": 50, "cent": 100, "mille": 1000,
    "cinquante": 50, "cien": 100, "mil": 1000, "cincuenta": 50, "cento": 100, "cem": 100, "сто": 100,
    "тысячу": 1000, "пятьдесят": 50, "sto": 100, "tysiąc": 1000, "yüz": 100, "seratus": 100, "honderd": 100,
    "hundra": 100, "百": 100, "千": 1000, "백": 100, "천": 1000, "مائة": 100, "مئة": 100, "ألف": 1000, "सौ": 100,
    "หนึ่งร้อย": 100, "ร้อย": 100, "zwanzig": 20, "veinte": 20, "vingt": 20, "двадцать": 20, "五十": 50, "二十": 20,
}  # fmt: skip
_FACTORS = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "deux": 2, "trois": 3, "cinq": 5, "dos": 2, "tres": 3, "due": 2,
    "一": 1, "二": 2, "两": 2, "兩": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9,
}  # fmt: skip
_ASK = re.compile(
    r"repeat|\btimes\b|\bcount|\bcopies\b|over and over|\b(?:write|print|list|type|say|output|generate|give|produce|"
    r"create|make|draw|show|recite)\b|wiederhol|\bmal\b|zähl|schreib|\bfois\b|répèt|compt|écri|\bveces\b|repit|cuent|"
    r"escrib|\bvolte\b|ripet|\bconta|scriv|\bvezes\b|repet|\bescrev|\bраз\b|повтор|[сп]осчита|считай|напиш|\brazy\b|"
    r"powtórz|\bkeer\b|herhaal|\bgånger|upprepa|tekrar|\bkere\b|\bkali\b|ulang|次|遍|回|重复|重複|繰り返|数え|数到|數到|"
    r"个|個|번|반복|세어|مرة|مرات|كرر|बार|दोहरा|ครั้ง|ซ้ำ|lần|lặp",
    re.IGNORECASE,
)
_ENDLESS = re.compile(
    r"forever|endless|infinite|without stopping|never stop|until (?:you|I)|as (?:many|often|long) as|ohne Ende|"
    r"unendlich|sans fin|sin parar|senza fine|бесконечн|一直|无限|永远|ずっと|계속",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<![\w.])\d{1,3}(?:[,.' ]\d{3})+(?![\w.])|\d+")
ENDLESS_COUNT = 400
"""Copies that a request without a number ("over and over") excuses."""


@dataclass(frozen=True, slots=True)
class Request:
    """Repetition that was asked for.

    Attributes:
        counts: the numbers of copies that may be meant, largest last; at least one.
    """

    counts: tuple[int, ...]

    def excuses(self, copies: float) -> bool:
        """Tell whether so many copies are what was asked for: up to the largest number and a tenth more."""
        return copies <= 1.1 * self.counts[-1] + 2

    def exceeded(self, copies: float) -> bool:
        """Tell whether so many copies are far past what was asked for: a quarter and three more."""
        return copies > 1.25 * self.counts[-1] + 3


def read_request(prompt: str | None) -> Request | None:
    """Find out whether the prompt asks for repetition or counting, and how much.

    The last 2,000 characters are read. A number counts when the prompt has a word of repeating, counting or
    listing in one of about twenty languages; numbers below 5 and above 100,000 do not.
    """
    if not prompt:
        return None
    text = prompt[-2_000:]
    if not _ASK.search(text):
        return None
    counts = {int(re.sub(r"\D", "", found[0])) for found in _NUMBER.finditer(text)}
    counts |= _spelled(text.lower())
    if _ENDLESS.search(text):
        counts.add(ENDLESS_COUNT)
    kept = tuple(sorted(count for count in counts if 5 <= count <= 100_000))
    return Request(kept) if kept else None


def _spelled(text: str) -> set[int]:
    counts = set()
    for word, value in _WORDS.items():
        at = text.find(word)
        if at < 0 or (word.isascii() and re.search(rf"\b{word}(?:s|en)?\b", text) is None and word not in
                      ("hundert", "tausend", "honderd")):  # fmt: skip
            continue
        before = text[max(at - 12, 0) : at].rstrip(" -")
        factor = next((n for name, n in _FACTORS.items() if before.endswith(name)), 1)
        counts.add(value * factor)
    return counts
