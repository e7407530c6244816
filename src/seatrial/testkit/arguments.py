"""Finds the arguments of a tool call in a prompt, by simple rules. Pure.

A value comes, in this order, from: the parameter's enum, `name=value` or `name: value`, and what the parameter's
type and name let one expect (a path, a date, a city after "in", a number beside its name, the next quoted string).
"""

# ruff: noqa: SIM905 - lists of words read better as text
from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_QUOTED = re.compile(r"```(?:\w*\n)?(.*?)```|\"([^\"]*)\"|“([^”]*)”|`([^`]*)`|(?<!\w)'([^']*)'(?!\w)", re.DOTALL)
_PATH = re.compile(r"(?<![\w/.])(?:[\w.-]+/)*[\w-][\w.-]*\.[A-Za-z]\w{0,7}\b|(?<!\w)/[\w./-]+")
_DATE = re.compile(r"\b\d{4}-\d\d-\d\d(?:T[\d:]+Z?)?\b")
_TIME = re.compile(r"\b\d{1,2}:\d\d\b")
_URL = re.compile(r"\bhttps?://\S+?(?=[\s,;)]|[.]?(?:\s|$))")
_EMAIL = re.compile(r"\b[\w.+-]+@[\w-]+\.[\w.-]*\w")
_CAPITALISED = r"[A-ZÀ-ÖØ-ÞĀ-Ž][\w'\u2019-]+(?:\s+[A-ZÀ-ÖØ-ÞĀ-Ž][\w'\u2019-]+)*"
_PLACE = re.compile(rf"(?:\b(?:in|of|for|from|to|at|near|and)|,)\s+({_CAPITALISED})")
_NAME = re.compile(rf"(?<![.?!]\s)(?<!^)\b({_CAPITALISED})")
_NUMBER = re.compile(r"(?<![\w.-])-?\d+(?:\.\d+)?(?![\w-])(?!\.\d)")
_NUMBER_WORDS = {
    word: number
    for number, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())
    if number > 1
}
_NO_PLACE = {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday", "Celsius", "Fahrenheit"}

PLACES = ("city", "location", "place", "town", "destination", "origin", "country", "region")
PATHS = ("path", "file", "filename", "filepath", "directory", "folder")
FREE_TEXTS = ("text", "body", "message", "content", "comment", "query", "question", "code", "command", "title", "note")


@dataclass(slots=True)
class Prompt:
    """A prompt from which values are taken; what was taken is not taken again."""

    text: str
    taken: set[tuple[int, int]] = field(default_factory=set)

    def take(self, pattern: re.Pattern[str]) -> str | None:
        """Take the first match that is still free."""
        for match in pattern.finditer(self.text):
            group = next((at for at in range(1, pattern.groups + 1) if match.group(at) is not None), 0)
            span = match.span(group)
            if not any(start < span[1] and span[0] < end for start, end in self.taken):
                self.taken.add(span)
                return match.group(group)
        return None

    def take_quoted(self) -> str | None:
        """Take the next quoted string."""
        return self.take(_QUOTED)

    def unquoted(self) -> str:
        """Return the text with its quoted strings blanked out, of the same length."""
        return _QUOTED.sub(lambda match: " " * len(match.group()), self.text)


@dataclass(frozen=True, slots=True)
class Filled:
    """Arguments for one call; `complete` tells whether each required one was found, not made up."""

    values: dict[str, Any]
    complete: bool


def fill(schema: Mapping[str, Any], prompt: Prompt) -> Filled:
    """Find values for an object schema; required ones that are not in the prompt are made up."""
    values: dict[str, Any] = {}
    complete = True
    required = schema.get("required") or ()
    properties: Mapping[str, Any] = schema.get("properties") or {}
    # Values that carry their name in the prompt first: nothing else may take them.
    for explicit in (True, False):
        for name, part in properties.items():
            if name in values or not isinstance(part, Mapping):
                continue
            value = _explicit(name, part, prompt) if explicit else _expected(name, part, prompt, name in required)
            if value is not None:
                values[name] = value
    for name in required:
        if name not in values and name in properties:
            complete = False
            values[name] = _made_up(name, properties[name], prompt)
    return Filled({name: values[name] for name in properties if name in values}, complete)


def places(text: str) -> list[str]:
    """List the places that a text names after "in", "of", "and" and the like, in order, each once."""
    found = [match.group(1) for match in _PLACE.finditer(text)]
    return list(dict.fromkeys(place for place in found if place not in _NO_PLACE))


def words_of(name: str) -> list[str]:
    """Cut an identifier into lower-case words: `start_line` and `startLine` give start, line."""
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+", name)]


def _type(part: Mapping[str, Any]) -> str:
    kind = part.get("type", "object" if "properties" in part else "string")
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), "string")
    return str(kind)


