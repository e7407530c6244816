"""What it means that a server answers with an error, and what in the request is the cause. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from seatrial.checks.arguments import parse_arguments
from seatrial.checks.asked import Asked
from seatrial.checks.finding import one_line, refuted, shown, unproven, whole
from seatrial.verdicts import CheckResult

INFRASTRUCTURE_STATUSES = frozenset({401, 403, 404, 408, 425, 429, 502, 503, 504, 529})
"""Statuses that are about access, path, time and load, not about what the server makes of a request."""

_BAD_JSON = (
    r"unterminated string|expecting (?:value|property name|',' delimiter|':' delimiter)|extra data|"
    r"invalid (?:control character|\\+escape)|json ?(?:decode|parse|\.)? ?error|invalid json|not valid json|"
    r"unexpected (?:end of|token|character)|arguments?\b.{0,60}\bjson|json\b.{0,60}\barguments?|"
    r"can only get item pairs from a mapping|no attribute ['\"]items|failed to parse.{0,40}(?:tool|argument)"
)
_CAUSES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), cause)
    for pattern, cause in (
        (
            r"context length|maximum context|context window|too many tokens|(?:input|prompt) is too long|"  # noqa: ISC004
            r"longer than the model|exceeds? the (?:maximum|context|available)",
            "the input is longer than the server takes",
        ),
        (
            r"auto.{0,20}tool.choice|tool-call-parser|does not support tools|--jinja",
            "the server was started without a tool parser for this model",
        ),
        (
            r"(?:function|tool).{0,20}name.{0,40}(?:valid string|none|null|required|empty|pattern)",
            "an earlier turn's call without a valid name, which the client replays",
        ),
        (
            _BAD_JSON,
            "an earlier turn's call with invalid JSON arguments, replayed by the client: look at the turn before",
        ),
        (r"roles? must alternate|tool_call_id", "the order of roles in the replayed conversation"),
        (r"chat template|template error|jinja", "the model's chat template fails on these messages"),
    )
)
_BUSY = re.compile(
    r"overload|queue.{0,20}full|too many requests|rate limit|timed? ?out|unavailable|loading model|starting",
    re.IGNORECASE,
)


def error_in(body: Any) -> tuple[str, int | None] | None:
    """Read an error answer: its words and its status, if it has them; None for what is no error.

    Knows OpenAI's `{"error": {"message", "code"}}`, SGLang's and vLLM's flat `{"object": "error", "message", "code"}`,
    and FastAPI's `{"detail"}`.
    """
    if not isinstance(body, Mapping) or isinstance(body.get("choices"), list):
        return None
    error = body.get("error")
    flat = body.get("object") == "error" or str(body.get("type", "")).endswith("Error")
    if error is None and not flat and "detail" not in body:
        return None
    holder: Any = error if isinstance(error, Mapping) else body
    words = next((holder[key] for key in ("message", "detail", "error") if isinstance(holder.get(key), str)), "")
    if not words and "detail" in body:
        words = str(body["detail"])
    codes = (holder.get("code"), body.get("code"), holder.get("status"), body.get("status"))
    status = next((status for code in codes if (status := _status(code)) is not None), None)
    return one_line(words) or "no message", status


def request_accepted(asked: Asked, words: str, status: int | None) -> CheckResult:
    """The server takes the request. An error about load or access leaves it unproven; any other refutes."""
    check = "request_accepted"
    said = f"HTTP {status}" if status is not None else "an error"
    evidence = whole(asked, words)
    if status in INFRASTRUCTURE_STATUSES or (status is None and _BUSY.search(words)):
        detail = f"the server could not be asked: {said} ({words})"
        return unproven(check, detail, evidence, infrastructure=True)
    broken = next(((name, text) for name, text in asked.replayed_arguments if _is_broken(text)), None)
    if broken is not None:
        name, text = broken
        problem = parse_arguments(text).problem if isinstance(text, str) else "are no text"
        return refuted(
            check,
            f"{said} ({words}); root cause: the arguments of the replayed call of {shown(name)} {problem}: the turn "
            "that gave them is at fault, not this one",
            whole(asked, str(text)),
        )
    for pattern, cause in _CAUSES:
        if pattern.search(words):
            return refuted(check, f"{said} ({words}); root cause: {cause}", evidence)
    return refuted(check, f"the server answers {said} instead of a completion: {words}", evidence)


def _is_broken(arguments: Any) -> bool:
    return not isinstance(arguments, str) or parse_arguments(arguments).value is None


def _status(code: Any) -> int | None:
    if isinstance(code, str):
        return int(code) if re.fullmatch(r"[45][0-9]{2}", code) else None
    return code if type(code) is int and 400 <= code <= 599 else None
