"""Rules on numbers and dates that the prompt gives. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from seatrial.checks.asked import Asked
from seatrial.checks.dictated.values import NUMBER, Miss, Value, read_number
from seatrial.checks.finding import shown
from seatrial.endpoint.answer import Answer

_NUMBER_LIST = re.compile(
    r"(?<![\d.-])(\d{1,9}(?:\s*,\s*\d{1,9})*\s*,?\s+and\s+\d{1,9}|\d{1,9}(?:\s*,\s*\d{1,9}){2,})(?![\d-]|\.\d)"
)
_DATE = re.compile(r"(?<![\w-])\d{4}-\d{2}-\d{2}(?![\w-])")
_CHOOSES = re.compile(r"\b(?:not|except|but|only|even|odd|first|last|largest|smallest|of|any|one of)\b", re.IGNORECASE)


def date_wrong(asked: Asked, values: Sequence[Value]) -> Miss:
    """The one date of the prompt is cut or another one; a prompt that reckons (`the day after`) is left alone."""
    dates = _DATE.findall(asked.prompt)
    if len(dates) != 1 or re.search(r"\b(?:after|before|next|following|until|from|weeks?|days?)\b", asked.prompt):
        return None
    dated = [value for value in values if "date" in value.key.lower()]
    for value in dated:
        if len(dated) == 1 and value.text != dates[0] and re.fullmatch(r"\d{4}(?:-\d{0,2}){0,2}", value.text):
            return value.position, f"{shown(value.key)} should be {dates[0]} as in the prompt, got {shown(value.text)}"
    return None


def numbers_missing(asked: Asked, answer: Answer, arguments: Sequence[tuple[int, dict[str, Any]]]) -> Miss:
    """A list of whole numbers lacks some that the prompt lists; a prompt that makes a choice is left alone."""
    lists = list(_NUMBER_LIST.finditer(asked.prompt))
    if len(lists) != 1 or re.search(r"\w", asked.prompt[lists[0].end() :]) or _CHOOSES.search(asked.prompt):
        return None
    wanted = [int(number) for number in re.findall(r"\d+", lists[0].group())]
    got: list[int] = []
    where = None
    for position, values in arguments:
        tool = asked.tool(answer.tool_calls[position].name)
        if tool is None:
            return None
        for key, value in values.items():
            items = tool.property(key).get("items")
            is_list = isinstance(items, dict) and str(items.get("type")) in {"integer", "number"}
            if is_list and isinstance(value, list) and all(type(item) is int for item in value):
                where = where or (position, key)
                got += value
    if where is None or set(wanted) <= set(got):
        return None
    if "".join(map(str, got)) == "".join(map(str, wanted)):
        return where[0], f"{shown(where[1])} is {got}, but the prompt lists {wanted}: numbers were joined"
    if not set(got) <= set(wanted):
        return None
    missing = ", ".join(str(number) for number in wanted if number not in got)
    return where[0], f"{shown(where[1])} is {got}, but the prompt lists {wanted}: {missing} missing"


def number_wrong(asked: Asked, answer: Answer, arguments: Sequence[tuple[int, dict[str, Any]]]) -> Miss:
    """The one number of the prompt stands before the name of the argument (`three days`), and is another one."""
    if len(answer.tool_calls) != 1:
        return None
    for position, values in arguments:
        for key, value in values.items():
            if type(value) is not int or not re.fullmatch(r"[a-z]{3,}s", key):
                continue
            said = re.findall(rf"(?<![\w.,-])({NUMBER})\s+{key[:-1]}s?\b", asked.prompt, re.IGNORECASE)
            numbers = re.findall(rf"(?<![\w.])(?:{NUMBER})(?![\w.])", asked.prompt, re.IGNORECASE)
            if len(said) == 1 and len(numbers) == 1 and read_number(said[0]) != value:
                return position, f"{shown(key)} should be {read_number(said[0])} as in the prompt, got {value}"
    return None
