"""The model that a fake server has by default: right by rule. To teach it something, add a rule.

It calls tools that a prompt asks for (`tool_choice.py`), calculates, repeats, counts, recalls what was said before,
fills JSON schemas, and otherwise writes varied prose of the length that was asked for.
"""

from __future__ import annotations

import ast
import json
import operator
import random
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from seatrial.testkit.arguments import Prompt, fill
from seatrial.testkit.prose import prose, sentences
from seatrial.testkit.reply import Reply
from seatrial.testkit.tokens import prompt_of, text_of
from seatrial.testkit.tool_choice import choose_calls

Rule = Callable[[Mapping[str, Any], str], str | None]
"""Takes the request and its last user message; returns the answer's content, or None where it has nothing to say."""


@dataclass(frozen=True, slots=True)
class GoodModel:
    """Answers requests by rule; the same request always gets the same answer.

    Attributes:
        thinks: whether it gives reasoning, unless the request switches that off.
        seed: varies its prose.
    """

    thinks: bool = True
    seed: int = 0

    def __call__(self, request: Mapping[str, Any]) -> Reply:
        """Answer one request."""
        prompt = prompt_of(request)
        calls = () if _has_tool_result(request) else choose_calls(request)
        seed = f"{self.seed} {zlib.crc32(prompt.encode('utf-8', errors='replace'))} {request.get('seed')}"
        content = "" if calls else self._content(request, prompt, seed)
        reasoning = _reasoning(seed, bool(calls)) if self.thinks and thinking_wanted(request) else None
        return Reply(content, reasoning, calls)

    @staticmethod
    def _content(request: Mapping[str, Any], prompt: str, seed: str) -> str:
        for rule in RULES:
            if (content := rule(request, prompt)) is not None:
                return content
        return _prose(prompt, seed)


_THOUGHTS = (
    "Let me look at what is asked here.",
    "The request is clear enough to act on.",
    "Nothing in the earlier messages changes what is wanted.",
    "I should keep to the form that the user asked for.",
    "There is no need for any guess.",
    "Everything that I need stands in the conversation.",
    "First I check what kind of answer fits.",
    "A short and direct way is best.",
)


def _reasoning(seed: str, will_call: bool) -> str:
    thoughts = random.Random(seed).sample(_THOUGHTS, 3)  # noqa: S311 - variety, not secrecy
    return " ".join([*thoughts, "So I use a tool." if will_call else "So I answer directly."])


def thinking_wanted(request: Mapping[str, Any]) -> bool:
    """Whether a request leaves thinking on: neither `enable_thinking` false nor `reasoning_effort` none."""
    template = request.get("chat_template_kwargs")
    off = isinstance(template, Mapping) and (template.get("enable_thinking") is False)
    return not off and request.get("reasoning_effort") != "none"


def instruction(prompt: str) -> str:
    """Return the part of a prompt where an instruction stands: all of a short one, both ends of a long one."""
    return prompt if len(prompt) <= 1_000 else f"{prompt[:300]}\n{prompt[-500:]}"


def _has_tool_result(request: Mapping[str, Any]) -> bool:
    return bool(request["messages"][-1].get("role") == "tool")


# --- rules


def tell_tool_result(request: Mapping[str, Any], _prompt: str) -> str | None:
    """After a tool's result: say what it is."""
    if not _has_tool_result(request):
        return None
    results = []
    for message in reversed(request["messages"]):
        if message.get("role") != "tool":
            break
        results.append(text_of(message))
    return "Here is what I found: " + "; ".join(reversed(results))


def follow_schema(request: Mapping[str, Any], prompt: str) -> str | None:
    """With a `response_format` of JSON: an object with what the prompt gives."""
    form = request.get("response_format")
    if not isinstance(form, Mapping):
        return None
    kind = form.get("type")
    if kind == "json_schema":
        return json.dumps(fill(form["json_schema"].get("schema") or {}, Prompt(prompt)).values, ensure_ascii=False)
    return json.dumps({"answer": prose(12, prompt)}) if kind == "json_object" else None


def repeat(_request: Mapping[str, Any], prompt: str) -> str | None:
    """Obey "Reply with exactly: X", "Say the word X", "Repeat "X"."""
    text = instruction(prompt)
    verb = r"\b(?i:repeat|say|reply|answer|respond|write|print|echo|output)\b"
    for pattern in (
        verb + r"[^.!?\n\"“`]*[\"“`]([^\"”`]+)[\"”`]",
        verb + r"[^.!?\n:]*\b(?i:exactly|only|verbatim|following)\b[^.!?\n:]*:\s*(\S[^\n]*)",
        verb + r"[^.!?\n:]*\b(?i:word|phrase|code)s?:?\s+([A-Z][A-Z0-9-]+)\b",
    ):
        if (match := re.search(pattern, text)) is not None:
            return match.group(1).strip()
    return None


