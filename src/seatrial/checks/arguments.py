"""Checks on the arguments of calls: one JSON object, right by its schema, equal to what was expected. Pure."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from seatrial.checks.asked import Asked, Tool
from seatrial.checks.finding import (
    call_place,
    one_line,
    place,
    plural,
    proven,
    refuted,
    refuted_by,
    shown,
    unproven,
    whole,
)
from seatrial.endpoint.answer import CONTENT, Answer, ToolCall
from seatrial.verdicts import CheckResult, Evidence, Verdict

Expected = Mapping[str, Any] | Sequence[Mapping[str, Any]]
"""The values of one call, or of several (each the values, or `{"name", "arguments"}`)."""

MAX_DEPTH = 100
"""Nesting of arguments that is read; beyond it stand broken brackets, not data."""

FLOOD_LENGTH = 100
"""White space characters between JSON tokens that no formatter writes."""


@dataclass(frozen=True, slots=True)
class ParsedArguments:
    """The arguments of one call: their value, or why they have none and where in the text."""

    value: dict[str, Any] | None
    problem: str = ""
    at: int = 0


def parse_arguments(text: str) -> ParsedArguments:
    """Read arguments as a client does: the whole text must be ONE JSON object."""
    if not text.strip():
        return ParsedArguments(None, "are empty, which is not JSON (no arguments are written {})")
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except _NotJsonError as error:
        return ParsedArguments(None, f"hold {error}, which is not JSON")
    except json.JSONDecodeError as error:
        return ParsedArguments(None, _why_not_json(text, error), error.pos)
    except (ValueError, RecursionError) as error:
        return ParsedArguments(None, f"can't be read as JSON ({type(error).__name__})")
    if _is_deeper(value, MAX_DEPTH):
        return ParsedArguments(None, f"are nested more than {MAX_DEPTH} deep")
    if isinstance(value, dict):
        return ParsedArguments(value)
    kind = _kind(value)
    if isinstance(value, str) and value.strip().startswith("{"):
        return ParsedArguments(None, "are a string that holds JSON: encoded twice")
    return ParsedArguments(None, f"are {kind}, not an object")


def arguments_parse(asked: Asked, answer: Answer) -> CheckResult | None:
    """The arguments of every call are one JSON object, without a flood of white space in it."""
    if not answer.tool_calls:
        return None
    check, problems = "arguments_parse", []
    for position, call in enumerate(answer.tool_calls):
        parsed = parse_arguments(call.arguments)
        spaces = _white_space_outside_strings(call.arguments)
        flooded = spaces > FLOOD_LENGTH and spaces * 2 > len(call.arguments)
        if parsed.value is None or flooded:
            problem = parsed.problem
            if flooded:
                flood = f"are mostly white space ({spaces} of {len(call.arguments)} characters)"
                problem = f"{flood} and {problem}" if problem else flood
            if answer.finish_reason == "length" and parsed.value is None:
                problem += "; the token limit ended them (finish_reason is 'length')"
            detail = f"the arguments of call {position + 1} ({shown(call.name)}) {problem}"
            problems.append((detail, call_place(asked, answer, position, min(parsed.at, len(call.arguments)))))
    if problems:
        return refuted_by(check, problems)
    return proven(check, f"the arguments of {plural(len(answer.tool_calls), 'call')} parse")


def arguments_match_schema(asked: Asked, answer: Answer) -> CheckResult | None:
    """The arguments of every call match the JSON Schema of its function."""
    check = "arguments_match_schema"
    wrong: list[tuple[str, Evidence]] = []
    unusable: list[tuple[str, Evidence]] = []
    for position, call, tool, value in _readable(asked, answer):
        problem, verdict = schema_problem(tool.parameters or {"type": "object"}, value)
        if problem is not None:
            found = (f"call {position + 1} ({shown(call.name)}): {problem}", call_place(asked, answer, position))
            (wrong if verdict is Verdict.REFUTED else unusable).append(found)
    if wrong:
        return refuted_by(check, wrong)
    if unusable:
        return unproven(check, *unusable[0])
    return _all_well(asked, answer, "arguments_match_schema", "match the schema")


def arguments_declared(asked: Asked, answer: Answer) -> CheckResult | None:
    """No call has an argument that its function does not declare, unless its schema says that it may."""
    problems = []
    for position, call, tool, value in _readable(asked, answer):
        declared = declared_names(tool)
        extra = [name for name in value if declared is not None and name not in declared]
        if extra:
            known = one_line(", ".join(map(repr, sorted(declared or ())))) or "none"
            detail = (
                f"call {position + 1} ({shown(call.name)}) has {shown(extra[0])}, which the function does not declare "
                f"(declared: {known})"
            )
            problems.append((detail, call_place(asked, answer, position)))
    if problems:
        return refuted_by("arguments_declared", problems)
    return _all_well(asked, answer, "arguments_declared", "are declared")


def declared_names(tool: Tool) -> frozenset[str] | None:
    """Return the names of a function's parameters; None where its schema leaves them open."""
    schema = tool.parameters
    if schema is None:
        return frozenset()
    properties = schema.get("properties")
    open_ended = {"patternProperties", "$ref", "allOf", "anyOf", "oneOf", "if", "$dynamicRef"} & set(schema)
    additional = schema.get("additionalProperties")
    if not isinstance(properties, Mapping) or open_ended or not (additional is None or additional is False):
        return None
    return frozenset(properties)


