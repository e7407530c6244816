"""`response_format: json_schema`: the content is JSON and matches the schema, whole and streamed."""

from __future__ import annotations

from typing import Any

from seatrial.endpoint.exchange import Exchange
from seatrial.trials.declared import DeclaredTrial, whole_and_streamed
from seatrial.trials.responses import judge_exchange
from seatrial.verdicts import CheckResult

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "population": {"type": "integer"},
        "capital": {"type": "boolean"},
        "rivers": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
    },
    "required": ["city", "population", "capital", "rivers"],
    "additionalProperties": False,
}
REQUEST: dict[str, object] = {
    "messages": [
        {
            "role": "user",
            "content": "Describe Vienna as JSON: city, population, capital (true or false) and rivers (at most three).",
        }
    ],
    "response_format": {"type": "json_schema", "json_schema": {"name": "city", "schema": SCHEMA, "strict": True}},
}


def judge(exchange: Exchange) -> list[CheckResult]:
    """Judge one answer; `content_matches_format` is the check that this trial is for."""
    return judge_exchange(exchange, ())


TRIAL = DeclaredTrial(
    name="json_format",
    title="A JSON schema for the answer is followed",
    cases=whole_and_streamed(REQUEST),
    judge=judge,
)
