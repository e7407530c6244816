"""Reads a flag's words by its type, as the functions of SGLang's parser do. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from decimal import Decimal

from seatrial.engines.sglang.catalogue import Flag

Value = str | int | float | bool | tuple[str | int | float, ...]
"""What a flag is set to; True for one without a value."""

SIZE = re.compile(r"(\d+(?:\.\d+)?)(Ki|Mi|Gi|Ti|k|M|G|T)\Z")
SIZE_UNITS = {
    "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40,
}  # fmt: skip
"""`human_readable_int` of 0.5.16: `256k` is 256,000, and `256Ki` 262,144; only decimal units take a fraction."""


def typed(flag: Flag, words: Sequence[str]) -> tuple[Value, bool]:
    """Turn a flag's words into its value; and say whether they are of its type.

    Returns:
        The value, and True; or the text as it was written, and False.
    """
    if flag.many:
        made = [one_of(flag.type, word) for word in words]
        return tuple(value for value, _ in made), all(fits for _, fits in made) and (bool(words) or flag.optional)
    if not words:
        return (True, True) if flag.optional else ("", False)
    return one_of(flag.type, words[0])


def one_of(kind: str, word: str) -> tuple[str | int | float, bool]:
    """Read one word; JSON stays text, and is only held against its grammar."""
    try:
        if kind == "int":
            return int(word), True
        if kind == "float":
            return float(word), True
        if kind == "size":
            return size(word), True
        if kind == "json":
            json.loads(word)
    except (ValueError, RecursionError):
        return word, False
    return word, True


def size(text: str) -> int:
    """Read a number such as `262144`, `256k` or `256Ki`.

    Raises:
        ValueError: it is none.
    """
    text = text.strip()
    found = SIZE.match(text)
    if found is None:
        return int(text)
    number, unit = found.groups()
    if "." in number and unit.endswith("i"):
        raise ValueError(text)
    return int(Decimal(number) * SIZE_UNITS[unit])