def arguments_as_expected(asked: Asked, answer: Answer, expected: Expected | None) -> CheckResult | None:
    """The values that are expected are there, exactly: each expected call is matched by a call of its own."""
    check = "arguments_as_expected"
    if expected is None or not answer.tool_calls:
        return None
    wanted = [_wanted(entry) for entry in ([expected] if isinstance(expected, Mapping) else expected)]
    free = list(enumerate(answer.tool_calls))
    misses: list[tuple[int, str]] = []
    for name, values in wanted:
        tries = [(position, _mismatch(call, name, values)) for position, call in free]
        hit = next((position for position, miss in tries if miss is None), None)
        if hit is None:
            misses.append(_nearest(tries) or (-1, f"a call with {shown(dict(values))} is missing"))
        else:
            free = [(position, call) for position, call in free if position != hit]
    if misses:
        return refuted_by(
            check,
            [
                (f"call {position + 1}: {miss}", call_place(asked, answer, position))
                if position >= 0
                else (miss, whole(asked))
                for position, miss in misses
            ],
        )
    return proven(check, f"the expected values of {plural(len(wanted), 'call')} are there, exactly")


def content_matches_format(asked: Asked, answer: Answer) -> CheckResult | None:
    """A text that was asked for as JSON (`response_format`) is JSON, and matches its schema."""
    wanted = str((asked.response_format or {}).get("type"))
    text = answer.content or ""
    if wanted not in {"json_object", "json_schema"} or answer.tool_calls or not text.strip():
        return None
    check = "content_matches_format"
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        at = error.pos if isinstance(error, json.JSONDecodeError) else 0
        return refuted(
            check,
            f"response_format is {wanted!r}, but the content is not one JSON value",
            place(asked, CONTENT, text, at, len(text)),
        )
    holder = (asked.response_format or {}).get("json_schema")
    schema = holder.get("schema") if isinstance(holder, Mapping) else None
    if wanted == "json_object" and not isinstance(value, dict):
        return refuted(
            check, f"the content is {_kind(value)}, not an object", place(asked, CONTENT, text, 0, len(text))
        )
    if wanted == "json_schema" and isinstance(schema, Mapping):
        problem, verdict = schema_problem(schema, value)
        if problem is not None:
            make = refuted if verdict is Verdict.REFUTED else unproven
            return make(check, f"content: {problem}", place(asked, CONTENT, text, 0, len(text)))
    return proven(check, "the content is JSON as asked for")


def schema_problem(schema: Mapping[str, Any], value: Any) -> tuple[str | None, Verdict]:
    """Say what about a value its JSON Schema forbids, with the path to it; None where nothing is wrong.

    A schema that can't be used (invalid, or with a reference that is not in it) gives an unproven problem.
    Formats (`"format": "date"`) are not checked: JSON Schema makes them annotations.
    """
    import jsonschema  # noqa: PLC0415 - slow to import, and only needed where there are arguments
    import referencing  # noqa: PLC0415
    from jsonschema.validators import validator_for  # noqa: PLC0415

    try:
        validator_class = validator_for(schema, default=jsonschema.Draft202012Validator)
        validator_class.check_schema(dict(schema))
        validator = validator_class(schema, registry=referencing.Registry())  # fetches nothing
        errors = sorted(
            islice(validator.iter_errors(value), 100), key=lambda error: (len(error.absolute_path), error.json_path)
        )
        problem = "; ".join(_error_in_words(error) for error in errors[:2]) or None
    except jsonschema.SchemaError as error:
        return f"the request's schema is invalid ({one_line(error.message, 100)})", Verdict.UNPROVEN
    except (referencing.exceptions.Unresolvable, re.error, RecursionError, TypeError, ValueError) as error:
        return (
            f"the request's schema can't be used ({type(error).__name__}: {one_line(str(error), 80)})",
            Verdict.UNPROVEN,
        )
    except Exception as error:  # noqa: BLE001 - a hostile schema must not end the run
        return f"the request's schema can't be used ({type(error).__name__})", Verdict.UNPROVEN
    return problem, Verdict.PROVEN if problem is None else Verdict.REFUTED


