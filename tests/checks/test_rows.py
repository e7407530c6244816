"""No row, however broken, makes the judge raise or hang; and what it says does not depend on how a stream is cut."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seatrial.checks import judge_row
from seatrial.verdicts import Verdict

DATA = Path(__file__).parent / "data"
ROWS = [json.loads(line) for line in (DATA / "handed.jsonl").read_text("utf-8").splitlines()]
KEYS = [
    *(
        "choices",
        "message",
        "delta",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "content",
        "index",
        "error",
        "code",
    ),
    *("properties", "required", "type", "schema", "json_schema", "usage", "id", "role", "user", "messages", "tools"),
]
WORDS = [
    "auto",
    "required",
    "get_weather",
    "<tool_call>",
    '{"city": "Turku"}',
    "stop",
    "data: [DONE]",
    "object",
    "\ud800",
]

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(WORDS)
junk = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5) | st.sampled_from(KEYS), inner, max_size=4)
    ),
    max_leaves=10,
)


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, dict):
        for key, part in value.items():
            yield from paths(part, (*path, key))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from paths(part, (*path, index))


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = changed(copy[path[0]], path[1:], new)
    return copy


@given(junk)
def test_any_json_at_all_gets_a_verdict_with_reasons(row: Any) -> None:
    judgement = judge_row(row)

    assert judgement.verdict is not Verdict.PROVEN
    assert all(result.detail for result in judgement.checks)


@given(
    st.fixed_dictionaries({"id": st.text(), "request": junk, "response": junk}, optional={"expected_arguments": junk})
)
def test_any_request_and_response_get_a_verdict(row: Any) -> None:
    assert judge_row(row).checks


@given(st.fixed_dictionaries({"id": st.text(), "request": junk, "sse": st.lists(junk) | st.text()}))
def test_any_stream_gets_a_verdict(row: Any) -> None:
    assert judge_row(row).checks


@settings(max_examples=300)
@given(st.data())
def test_a_real_row_with_a_part_replaced_gets_a_verdict(data: st.DataObject) -> None:
    row = data.draw(st.sampled_from(ROWS))
    path = data.draw(st.sampled_from(list(paths(row))))

    assert judge_row(changed(row, path, data.draw(junk))).checks


@given(st.text(alphabet=st.sampled_from('{}":,[]cityTurku 3\\un')))
def test_any_arguments_get_a_verdict(arguments: str) -> None:
    row = next(row for row in ROWS if row["id"] == "B-36")
    path = ("response", "choices", 0, "message", "tool_calls", 0, "function", "arguments")

    assert judge_row(changed(row, path, arguments)).verdict is Verdict.REFUTED


@given(st.lists(st.integers(1, 60), max_size=12), st.sampled_from(["Turku", "Hyvinkää", 'a "b"\n\\d', "日本"]))
def test_how_the_arguments_are_cut_into_deltas_changes_nothing(cuts: list[int], city: str) -> None:
    arguments = json.dumps({"city": city})
    edges = sorted({0, *(cut for cut in cuts if cut < len(arguments)), len(arguments)})
    pieces = [arguments[start:end] for start, end in pairwise(edges)]
    first = {"index": 0, "id": "a", "function": {"name": "get_weather", "arguments": ""}}
    deltas = [first, *({"index": 0, "function": {"arguments": piece}} for piece in pieces)]
    choices = [{"delta": {"tool_calls": [delta]}} for delta in deltas] + [{"delta": {}, "finish_reason": "tool_calls"}]
    request = {**next(row for row in ROWS if row["id"] == "B-17")["request"], "user": f"The weather there? {city}"}

    judgement = judge_row(
        {"id": "x", "request": request, "sse": [f"data: {json.dumps({'choices': [choice]})}" for choice in choices],
         "expected_arguments": {"city": city}}
    )  # fmt: skip

    assert judgement.verdict is Verdict.PROVEN


@pytest.mark.parametrize(
    "unit", ["</parameter>", "<tool_call>", "`", "```\n", "get_weather(", "I will call ", '"', " ", "\n", "{", "&lt;"]
)
def test_a_text_of_a_million_characters_is_judged_in_seconds(unit: str) -> None:
    row = next(row for row in ROWS if row["id"] == "B-36")
    text = unit * (1_000_000 // len(unit))
    message = {"content": text, "reasoning_content": text, "tool_calls": None}
    began = time.perf_counter()

    judge_row({**row, "response": {"choices": [{"message": message, "finish_reason": "stop"}]}})

    assert time.perf_counter() - began < 30


def test_an_error_about_load_is_infrastructure_and_any_other_is_not() -> None:
    def judged(body: dict[str, Any], **more: Any) -> Any:
        return judge_row({"id": "x", "request": {"user": "Hello"}, "response": body, **more}).checks[0]

    busy, crashed = (
        judged({"message": "queue is full"}, http_status=503),
        judged({"error": {"message": "int()", "code": 500}}),
    )

    assert (busy.verdict, busy.infrastructure) == (Verdict.UNPROVEN, True)
    assert (crashed.verdict, crashed.infrastructure) == (Verdict.REFUTED, False)
