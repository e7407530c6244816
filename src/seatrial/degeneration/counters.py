"""How many copies of one wording are too many: what changes from copy to copy, and in what shape they stand.

A copy of a template that differs in a counter alone says nothing new. People still write such enumerations (days,
chapters, rows of a table), so each shape has its own limit: the longest honest one that is known, and 4 copies or 400
characters more. `docs/degeneration.md` lists them with the texts that they come from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

from seatrial.degeneration.patterns import lazily
from seatrial.degeneration.skeleton import names_beside_numbers
from seatrial.degeneration.structure import code_share

DENSE, _FIRST_DENSE = 2, "\u2e80"
"""A Chinese, Japanese or Korean character counts as two letters: it is a syllable or a word."""
SENTENCE_LETTERS = 12
"""Copies with fewer letters (`7. B`) are items of a list, though a full stop stands in them."""
REGULAR = 0.85
"""Share of the steps of a column that must be the same; time stamps wrap around, and a model skips a number."""
_OF_TOTAL = lazily(r"(?i)\d\s?(?:/|of|out of|von|sur|de|di|из|/)\s?\d")
FEW_STEPS, LONG_COLUMN, FEW_CHANGES = 3, 12, 0.15
MOST_PLACES, LEAST_ENTRIES = 6, 8
"""Numbers of one entry of a count, and entries that show that it counts."""
_NUMBER = lazily(r"\d+")
_ROW = lazily(r"(?m)^\s*(?:[|\[{(<\"'`]|[-+*]\s|\d{4}-\d\d|\d+[.)]?\s*[|,;\t]|[A-Z]+ INTO )|\"\s*[:,]|\t.*\t|;\s*$")
_SENTENCE_LINE = lazily(r"[.!?…。！？،।]['\")*]*\s*\n")
_SENTENCE_END = lazily(r"(?<!\.)[.!?،।]['\"’”»)*]*(?:\s|$)|[。！？]")
_STATEMENT = lazily(
    r"(?m)[;)]\s*$|^\s*(?:def|assert|return|case|if|elif|else|for|while|class|function|func|fn|test|it|expect|import|from|var|"
    r"let|const|INSERT|UPDATE)\b"
)
_ITEM_LINE = lazily(r"(?m)^\s*(?:[-*•#>]+\s*)?\d+\s*[.):、]\s*(?=\S)")


class Change(Enum):
    """What differs from copy to copy."""

    NOTHING = "the same words, while only case, punctuation or spacing differ"
    COUNTER = "the same words with a number or date that only counts on"
    COUNTDOWN = "the same words with a number that counts down"
    COMPUTED = "the same words around numbers that grow by equal steps"
    SLOW = "the same words with a number that changes now and then"
    DATA = "the same words around other numbers"


class Shape(Enum):
    """How the copies stand."""

    RUNNING = "sentences that follow each other in a paragraph"
    LINES = "sentences on lines of their own"
    ITEMS = "a numbered list whose items are all the same"
    ROWS = "rows of a table, code, JSON, a log or a list"


@dataclass(frozen=True, slots=True)
class Limit:
    """Copies and characters from which on a drifting loop is suspicious and a failure; None: never."""

    warn: float
    fail: float | None
    chars: int


_COMPUTED_TEXT = Limit(warn=80, fail=116, chars=2_500)
_COUNTDOWN_TEXT = Limit(warn=101, fail=128, chars=1_200)
LIMITS: dict[tuple[Shape, Change], Limit] = {
    (Shape.RUNNING, Change.NOTHING): Limit(warn=5, fail=5, chars=270),
    (Shape.RUNNING, Change.COUNTER): Limit(warn=5, fail=24, chars=270),
    (Shape.RUNNING, Change.COUNTDOWN): _COUNTDOWN_TEXT,
    (Shape.RUNNING, Change.COMPUTED): _COMPUTED_TEXT,
    (Shape.RUNNING, Change.DATA): _COMPUTED_TEXT,
    (Shape.LINES, Change.NOTHING): Limit(warn=5, fail=5, chars=270),
    (Shape.LINES, Change.COUNTER): Limit(warn=32, fail=46, chars=400),
    (Shape.LINES, Change.COUNTDOWN): _COUNTDOWN_TEXT,
    (Shape.LINES, Change.COMPUTED): _COMPUTED_TEXT,
    (Shape.LINES, Change.DATA): _COMPUTED_TEXT,
    (Shape.ROWS, Change.NOTHING): Limit(warn=24, fail=24, chars=600),
    (Shape.ROWS, Change.COUNTER): Limit(warn=122, fail=126, chars=1_500),
    (Shape.ROWS, Change.COUNTDOWN): Limit(warn=122, fail=200, chars=1_500),
    (Shape.ROWS, Change.COMPUTED): Limit(warn=152, fail=156, chars=2_500),
    (Shape.ROWS, Change.DATA): Limit(warn=200, fail=None, chars=4_000),
}
"""Honest: 20 steps of a program traced in a paragraph, 40 questions of a dialogue or 31 days on lines, 99 bottles,
112 lines of test cases, 121 lines of a hosts file, 150 steps of a machine tool. Each fails at most 4 copies or 400
characters later. Of numbers that carry data no count is too many in a table."""
SHORT_ITEMS = Limit(warn=24, fail=41, chars=270)
CLAUSE_LETTERS, CLAUSE_ITEMS = 25, Limit(warn=6, fail=8, chars=270)
SENTENCE_ITEM_LETTERS, SENTENCE_ITEMS = 60, Limit(warn=4, fail=5, chars=270)
"""Numbered items that are all the same: a word (`7. Yes`), a clause, a sentence. Nobody lists a sentence five times."""
FEW_LETTERS, BARE_ROWS = 8, Limit(warn=320, fail=400, chars=1_500)
"""Rows with fewer letters (`ok 17`) are hardly more than a count, and 300 numbers of a count are ordinary."""
ENTRY_LETTERS, ENTRIES = 120, Limit(warn=3.5, fail=11, chars=400)
PARAGRAPH_LETTERS, PARAGRAPHS = 240, Limit(warn=3.5, fail=3.5, chars=600)
"""Letters of a frame that is an entry of a diary, or a paragraph: a repeated paragraph is a loop, number or not."""
LONG_ROWS = Limit(warn=24, fail=36, chars=6_000)
WORDY_ROWS = Limit(warn=200, fail=300, chars=4_000)
"""Rows that are mostly wording, such as the same log message with ever new time stamps."""
ONE_WORD_COPIES = 30


@dataclass(frozen=True, slots=True)
class Frame:
    """What the copies of a drifting loop have in common.

    Attributes:
        letters: letters of a copy.
        words: words of a copy.
        chars: mean length of a copy in characters.
        shape: how the copies stand.
        change: what differs.
        values: numbers that a counter takes in one copy, on average.
        statements: whether the copies are statements of a program: three tables may well need thirty of them.
    """

    letters: int
    words: int
    chars: float
    shape: Shape
    change: Change
    values: float = 1.0
    statements: bool = False

    @property
    def entries(self) -> float:
        """Entries of a list, rows or items that one copy is: more than one where a counter takes several values."""
        return int(self.values) or self.values

    def count(self, copies: float) -> float:
        """Return what the limit counts: of short sentences the values of the counter, of all others the copies."""
        return copies * self.values if self.letters < ENTRY_LETTERS else copies

    def limit(self) -> Limit:
        """Return how many copies are too many."""
        change, shape = self.change, self.shape
        if change is Change.NOTHING and self.words == 1:
            needed = ONE_WORD_COPIES * (4 if self.letters == 1 else 1)
            return Limit(warn=needed, fail=needed, chars=LIMITS[Shape.RUNNING, change].chars)
        if shape is Shape.ITEMS and self.letters < PARAGRAPH_LETTERS:
            return self._of_items()
        if shape is Shape.ROWS:
            return self._of_rows()
        if change in {Change.COUNTER, Change.COUNTDOWN} and self.letters >= PARAGRAPH_LETTERS:
            return PARAGRAPHS
        if change is Change.COUNTER and self.letters >= ENTRY_LETTERS:
            return ENTRIES
        return LIMITS[shape, change]

    def _of_items(self) -> Limit:
        if self.letters < CLAUSE_LETTERS:
            return SHORT_ITEMS
        return CLAUSE_ITEMS if self.letters < SENTENCE_ITEM_LETTERS else SENTENCE_ITEMS

    def _of_rows(self) -> Limit:
        if self.change is Change.DATA and self.letters >= max(20, 0.4 * self.chars):
            return WORDY_ROWS
        if self.change is Change.COUNTER and self.letters < FEW_LETTERS:
            return BARE_ROWS
        if self.change is Change.COUNTER and self.letters >= PARAGRAPH_LETTERS:
            return LONG_ROWS
        return LIMITS[self.shape, self.change]


def frame_of(unit: str, sample: str, copies: float) -> Frame:
    """Describe a drifting loop.

    Args:
        unit: the wording of one copy (skeleton).
        sample: raw text that ends with the newest copy.
        copies: how many copies the sample has, about.
    """
    chars = len(sample) / copies
    change, values = change_between(sample, copies)
    if change in {Change.NOTHING, Change.SLOW}:
        months = len(names_beside_numbers(sample)) > 1
        change = Change.COUNTER if months else Change.DATA if change is Change.SLOW else change
    newest = sample[-round(3 * chars) :]
    shape = shape_of(newest.partition("\n")[2] or newest.partition(" ")[2] or newest)  # whole lines, else words
    words = unit.split()
    letters = len(unit) - unit.count(" ") + (DENSE - 1) * sum(char > _FIRST_DENSE for char in unit)
    few = letters < SENTENCE_LETTERS or (
        len(words) < 4 and _SENTENCE_END().search(sample[-round(chars) :]) is None  # a list: `Fig. 1, Fig. 2`
    )
    if shape is Shape.RUNNING and few and change not in {Change.NOTHING, Change.DATA}:
        shape = Shape.ROWS
    if change is Change.COUNTER and _OF_TOTAL().search(sample[-round(2 * chars) :]):
        shape = Shape.ROWS  # progress, which ends at its total
    if shape is not Shape.RUNNING and change is Change.COUNTER and _is_items(sample, chars):
        shape = Shape.ITEMS
    statements = _STATEMENT().search(newest) is not None
    return Frame(round(letters / min(values, 1)), len(words), chars, shape, change, values, statements)


def shape_of(copies: str) -> Shape:
    """Tell how some copies of a frame stand."""
    if _ROW().search(copies) or code_share(copies) >= 0.15 or "\r" in copies:
        return Shape.ROWS
    if "\n" not in copies:
        return Shape.RUNNING
    return Shape.LINES if _SENTENCE_LINE().search(copies) else Shape.ROWS


def _is_items(sample: str, chars: float) -> bool:
    """Tell whether the copies are list items of a line each that differ in their marker alone."""
    lines = [line for line in sample[-round(5 * chars) :].split("\n")[1:-1] if line.strip()]
    if len(lines) < 3:
        return False
    if not all(map(_ITEM_LINE().match, lines)):
        return False
    items = {_ITEM_LINE().sub("", line, count=1).strip() for line in lines}
    return len(items) == 1 and any(map(str.isalpha, items.pop()))


def change_between(sample: str, copies: float) -> tuple[Change, float]:
    """Compare the numbers of about `copies` copies of one frame, place by place.

    Returns:
        What changes, and how many different values a counter takes in one copy (1 where nothing counts).
    """
    numbers = [int(digits[:15]) for digits in _NUMBER().findall(sample)]
    estimate = len(numbers) / max(copies, 1)
    if not numbers or (estimate < 0.5 and len(numbers) <= 2):
        return Change.NOTHING, 1.0
    for places in dict.fromkeys((round(estimate), int(estimate), int(estimate) + 1)):
        if places and abs(len(numbers) - places * copies) <= places + 1 + 0.06 * len(numbers):
            found = _columns(numbers, places)
            if found is not None:
                return _of_several(numbers, places) if found[0] is Change.SLOW else found
    return Change.DATA, 1.0


def _of_several(numbers: Sequence[int], places: int) -> tuple[Change, float]:
    """Look whether a number that changes now and then counts on from entry to entry.

    In `[Part 7](#part-7)` the wording is two copies of one word, and one entry is two copies.
    """
    for multiple in (2, 3):
        found = _columns(numbers, multiple * places)
        if found is not None and found[0] in {Change.COUNTER, Change.COUNTDOWN}:
            return found[0], found[1] / multiple
    return Change.SLOW, 1.0


def counting_places(numbers: Sequence[int]) -> int:
    """Return how many numbers one entry of a count has (a date has three), or 0 where nothing counts on."""
    for places in range(1, MOST_PLACES + 1):
        if len(numbers) < LEAST_ENTRIES * places:
            return 0
        found = _columns(numbers, places)
        if found is not None:
            return places if found[0] not in {Change.NOTHING, Change.SLOW, Change.DATA} else 0
    return 0


def _columns(numbers: Sequence[int], places: int) -> tuple[Change, float] | None:
    steps: set[int] = set()
    moving: set[int] = set()
    uneven = False
    for place in range(places):
        column = numbers[place::places]
        if len({b - a for a, b in pairwise(column[:8])}) > FEW_STEPS:
            return None  # nearly all other numbers, and quick
        differences = [b - a for a, b in pairwise(column)]
        if not differences:
            continue
        step = _regular_step(differences)
        if step is None:
            return None
        if step:
            steps.add(step)
            moving.update(column)
        uneven = uneven or (step == 0 and any(differences))
    if not steps:
        return (Change.SLOW if uneven else Change.NOTHING), 1.0
    if len(steps) > 1:
        return Change.COMPUTED, 1.0
    values = max(len(moving) * places / len(numbers), 1.0)  # less than 1 where minutes start again
    return (Change.COUNTER if steps.pop() > 0 else Change.COUNTDOWN), values


def _regular_step(differences: Sequence[int]) -> int | None:
    """Return the step of a column that counts or stands still, or None.

    It may skip now and then, start again from below (minutes), move each other copy (hours), or change its step a few
    times without ever falling.
    """
    count = len(differences)
    (step, often), *others = Counter(differences).most_common(FEW_STEPS)
    if often >= REGULAR * count - 1:
        return step
    if often + others[0][1] >= 0.95 * count and step * others[0][0] <= 0:
        return step * others[0][0] and step
    changes = sum(a != b for a, b in pairwise(differences))
    if count >= LONG_COLUMN and min(differences) >= 0 and changes <= FEW_CHANGES * count:
        return step
    return None
