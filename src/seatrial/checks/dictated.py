"""Check of argument values against what the prompt dictates, where no expected values are known. Pure.

Only what can be said with certainty refutes: a value that breaks off inside a word, a quotation or at a character
that parsers stumble over; dictated lines that are missing; a name after an English preposition that comes back with
a letter or two wrong; text that was escaped or decoded once too often. Anything else is the model's to choose.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from seatrial.checks.arguments import parse_arguments
from seatrial.checks.asked import Asked
from seatrial.checks.finding import call_place, plural, proven, refuted, shown, strings_in
from seatrial.endpoint.answer import Answer
from seatrial.verdicts import CheckResult

_NUMBER_WORDS = re.findall(r"\w+", "one two three four five six seven eight nine ten eleven twelve")
NUMBERS = {word: number for number, word in enumerate(_NUMBER_WORDS, start=1)}
_NUMBER = rf"(?:\d+|{'|'.join(NUMBERS)})"

_LINES = re.compile(
    rf"\b(?:these|the following|exactly|with)\b[^:\n]{{0,30}}?(?:\b(?P<count>{_NUMBER})\s+)?(?:\w+\s+)?lines\b"
    r"[^:\n]{0,20}:\s*(?P<rest>.+)\Z",
    re.IGNORECASE | re.DOTALL,
)
_ONE_LINE = re.compile(
    r"\b(?:the|this|one|a single) (?:\w+ )?(?:line|text|content|sentence|command|body|message)\s*:\s*(?P<rest>[^\n]+)",
    re.IGNORECASE,
)
_AFTER_COLON = re.compile(r"\A[^:\n]{3,80}:\s+(?P<rest>[^\n]+)\Z")
_QUOTED = re.compile(r"`([^`\n]{4,400})`|\"([^\"\n]{4,400})\"|“([^”\n]{4,400})”|«([^»\n]{4,400})»")
_NAME = re.compile(
    r"\b(?:in|for|at|from|to|near|of)\s+(?P<name>[A-ZÄÖÜÅÆØÉ][\w'’-]{3,30})(?P<more>(?:\s+[A-ZÄÖÜÅÆØÉ][\w'’-]+)*)"
)
_NUMBER_LIST = re.compile(
    r"(?<![\d.-])(\d{1,9}(?:\s*,\s*\d{1,9})*\s*,?\s+and\s+\d{1,9}|\d{1,9}(?:\s*,\s*\d{1,9}){2,})(?![\d-]|\.\d)"
)
_FILE = re.compile(r"(?<![\w/.-])[\w-][\w./-]*\.[A-Za-z]\w{0,5}(?!\w)")

_NAME_KEYS = re.compile(
    r"city|town|place|location|country|region|room|person|customer|user_?name|first_?name|last_?name", re.IGNORECASE
)
_PATH_KEYS = re.compile(r"path|file", re.IGNORECASE)
_FREE_KEYS = re.compile(
    r"content|text|body|code|command|script|pattern|query|regex|message|comment|diff|patch|cmd", re.IGNORECASE
)
_STUMBLES = frozenset("<>&\"'\\{}\n")


@dataclass(frozen=True, slots=True)
class _Value:
    position: int
    key: str
    text: str


def arguments_as_dictated(asked: Asked, answer: Answer) -> CheckResult | None:
    """What the prompt dictates word for word is in the arguments word for word, as far as that can be told."""
    if not answer.tool_calls or asked.after_tool_result or not asked.prompt.strip():
        return None
    check = "arguments_as_dictated"
    parsed = [(position, parse_arguments(call.arguments).value) for position, call in enumerate(answer.tool_calls)]
    values = [
        _Value(position, key, text)
        for position, arguments in parsed
        if arguments is not None
        for key, text in strings_in(arguments)
        if not _is_enumerated(asked, answer, position, key)
    ]
    rules: Sequence[Callable[[Asked, Sequence[_Value]], tuple[int, str] | None]] = (
        _lines_missing,
        _text_cut,
        _converted,
        _padded,
        _name_misspelled,
        _file_cut,
    )
    for rule in rules:
        if (miss := rule(asked, values)) is not None:
            position, detail = miss
            return refuted(check, f"call {position + 1}: {detail}", call_place(asked, answer, position))
    arguments = [(position, value) for position, value in parsed if value is not None]
    for number_rule in (_numbers_missing, _number_wrong):
        if (miss := number_rule(asked, answer, arguments)) is not None:
            position, detail = miss
            return refuted(check, f"call {position + 1}: {detail}", call_place(asked, answer, position))
    if not arguments:
        return None
    return proven(check, f"nothing in {plural(len(arguments), 'call')} contradicts what the prompt dictates")


def dictated_lines(prompt: str) -> list[str]:
    """Return the lines that a prompt dictates (`with exactly these three lines: a / b / c`), or none."""
    match = _LINES.search(prompt)
    if match is None:
        return []
    rest = match["rest"].strip("\n")
    if "\n" in rest:
        fenced = re.match(r"\s*```[^\n]*\n(.*?)\n```", rest, re.DOTALL)
        block = fenced[1] if fenced else re.split(r"\n\s*\n", rest, maxsplit=1)[0]
        lines = block.split("\n")
    else:
        lines = re.split(r"\s+/\s+", rest.strip())
    count = _number(match["count"])
    certain = len(lines) == count if count is not None else len(lines) > 1
    return lines if certain else []


def _lines_missing(asked: Asked, values: Sequence[_Value]) -> tuple[int, str] | None:
    lines = dictated_lines(asked.prompt)
    if not lines:
        return None
    wanted = [line.rstrip() for line in lines]
    near: tuple[int, str] | None = None
    for value in values:
        got = [line.rstrip() for line in value.text.split("\n")]
        found = [line for line in wanted if line in got or line.rstrip(".") in got]
        if len(found) == len(wanted):
            return None
        missing = next(line for line in wanted if line not in found)
        touches = found or (len(value.text) >= 3 and wanted[0].startswith(value.text.strip() or "\0"))
        if touches or all(line in value.text for line in wanted) or (not value.text and _FREE_KEYS.search(value.key)):
            number = wanted.index(missing) + 1
            near = near or (
                value.position,
                (
                    f"{shown(value.key)} lacks line {number} of the {len(wanted)} that the prompt dictates: "
                    f"{shown(missing)}"
                ),
            )
    return near


def _text_cut(asked: Asked, values: Sequence[_Value]) -> tuple[int, str] | None:
    for text, explicit in _dictated_texts(asked.prompt):
        if any(text in value.text or text.rstrip(".") in value.text for value in values):
            continue
        for value in values:
            kept = value.text.strip()
            if len(kept) < 3 or not text.startswith(kept) or kept == text.rstrip(".!?;, "):
                continue
            if _is_broken_off(text, value.text, explicit=explicit):
                return value.position, f"{shown(value.key)} is {shown(value.text)}: it breaks off in {shown(text, 100)}"
    return None


def _dictated_texts(prompt: str) -> list[tuple[str, bool]]:
    texts = [(next(filter(None, match.groups())), False) for match in _QUOTED.finditer(prompt)]
    texts += [(match["rest"].strip(), True) for match in _ONE_LINE.finditer(prompt)]
    if (colon := _AFTER_COLON.match(prompt.strip())) is not None:
        texts.append((colon["rest"].strip(), False))
    return [(text, explicit) for text, explicit in texts if len(text) >= 4][:20]


def _is_broken_off(text: str, value: str, *, explicit: bool) -> bool:
    kept = value.strip()
    rest = text[len(kept) :]
    following = rest.lstrip()
    if kept[-1:].isalnum() and rest[:1].isalnum():
        return True
    if rest[:1] in _STUMBLES or (following[:1] in _STUMBLES and (following[:1] in "<>&" or value != kept or explicit)):
        return True
    if any(kept.count(mark) % 2 and text.count(mark) % 2 == 0 for mark in ("'", '"')):
        return True
    ends_sentence = kept[-1:] in ".!?"
    goes_on = re.match(r"[,;.!?)\"']|(?:and|then|or|but|please|in|to|into|as)\b", following)
    return explicit and not ends_sentence and goes_on is None and len(following.split()) >= 2


def _converted(asked: Asked, values: Sequence[_Value]) -> tuple[int, str] | None:
    prompt = asked.material
    conversions: tuple[tuple[str, Callable[[str], str | None]], ...] = (
        ("HTML entities in place of characters", _unescape_html),
        ("UTF-8 read as Latin-1", _repair_mojibake),
        ("escapes in place of characters (escaped twice)", _unescape),
    )
    for value in values:
        if value.text in prompt:
            continue
        for what, convert in conversions:
            right = convert(value.text)
            if right is not None and right != value.text and _stands_in(right, value.text, prompt):
                return value.position, f"{shown(value.key)} has {what}: {shown(value.text)}"
    return None


def _stands_in(right: str, wrong: str, prompt: str) -> bool:
    if right in prompt:
        return True
    # Longer values: the part around the first changed character must be the user's own words.
    at = next((i for i, (a, b) in enumerate(zip(right, wrong, strict=False)) if a != b), len(right))
    part = right[max(0, at - 4) : at + 5]
    return (
        len(part.strip()) >= 6 and "\n" not in part and part in prompt and wrong[max(0, at - 4) : at + 5] not in prompt
    )


def _unescape_html(text: str) -> str | None:
    return html.unescape(text) if re.search(r"&(?:lt|gt|amp|quot|apos|#x?[0-9a-fA-F]+);", text) else None


def _repair_mojibake(text: str) -> str | None:
    for encoding in ("cp1252", "latin-1"):
        try:
            return text.encode(encoding).decode("utf-8")
        except UnicodeError:
            continue
    return None


def _unescape(text: str) -> str | None:
    if not re.search(r"\\(?:u[0-9a-fA-F]{4}|n|t|\")", text):
        return None
    simple = {"n": "\n", "t": "\t", '"': '"'}
    return re.sub(
        r"\\(?:u([0-9a-fA-F]{4})|([nt\"]))",
        lambda match: chr(int(match[1], 16)) if match[1] else simple[match[2]],
        text,
    )


def _padded(asked: Asked, values: Sequence[_Value]) -> tuple[int, str] | None:
    for value in values:
        core = value.text.strip()
        if not core or "\n" in core or len(core) > 80 or value.text in asked.material:
            continue
        if value.text.startswith("\n") and core in asked.material:
            return value.position, f"{shown(value.key)} starts with a line feed: {shown(value.text)}"
        if _FREE_KEYS.search(value.key):
            continue
        if core != value.text and core in asked.material and "\n" in value.text:
            return value.position, f"{shown(value.key)} has line feeds around it: {shown(value.text)}"
        inner = core.strip("\"'{}[],` ")
        if len(inner) >= 3 and inner != core and core not in asked.material and _is_word_of(inner, asked.material):
            return (
                value.position,
                f"{shown(value.key)} has characters around it that the prompt has not: {shown(value.text)}",
            )
    return None


def _name_misspelled(asked: Asked, values: Sequence[_Value]) -> tuple[int, str] | None:
    words = set(re.findall(r"[\w'’-]+", asked.prompt))
    for match in _NAME.finditer(asked.prompt):
        name = re.sub(r"['’]s?$", "", match["name"])
        full = name + match["more"]
        if any(name in value.text for value in values):
            continue
        for value in values:
            text = value.text.strip()
            if not text or " " in text or text in words or not _NAME_KEYS.search(value.key):
                continue
            if _folded(text) == _folded(name):
                if text != name and _without_marks(text) == text and _without_marks(name) == name:
                    return (
                        value.position,
                        f"{shown(value.key)} should be {shown(full)} as in the prompt, got {shown(text)}",
                    )
                continue
            if _distance(text, name, 2) <= 2:
                return value.position, f"{shown(value.key)} should be {shown(full)} as in the prompt, got {shown(text)}"
    return None


def _file_cut(asked: Asked, values: Sequence[_Value]) -> tuple[int, str] | None:
    files = [match.group() for match in _FILE.finditer(asked.prompt)]
    for value in values:
        text = value.text
        if not text or not _PATH_KEYS.search(value.key) or text in files or text.endswith("/"):
            continue
        for file in files:
            if any(file in other.text for other in values):
                continue
            cut = file.startswith(text) and file[len(text)] != "/" and len(text) >= len(file) - 5
            if cut or (len(file) > 5 and file.endswith(text) and file[-len(text) - 1].isalnum()):
                return value.position, f"{shown(value.key)} should be {shown(file)} as in the prompt, got {shown(text)}"
    return None


def _numbers_missing(
    asked: Asked, answer: Answer, arguments: Sequence[tuple[int, dict[str, Any]]]
) -> tuple[int, str] | None:
    lists = [re.findall(r"\d+", match.group()) for match in _NUMBER_LIST.finditer(asked.prompt)]
    if len(lists) != 1 or len(set(lists[0])) < 2:
        return None
    wanted = [int(number) for number in lists[0]]
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
    if where is None or set(wanted) <= set(got) or not set(got) <= set(wanted):
        return None
    missing = ", ".join(str(number) for number in wanted if number not in got)
    return where[0], f"{shown(where[1])} is {got}, but the prompt lists {wanted}: {missing} missing"


def _number_wrong(
    asked: Asked, answer: Answer, arguments: Sequence[tuple[int, dict[str, Any]]]
) -> tuple[int, str] | None:
    if len(answer.tool_calls) != 1:
        return None
    for position, values in arguments:
        for key, value in values.items():
            if type(value) is not int or not re.fullmatch(r"[a-z]{3,}s", key):
                continue
            said = re.findall(rf"(?<![\w.,-])({_NUMBER})\s+{key[:-1]}s?\b", asked.prompt, re.IGNORECASE)
            numbers = re.findall(rf"(?<![\w.])(?:{_NUMBER})(?![\w.])", asked.prompt, re.IGNORECASE)
            if len(said) == 1 and len(numbers) == 1 and _number(said[0]) != value:
                return position, f"{shown(key)} should be {_number(said[0])} as in the prompt, got {value}"
    return None


def _is_enumerated(asked: Asked, answer: Answer, position: int, key: str) -> bool:
    tool = asked.tool(answer.tool_calls[position].name)
    schema = tool.property(key) if tool else {}
    return "enum" in schema or "const" in schema


def _is_word_of(text: str, prompt: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(text)}(?!\w)", prompt) is not None


def _number(text: str | None) -> int | None:
    if text is None:
        return None
    return int(text) if text.isdecimal() else NUMBERS.get(text.lower())


def _folded(text: str) -> str:
    return _without_marks(text).casefold()


def _without_marks(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


def _distance(left: str, right: str, limit: int) -> int:
    """Return how many letters must be added, dropped or changed; more than `limit` counts as `limit + 1`."""
    if abs(len(left) - len(right)) > limit or max(len(left), len(right)) > 60:
        return limit + 1
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, start=1):
        previous, row = row, [i]
        for j, b in enumerate(right, start=1):
            row.append(min(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (a != b)))
    return row[-1]