_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_SPOKEN = {"plus": "+", "minus": "-", "times": "*", "multiplied by": "*", "divided by": "/"}
_SPOKEN |= {"\u00d7": "*", "\u00f7": "/"}  # the signs that schools use


def calculate(_request: Mapping[str, Any], prompt: str) -> str | None:
    """Work out "What is 17 * 23?"."""
    text = instruction(prompt)
    for word, sign in _SPOKEN.items():
        text = text.replace(word, sign)
    match = re.search(r"(?<![\w.])\(*-?\d+(?:\.\d+)?(?:\s*[-+*/]\s*\(*\s*\d+(?:\.\d+)?\)*)+(?![\w-])", text)
    if match is None or not re.search(r"(?i)\b(?:what|calculate|compute|how much|evaluate|work out|result)\b|=", text):
        return None
    expression = match.group().strip()
    try:
        value = _value(ast.parse(expression, mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError):
        return None
    shown = str(int(value)) if float(value).is_integer() else f"{value:.6g}"
    return shown if re.search(r"(?i)\bonly\b|\bjust\b|\bnothing else\b", text) else f"{expression} = {shown}."


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return node.value
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_value(node.left), _value(node.right))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    raise ValueError("no arithmetic")


def count(_request: Mapping[str, Any], prompt: str) -> str | None:
    """Obey "Count from 1 to 20"."""
    match = re.search(r"(?i)\bcount (?:up )?(?:from (\d+) )?(?:up )?to (\d+)", instruction(prompt))
    if match is None:
        return None
    first, last = int(match.group(1) or 1), int(match.group(2))
    return ", ".join(str(number) for number in range(first, min(last, first + 10_000) + 1))


CAPITALS = {
    "France": "Paris",
    "Germany": "Berlin",
    "Italy": "Rome",
    "Spain": "Madrid",
    "Finland": "Helsinki",
    "Japan": "Tokyo",
    "Portugal": "Lisbon",
    "Austria": "Vienna",
    "Norway": "Oslo",
    "Sweden": "Stockholm",
}


def name_capital(_request: Mapping[str, Any], prompt: str) -> str | None:
    """Know a few capitals."""
    match = re.search(r"(?i)\bcapital (?:city )?of (\w+)", instruction(prompt))
    return f"The capital of {match.group(1)} is {city}." if match and (city := CAPITALS.get(match.group(1))) else None


def recall(request: Mapping[str, Any], prompt: str) -> str | None:
    """Answer "What is the X?" from "The X is Y." anywhere in the conversation."""
    said = "\n".join(text_of(message) for message in request["messages"])
    for match in re.finditer(
        r"(?i)\bwhat (?:is|was|are) (?:the |my |your |our )?([^?.\n]{2,80})\?", instruction(prompt)
    ):
        thing = re.sub(r"(?i)\s+(?:that|which|in|from|of the|given|mentioned|above)\b.*", "", match.group(1))
        told = re.search(rf"(?i)\b{re.escape(thing)}(?:\s+\w+)?\s*(?: is| was|:|=)\s*[\"“`]?([^\s\"”`]+)", said)
        if told is not None and not told.group(1).endswith("?"):
            return told.group(1).rstrip(".,;")
    return None


def list_things(_request: Mapping[str, Any], prompt: str) -> str | None:
    """Obey "List five …" with as many numbered sentences."""
    match = re.search(r"(?i)\b(?:list|name|give)(?: me)? (\d+|two|three|four|five|six|seven|eight|ten)\b", prompt)
    if match is None:
        return None
    words = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "ten": 10}
    number = words.get(match.group(1).lower()) or int(match.group(1))
    items = islice(sentences(prompt), min(number, 1_000))
    return "\n".join(f"{at}. {sentence}" for at, sentence in enumerate(items, 1))


RULES: tuple[Rule, ...] = (
    tell_tool_result,
    follow_schema,
    repeat,
    calculate,
    count,
    name_capital,
    recall,
    list_things,
)
"""What it can do beside calling tools and writing prose; the first rule that has an answer gives it."""


def _prose(prompt: str, seed: str) -> str:
    text = instruction(prompt)
    if (match := re.search(r"(\d+)[ -]?words?\b", text)) is not None:
        return prose(min(int(match.group(1)), 100_000), seed)
    if (match := re.search(r"(\d+) sentences?\b", text)) is not None:
        return " ".join(islice(sentences(seed), min(int(match.group(1)), 10_000)))
    if (match := re.search(r"(\d+) paragraphs?\b", text)) is not None:
        return prose(60 * min(int(match.group(1)), 1_000), seed)
    is_long = re.search(r"(?i)\b(?:long|essay|story|detail|detailed|report|article|tutorial)\b", text)
    return prose(500 if is_long else 50, seed)