def _explicit(name: str, part: Mapping[str, Any], prompt: Prompt) -> Any:
    """Find `name=value`, `name: value`, `name is value`, or a word of the enum."""
    if (choices := part.get("enum")) is not None:
        return _choice(choices, prompt.text)
    spelled = "[ _-]?".join(re.escape(word) for word in words_of(name)) or re.escape(name)
    kind = _type(part)
    if kind == "object":
        return None
    if kind == "array":
        return _array_after(spelled, part, prompt)
    opening = rf"(?<!\w)(?i:{spelled})\s*(?:=|:| is | to | of )\s*"
    if kind == "boolean":
        word = prompt.take(re.compile(opening + r"((?i:true|false|yes|no|on|off))\b"))
        return None if word is None else word.lower() in {"true", "yes", "on"}
    if kind in {"integer", "number"}:
        number = prompt.take(re.compile(opening + r"(-?\d+(?:\.\d+)?)"))
        number = number or prompt.take(re.compile(rf"(?<!\w)(?i:{spelled})s?\s+(?:number\s+)?(-?\d+(?:\.\d+)?)\b"))
        number = number or prompt.take(re.compile(rf"(?<![\w.-])(-?\d+(?:\.\d+)?)\s+(?i:{spelled.rstrip('s')})s?\b"))
        number = number or prompt.take(
            re.compile(rf"\b((?i:{'|'.join(_NUMBER_WORDS)}))[ -](?i:{spelled.rstrip('s')})s?\b")
        )
        return None if number is None else _number(number, kind)
    value = prompt.take(re.compile(opening + r"\"([^\"]*)\""))
    value = value or prompt.take(re.compile(opening + r"'([^']*)'"))
    return value or prompt.take(re.compile(rf"(?<!\w)(?i:{spelled})\s*[=]\s*([^\s,;]+)"))


def _choice(choices: list[Any], text: str) -> Any:
    lowered = [word.lower() for word in re.findall(r"[\w-]+", text)]
    for choice in choices:
        if str(choice).lower() in lowered and len(str(choice)) > 1:
            return choice
    for choice in choices:
        spelled = str(choice).lower().replace("_", " ")
        if spelled in text.lower() and len(spelled) > 2:
            return choice
    initials = {"c": "celsius", "f": "fahrenheit"}
    return next((choice for choice in choices if initials.get(str(choice).lower()) in lowered), None)


def _array_after(spelled: str, part: Mapping[str, Any], prompt: Prompt) -> list[Any] | None:
    match = re.search(rf"(?<!\w)(?i:{spelled})\s*(?:=|:|are|to)?\s*\[([^\]]*)\]", prompt.text)
    if match is None:
        return None
    prompt.taken.add(match.span(1))
    items = [item.strip().strip("\"'") for item in match.group(1).split(",") if item.strip()]
    kind = _type(part.get("items") or {})
    return [_number(item, kind) if kind in {"integer", "number"} else item for item in items]


def _expected(name: str, part: Mapping[str, Any], prompt: Prompt, is_required: bool) -> Any:
    """Find a value by the parameter's type and name."""
    if part.get("enum") is not None:
        return None
    kind = _type(part)
    if kind == "object":
        inner = fill(part, prompt)
        return inner.values if inner.values and inner.complete else None
    if kind == "array":
        return _array(part, prompt) if is_required else None
    if kind == "boolean":
        return True if all(word in prompt.text.lower() for word in words_of(name)) else None
    if kind in {"integer", "number"}:
        number = prompt.take(_NUMBER) if is_required else None
        return None if number is None else _number(number, kind)
    return _string(name, prompt, is_required)


def _string(name: str, prompt: Prompt, is_required: bool) -> str | None:
    words = words_of(name)
    for patterns, pattern in (
        (("url", "link"), _URL),
        (("email", "mail"), _EMAIL),
        (("date", "day"), _DATE),
        (("time",), _TIME),
        (PATHS, _PATH),
        (PLACES, _PLACE),
    ):
        if any(word in patterns for word in words):
            return prompt.take(pattern) or (prompt.take_quoted() if is_required else None)
    if not is_required:
        return None
    quoted = prompt.take_quoted()
    if quoted is not None:
        return quoted
    if any(word in FREE_TEXTS for word in words):
        return prompt.take(re.compile(r"(?:\bwith|\brun|\bfor|\babout|:)\s*:?\s*(\S.*\S)", re.DOTALL | re.IGNORECASE))
    return prompt.take(_NAME) or prompt.take(re.compile(r"\b([A-Z]+-?\d+|\d+[A-Z]+)\b"))


def _array(part: Mapping[str, Any], prompt: Prompt) -> list[Any] | None:
    items = part.get("items") or {}
    kind = _type(items)
    found: list[Any] = []
    if kind == "object":
        inner = fill(items, prompt)
        return [inner.values] if inner.values and inner.complete else None
    while len(found) < 100:
        if kind in {"integer", "number"}:
            text = prompt.take(_NUMBER)
            value = None if text is None else _number(text, kind)
        else:
            value = prompt.take_quoted()
        if value is None:
            break
        found.append(value)
    if not found and kind == "string":
        found = _listed(prompt)
    return found or None


def _listed(prompt: Prompt) -> list[Any]:
    """Find "a, b and c"."""
    match = re.search(r"(?::|\b(?:of|to|for|with)\b)\s*([\w-]+(?:, ?[\w-]+)+(?:,? and [\w-]+)?)", prompt.text)
    return re.split(r",? and |, ?", match.group(1)) if match else []


def _number(text: str, kind: str) -> Any:
    word = _NUMBER_WORDS.get(text.lower())
    if word is not None:
        return word
    try:
        value = float(text)
    except ValueError:
        return None
    return int(value) if kind == "integer" or value.is_integer() else value


def _made_up(name: str, part: Mapping[str, Any], prompt: Prompt) -> Any:
    if part.get("enum"):
        return part["enum"][0]
    kind = _type(part)
    if kind == "object":
        return fill(part, prompt).values
    empty: dict[str, Any] = {"integer": 1, "number": 1, "boolean": True, "array": [], "null": None}
    if kind in empty:
        return empty[kind]
    is_free = any(word in FREE_TEXTS for word in words_of(name))
    return prompt.text if is_free else (prompt.text.split() or ["none"])[-1].strip(".?!")
