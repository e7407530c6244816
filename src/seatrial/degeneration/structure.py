"""How much exact repetition a structure excuses: zero arrays, tables, code, base64, hex, DNA, drawings.

Each rule looks at the repeated unit and at what stands before the loop, and answers with an `Allowance`: from how
many copies and characters on even this structure does not excuse the repetition. A loop inside a structure is thus
still caught, only later. Limits were set so that the ordinary examples of each kind (64 no-ops, a 32 x 32 zero
matrix, a 1 KiB zero buffer in base64, an 11-row empty box) stay clear; see docs/degeneration.md.
"""

from __future__ import annotations

from dataclasses import dataclass

from seatrial.degeneration.patterns import lazily

SURE_CHARS = 320
"""A loop in plain text is sure after this many characters; with checks each 64, before the 400th."""
SURE_COPIES = 3.5
"""A loop in plain prose is sure after this many copies; with the check interval, before the fourth ends."""
SURE_COPIES_STRUCTURED = 4.6
"""The same inside code or markup, where a block pasted four times is ordinary."""
DATA_CHARS = 4_096
"""Zero arrays, base64 of zero bytes and no-op sleds are excused up to this many characters."""

DATA_WORDS = frozenset(
    [
        "null",
        "none",
        "nil",
        "true",
        "false",
        "nan",
        "inf",
        "zero",
        "byte",
        "word",
        "long",
        "quad",
        "db",
        "dw",
        "dd",
        "dq",
        "dc",
        "b",
        "nop",
        "noop",
        "pass",
        "skip",
        "space",
        "fill",
        "na",
        "empty",
        "undefined",
        "void",
    ]
)
_WORD = lazily(r"[^\W_]+")
_LITERAL = lazily(r"(?:0x)?[0-9a-f]*\d[0-9a-f]*[a-z]?|[xu]?0+|[0-9a-f]{2}|x[0-9a-f]{2}|u[0-9a-f]{4}|[a-f]")
_TAG = lazily(r"</?[A-Za-z][^<>]*>")
_TOKEN_BEFORE = lazily(r"[A-Za-z0-9+/=_-]{6,}$")
_DIGITS_BEFORE = lazily(r"(?:\d|0[xb])[\d.]*$")
_DNA = lazily(r"[ACGTUNacgtun\s]+")
_CODE_SIGNS = frozenset("{}()[]<>;=\"'`|\\/_#@$&*+~^:")
_RULE_SIGNS = frozenset("-=_*#~.+/·─━═│|•─▬░▒▓█ \t\n")


@dataclass(frozen=True, slots=True)
class Allowance:
    """From where on a loop is a failure.

    Attributes:
        name: the structure that excuses, for the report; empty in plain text.
        copies: at least this many copies.
        chars: and at least this many characters.
        open_chars: enough where the text ends inside the loop: a structure that was never closed.
        warns: whether a shorter loop of this sort deserves a warning.
    """

    name: str = ""
    copies: float = SURE_COPIES
    chars: int = SURE_CHARS
    open_chars: int | None = None
    warns: bool = False


def aligned_shift(unit: str, previous: str) -> int:
    """Return how far into the unit of a loop its first whole line, else its first whole word begins.

    A loop is found from its first repeated character on, which may be the end of the line or word before it;
    `previous` is the character before that, empty at the start of the text.
    """
    if not previous.strip():
        return 0
    limit = len(unit) // 2
    at = unit.find("\n", 0, limit)
    if at < 0 and "\n" not in unit and not unit[:1].isspace():
        at = unit.find(" ", 0, min(limit, 8))
        return max(at, 0)
    while at >= 0 and at + 1 < len(unit) and unit[at + 1] == "\n":
        at += 1
    return at + 1 if unit[at : at + 1] == "\n" else 0


def aligned(unit: str) -> str:
    """Return the unit of a loop turned so that it begins with a whole line, else with a whole word."""
    for sign in "\n ":
        at = unit.rfind(sign)
        if at >= 0:
            return unit[at + 1 :] + unit[: at + 1]
    return unit