def equal_as_json(left: Any, right: Any) -> bool:
    """Whether two JSON values are the same: `1` is `1.0`, but not `true`; texts are compared exactly."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(equal_as_json(left[key], right[key]) for key in left)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(equal_as_json, left, right))
    if isinstance(left, int | float) and isinstance(right, int | float):
        return left == right
    return type(left) is type(right) and bool(left == right)


class _NotJsonError(Exception):
    """A word that Python's JSON reader takes, and JSON does not have."""


def _refuse_constant(word: str) -> None:
    raise _NotJsonError(word)


def _why_not_json(text: str, error: json.JSONDecodeError) -> str:
    stripped = text.strip()
    if error.msg == "Extra data":
        first, rest = text[: error.pos].strip(), text[error.pos :].strip()
        if rest.startswith(first):
            return "are the same JSON value more than once, back to back"
        if rest[:1] in set('{["'):
            return "are several JSON values back to back, not one"
        return f"go on after the end of their JSON value: {shown(rest, 40)}"
    if stripped.startswith("{'"):
        try:
            ast.literal_eval(stripped)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            pass
        else:
            return "are written as Python (single quotes), not as JSON"
    if error.msg.startswith("Invalid control character"):
        return "have a raw control character (a line feed, say) inside a string, which JSON forbids"
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
        return f"break off: {error.msg} (character {error.pos} of {len(text)})"
    return f"are not JSON: {error.msg} (character {error.pos} of {len(text)})"


def _error_in_words(error: Any) -> str:
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path).lstrip(".")
    value = error.instance
    if error.validator == "required":
        missing = [name for name in error.validator_value if isinstance(value, Mapping) and name not in value]
        prefix = f"{where}: " if where else ""
        return f"{prefix}required {', '.join(map(repr, missing))} missing"
    where = where or "the arguments"
    if error.validator == "type":
        wanted = error.validator_value
        wanted = wanted if isinstance(wanted, str) else " or ".join(map(str, wanted))
        hint = ""
        if isinstance(value, str) and value.strip()[:1] in set("[{"):
            hint = ", JSON inside a string (encoded twice)"
        return f"{where} should be of type {wanted}, got {shown(value)} ({_kind(value)}{hint})"
    if error.validator == "enum":
        return f"{where} should be one of {shown(error.validator_value)}, got {shown(value)}"
    return f"{where}: {one_line(error.message, 120)}"


def _readable(asked: Asked, answer: Answer) -> Iterable[tuple[int, ToolCall, Tool, dict[str, Any]]]:
    for position, call in enumerate(answer.tool_calls):
        tool = asked.tool(call.name)
        value = parse_arguments(call.arguments).value
        if tool is not None and value is not None:
            yield position, call, tool, value


def _all_well(asked: Asked, answer: Answer, check: str, claim: str) -> CheckResult | None:
    read = len(list(_readable(asked, answer)))
    return proven(check, f"the arguments of {plural(read, 'call')} {claim}") if read else None


def _wanted(entry: Any) -> tuple[str | None, Mapping[str, Any]]:
    if not isinstance(entry, Mapping):
        return None, {}
    values = entry.get("arguments")
    if isinstance(values, Mapping) and isinstance(entry.get("name"), str) and set(entry) == {"name", "arguments"}:
        return entry["name"], values
    return None, entry


def _mismatch(call: ToolCall, name: str | None, values: Mapping[str, Any]) -> str | None:
    if name is not None and call.name != name:
        return f"should call {shown(name)}, calls {shown(call.name)}"
    got = parse_arguments(call.arguments).value
    if got is None:
        return f"{shown(next(iter(values), ''))} can't be compared: the arguments do not parse"
    for key, wanted in values.items():
        if key not in got:
            return f"{shown(key)} should be {shown(wanted)}, and is missing"
        if not equal_as_json(got[key], wanted):
            return f"{shown(key)} should be {shown(wanted, 120)}, got {shown(got[key], 120)}"
    return None


def _nearest(tries: Sequence[tuple[int, str | None]]) -> tuple[int, str] | None:
    described = [(position, miss) for position, miss in tries if miss is not None]
    values_differ = [entry for entry in described if not entry[1].startswith("should call")]
    return next(iter(values_differ or described), None)


def _is_deeper(value: Any, limit: int) -> bool:
    level = [value]
    for _ in range(limit):
        level = [
            part
            for item in level
            if isinstance(item, dict | list)
            for part in (item.values() if isinstance(item, dict) else item)
        ]
        if not level:
            return False
    return True


def _white_space_outside_strings(text: str) -> int:
    if sum(map(str.isspace, text)) <= FLOOD_LENGTH:
        return 0
    count, inside, escaped = 0, False, False
    for character in text:
        if inside:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                inside = False
        elif character == '"':
            inside = True
        elif character.isspace():
            count += 1
    return count


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "a list", dict: "an object"}
    return names.get(type(value), type(value).__name__)
