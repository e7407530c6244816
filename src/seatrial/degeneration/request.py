"""What repetition the user asked for, read from the prompt in about twenty languages.

A number counts as asked for when it stands beside a word for "times" or after a word for counting or repeating
("repeat X 100 times", "count to 300", `重复一百遍`): then any repetition up to that number is excused. A number of
things to make ("500 rows", "a thousand emojis") is weaker: it excuses lines that count on, signs, and what the prompt
quotes. Numbers of words, pages, seconds and the like excuse nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from seatrial.degeneration.patterns import lazily

_NAMED = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
    "hundred": 100, "thousand": 1000, "zwanzig": 20, "fünfzig": 50, "hundert": 100, "tausend": 1000, "vingt": 20,
    "cinquante": 50, "cent": 100, "mille": 1000, "veinte": 20, "cincuenta": 50, "cien": 100, "mil": 1000,
    "cento": 100, "cem": 100, "двадцать": 20, "пятьдесят": 50, "сто": 100, "тысячу": 1000, "sto": 100, "tysiąc": 1000,
    "honderd": 100, "hundra": 100, "yüz": 100, "seratus": 100, "مائة": 100, "مئة": 100, "ألف": 1000, "सौ": 100,
    "ร้อย": 100, "十": 10, "百": 100, "千": 1000, "백": 100, "천": 1000,
}  # fmt: skip
_FACTORS = {
    "a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "ein": 1, "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "deux": 2, "trois": 3, "cinq": 5, "dos": 2,
    "tres": 3, "due": 2, "एक": 1, "หนึ่ง": 1, "一": 1, "二": 2, "两": 2, "兩": 2, "三": 3, "四": 4, "五": 5, "六": 6,
    "七": 7, "八": 8, "九": 9,
}  # fmt: skip
_SPELLED = lazily(
    rf"(?i)(?<![a-zà-ÿа-я])(?:({'|'.join(_FACTORS)})[ -]?)?({'|'.join(sorted(_NAMED, key=len, reverse=True))})"
    r"(?=$|[^a-zà-ÿа-я]|mal|maal|s\b)"
)
_GROUPED = lazily(r"(?<![\d.,])(\d{1,3})[,.' ](\d{3})(?![\d.,]*\d)")
_TIMES = lazily(
    r"(?i)(\d+)\s*-?(?:times\b|x\b|×|copies\b|mal\b|maal\b|fois\b|veces\b|volte\b|vezes\b|раза?\b|razy\b|keer\b|"
    r"gånger\b|kez\b|kere\b|defa\b|kali\b|lần|次|遍|回|번|مرة|مرات|बार|ครั้ง)"
)
_COUNTING = lazily(
    r"(?i)(?:\bcount|repeat|wiederhol|\bzähl|répèt|\bcompt|\bcuent|repit|repet|\bconta|ripet|повтор|считай|\btel\b|"
    r"herhaal|powtórz|upprepa|tekrar|ulang|重复|重複|繰り返|数え|数到|數到|从\s*1|"
    r"반복|세어|세라|كرر|عد |दोहरा|गिन|ซ้ำ|นับ|lặp|đếm)"
    r"[^.!?\n。]{0,60}?(\d+)(?!\s*[.,]?\d)"
)
_NUMBERS_UP_TO = lazily(
    r"(?i)\b1\s*(?:to|through|until|bis|à|a|al|hasta|até|до|tot|do|-|–|\.\.)\s*(\d+)"
    r"|1\s*(?:到|至|から|부터)\s*(\d+)"
)
_THINGS = lazily(
    r"(?i)(\d+)\s+(?!(?:\S+\s+)?(?:words?|tokens?|pages?|sentences?|paragraphs?|char|letters?\b|second|minute|hour|day|"
    r"week|month|year|percent|wörter|wort|mots|palabras|слов))[a-zà-ÿа-я]|(\d+)\s*(?:个|個|行|条|개|줄)"
)
_ENDLESS = lazily(
    r"(?i)forever|endless|infinitely|over and over|never stop|ohne Ende|unendlich|sans fin|sin parar|senza fine|"
    r"бесконечн|一直重复|无限|永远|ずっと|계속"
)
ENDLESS_COUNT = 400
"""Copies that a request without a number ("over and over") excuses."""
LARGEST = 100_000
READ = 2_000
"""Characters at the end of the prompt that are read."""


@dataclass(frozen=True, slots=True)
class Request:
    """Repetition that was asked for.

    Attributes:
        times: copies that may be asked for of whatever it is; 0 where only things were.
        things: how many things were asked for, 0 where none were.
        prompt: the prompt in lower case, to see what it quotes.
    """

    times: int
    things: int
    prompt: str

    def limit(self, unit: str | None) -> int:
        """Return how many copies of `unit` were asked for; None stands for lines or numbers that count on."""
        if unit is None:
            return max(self.times, self.things)
        wording = unit.strip().lower()
        quoted = len(wording) > 1 and all(word.strip(".,;:!?-\"'") in self.prompt for word in wording.split())
        return max(self.times, self.things if quoted or not any(map(str.isalnum, wording)) else 0)

    def excuses(self, copies: float, unit: str | None = None) -> bool:
        """Tell whether so many copies are what was asked for: up to the number and a tenth more."""
        limit = self.limit(unit)
        return limit > 0 and copies <= 1.1 * limit + 2

    def exceeded(self, copies: float, unit: str | None = None) -> bool:
        """Tell whether so many copies are far past what was asked for: a quarter and three more."""
        limit = self.limit(unit)
        return limit == 0 or copies > 1.25 * limit + 3


def read_request(prompt: str | None) -> Request | None:
    """Find out whether the prompt asks for repetition, and how much; None where it does not.

    Numbers below 5 and above 100,000 are no such request.
    """
    if not prompt:
        return None
    text = _GROUPED().sub(r"\1\2", _SPELLED().sub(_number, prompt[-READ:]))
    times = _largest(_TIMES(), text), _largest(_COUNTING(), text), _largest(_NUMBERS_UP_TO(), text)
    endless = ENDLESS_COUNT if _ENDLESS().search(text) else 0
    request = Request(max(*times, endless), _largest(_THINGS(), text), prompt[-READ:].lower())
    return request if request.times or request.things else None


def _largest(pattern: re.Pattern[str], text: str) -> int:
    numbers = [int(found[found.lastindex or 0][:9]) for found in pattern.finditer(text)]
    return max((number for number in numbers if 5 <= number <= LARGEST), default=0)


def _number(found: re.Match[str]) -> str:
    factor, name = found[1], found[2]
    return str((_FACTORS[factor.lower()] if factor else 1) * _NAMED[name.lower()])
