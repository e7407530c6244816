"""Which tools a prompt asks for, by the words that it shares with their names and descriptions. Pure."""

# ruff: noqa: SIM905 - lists of words read better as text
from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from seatrial.testkit.arguments import PLACES, Filled, Prompt, fill, places, words_of
from seatrial.testkit.reply import Call
from seatrial.testkit.tokens import prompt_of

DUE = 2
"""Points from which a tool is due: a word of its name counts two, a word of its description one."""

_COMMON = set(
    "a about after all also an and any are as at be by can do for from give given has have how i if in into is it its "
    "me my no not of off on one or our out please so some tell that the their them then there this to use used user "
    "was we what when where which will with would you your get set tool function call current currently optional "
    "return returns value string number name new".split()
)
_NO_TOOL = re.compile(r"\b(?:don't|do not|without|never)\b[^.]*\b(?:tool|function|call)", re.IGNORECASE)
_CLAUSE = re.compile(r"(?:[.;!?]|,? and(?: then)?|,? then)\s+|\n+")


def choose_calls(request: Mapping[str, Any]) -> tuple[Call, ...]:
    """Return the calls that the request's last user message is due, as `tool_choice` allows."""
    functions = [tool["function"] for tool in request.get("tools") or ()]
    choice = request.get("tool_choice", "auto")
    if not functions or choice == "none":
        return ()
    prompt = prompt_of(request)
    if isinstance(choice, Mapping):
        named = next(function for function in functions if function["name"] == choice["function"]["name"])
        return _calls(named, prompt, several=False)
    if choice == "required":
        best = max(functions, key=lambda function: score(function, prompt))
        return _due_calls(functions, prompt, request) or _calls(best, prompt, several=False)
    return () if _NO_TOOL.search(prompt) else _due_calls(functions, prompt, request)


def score(function: Mapping[str, Any], text: str) -> int:
    """Count the points of a tool for a text; naming the tool itself decides."""
    if re.search(rf"(?<!\w){re.escape(function['name'])}(?!\w)", text):
        return 100
    said = _stems(re.findall(r"[^\W\d_]+", text.lower()))
    named = _stems(words_of(function["name"]))
    described = _stems(re.findall(r"[^\W\d_]+", str(function.get("description", "")).lower())) - named
    return 2 * len(said & named) + len(said & described)


def _due_calls(functions: list[Any], prompt: str, request: Mapping[str, Any]) -> tuple[Call, ...]:
    several = request.get("parallel_tool_calls") is not False
    clauses = [(clause, _best(functions, clause)) for clause in _clauses(prompt)]
    due = {function["name"]: (function, clause) for clause, function in reversed(clauses) if function is not None}
    if len(due) > 1 and several:
        calls = [call for function, clause in reversed(due.values()) for call in _complete(function, clause, several)]
        if len({call.name for call in calls}) > 1:
            return tuple(calls)
    best = _best(functions, prompt)
    return () if best is None else _complete(best, prompt, several)


def _best(functions: list[Any], text: str) -> Any:
    best = max(functions, key=lambda function: score(function, text))
    return best if score(best, text) >= DUE else None


def _clauses(prompt: str) -> list[str]:
    """Cut a prompt at sentence ends and "and", but not inside quotes."""
    blank = Prompt(prompt).unquoted()
    ends = [match.end() for match in _CLAUSE.finditer(blank)]
    starts = [0, *ends]
    return [prompt[start:end] for start, end in zip(starts, [*ends, len(prompt)], strict=True) if start < end]


def _complete(function: Mapping[str, Any], text: str, several: bool) -> tuple[Call, ...]:
    filled = fill(function.get("parameters") or {}, Prompt(text))
    return _calls(function, text, several=several, filled=filled) if filled.complete else ()


def _calls(function: Mapping[str, Any], text: str, *, several: bool, filled: Filled | None = None) -> tuple[Call, ...]:
    filled = filled or fill(function.get("parameters") or {}, Prompt(text))
    place = next((name for name in filled.values if any(word in PLACES for word in words_of(name))), None)
    found = places(Prompt(text).unquoted()) if place is not None else []
    if place is not None and several and len(found) > 1 and filled.values[place] in found:
        versions = [{**filled.values, place: one} for one in found]
    else:
        versions = [filled.values]
    return tuple(Call(function["name"], json.dumps(values, ensure_ascii=False)) for values in versions)


def _stems(words: list[str]) -> set[str]:
    return {_stem(word) for word in words if word not in _COMMON and len(word) > 2}


def _stem(word: str) -> str:
    for ending in ("ing", "ies", "es", "s", "ed"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)].rstrip("e")
    return word.rstrip("e")
