"""One tool call that is due: native, with valid arguments, whole and streamed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from seatrial.endpoint.exchange import Exchange
from seatrial.trials.interface import Case, Check, DeclaredTrial
from seatrial.trials.responses import judge_answers
from seatrial.verdicts import CheckResult

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the current weather of a city",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
            "additionalProperties": False,
        },
    },
}
REQUEST = {"messages": [{"role": "user", "content": "What is the weather in Turku?"}], "tools": [WEATHER]}
EXPECTED = {"city": "Turku"}
BOTH = ("whole", "streamed")


def call_is_right(exchanges: Sequence[Exchange]) -> Iterable[CheckResult]:
    """Judge both answers, in which the call is due."""
    return judge_answers(exchanges, dict.fromkeys(BOTH, EXPECTED))


TRIAL = DeclaredTrial(
    name="tool_call",
    title="A tool call that is due is made, with valid arguments",
    cases=(
        Case("whole", REQUEST),
        Case("streamed", {**REQUEST, "stream": True, "stream_options": {"include_usage": True}}),
    ),
    checks=(Check("call_is_right", BOTH, call_is_right),),
)
