"""What `judge` and single checks say about answers that are made here, not recorded."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from seatrial.checks import Asked, ToolChoice, judge, stream_parity
from seatrial.checks.arguments import parse_arguments, schema_problem
from seatrial.checks.calls import call_made, call_withheld
from seatrial.checks.dictated import dictated_lines
from seatrial.endpoint.answer import ARGUMENTS, Answer, ToolCall, Usage
from seatrial.verdicts import Verdict

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
REQUEST = {"messages": [{"role": "user", "content": "What is the weather in Turku?"}], "tools": [WEATHER]}
RIGHT = Answer(
    tool_calls=(ToolCall("call_1", "get_weather", '{"city": "Turku"}'),),
    finish_reason="tool_calls",
    usage=Usage(100, 20, 120),
)


def verdicts(request: dict[str, Any], answer: Answer, **more: Any) -> dict[str, Verdict]:
    return {result.check: result.verdict for result in judge(Asked.from_request(request), answer, **more)}


def test_a_right_call_proves_every_check_that_is_due_and_leaves_out_the_others() -> None:
    found = verdicts(REQUEST, RIGHT, expected={"city": "Turku"})

    assert set(found.values()) == {Verdict.PROVEN}
    assert set(found) == {
        "answer_present", "answer_well_formed", "call_made", "call_names_known", "call_ids_unique", "arguments_parse",
        "arguments_match_schema", "arguments_declared", "arguments_as_expected", "no_markup_in_arguments",
        "no_special_tokens", "reasoning_kept_apart", "text_undamaged", "not_degenerate", "finish_reason_agrees",
        "usage_adds_up",
    }  # fmt: skip


def test_expected_arguments_make_a_call_due() -> None:
    prose = Answer(content="It is cold.", finish_reason="stop")

    assert verdicts(REQUEST, prose, expected={"city": "Turku"})["call_made"] is Verdict.REFUTED


def test_a_caller_that_knows_that_no_call_is_due_can_say_so() -> None:
    thanks = {"messages": [{"role": "user", "content": "Thanks!"}], "tools": [WEATHER]}

    assert verdicts(thanks, RIGHT, call_due=False)["call_withheld"] is Verdict.REFUTED
    assert "call_made" not in verdicts(thanks, RIGHT, call_due=False)


def test_tool_choice_none_forbids_a_call_whatever_the_caller_says() -> None:
    asked = Asked.from_request({**REQUEST, "tool_choice": "none"})
    result = call_withheld(asked, RIGHT, due=True)

    assert result is not None
    assert result.verdict is Verdict.REFUTED


def test_a_check_can_be_called_alone() -> None:
    result = call_made(Asked.from_request({**REQUEST, "tool_choice": "required"}), RIGHT)

    assert result is not None
    assert result.verdict is Verdict.PROVEN


def test_evidence_points_at_the_call_in_the_joined_arguments() -> None:
    second = ToolCall("call_2", "get_weather", '{"city": 3}', 1)
    answer = replace(RIGHT, tool_calls=(*RIGHT.tool_calls, second))

    results = {result.check: result for result in judge(Asked.from_request(REQUEST, exchange="r0001"), answer)}
    evidence = results["arguments_match_schema"].evidence[0]

    assert evidence.exchange == "r0001"
    assert evidence.span is not None
    assert answer.text_of(ARGUMENTS)[evidence.span.start : evidence.span.end] == second.arguments


@pytest.mark.parametrize(
    ("given", "choice", "named"),
    [
        ("auto", ToolChoice.AUTO, None),
        (None, ToolChoice.AUTO, None),
        ("none", ToolChoice.NONE, None),
        ("required", ToolChoice.REQUIRED, None),
        ("get_weather", ToolChoice.NAMED, "get_weather"),
        ({"type": "function", "function": {"name": "get_weather"}}, ToolChoice.NAMED, "get_weather"),
        ({"type": "function", "name": "get_weather"}, ToolChoice.NAMED, "get_weather"),
        ({"type": "allowed_tools", "allowed_tools": {"mode": "required"}}, ToolChoice.REQUIRED, None),
        (7, ToolChoice.AUTO, None),
    ],
)
def test_tool_choice_is_read_in_all_its_forms(given: Any, choice: ToolChoice, named: str | None) -> None:
    asked = Asked.from_request({**REQUEST, "tool_choice": given})

    assert (asked.tool_choice, asked.named) == (choice, named)


def test_short_and_full_requests_ask_the_same() -> None:
    short = {"user": "What is the weather in Turku?", "tools": [WEATHER], "tool_choice": "auto", "stream": False}

    assert Asked.from_request(short) == Asked.from_request(REQUEST)


def test_content_in_parts_is_read() -> None:
    parts = [{"type": "text", "text": "Weather"}, {"type": "image_url"}, {"type": "text", "text": "in Turku?"}]

    assert Asked.from_request({"messages": [{"role": "user", "content": parts}]}).prompt == "Weather\nin Turku?"


@pytest.mark.parametrize(
    "request_", [None, [], "x", {}, {"messages": 3}, {"messages": [None, {"role": []}], "tools": {"a": 1}}]
)
def test_a_malformed_request_is_read_as_one_that_asks_nothing(request_: Any) -> None:
    assert Asked.from_request(request_).tools == ()


def test_a_schema_is_never_fetched() -> None:
    problem, verdict = schema_problem({"$ref": "http://127.0.0.1:9/schema"}, {})

    assert verdict is Verdict.UNPROVEN
    assert problem is not None


def test_a_format_is_not_checked() -> None:
    assert schema_problem({"properties": {"day": {"type": "string", "format": "date"}}}, {"day": "soon"})[0] is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "are empty"),
        ('{"a": 1}{"a": 1}', "more than once"),
        ('{"a": 1}{"b": 2}', "several JSON values"),
        ('{"a": 1} </x>', "go on after the end"),
        ('{"a": "x', "break off"),
        ("{'a': 1}", "written as Python"),
        ('"{\\"a\\": 1}"', "encoded twice"),
        ('{"a": "x\ny"}', "raw control character"),
        ('{"a": Infinity}', "Infinity"),
        ("[1]", "a list"),
        ("1" * 5000, "can't be read"),
        ("[" * 100_000, "can't be read"),
    ],
)
def test_why_arguments_do_not_parse_is_said(text: str, words: str) -> None:
    parsed = parse_arguments(text)

    assert parsed.value is None
    assert words in parsed.problem


def test_dictated_lines_are_read_only_where_their_number_is_certain() -> None:
    assert dictated_lines("Write it with these two lines: a / b") == ["a", "b"]
    assert dictated_lines("Write it with these three lines: a / b") == []
    assert dictated_lines("Write it with the following lines:\n  a\nb\n\nThen approve.") == ["  a", "b"]
    assert dictated_lines("Write some lines about it") == []


def test_a_stream_with_other_words_is_unproven_unless_the_server_repeats_itself() -> None:
    asked = Asked.from_request(REQUEST)
    whole, streamed = (
        Answer(content="It is cold.", finish_reason="stop"),
        Answer(content="It is warm.", finish_reason="stop"),
    )

    assert stream_parity(asked, whole, streamed).verdict is Verdict.UNPROVEN
    assert stream_parity(asked, whole, streamed, repeatable=True).verdict is Verdict.REFUTED
    assert stream_parity(asked, whole, whole).verdict is Verdict.PROVEN


@pytest.mark.parametrize(
    "streamed",
    [
        replace(RIGHT, tool_calls=()),
        replace(RIGHT, tool_calls=(ToolCall("x", "get_weather", ""),)),
        replace(RIGHT, tool_calls=(ToolCall("x", "get_wind", '{"city": "Turku"}'),)),
        replace(RIGHT, tool_calls=(ToolCall("x", "get_weather", '{"city": "Turk"}'),)),
        replace(RIGHT, finish_reason="stop"),
        replace(RIGHT, content="<tool_call>"),
    ],
)
def test_a_stream_that_loses_something_is_refuted(streamed: Answer) -> None:
    assert stream_parity(Asked.from_request(REQUEST), RIGHT, streamed).verdict is Verdict.REFUTED


def test_ids_and_spacing_of_json_may_differ_between_stream_and_whole() -> None:
    streamed = replace(RIGHT, tool_calls=(ToolCall("other", "get_weather", '{"city":"Turku"}'),))

    assert stream_parity(Asked.from_request(REQUEST), RIGHT, streamed).verdict is Verdict.PROVEN


def test_importing_the_checks_imports_nothing_heavy() -> None:
    code = "import sys, seatrial.checks; print([m for m in ('jsonschema', 'aiohttp', 'typer') if m in sys.modules])"

    assert json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout) == []
