"""Check of argument values against what the prompt dictates, where no expected values are known. Pure.

Only what can be said with certainty refutes: a value that breaks off inside a word, a quotation or at a character
that parsers stumble over; dictated lines that are missing; a name after an English preposition that comes back with
a letter or two wrong; text that was escaped or decoded once too often. Anything else is the model's to choose.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from seatrial.checks.arguments import parse_arguments
from seatrial.checks.asked import Asked
from seatrial.checks.dictated.figures import date_wrong, number_wrong, numbers_missing
from seatrial.checks.dictated.names import file_cut, name_misspelled
from seatrial.checks.dictated.spelling import converted, letters_lost, padded
from seatrial.checks.dictated.texts import cut_from_prompt, lines_missing, text_cut
from seatrial.checks.dictated.values import Miss, Value
from seatrial.checks.finding import call_place, plural, proven, refuted, shown, strings_in
from seatrial.endpoint.answer import Answer
from seatrial.verdicts import CheckResult

_EMPTY_MAY_BE = re.compile(
    r"content|text|body|message|comment|description|note|code|prefix|suffix|reason", re.IGNORECASE
)


def arguments_as_dictated(asked: Asked, answer: Answer) -> CheckResult | None:
    """What the prompt dictates word for word is in the arguments word for word, as far as that can be told."""
    if not answer.tool_calls or asked.after_tool_result or not asked.prompt.strip():
        return None
    check = "arguments_as_dictated"
    parsed = [(position, parse_arguments(call.arguments).value) for position, call in enumerate(answer.tool_calls)]
    values = [
        Value(position, key, text)
        for position, arguments in parsed
        if arguments is not None
        for key, text in strings_in(arguments)
        if not _is_enumerated(asked, answer, position, key)
    ]
    rules: Sequence[Callable[[Asked, Sequence[Value]], Miss]] = (
        lines_missing,
        text_cut,
        cut_from_prompt,
        converted,
        padded,
        letters_lost,
        name_misspelled,
        date_wrong,
        file_cut,
    )
    for rule in rules:
        if (miss := rule(asked, values)) is not None:
            position, detail = miss
            return refuted(check, f"call {position + 1}: {detail}", call_place(asked, answer, position))
    arguments = [(position, value) for position, value in parsed if value is not None]
    for number_rule in (_emptied, numbers_missing, number_wrong):
        if (miss := number_rule(asked, answer, arguments)) is not None:
            position, detail = miss
            return refuted(check, f"call {position + 1}: {detail}", call_place(asked, answer, position))
    if not arguments:
        return None
    return proven(check, f"nothing in {plural(len(arguments), 'call')} contradicts what the prompt dictates")


def _emptied(asked: Asked, answer: Answer, arguments: Sequence[tuple[int, dict[str, Any]]]) -> Miss:
    for position, values in arguments:
        tool = asked.tool(answer.tool_calls[position].name)
        required = (tool.parameters or {}).get("required") if tool else None
        for key, value in values.items():
            if not isinstance(required, list) or key not in required or not isinstance(value, str):
                continue
            if not value.strip() and not _EMPTY_MAY_BE.search(key):
                return position, f"{shown(key)} is required, and empty"
            if tool is not None and value.strip() == tool.name and tool.name not in asked.material:
                return position, f"{shown(key)} holds the name of the tool, {shown(value)}"
    return None


def _is_enumerated(asked: Asked, answer: Answer, position: int, key: str) -> bool:
    tool = asked.tool(answer.tool_calls[position].name)
    schema = tool.property(key) if tool else {}
    return "enum" in schema or "const" in schema