def code_share(text: str) -> float:
    """Return the share of signs that prose hardly uses and code, tables and formulas use much."""
    return sum(map(_CODE_SIGNS.__contains__, text)) / max(len(text), 1)


def allowance(unit: str, before: str, *, fenced: bool) -> Allowance:
    """Say how long `unit` may repeat after the text `before`; `fenced` tells of a fenced code block around it."""
    if not unit.strip():
        return Allowance(copies=1, chars=SURE_CHARS)
    if len(unit) == 1:
        return _for_character(unit, before)
    data = _data(unit, before, fenced=fenced)
    if data is not None:
        return data
    if _is_dna(unit, before):
        return Allowance("a sequence", chars=2_048, open_chars=1_000)
    has_letters = any(map(str.isalnum, _TAG().sub("", unit)))
    if "<" in unit and not has_letters:
        return Allowance("empty markup", copies=34)
    if not has_letters:
        return _for_drawing(unit, fenced=fenced)
    if "\n" in unit and sum(map(str.isalnum, unit)) < 0.4 * len(unit):
        return Allowance("lines of a drawing", copies=8)
    if sum(map(str.isalpha, unit)) <= 0.25 * len(unit):
        return Allowance("numbers and signs", copies=8, open_chars=1_000)
    in_code = fenced or ("\n" in unit and code_share(unit) >= 0.1)
    if in_code and "\n" in unit and len(unit.strip()) <= 6:
        return Allowance("a short line of code", copies=129 if fenced else 60, open_chars=1_000)
    if in_code and "\n" in unit and len(unit.strip()) <= 12:
        return Allowance("a short line of code", copies=24)
    if in_code:
        return Allowance("a block of code", copies=SURE_COPIES_STRUCTURED)
    return Allowance(warns=True)


def _for_character(unit: str, before: str) -> Allowance:
    token = _TOKEN_BEFORE().search(before)
    if token and unit.isascii() and (unit.isalnum() or unit in "+/="):
        text = token[0]
        mixed = (any(map(str.isupper, text[1:])) and any(map(str.islower, text))) or any(map(str.isdigit, text))
        if mixed:
            return Allowance("base64 or hex", copies=1, chars=DATA_CHARS, open_chars=1_000)
    if unit in "0123456789fF" and _DIGITS_BEFORE().search(before):
        return Allowance("a long number", copies=1, chars=2_048, open_chars=1_000)
    if unit in "ACGTUNacgtun" and _is_dna(unit, before):
        return Allowance("a sequence", copies=1, chars=2_048, open_chars=1_000)
    return Allowance(copies=1, warns=unit not in _RULE_SIGNS)


def _data(unit: str, before: str, *, fenced: bool) -> Allowance | None:
    words = _WORD().findall(unit.lower())
    if not all(word in DATA_WORDS or _LITERAL().fullmatch(word) for word in words):
        return None
    nearby = before[-400:]
    in_string = '"' not in unit and nearby.replace('\\"', "").count('"') % 2 == 1
    in_array = not in_string and any(nearby.count(left) > nearby.count(right) for left, right in ("[]", "{}", "()"))
    if not words:
        in_array = in_array and any(sign in unit for sign in "[]{}()\"'")
        return Allowance("an array of constants", chars=DATA_CHARS, open_chars=400) if in_array else None
    if in_array:
        return Allowance("an array of constants", chars=DATA_CHARS, open_chars=400)
    rows = "\n" in unit and (fenced or unit[:1] in " \t([{" or all(word[0].isdigit() for word in words))
    if rows or fenced or "\\x" in unit:
        return Allowance("rows of constants", chars=DATA_CHARS, open_chars=2_000)
    return None


def _is_dna(unit: str, before: str) -> bool:
    if not _DNA().fullmatch(unit):
        return False
    tail = before[-60:].rstrip()
    return bool(tail) and (
        _DNA().fullmatch(tail[-20:]) is not None or before.rstrip().rpartition("\n")[2].startswith(">")
    )


def _for_drawing(unit: str, *, fenced: bool) -> Allowance:
    if "\n" in unit:
        return Allowance("rows of a drawing", copies=40 if fenced else 11)
    return Allowance(copies=8, warns=not set(unit) <= _RULE_SIGNS)
