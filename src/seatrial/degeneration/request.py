"""What repetition the user asked for, read from the prompt in about twenty languages.

A number counts as asked for when it stands beside a word for "times" or after a word for counting or repeating
("repeat X 100 times", "count to 300", `重复一百遍`): then any repetition up to that number is excused. A number of
things to make ("500 rows", "a thousand emojis") is weaker: it excuses lines that count on, signs, and what the prompt
quotes. Numbers of days and hours excuse lines that count on; numbers of words, pages and the like excuse nothing.

A short prompt that asks for a few things and nothing else in number ("a JSON array of six users") says as well when
enough is enough: far more copies of one wording than that are a loop.
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
_SMALL = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11,
    "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18,
    "nineteen": 19, "dozen": 12, "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6, "sieben": 7, "acht": 8,
    "neun": 9, "zehn": 10, "elf": 11, "zwölf": 12, "deux": 2, "trois": 3, "quatre": 4, "cinq": 5, "sept": 7, "huit": 8,
    "neuf": 9, "dix": 10, "douze": 12, "quinze": 15, "dos": 2, "tres": 3, "cuatro": 4, "cinco": 5, "seis": 6,
    "siete": 7, "ocho": 8, "nueve": 9, "diez": 10, "doce": 12, "due": 2, "tre": 3, "quattro": 4, "cinque": 5, "sei": 6,
    "sette": 7, "otto": 8, "nove": 9, "dieci": 10, "dodici": 12, "três": 3, "quatro": 4, "sete": 7, "oito": 8,
    "dez": 10, "два": 2, "две": 2, "три": 3, "четыре": 4, "пять": 5, "шесть": 6, "семь": 7, "восемь": 8, "девять": 9,
    "десять": 10, "двенадцать": 12,
}  # fmt: skip
_SPELLED_SMALL = lazily(rf"(?i)(?<![^\W_])(?:{'|'.join(sorted(_SMALL, key=len, reverse=True))})(?![^\W_])")
_HAN_SMALL = {"两": 2, "兩": 2, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10}
_SPELLED_HAN = lazily(r"[两兩二三四五六七八九十](?=[个個条條行项項位种種本つ])")
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
_DAYS = lazily(
    r"(?i)(\d+)[\s-]+(?:day|week|month|hour|minute|year|tage|wochen|jours|semaines|d[ií]as|semanas|дней|недель)"
)
_ANY_NUMBER = lazily(r"\d+")
_WANTED = lazily(
    r"(?i)(?<![^\W_])(?:list|name|give|write|make|create|generate|show|print|draw|tell|suggest|invent|add|nenne|schreib\w*|"
    r"liste|erstelle|gib|erfinde|mach|cite|donne|[ée]cris|fais|haz|escribe|enumera|dame|nombra|crea|scrivi|elenca|"
    r"dammi|escreva|cite|назови|напиши|перечисли|составь)\s+(?:(?:me|us)\s+)?(?:the\s+)?"
    r"(?:(?!(?:for|these|those|the|my|our|about|between|from|to|on|in|by|using|that|and|für|diese|pour|para|для)\s)[^\s.;:!?]+\s+){0,8}?(\d+)\s+(?!"
    r"(?:\S+\s+)?(?:words?|tokens?|pages?|sentences?|paragraphs?|char|letters?\b|wörter|wort|mots|palabras|слов|point|"
    r"column|spalten|times|level|dimension|digit|space))[^\W\d_]|(\d+)\s*(?:个|個|条|行|项|項|位|种|種)"
)
_OPEN = lazily(
    r"(?i)\b(?:(?:for|on|in|of|at|after|to|with) (?:each|every|all|any)|per|entire|complete|full|whole|more|least|"
    r"minimum|days?|weeks?|months?|years?|hours?|minutes?|daily|jede[rsnm]?|alle|mindestens|mehr|tage?|wochen?|monate?|chaque|"
    r"tous|toutes|moins|plus|jours?|cada|todos|todas|menos|d[ií]as?|каждый|все|всех)\b"
    r"|每|所有|全部|至少|以上|天|周|月|年|毎|すべて"
)
WANTED_PROMPT = 400
"""Characters of a prompt from which on a number in it may belong to anything."""
OVERRUN_FACTOR, OVERRUN_MORE, OVERRUN_COPIES, OVERRUN_CHARS = 2, 8, 12, 120
"""More than twice the things that were asked for, at least 8 more, and 12 in all."""
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
        days: how many days, weeks, hours or the like were named, 0 where none were.
        wanted: the few things that a short prompt asks for and no other number beside them; 0 where that isn't so.
        prompt: the prompt in lower case, to see what it quotes.
    """

    times: int
    things: int
    days: int
    wanted: int
    prompt: str

    def limit(self, unit: str | None) -> int:
        """Return how many copies of `unit` were asked for; None stands for lines or numbers that count on."""
        if unit is None:
            return max(self.times, self.things, self.days)
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

    @property
    def enough(self) -> int:
        """Copies of one wording of which one more is far past the few things that were asked for."""
        return max(OVERRUN_FACTOR * self.wanted, self.wanted + OVERRUN_MORE - 1, OVERRUN_COPIES - 1)

    def overrun(self, copies: float, chars: int) -> bool:
        """Tell whether so many copies of one wording are far past the few things that were asked for."""
        return self.wanted > 0 and int(copies) > self.enough and chars >= OVERRUN_CHARS


def read_request(prompt: str | None) -> Request | None:
    """Find out whether the prompt asks for repetition, and how much; None where it does not.

    Numbers below 5 and above 100,000 are no such request; a few things that are wanted may be two.
    """
    if not prompt:
        return None
    text = _GROUPED().sub(r"\1\2", _SPELLED().sub(_number, prompt[-READ:]))
    small = _SPELLED_HAN().sub(_small, _SPELLED_SMALL().sub(_small, text))
    times = _largest(_TIMES(), text), _largest(_COUNTING(), text), _largest(_NUMBERS_UP_TO(), text)
    endless = ENDLESS_COUNT if _ENDLESS().search(text) else 0
    things, days = _largest(_THINGS(), small), _largest(_DAYS(), small)
    wanted = 0 if endless or len(prompt) > WANTED_PROMPT else _wanted(small)
    request = Request(max(*times, endless), things, days, wanted, prompt[-READ:].lower())
    return request if request.times or things or days or wanted else None


def _wanted(text: str) -> int:
    """Return how many things are asked for, where the text has no larger number and no word such as "every"."""
    found = _WANTED().search(text)
    if found is None or _OPEN().search(text):
        return 0
    largest = max(int(digits[:9]) for digits in _ANY_NUMBER().findall(text))
    return largest if 2 <= largest <= LARGEST else 0


def _largest(pattern: re.Pattern[str], text: str) -> int:
    numbers = [int(found[found.lastindex or 0][:9]) for found in pattern.finditer(text)]
    return max((number for number in numbers if 5 <= number <= LARGEST), default=0)


def _number(found: re.Match[str]) -> str:
    factor, name = found[1], found[2]
    return str((_FACTORS[factor.lower()] if factor else 1) * _NAMED[name.lower()])


def _small(found: re.Match[str]) -> str:
    return str(_SMALL.get(found[0].lower()) or _HAN_SMALL[found[0]])
